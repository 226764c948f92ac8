"""`crowd` with `diversity`: both promises, the true optimum under both, the file, and where it is refused."""

import json
import random
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anonset
from anonset import InfeasibleError, ParameterError, Release, Transactions
from anonset.assess.utility.information_loss import information_loss
from anonset.data.job import Job
from anonset.methods import crowd
from anonset.methods.steps.group.diversity import diverse
from tests.oracle.optimum import group_loss, partitions

SENSITIVE = ["x", "y"]
ROWS = st.lists(st.sets(st.sampled_from([*"abcdef", *SENSITIVE]), max_size=6), min_size=4, max_size=8)


def feasible(rows, k, p):
    return len(rows) >= k and all(sum(s in row for row in rows) * p <= len(rows) for s in SENSITIVE)


def keeps_the_share(members, p):
    return all(sum(s in row for row in members) * p <= len(members) for s in SENSITIVE)


def optimum(rows, k, p):
    """The least loss of any partition into groups of at least k that keep the share."""
    return min(
        sum(group_loss([rows[i] - set(SENSITIVE) for i in group]) for group in parts)
        for parts in partitions(list(range(len(rows))), k)
        if all(keeps_the_share([rows[i] for i in group], p) for group in parts)
    )


def database(rows, more=()):
    return Transactions.from_lists(rows, labels=[*"abcdef", *SENSITIVE, *more], sensitive=SENSITIVE)


def run(data, k, p, effort="usual", seed=1):
    draft = crowd.run(data, Job(seed), k=k, effort=effort, diversity=p)
    return draft, information_loss(data, draft.release, draft.row_origin)["information_loss"]


@settings(max_examples=200)
@given(ROWS, st.integers(2, 4), st.integers(2, 4), st.booleans())
def test_both_promises_hold_and_nobody_beats_the_optimum(rows, k, p, sparse):
    assume(feasible(rows, k, p) and any(set(SENSITIVE) & row for row in rows))
    data = database(rows, [str(i) for i in range(200)] if sparse else ())
    draft, loss = run(data, k, p)
    assert anonset.model("k-anonymity", k=k, diversity=p).check(draft.release).holds
    assert anonset.model("privacy-degree", p=p).check(draft.release).holds
    assert loss >= optimum(rows, k, p)


def test_the_optimum_is_found_in_many_tiny_databases():
    draw, hits, tried = random.Random(11), 0, 0
    while tried < 60:
        rows = [set(draw.sample("abcdef", draw.randint(1, 4))) for _ in range(8)]
        for row in draw.sample(rows, 3):
            row.add(draw.choice(SENSITIVE))
        if not feasible(rows, 2, 3):
            continue
        tried += 1
        hits += run(database(rows), 2, 3, effort="thorough")[1] == optimum(rows, 2, 3)
    assert hits >= 20, f"optimal in only {hits} of 60"


@given(ROWS, st.integers(2, 4), st.integers(2, 4), st.integers(0, 5), st.randoms())
def test_any_groups_are_repaired(rows, k, p, rounds, draw):
    """Whatever the groups are at first, even the worst: all holders of a sensitive item together."""
    assume(feasible(rows, k, p))
    rows.sort(key=lambda row: ("x" in row, "y" in row), reverse=draw.random() < 0.5)
    data, count = database(rows), len(rows) // k
    groups = np.minimum(np.arange(len(rows)) // k, count - 1).astype(np.int32)
    found = diverse(data.quasi(), data.sensitive_part(), groups, k, p, rounds, Job(1))
    for g in range(found.max() + 1):
        members = [row for row, group in zip(rows, found, strict=True) if group == g]
        assert len(members) >= k
        assert keeps_the_share(members, p)


def test_groups_that_keep_the_share_by_themselves_stay_as_they_are():
    rng = np.random.default_rng(1)
    rows = [{*rng.choice(12, 4).tolist()} for _ in range(200)]
    data = Transactions.from_lists([*rows, ["x"]], sensitive=["x"])
    plain = crowd.run(data, Job(1), k=5, effort="usual")
    both = crowd.run(data, Job(1), k=5, effort="usual", diversity=2)
    assert both.release.transactions.same_sets(plain.release.transactions)


@pytest.fixture
def skewed():
    """Similar transactions share their sensitive items, so that groups of similar ones reveal them."""
    rng = np.random.default_rng(7)
    rows = []
    for i in range(900):
        kind = i % 9
        items = {int(v) for v in 20 * kind + rng.choice(20, 5, replace=False)}
        rows.append([*map(str, items), *(["x"] if kind == 0 and i % 2 else []), *(["y"] if kind in (1, 2) else [])])
    return Transactions.from_lists(rows, sensitive=SENSITIVE)


@pytest.mark.parametrize(("k", "p"), [(5, 2), (5, 4), (3, 4), (10, 3)])
def test_without_diversity_the_sensitive_item_is_revealed_and_with_it_not(skewed, k, p):
    plain = crowd.run(skewed, Job(1), k=k, effort="usual")
    assert not anonset.model("privacy-degree", p=p).check(plain.release).holds
    draft, loss = run(skewed, k, p, effort="usual")
    verdict = anonset.model("k-anonymity", k=k, diversity=p).check(draft.release)
    assert verdict.holds
    assert verdict.measured["k"] >= k
    assert verdict.measured["p"] >= p
    assert loss < skewed.quasi().nnz, "better than publishing nothing"


@pytest.mark.parametrize("dense", [True, False])
def test_the_same_for_any_number_of_threads(skewed, dense):
    data = (
        skewed
        if not dense
        else Transactions.from_lists(
            [
                [*map(str, np.random.default_rng(i).choice(30, 12, replace=False)), *(["x"] if i % 5 == 0 else [])]
                for i in range(600)
            ],
            sensitive=["x"],
        )
    )
    drafts = [crowd.run(data, Job(3, threads), k=4, effort="usual", diversity=4) for threads in (1, 2, 4)]
    assert len({draft.release.transactions.items.tobytes() for draft in drafts}) == 1


def test_the_verdict_is_both_and_fails_if_either_does():
    rows = [["a", "x"], ["a"], ["b"], ["b"], ["c", "x"], ["c", "x"], ["d"]]
    release = Release(Transactions.from_lists(rows, sensitive=["x"]))
    verdict = anonset.model("k-anonymity", k=2, diversity=2).check(release)
    assert not verdict.holds
    assert {witness.items for witness in verdict.witnesses} == {("d",), ("x",)}
    assert (verdict.measured["k"], verdict.measured["p"], verdict.measured["groups_below_p"]) == (1, 1, 1)
    assert (
        anonset.model("k-anonymity", k=2, diversity=2)
        .check(Release(Transactions.from_lists(rows[:4], sensitive=["x"])))
        .holds
    )


def test_certificate_and_file_hold_both_promises(skewed, tmp_path, capsys):
    from anonset.cli.base.outcome import run as command

    out = tmp_path / "out.csv"
    result = anonset.publish(skewed, anonset.Targets(out=out), method="crowd", k=5, diversity=4, seed=1)
    assert result.certificate.parameters == {"k": 5, "diversity": 4}
    assert "at least 5 transactions, and among those" in result.verdict.promise
    assert command(["verify", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["params"] == {"k": 5, "diversity": 4}
    assert answer["measured"]["p"] >= 4
    assert command(["verify", str(out), "-k", "5", "--diversity", "4", "--quiet"]) == 0
    assert command(["verify", str(out), "--model", "privacy-degree", "-p", "4", "--quiet"]) == 0
    assert command(["verify", str(out), "-k", "5", "--diversity", "400", "--quiet"]) == 3
    published = [(frozenset(row) - set(SENSITIVE), set(row) & set(SENSITIVE)) for row in anonset.read(out)]
    sizes = Counter(quasi for quasi, _ in published)
    for name in SENSITIVE:
        held = Counter(quasi for quasi, sensitive in published if name in sensitive)
        assert all(held[quasi] * 4 <= sizes[quasi] for quasi in held)


def test_what_cannot_be_is_refused_before_any_work_and_names_item_and_limit(skewed):
    job = Job(1)
    with pytest.raises(
        InfeasibleError, match=r"'diversity' must be at most 4, because 'y' occurs in 200 of 900 .*Got 5"
    ):
        crowd.run(skewed, job, k=5, effort="usual", diversity=5)
    assert job.seconds == {}
    with pytest.raises(ParameterError, match="'sensitive' must name an item of the data"):
        anonset.anonymize([["a"], ["b"]], method="crowd", k=2, diversity=2)
    with pytest.raises(ParameterError, match="'diversity' must be at least 2"):
        anonset.anonymize(skewed, method="crowd", k=2, diversity=1)
