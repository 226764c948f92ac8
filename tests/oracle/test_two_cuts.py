"""Two releases by different cuts, compared with pairing their transactions in every way that is possible."""

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anonset import InputError, Release, Transactions, read_hierarchy
from anonset.assess.two_cuts import together

LEAVES = "abcdef"
PATHS = {leaf: ("ALL", "XYZ"[i // 2], leaf) for i, leaf in enumerate(LEAVES)}
TREE = read_hierarchy({"item": list(LEAVES), "kind": [PATHS[leaf][1] for leaf in LEAVES]})
rows = st.frozensets(st.sampled_from(LEAVES), min_size=1, max_size=4)


@st.composite
def cuts(draw):
    """What each leaf is published as."""
    if draw(st.integers(0, 5)) == 0:
        return dict.fromkeys(LEAVES, "ALL")
    raised = draw(st.frozensets(st.sampled_from("XYZ")))
    return {leaf: PATHS[leaf][1] if PATHS[leaf][1] in raised else leaf for leaf in LEAVES}


def depth(node):
    return ["ALL", *"XYZ"].index(node) > 0 if node in ("ALL", *"XYZ") else 2


def release(people, cut):
    return Release(Transactions.from_lists([sorted({cut[leaf] for leaf in own}) for own in people]))


def pairings(old, new, one, two):
    """Every way to say which transaction of the new release is which of the old one, as far as somebody can tell."""
    coarser = {leaf: min(one[leaf], two[leaf], key=depth) for leaf in LEAVES}

    def joined(own, cut):
        return {coarser[leaf] for leaf in LEAVES if cut[leaf] in {cut[item] for item in own}}

    fit = [[joined(own, one) == joined(other, two) for other in new] for own in old]
    return [order for order in permutations(range(len(new)), len(old)) if all(map(list.__getitem__, fit, order))]


@settings(max_examples=60)
@given(st.lists(rows, min_size=2, max_size=5), st.lists(rows, max_size=1), cuts(), cuts(), st.integers(2, 4))
@pytest.mark.parametrize("m", [1, 2])
def test_candidates_left_equal_the_best_of_all_pairings(m, old, more, one, two, k):
    new = [*old, *more]
    ways = pairings(old, new, one, two)
    assert ways
    held = [{one[item] for item in own} for own in old]
    other = [{two[item] for item in own} for own in new]
    left = {}
    for known in (part for size in range(1, m + 1) for part in combinations(LEAVES, size)):
        finest = frozenset(max(one[leaf], two[leaf], key=depth) for leaf in known)
        mine, theirs = {one[leaf] for leaf in known}, {two[leaf] for leaf in known}
        left[finest] = max(
            sum(mine <= held[i] and theirs <= other[place] for i, place in enumerate(order)) for order in ways
        )
    there = [many for many in left.values() if many]
    found = together(release(new, two), release(old, one), k, m, TREE)
    assert found.compared == len(there)
    assert found.exposed == sum(many < k for many in there)
    assert found.fewest == min((many for many in there if many < k), default=0)
    assert found.size == m


def test_two_cuts_that_are_safe_alone_find_somebody_together():
    """Each release leaves two candidates; only one transaction is of kind X and of kind Y."""
    people = [{"a", "c"}, {"a", "d"}, {"b", "c"}, {"b", "d"}]
    one = dict(zip(LEAVES, "abYYZZ", strict=True))
    two = dict(zip(LEAVES, "XXcdZZ", strict=True))
    assert together(release(people, two), release(people, one), 2, 1, TREE).holds
    found = together(release(people[:3], two), release(people[:3], one), 2, 2, TREE)
    assert not found.holds
    assert found.fewest == 1


def test_what_is_no_cut_is_refused():
    whole = Release(Transactions.from_lists([["a", "X"], ["a", "X"]]))
    with pytest.raises(InputError, match="by a cut"):
        together(whole, whole, 2, 1, TREE)
    with pytest.raises(InputError, match="hierarchy"):
        together(Release(Transactions.from_lists([["wine"]] * 2)), whole, 2, 1, TREE)


def test_verify_tells_two_cuts_apart_that_are_unsafe_together(tmp_path, capsys):
    """Each file holds every two items twice or never; together, one basket at the most holds a as well as d."""
    from anonset.cli.base.outcome import run

    tree, old, new = (str(tmp_path / name) for name in ("tree.csv", "old.dat", "new.dat"))
    TREE.write(tree)
    for place, cut in ((old, "abYYef"), (new, "XXcdef")):
        shown = dict(zip(LEAVES, cut, strict=True))
        lines = (" ".join(sorted({shown[leaf] for leaf in own})) for own in ("ac", "bd", "ace", "ace", "bdf", "bdf"))
        (tmp_path / place).write_text("".join(f"{line}\n" for line in lines))
    asked = ["verify", new, "--model", "km-anonymity", "-k", "2", "-m", "2", "--previous", old]
    assert run(asked) == 0
    capsys.readouterr()
    assert run([*asked, "--hierarchy", tree]) == 3
    assert "fewer than 2 candidates are left in 2 (1 in the worst)" in " ".join(capsys.readouterr().out.split())
    assert run(["verify", new, "--model", "km-anonymity", "-k", "2", "-m", "2", "--hierarchy", tree]) == 2
    assert run(["verify", new, "-k", "2", "--previous", old, "--hierarchy", tree]) == 2
