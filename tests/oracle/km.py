"""k^m-anonymity as the paper writes it: plain Python, a count-tree that is really built, dictionaries and sets.

A hierarchy is a dictionary from each node to its parent; the root is "ALL" and has none.
"""

from itertools import combinations, product

ROOT = "ALL"


def path(node, parent):
    """The node and everything above it, up to the root."""
    nodes = [node]
    while nodes[-1] != ROOT:
        nodes.append(parent[nodes[-1]])
    return nodes


def leaves_below(node, parent):
    inner = set(parent.values())
    return {leaf for leaf in parent if leaf not in inner and node in path(leaf, parent)}


def related(a, b, parent):
    return a in path(b, parent) or b in path(a, parent)


def expand(transaction, parent):
    return {node for item in transaction for node in path(item, parent) if node != ROOT}


def count_tree(data, parent, sizes):
    """Algorithm 1: the support of every set of nodes, none above another, of these sizes."""
    tree = {}
    for transaction in data:
        nodes = sorted(expand(transaction, parent))
        for size in sizes:
            for itemset in combinations(nodes, size):
                if not any(related(a, b, parent) for a, b in combinations(itemset, 2)):
                    tree[frozenset(itemset)] = tree.get(frozenset(itemset), 0) + 1
    return tree


def item_order(data, parent, order):
    """Nodes by falling support; ties in the depth-first `order`."""
    tree = count_tree(data, parent, [1])
    present = [node for node in order if frozenset([node]) in tree]
    return sorted(present, key=lambda node: -tree[frozenset([node])])  # sorting is stable


def penalty(item, cut, parent):
    """NCP of one item (section 3.3)."""
    below = len(leaves_below(cut[item], parent))
    return below / len(leaves_below(ROOT, parent)) if below > 1 else 0


def ncp(data, cut, parent):
    occurrences = [item for transaction in data for item in transaction]
    return sum(penalty(item, cut, parent) for item in occurrences) / len(occurrences)


def raised(cut, nodes, parent):
    """The cut after these nodes are published for everything below them."""
    return {leaf: highest([at, *nodes], path(leaf, parent)) for leaf, at in cut.items()}


def highest(nodes, chain):
    """Of these nodes, the one furthest up the chain."""
    return max((node for node in nodes if node in chain), key=chain.index)


def generalised(node, cut, parent):
    """Whether something above the node is published instead of it."""
    for leaf, at in cut.items():
        chain = path(leaf, parent)
        if node in chain and chain.index(node) < chain.index(at):
            return True
    return False


def recode(data, cut):
    return [frozenset(cut[item] for item in transaction) for transaction in data]


def is_km_anonymous(published, k, m):
    counts = {}
    for transaction in published:
        for size in range(1, m + 1):
            for itemset in combinations(sorted(transaction), size):
                counts[itemset] = counts.get(itemset, 0) + 1
    return all(count >= k for count in counts.values())


def support(data, nodes, parent):
    return sum(all(node in expand(transaction, parent) or node == ROOT for node in nodes) for transaction in data)


def best_raise(data, itemset, cut, k, parent):
    """Of all ways to raise the nodes of a rare itemset that make it frequent, the one that loses least."""
    best = None
    chains = [path(node, parent) for node in itemset]
    for choice in product(*(range(len(chain)) for chain in chains)):
        if not any(choice):
            continue
        chosen = [chain[steps] for chain, steps in zip(chains, choice, strict=True)]
        if redundant(chosen, itemset, parent):
            continue
        top = {node for node in chosen if not any(node != other and other in path(node, parent) for other in chosen)}
        if support(data, top, parent) < k:
            continue
        rules = [node for node in top if node not in itemset]
        key = (round(ncp(data, raised(cut, rules, parent), parent), 12), sum(choice), choice)
        if best is None or key < best[0]:
            best = (key, rules)
    return best[1]


def redundant(chosen, itemset, parent):
    """Raising a node that another raised one swallows is the same as leaving it."""
    return any(
        node != start and any(node != other and other in path(node, parent) for other in chosen)
        for node, start in zip(chosen, itemset, strict=True)
    )


def walk(data, cut, k, sizes, parent, order):
    """Algorithm 3 on a count-tree of these sizes: in preorder, an itemset after the longer ones that begin with it."""
    tree = count_tree(data, parent, sizes)
    rank = {node: place for place, node in enumerate(item_order(data, parent, order))}
    paths = [tuple(sorted(itemset, key=rank.get)) for itemset in tree]
    end = len(rank)  # sorts after every node: longer paths come first
    for itemset in sorted(paths, key=lambda p: [rank[node] for node in p] + [end] * (max(sizes) - len(p))):
        if tree[frozenset(itemset)] < k and not any(generalised(node, cut, parent) for node in itemset):
            cut = raised(cut, best_raise(data, itemset, cut, k, parent), parent)
    return cut


def start(parent):
    return {leaf: leaf for leaf in leaves_below(ROOT, parent)}


def direct(data, k, m, parent, order):
    return walk(data, start(parent), k, range(1, m + 1), parent, order)


def apriori(data, k, m, parent, order):
    """Algorithm 4."""
    cut = start(parent)
    for size in range(1, m + 1):
        cut = walk(data, cut, k, [size], parent, order)
    return cut


def all_cuts(parent):
    """Every cut, as a dictionary from item to node."""

    def cuts_of(node):
        children = [child for child, up in parent.items() if up == node]
        if not children:
            return [{node: node}]
        whole = dict.fromkeys(leaves_below(node, parent), node)
        parts = [dict(item for part in combo for item in part.items()) for combo in product(*map(cuts_of, children))]
        return [whole, *parts]

    return cuts_of(ROOT)


def optimal(data, k, m, parent):
    """The lowest NCP of any safe cut, by looking at all of them."""
    return min(ncp(data, cut, parent) for cut in all_cuts(parent) if is_km_anonymous(recode(data, cut), k, m))
