"""KAMP's own counting against the definitions, its output against the check, and what it says to bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import InfeasibleError, Job, ParameterError, Release, Transactions
from anonset.assess.utility.pattern_distance import pattern_distance
from anonset.generate import generate_quest
from anonset.methods import kamp as method
from anonset.methods.kamp import Goal, Rows, count_rare, group_by_similarity, new_table
from tests.oracle import kamp

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
    offsets, held = new_table(rows, patterns, goal, repair, job)
    sets = [frozenset(items) for items, _ in patterns]
    table = {str(u): kamp.maximal(sets[p] for p in held[offsets[u] : offsets[u + 1]]) for u in range(len(offsets) - 1)}
    assert all(degree >= k for degree in kamp.degrees(table, most).values())
    if repair == "suppress":
        assert len(table) == rows.users


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
    assert len(names) == users + result.measurements["virtual_users"]
    check_figures(data, result)


def check_figures(data: kamp.Owned, result: anonset.Result) -> None:
    """The private figures, counted plainly."""
    out, figures = result.release.transactions, result.measurements
    rows = [set(row) for row in out]
    real = [(int(origin), row) for origin, row in zip(result.row_origin, rows, strict=True) if origin >= 0]
    assert figures["transactions_changed"] == sum(row != data[origin][1] for origin, row in real)
    assert figures["transactions_added"] == len(rows) - len(data)
    support = result.params["support"]
    pseudonyms = {
        user: name for (user, _), name in zip(((data[o][0], o) for o, _ in real), real_names(result), strict=True)
    }
    owned = [(str(user), row) for user, row in zip(out.users, rows, strict=True)]
    before, after = kamp.table(data, support), kamp.table(owned, support)
    distances = [kamp.pattern_distance(before[user], after[pseudonyms[user]]) for user in sorted(before)]
    assert figures["pattern_distance"] == pytest.approx(np.mean(distances))
    measured = pattern_distance(transactions(data), result.release, result.row_origin, support)
    assert measured.per_user.tolist() == distances
    assert measured.virtual_users == figures["virtual_users"]


def real_names(result: anonset.Result) -> list[str]:
    users = result.release.transactions.users
    return [str(user) for user, origin in zip(users, result.row_origin, strict=True) if origin >= 0]


@pytest.mark.parametrize(("strategy", "support"), [("joint", 0.02), ("joint", 0.05), ("greedy", 0.08)])
def test_generated_data_of_some_size_verify(strategy, support):
    data = group_by_similarity(generate_quest(2000, items=60, patterns=30, mean_length=4, seed=3), 200, Job())
    result = anonset.anonymize(data, method="kamp", k=10, combinations=3, support=support, strategy=strategy, seed=1)
    assert result.verdict.measured["k"] >= 10
    assert result.verdict == anonset.verify(result.release, "multi-pattern", **result.verdict.params)


def test_joint_repair_loses_much_less_than_the_greedy_one(real_data):
    data = group_by_similarity(anonset.read(real_data("BMS-WebView-1.dat.gz")), 5000, Job())
    goal = {"method": "kamp", "k": 20, "combinations": 3, "support": 0.02, "seed": 1}
    greedy, joint = (anonset.anonymize(data, **goal, strategy=name).measurements for name in ("greedy", "joint"))
    assert 0 < 5 * joint["pattern_distance"] < greedy["pattern_distance"]
    assert joint["virtual_users"] == 0


def test_suppression_alone_ends_and_adds_nothing(monkeypatch):
    monkeypatch.setattr(method, "ROUNDS", 0)
    data = group_by_similarity(generate_quest(1000, items=40, patterns=20, mean_length=4, seed=4), 100, Job())
    result = anonset.anonymize(data, method="kamp", k=10, combinations=2, support=0.05, seed=1)
    assert result.measurements["transactions_added"] == 0
    assert result.measurements["items_added"] == 0
    assert result.measurements["items_removed"] > 0


def test_a_fraction_is_one_of_the_original_transactions_and_is_published_as_a_count(tmp_path):
    """The certificate's σ is a number: what a method adds or a reader leaves out cannot change it."""
    data = group_by_similarity(generate_quest(1000, items=40, patterns=20, mean_length=4, seed=4), 100, Job())
    out = tmp_path / "release.csv"
    goal = {"method": "kamp", "k": 5, "combinations": 2, "strategy": "greedy", "seed": 1}
    result = anonset.anonymize(data, **goal, support=0.0501, out=out)
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


def test_invented_users_and_transactions_look_like_the_others():
    """Six users with one habit each, k = 3: nothing in the release tells who is real."""
    rows = [["a"], ["b"]] * 3 + [["a"], ["b"]]
    data = Transactions.from_lists(rows, users=["1", "1", "2", "2", "3", "4", "5", "6"])
    result = anonset.anonymize(data, method="kamp", k=3, combinations=2, support=2, strategy="greedy", seed=1)
    names = result.release.transactions.user_labels.to_pylist()
    assert sorted(names) == sorted(f"u{i + 1}" for i in range(len(names)))


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
    with pytest.raises(ParameterError, match=r"'users' must .* users_by_similarity"):
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
