"""KAMP's own counting against the definitions, its output against the check, and what it says to bad input."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import anonset
from anonset import InfeasibleError, InputError, Job, ParameterError, Release, Transactions
from anonset.assess.utility.pattern_distance import pattern_distance
from anonset.data.errors import ExistsError
from anonset.generate import generate_quest
from anonset.methods import kamp as method
from anonset.methods.kamp import Goal, Rows, count_rare, group_by_similarity, repaired_table
from anonset.mining.itemsets import Patterns, frequent
from tests.oracle import kamp
from tests.oracle.kamp_phase_1 import Phase1

people = st.lists(
    st.tuples(st.sampled_from("uvwxyz"), st.sets(st.sampled_from("abcde"), max_size=4)), min_size=1, max_size=14
)
strategies = st.sampled_from(["joint", "greedy"])


def transactions(data: kamp.Owned) -> Transactions:
    return Transactions.from_lists([row for _, row in data], users=[user for user, _ in data])


@given(people, st.integers(2, 4), st.integers(1, 4), st.integers(1, 3))
def test_anonymity_degrees_are_those_of_the_definitions(data, k, most, support):
    rows, job, goal = Rows.of(transactions(data)), Job(), Goal(k, most, support)
    table = rows.mine(goal, job)
    every, rare = count_rare(table, goal, job)
    expected = kamp.degrees(kamp.table(data, support), most)
    for size in range(1, most + 1):
        degrees = [degree for members, degree in expected.items() if len(members) == size]
        assert every[size - 1] == len(degrees)
        assert rare[size - 1] == sum(degree < k for degree in degrees)
    users = sorted({user for user, _ in data})
    assert [{frozenset(p) for p in table.of(i)} for i in range(len(users))] == [
        kamp.table(data, support)[user] for user in users
    ]


@given(
    people, st.integers(2, 4), st.integers(1, 4), st.integers(1, 3), st.sampled_from(["joint", "greedy", "suppress"])
)
def test_phase_1_leaves_no_rare_combination_in_the_table(data, k, most, support, repair):
    rows, job, goal = Rows.of(transactions(data)), Job(), Goal(k, most, support)
    patterns = rows.mine(goal, job).patterns
    new = repaired_table(rows, patterns, goal, repair, job)
    for offsets, held in (new.printed, new.target):
        table = {str(u): kamp.maximal(sets) for u, sets in enumerate(contents(patterns, offsets, held))}
        assert all(degree >= k for degree in kamp.degrees(table, most).values())
    assert len(new.target[0]) - 1 == rows.users
    assert len(new.printed[0]) - 1 <= (11 if repair == "greedy" else 1) * rows.users


def contents(patterns: Patterns, offsets: np.ndarray, held: np.ndarray) -> list[set[frozenset[str]]]:
    """The patterns of each user as sets of labels."""
    sets = [frozenset(items) for items, _ in patterns]
    return [{sets[p] for p in held[start:end]} for start, end in pairwise(offsets)]


@settings(max_examples=300)
@given(people, st.integers(2, 4), st.integers(1, 3), st.integers(1, 3))
def test_greedy_is_the_printed_algorithm(data, k, most, support):
    rows, job, goal = Rows.of(transactions(data)), Job(), Goal(k, most, support)
    patterns = rows.mine(goal, job).patterns
    owned = [[frozenset(row) for user, row in data if user == name] for name in sorted({user for user, _ in data})]
    naive = Phase1(owned, [frozenset(items) for items, _ in patterns], support, k, most)
    expected = naive.run()
    assume(not any(naive.rare(m) for m in range(1, most + 1)))  # what is left then is suppressed, which is ours
    assert contents(patterns, *repaired_table(rows, patterns, goal, "greedy", job).printed) == expected


@settings(max_examples=150)
@given(people, st.integers(2, 6), st.integers(1, 4), st.integers(1, 4), strategies)
def test_the_output_verifies_for_random_data(data, k, most, support, strategy):
    users, support = len({user for user, _ in data}), min(support, len(data))
    if k > users:
        with pytest.raises(InfeasibleError, match="'k' must be at most the number of users"):
            anonset.anonymize(transactions(data), method="kamp", k=k, combinations=most, support=support)
        return
    result = anonset.anonymize(
        transactions(data), method="kamp", k=k, combinations=most, support=support, strategy=strategy, seed=1
    )
    out = result.release.transactions
    names = out.user_labels.to_pylist()
    owned = [(names[user], set(row)) for user, row in zip(out.users, out, strict=True)]
    assert all(degree >= k for degree in kamp.degrees(kamp.table(owned, support), most).values())
    assert len(names) == users
    check_figures(data, result)


def check_figures(data: kamp.Owned, result: anonset.Result) -> None:
    """The private figures, counted plainly."""
    out, figures = result.release.transactions, result.measurements
    rows = [set(row) for row in out]
    assert sorted(result.row_origin.tolist()) == list(range(len(data))), "nothing is invented, nothing left out"
    origin = [data[i] for i in result.row_origin.tolist()]
    assert figures["transactions_changed"] == sum(row != old for row, (_, old) in zip(rows, origin, strict=True))
    support = result.params["support"]
    pseudonyms = {user: str(code) for (user, _), code in zip(origin, out.users, strict=True)}
    owned = [(str(user), row) for user, row in zip(out.users, rows, strict=True)]
    before, after = kamp.table(data, support), kamp.table(owned, support)
    pairs = [(before[user], after[pseudonyms[user]]) for user in sorted(before)]
    distances = [kamp.pattern_distance(*pair) for pair in pairs]
    assert figures["pattern_distance"] == pytest.approx(np.mean(distances))
    assert figures["empty_distance"] == pytest.approx(np.mean([kamp.pattern_distance(old, set()) for old, _ in pairs]))
    kept = [any(p <= q for q in new) for old, new in pairs for p in old]
    assert figures["patterns_kept"] == pytest.approx(np.mean(kept) if kept else 1)
    measured = pattern_distance(transactions(data), result.release, result.row_origin, support)
    assert measured.per_user.tolist() == distances
    assert (measured.kept, measured.empty) == (figures["patterns_kept"], figures["empty_distance"])
    check_phase_1(before, result)


def check_phase_1(before: dict[str, set[kamp.Itemset]], result: anonset.Result) -> None:
    """The pattern table names everybody's patterns, and its distance is the one that is measured."""
    table, users = result.patterns, sorted(before)
    assert table.users.to_pylist()[: len(users)] == users
    assert len(table) - len(users) == result.measurements["phase_1_virtual_users"]
    sides = [[{frozenset(p) for p in side} for side in table.of(u)] for u in range(len(users))]
    assert [old for old, _ in sides] == [before[user] for user in users]
    distance = np.mean([kamp.pattern_distance(old, new) for old, new in sides])
    assert result.measurements["phase_1_distance"] == pytest.approx(distance)


@pytest.mark.parametrize(("strategy", "support"), [("joint", 0.02), ("joint", 0.05), ("greedy", 0.08)])
def test_generated_data_of_some_size_verify(strategy, support):
    data = group_by_similarity(generate_quest(2000, items=60, patterns=30, mean_length=4, seed=3), 200, Job())
    result = anonset.anonymize(data, method="kamp", k=10, combinations=3, support=support, strategy=strategy, seed=1)
    assert result.verdict.measured["k"] >= 10
    assert result.verdict == anonset.verify(result.release, "multi-pattern", **result.verdict.params)


def test_joint_repair_loses_less_than_the_greedy_one(real_data):
    data = group_by_similarity(anonset.read(real_data("BMS-WebView-1.dat.gz")), 5000, Job())
    goal = {"method": "kamp", "k": 20, "combinations": 3, "support": 0.02, "seed": 1}
    greedy, joint = (anonset.anonymize(data, **goal, strategy=name).measurements for name in ("greedy", "joint"))
    assert 0 < joint["pattern_distance"] <= 0.0211 < greedy["pattern_distance"] < greedy["empty_distance"]
    assert joint["patterns_kept"] > 0.95


def test_suppression_alone_ends_and_adds_nothing(monkeypatch):
    monkeypatch.setattr(method, "ROUNDS", 0)
    data = group_by_similarity(generate_quest(1000, items=40, patterns=20, mean_length=4, seed=4), 100, Job())
    result = anonset.anonymize(data, method="kamp", k=10, combinations=2, support=0.05, seed=1)
    assert result.measurements["items_added"] == 0
    assert result.measurements["items_removed"] > 0


def test_a_fraction_is_one_of_the_original_transactions_and_is_published_as_a_count(tmp_path):
    """The certificate's σ is a number: what a method adds or a reader leaves out cannot change it."""
    data = group_by_similarity(generate_quest(1000, items=40, patterns=20, mean_length=4, seed=4), 100, Job())
    out = tmp_path / "release.csv"
    goal = {"method": "kamp", "k": 5, "combinations": 2, "strategy": "greedy", "seed": 1}
    result = anonset.publish(data, anonset.Targets(out=out), **goal, support=0.0501)
    assert result.params["support"] == result.verdict.params["support"] == 51
    assert result.certificate.parameters["support"] == result.certificate.measured["support"] == 51
    assert "support 51)" in result.certificate.promise
    by_count = anonset.anonymize(data, **goal, support=51)
    assert by_count.release.transactions.items.tolist() == result.release.transactions.items.tolist()


def test_synthetic_users_are_similar_transactions_and_marked_as_synthetic():
    rows = [["a", "b"], ["x"], ["a", "b", "c"], ["x", "y"], ["a"], ["x"]]
    data = Transactions.from_lists(rows)
    assert group_by_similarity(data, 2, Job()).users.tolist() == [0, 1, 0, 1, 0, 1]
    result = anonset.anonymize(data, method="kamp", k=2, support=2, users_by_similarity=3, seed=1)
    assert any("3 users are synthetic" in note for note in result.notes)
    assert result.public_notes == tuple(note for note in result.notes if "synthetic" in note)
    assert len(result.release.transactions.user_labels) >= 3


@given(st.lists(st.sets(st.sampled_from("abcdef")), min_size=1, max_size=30), st.data())
def test_groups_of_similar_transactions_have_equal_sizes(rows, draw):
    users = draw.draw(st.integers(1, len(rows)))
    sizes = np.bincount(group_by_similarity(Transactions.from_lists(rows), users, Job()).users, minlength=users)
    assert sizes.max() - sizes.min() <= 1


def padded() -> Transactions:
    """150 users for whom the paper's phase 1 asks for many virtual ones."""
    return group_by_similarity(generate_quest(600, items=60, patterns=30, mean_length=5, seed=2), 150, Job())


@pytest.mark.parametrize("strategy", ["greedy", "joint"])
def test_the_release_has_the_users_and_transactions_of_the_original(strategy):
    """Padding is bounded: there is none, even where the paper's algorithm asks for virtual users."""
    result = anonset.anonymize(padded(), method="kamp", k=5, combinations=3, support=30, strategy=strategy, seed=1)
    assert len(result.release) == 600
    assert len(result.release.transactions.user_labels) == 150
    assert sorted(result.row_origin.tolist()) == list(range(600))
    virtual = result.measurements["phase_1_virtual_users"]
    assert 0 < virtual <= 1500 if strategy == "greedy" else virtual == 0


@pytest.mark.parametrize("strategy", ["greedy", "joint"])
def test_subtracting_users_made_of_patterns_alone_finds_no_more_than_before(strategy):
    """The attack: leave out users whose every transaction is one pattern and nothing else, then count again.

    Invented users would be among them. Here they are users who were like that before, and lost no item for it.
    """
    data = padded()
    result = anonset.anonymize(data, method="kamp", k=5, combinations=3, support=30, strategy=strategy, seed=1)
    out = result.release.transactions
    alone = {frozenset(items) for items, _ in frequent(out, 30)}
    others = {u for u, row in zip(out.users.tolist(), out, strict=True) if frozenset(row) not in alone}
    suspects = set(out.users.tolist()) - others
    real = {u for u, origin in zip(out.users.tolist(), result.row_origin, strict=True) if origin >= 0}
    assert suspects <= real
    assert {int(data.users[o]) for o in result.row_origin} == set(range(150))


def test_the_pattern_table_is_a_private_file_in_the_plan_of_outputs(tmp_path):
    rows, users = [["a"], ["b"], ["a"], ["b"], ["a"], ["b"]], ["u", "u", "v", "w", "x", "x"]
    data = Transactions.from_lists(rows, users=users)
    given = {"method": "kamp", "k": 3, "combinations": 2, "support": 2, "strategy": "greedy", "seed": 1}
    file = tmp_path / "patterns.csv"
    result = anonset.publish(data, anonset.Targets(write_patterns=file), **given)
    assert file.stat().st_mode & 0o777 == 0o600
    lines = file.read_text().splitlines()
    assert lines[0].replace('"', "") == "user,pattern,item,change"
    assert len(lines) - 1 == result.patterns.to_table().num_rows >= 6
    with pytest.raises(ExistsError):
        anonset.publish(data, anonset.Targets(write_patterns=file), **given)
    with pytest.raises(InputError, match="'write_patterns' must be another file than 'out'"):
        anonset.publish(data, anonset.Targets(out=tmp_path / "x.csv", write_patterns=tmp_path / "x.csv"), **given)
    with pytest.raises(InputError, match="'write_patterns' is for methods that rewrite"):
        anonset.publish(data, anonset.Targets(write_patterns=tmp_path / "y.csv"), k=2)


BAD = [
    ({"k": 4}, InfeasibleError, r"'k' must be at most the number of users \(3\)"),
    ({"support": 7}, ParameterError, r"'support' must be at most the number of transactions \(6\)"),
    ({"combinations": 0}, ParameterError, "'combinations' must be at least 1"),
    ({"k": 1}, ParameterError, "'k' must be at least 2"),
    ({"support": None}, ParameterError, "'support' must be given"),
    ({"strategy": "joined"}, ParameterError, "Did you mean joint"),
]


@pytest.mark.parametrize(("wrong", "error", "message"), BAD)
def test_bad_parameters_are_refused(wrong, error, message):
    data = Transactions.from_lists([["a"], ["b"]] * 3, users=["u", "v", "w"] * 2)
    with pytest.raises(error, match=message):
        anonset.anonymize(data, method="kamp", **{"k": 2, "support": 2, **wrong})


def test_data_without_users_are_refused_with_advice():
    with pytest.raises(ParameterError, match=r"'user' must .* 'users_by_similarity'"):
        anonset.anonymize([["a"], ["a"]], method="kamp", k=2, support=1)
    with pytest.raises(ParameterError, match="'users_by_similarity' must be at most"):
        anonset.anonymize([["a"], ["a"]], method="kamp", k=2, support=1, users_by_similarity=3)


def test_an_absurd_number_of_combinations_is_refused_with_advice():
    rows = [[str(i)] for _ in range(3) for i in range(70)]
    data = Transactions.from_lists(rows, users=[user for user in "uvw" for _ in range(70)])
    with pytest.raises(ParameterError, match=r"'combinations' must leave at most 50,000,000 .* Choose at most 5"):
        anonset.anonymize(data, method="kamp", k=2, combinations=10, support=2)


def test_the_number_of_combinations_is_said_before_the_work_starts():
    said = []
    data = Transactions.from_lists([["a"], ["b"], ["a"], ["c"], ["b"], ["c"]], users=["u", "u", "v", "v", "w", "w"])
    job = Job(1, progress=lambda stage, done, total: said.append(stage), tell=said.append)
    anonset.anonymize(data, method="kamp", k=2, support=2, job=job)
    sentence = next(word for word in said if "combinations of up to 2" in word)
    assert "at most 6 combinations" in sentence
    assert said.index(sentence) < said.index("rewrite patterns")


def test_pattern_distance_needs_users_on_both_sides():
    data = Transactions.from_lists([["a"]], users=["u"])
    with pytest.raises(ParameterError, match="'users' must be known before and after"):
        pattern_distance(data, Release(Transactions.from_lists([["a"]])), np.arange(1), 1)
