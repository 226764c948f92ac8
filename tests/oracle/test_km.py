"""The k^m kernels and the check against plain Python that follows the paper line by line."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from anonset import _native
from anonset.assess.utility.ncp import ncp
from anonset.data.hierarchy import Cut, Hierarchy
from anonset.data.job import Job
from anonset.data.release import Release
from anonset.data.transactions import Transactions
from anonset.methods import km_apriori, km_direct, km_optimal, km_refine
from anonset.methods.steps.cuts import count_tree_size, domain
from anonset.models import km_anonymity
from tests.oracle import km as oracle


@st.composite
def problems(draw, most_items=7, most_rows=12):
    """Transactions and a hierarchy of up to three levels over their items in which every node branches."""
    shapes = [[2, 2], [3, 2], [2, 1, 2], [[2, 2], 2], [[2, 1], [2, 2]], [[2, 1, 1], 2], [4], [[3, 2], 1]]
    shape = draw(st.sampled_from([s for s in shapes if items_of(s) <= most_items]))
    items = [f"i{n}" for n in range(items_of(shape))]
    paths = [path for top, part in enumerate(shape) for path in paths_of(part, f"n{top}")]
    levels = [[path[depth] if depth < len(path) else "" for path in paths] for depth in range(2)]
    tree = Hierarchy.from_levels(items, levels)
    rows = st.lists(st.sets(st.sampled_from(items), max_size=5), min_size=1, max_size=most_rows)
    return [sorted(row) for row in draw(rows)], tree


def items_of(shape) -> int:
    return shape if isinstance(shape, int) else sum(map(items_of, shape))


def paths_of(shape, name):
    """The inner nodes above each item: a number is that many items below one node, or one item without a node."""
    if isinstance(shape, int):
        return [[name] if shape > 1 else []] * shape
    return [[name, *path] for part, inner in enumerate(shape) for path in paths_of(inner, f"{name}.{part}")]


def plain(tree: Hierarchy, data) -> tuple[dict[str, str], list[str]]:
    """The oracle's hierarchy: only nodes that make a difference to the items that occur, under their own names."""
    found = domain(Transactions.from_lists(data), tree)
    names = [str(tree.names[int(node)]) for node in found.node]
    names[0] = oracle.ROOT
    parent = {names[v]: names[found.parent[v]] for v in range(1, len(names))}
    return parent, names


def whole(tree: Hierarchy) -> dict[str, str]:
    names = [oracle.ROOT, *tree.names.to_pylist()[1:]]
    return {names[v]: names[tree.parent[v]] for v in range(1, len(names))}


def full(data, k):
    return sum(bool(row) for row in data) >= k


@given(problems(), st.integers(1, 4))
@settings(max_examples=40)
def test_counting_by_projection_finds_what_the_count_tree_holds(problem, m):
    rows, tree = problem
    data = Transactions.from_lists(rows)
    found = domain(data, tree)
    parent, names = plain(tree, rows)
    offsets, nodes, supports = _native.km_rare(*found.arrays, 10**6, m, False, 10**6, Job(seed=0).monitor)
    counted = {
        frozenset(names[v] for v in nodes[a:b]): int(s)
        for a, b, s in zip(offsets[:-1], offsets[1:], supports, strict=True)
    }
    assert counted == oracle.count_tree(rows, parent, range(1, m + 1))


@pytest.mark.parametrize(("method", "plain_method"), [(km_apriori, oracle.apriori), (km_direct, oracle.direct)])
@given(problem=problems(), k=st.integers(2, 4), m=st.integers(1, 3))
@settings(max_examples=40)
def test_the_greedy_methods_make_the_choices_of_the_paper(method, plain_method, problem, k, m):
    rows, tree = problem
    if not full(rows, k):
        return
    data = Transactions.from_lists(rows)
    parent, names = plain(tree, rows)
    if len(parent) < len(whole(tree)):
        return  # a node that changes nothing would let equal choices differ in name
    expected = plain_method(rows, k, m, parent, names[1:])
    cuts = {}
    for threads in (1, 2):
        draft = method.run(data, Job(seed=0, threads=threads), k=k, m=m, hierarchy=tree)
        root = str(tree.names[0])
        cuts[threads] = {item: oracle.ROOT if v == root else v for item, v in draft.cut.mapping().items()}
        assert draft.measurements["ncp"] == pytest.approx(oracle.ncp(rows, expected, parent))
    assert cuts[1] == cuts[2] == expected


@given(problem=problems(most_items=6, most_rows=9), k=st.integers(2, 3), m=st.integers(1, 3))
@settings(max_examples=40)
def test_the_optimum_is_the_best_of_all_cuts_and_the_others_are_safe(problem, k, m):
    rows, tree = problem
    if not full(rows, k):
        return
    data = Transactions.from_lists(rows)
    best = oracle.optimal(rows, k, m, whole(tree))
    for method in (km_optimal, km_apriori, km_direct):
        draft = method.run(data, Job(seed=0), k=k, m=m, hierarchy=tree)
        published = draft.release.transactions.to_lists()
        assert oracle.is_km_anonymous(published, k, m)
        if method is km_optimal:
            assert draft.measurements["ncp"] == pytest.approx(best)
            literal = method.run(data, Job(seed=0), k=k, m=m, hierarchy=tree, search="breadth-first")
            assert literal.measurements["ncp"] == pytest.approx(best)
            assert oracle.is_km_anonymous(literal.release.transactions.to_lists(), k, m)
            assert literal.measurements["cuts_examined"] <= len(oracle.all_cuts(plain(tree, rows)[0]))
        else:
            assert draft.measurements["ncp"] >= best - 1e-12


@given(problem=problems(most_items=6, most_rows=9), k=st.integers(2, 3), m=st.integers(1, 3))
@settings(max_examples=40)
def test_minimal_cuts_are_all_safe_cuts_that_no_safe_one_is_below(problem, k, m):
    rows, tree = problem
    assume(full(rows, k))
    parent, _ = plain(tree, rows)
    assume(len(parent) == len(whole(tree)))  # a node that changes nothing would make two cuts of one
    safe = [cut for cut in oracle.all_cuts(parent) if oracle.is_km_anonymous(oracle.recode(rows, cut), k, m)]

    def below(one, other):
        return one != other and all(other[item] in oracle.path(one[item], parent) for item in one)

    expected = [cut for cut in safe if not any(below(finer, cut) for finer in safe)]
    found = km_optimal.minimal_cuts(Transactions.from_lists(rows), k=k, m=m, hierarchy=tree)
    root = str(tree.names[0])
    cuts = [{item: oracle.ROOT if node == root else node for item, node in cut.mapping().items()} for cut, _ in found]
    assert sorted(map(str, map(sorted_items, cuts))) == sorted(map(str, map(sorted_items, expected)))
    losses = [loss for _, loss in found]
    assert losses == sorted(losses)
    assert losses[0] == pytest.approx(oracle.optimal(rows, k, m, parent))


def sorted_items(mapping):
    return sorted(mapping.items())


@given(problems(), st.integers(2, 4), st.integers(1, 3))
@settings(max_examples=40)
def test_count_trees_have_as_many_nodes_as_the_ones_that_are_really_built(problem, k, m):
    rows, tree = problem
    assume(full(rows, k))
    data = Transactions.from_lists(rows)
    parent, names = plain(tree, rows)
    found = domain(data, tree)
    assert count_tree_size(found, m, Job()) == len(oracle.count_tree(rows, parent, range(1, m + 1)))
    cut = np.full(len(found.node), -1, dtype=np.int32)
    if m > 1:
        cut = _native.km_greedy(*found.arrays, k, m - 1, True, 1, Job().monitor)
    covered = {names[v] for v in range(len(names)) if cut[v] not in (-1, v)}
    rank = {node: place for place, node in enumerate(oracle.item_order(rows, parent, names[1:]))}
    sets = [sorted(nodes, key=rank.get) for nodes in oracle.count_tree(rows, parent, [m]) if not nodes & covered]
    prefixes = {tuple(nodes[:size]) for nodes in sets for size in range(1, m + 1)}
    assert count_tree_size(found, m, Job(), cut) == len(prefixes)


@given(problem=problems(), k=st.integers(2, 4), m=st.integers(1, 4), budget=st.sampled_from([0.0, 0.1, 0.3, 1.0]))
@settings(max_examples=80)
def test_refining_is_safe_minimal_and_never_over_its_budget(problem, k, m, budget):
    rows, tree = problem
    if not full(rows, k):
        return
    data = Transactions.from_lists(rows)
    draft = km_refine.run(data, Job(seed=0), k=k, m=m, hierarchy=tree, suppress=budget)
    assert oracle.is_km_anonymous(draft.release.transactions.to_lists(), k, m)
    left_out = draft.measurements.get("items_left_out", 0)
    assert left_out <= budget * data.nnz
    whole_cut = km_refine.run(data, Job(seed=0), k=k, m=m, hierarchy=tree, suppress=0.0)
    assert draft.measurements["ncp"] <= whole_cut.measurements["ncp"] + 1e-12
    assert whole_cut.measurements["ncp"] == pytest.approx(oracle.optimal(rows, k, m, whole(tree)))
    assert draft.measurements["ncp"] == pytest.approx(loss_by_hand(rows, draft, whole(tree)))


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("share", [0.0, 0.02])
@pytest.mark.parametrize(("items", "length"), [(60, 4), (25, 9)])
def test_lists_and_bitmaps_find_the_same_cut_and_leave_out_the_same_items(items, length, share, m):
    lists, bitmaps = 1, 2
    rng = np.random.default_rng(items + m)
    likely = 1 / np.arange(1, items + 1)
    rows = [
        sorted({f"i{n}" for n in rng.choice(items, length, p=likely / likely.sum())}) for _ in range(60_000 // items)
    ]
    data = Transactions.from_lists(rows)
    found = domain(data, Hierarchy.from_levels(*levels_of(data)))
    budget = int(share * data.nnz)
    one, other = (
        _native.km_refine(*found.arrays, 3, m, budget, form, 1, Job(seed=0).monitor) for form in (lists, bitmaps)
    )
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
    assert len(set(one[0].tolist())) > 2
    assert (one[1] == 0).any() == (share > 0 and (items, m) in {(60, 2), (60, 3), (25, 3)})


def levels_of(data):
    """Three levels above the items: groups of 3, 6 and 24 by number."""
    number = [int(str(label)[1:]) for label in data.labels.to_pylist()]
    return data.labels, [[f"g{width}.{n // width}" for n in number] for width in (24, 6, 3)]


def loss_by_hand(rows, draft, parent) -> float:
    """NCP with every item that is gone from its transaction at the full penalty of 1."""
    root = str(draft.cut.hierarchy.names[0])
    mapping = {item: oracle.ROOT if node == root else node for item, node in draft.cut.mapping().items()}
    rows_after = draft.release.transactions.to_lists()
    published = [{oracle.ROOT if node == root else node for node in row} for row in rows_after]
    lost = [
        oracle.penalty(item, mapping, parent) if mapping[item] in after else 1
        for before, after in zip(rows, published, strict=True)
        for item in before
    ]
    return sum(lost) / len(lost)


@given(problem=problems(), k=st.integers(2, 3), m=st.integers(1, 3), data=st.data())
@settings(max_examples=40)
def test_every_cut_above_a_safe_one_is_safe_and_loses_no_less(problem, k, m, data):
    rows, tree = problem
    if not full(rows, k):
        return
    transactions = Transactions.from_lists(rows)
    cut = km_apriori.run(transactions, Job(seed=0), k=k, m=m, hierarchy=tree).cut
    nodes = data.draw(st.lists(st.integers(0, len(tree) - 1), max_size=3))
    higher = Cut(tree, np.minimum(cut.published, Cut.of_nodes(tree, nodes).published))
    assert km_anonymity.check(Release(higher.apply(transactions)), k, m).holds
    assert ncp(transactions, higher) >= ncp(transactions, cut) - 1e-12


@given(st.lists(st.sets(st.sampled_from("abcdef"), max_size=5), max_size=12), st.integers(2, 4), st.integers(1, 4))
def test_the_check_agrees_with_counting_every_subset(rows, k, m):
    verdict = km_anonymity.check(Release(Transactions.from_lists([sorted(row) for row in rows])), k, m)
    assert verdict.holds == oracle.is_km_anonymous(rows, k, m)
    strongest = verdict.measured["k"]
    if any(rows):
        assert oracle.is_km_anonymous(rows, strongest, m)
        assert strongest == len(rows) or not oracle.is_km_anonymous(rows, strongest + 1, m)
    safe = verdict.measured["m"]
    assert oracle.is_km_anonymous(rows, k, safe)
    longest = max(map(len, rows), default=0)
    if safe < longest and safe < m:
        assert not oracle.is_km_anonymous(rows, k, safe + 1)
    for witness in verdict.witnesses:
        assert sum(set(witness.items) <= row for row in rows) == witness.size < k
