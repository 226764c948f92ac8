"""The paper's example: fourteen users, k = 3, M = 3, σ = 2 (Fig. 1, as its text settles it), and its pattern distance.

Each letter is a maximal pattern of one item. The text gives supp(u4, F) = 3 and 1 for the others it names.
"""

import numpy as np
import pytest

import anonset
from anonset import Job, Transactions
from anonset.methods.kamp import Goal, Rows, count_rare, repaired_table
from anonset.mining.distance import between
from anonset.mining.itemsets import Patterns, UserPatterns

BEFORE = "DEF ABC ABD BDEF BDE EF ABC DEF AC BDE BE AD DEF AD".split()
AFTER = "DEF ABC AD DEF BDE EF ABC DEF ABC BDE BDE AD DEF AD".split()
GOAL = Goal(k=3, most=3, support=2)


@pytest.fixture
def fourteen() -> Transactions:
    rows = [(f"u{i + 1}", letter) for i, letters in enumerate(BEFORE) for letter in letters]
    rows += [("u4", "F")] * 2
    return Transactions.from_lists([[letter] for _, letter in rows], users=[user for user, _ in rows])


def user_codes(data: Transactions) -> list[int]:
    names = data.user_labels.to_pylist()
    return [names.index(f"u{i + 1}") for i in range(14)]


def test_phase_1_changes_exactly_the_four_users_of_the_text(fourteen):
    rows, job = Rows.of(fourteen), Job()
    before = rows.mine(GOAL, job)
    names = ["".join(items) for items, _ in before.patterns]
    assert names == list("ABCDEF")
    offsets, held = repaired_table(rows, before.patterns, GOAL, "greedy", job).printed
    assert len(offsets) - 1 == 14, "no virtual user is needed"
    found = ["".join(names[p] for p in held[offsets[u] : offsets[u + 1]]) for u in user_codes(fourteen)]
    assert found == AFTER


def test_only_the_combinations_of_the_text_are_rare_before(fourteen):
    rows, job = Rows.of(fourteen), Job()
    _, rare = count_rare(rows.mine(GOAL, job), GOAL, job)
    # {B, C} and {B, F}; {A, B, C}, {A, B, D}, {B, D, F} and {B, E, F}. {B, D, E} has three users while u4 still has B.
    assert rare.tolist() == [0, 2, 4]


def test_both_phases_publish_those_patterns(fourteen):
    result = anonset.anonymize(fourteen, method="kamp", k=3, combinations=3, support=2, strategy="greedy", seed=1)
    assert result.verdict.holds
    assert result.measurements["phase_1_virtual_users"] == 0
    assert result.measurements["phase_1_distance"] == result.measurements["pattern_distance"] == pytest.approx(8 / 14)
    assert ["".join(letter for (letter,) in result.patterns.of(u)[1]) for u in user_codes(fourteen)] == AFTER
    owner = fourteen.users[result.row_origin]
    out = result.release.transactions
    table = {u: {item for row, who in enumerate(owner) if who == u for item in out[row]} for u in user_codes(fourteen)}
    assert ["".join(sorted(table[u])) for u in user_codes(fourteen)] == AFTER


def test_the_pattern_distance_of_the_example_is_five():
    """P = {i0}, {i1 i2}, {i2 i3}; P′ = {i0}, {i1 i2}, {i4 i5}."""
    sets = [[0], [1, 2], [2, 3], [4, 5]]
    offsets = np.cumsum([0, *map(len, sets)])
    patterns = Patterns(offsets, np.concatenate(sets).astype(np.int32), np.ones(4, dtype=np.int64), None, 1)

    def one_user(*held: int) -> UserPatterns:
        ids = np.array(held, dtype=np.int32)
        return UserPatterns(
            patterns, np.array([0, len(ids)]), ids, np.ones(len(ids), dtype=np.int64), np.ones(len(ids), dtype=bool)
        )

    assert between(one_user(0, 1, 2), one_user(0, 1, 3)).per_user.tolist() == [5]
    assert between(one_user(0, 1, 2), one_user(0, 1, 2)).average == 0
