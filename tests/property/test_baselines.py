"""What must hold for GSC and Gray-TSP whatever the data: sizes, threads, edges, refusals, the weaker promise."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anonset
from anonset import CancelledError, InfeasibleError, ParameterError, Transactions
from anonset.data.job import Job
from anonset.methods import gray_tsp, gsc

SETS = st.lists(st.frozensets(st.integers(0, 25), max_size=12), max_size=50)


@given(SETS, st.integers(2, 8), st.sampled_from(["gsc", "gray-tsp"]))
def test_a_release_is_k_anonymous_and_keeps_its_size(sets, k, method):
    if 0 < len(sets) < k:
        return
    own = {"population": 4, "generations": 3} if method == "gray-tsp" else {}
    result = anonset.anonymize(sets, method=method, k=k, seed=1, **own)
    assert result.verdict.holds
    assert np.array_equal(np.sort(result.row_origin), np.arange(len(sets)))


@given(st.integers(0, 500), st.integers(2, 40))
def test_runs_have_k_members_and_the_last_fewer_than_two_k(n, k):
    sizes = np.bincount(gsc.runs_of(n, k))
    if n < k:
        assert len(sizes) <= 1
        return
    assert sizes.sum() == n
    assert set(sizes[:-1]) <= {k}
    assert k <= sizes[-1] < 2 * k


@given(SETS, st.integers(2, 5))
def test_sensitive_only_promises_and_keeps_less(sets, k):
    if len(sets) < k or not any(0 in s for s in sets):
        return
    data = Transactions.from_lists(sets, labels=[str(i) for i in range(26)], sensitive=["0"])
    weak = anonset.anonymize(data, method="gsc", k=k, protect="sensitive-only", seed=1)
    strong = anonset.anonymize(data, method="gsc", k=k, seed=1)
    assert weak.verdict.holds
    assert weak.verdict.params == {"k": k, "protect": "sensitive-only"}
    assert weak.measurements["information_loss"] <= strong.measurements["information_loss"]
    sizes = {}
    for row in weak.release.transactions:
        sizes.setdefault(frozenset(row) - {"0"}, []).append("0" in row)
    assert all(len(held) >= k for held in sizes.values() if any(held))


def test_the_check_of_sensitive_only_can_fail_and_shows_whom():
    rows = [["a", "s"], ["a"], ["b"], ["c", "s"], ["d"]]
    data = Transactions.from_lists(rows, sensitive=["s"])
    verdict = anonset.model("k-anonymity", k=2, protect="sensitive-only").check(anonset.Release(data))
    assert not verdict.holds
    assert [(witness.items, witness.size) for witness in verdict.witnesses] == [(("c",), 1)]
    assert verdict.measured == {"k": 1, "groups": 2, "below_k": 1}


def test_the_file_of_a_weaker_promise_is_verified_by_that_promise_only(tmp_path, capsys):
    from anonset.cli.base.outcome import run

    rows = [[str(i % 7), str(7 + i % 5), *(["s"] if i < 4 else [])] for i in range(60)]
    data, out = Transactions.from_lists(rows, sensitive=["s"]), tmp_path / "out.dat"
    weak = anonset.Targets(out=out, accept="singling-out,inference")
    anonset.publish(data, weak, method="gsc", k=4, protect="sensitive-only", seed=1)
    assert run(["verify", str(out), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["params"] == {"k": 4, "protect": "sensitive-only"}
    assert "not protected" in answer["promise"]
    assert run(["verify", str(out), "-k", "4", "--protect", "all", "--quiet"]) == 3
    assert run(["verify", str(out), "-k", "4", "--protect", "sensitive-only", "--quiet"]) == 0


def test_sensitive_only_without_a_sensitive_item_is_refused():
    for data in ([["a"], ["b"]], Transactions.from_lists([["a"], ["b"]], labels=["a", "b", "s"], sensitive=["s"])):
        with pytest.raises(ParameterError, match="'sensitive' must name an item of the data"):
            anonset.anonymize(data, method="gsc", k=2, protect="sensitive-only")
    with pytest.raises(ParameterError, match="'sensitive' must name"):
        anonset.verify([["a"], ["b"]], k=2, protect="sensitive-only")


@pytest.mark.parametrize("method", ["gsc", "gray-tsp"])
def test_too_few_transactions_are_infeasible(method):
    with pytest.raises(InfeasibleError, match=r"'k' must be at most the number of transactions \(3\). Got 5"):
        anonset.anonymize([["a"], ["b"], ["c"]], method=method, k=5)


def tours(threads, data, seed=5):
    given = {"segments": 16, "item_order": "frequency", "revote": True, "population": 8, "generations": 20}
    return gray_tsp.run(data, Job(seed, threads), k=5, **given).release.transactions


def test_any_number_of_threads_gives_the_same_and_another_seed_does_not():
    rng = np.random.default_rng(2)
    rows = rng.random((1_600, 40)) < 0.9 / np.arange(1, 41)
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in rows], labels=[str(i) for i in range(40)])
    one, two, four, other = tours(1, data), tours(2, data), tours(4, data), tours(1, data, seed=6)
    assert one.same_sets(two)
    assert one.same_sets(four)
    assert not one.same_sets(other)


def test_breeding_can_be_stopped():
    rng = np.random.default_rng(0)
    rows = rng.random((3_000, 30)) < 0.3
    data = Transactions.from_lists([np.flatnonzero(row).tolist() for row in rows], labels=[str(i) for i in range(30)])
    job = Job(1)
    timer = threading.Timer(0.3, job.cancel)
    timer.start()
    given = {"segments": 30, "item_order": "given", "revote": True, "population": 200, "generations": 1_000_000}
    with pytest.raises(CancelledError):
        gray_tsp.run(data, job, k=5, **given)
    assert "tours" in job.seconds
