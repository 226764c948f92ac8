"""Top-down local generalisation by plain sets, word for word as it is described; ties go to what comes first."""

from __future__ import annotations


def parts_of(rows, children, leaves, k, users=None):
    """Parts of row numbers, each with the nodes that all of its rows publish.

    `children[v]` are a node's children in order, `leaves[v]` the items below it; the root is 0.
    """
    total = len(leaves[0])
    done, waiting = [], [(list(range(len(rows))), frozenset([0]))]
    while waiting:
        part, nodes = waiting.pop()
        found = specialised(part, nodes, rows, children, leaves, k, total, users or range(len(rows)))
        if found is None:
            done.append((part, nodes))
        else:
            waiting += found
    return done


def penalty(node, children, leaves, total):
    return len(leaves[node]) / total if children[node] else 0.0


def saved(row, node, children, leaves, total):
    """By how much NCP falls for a row if a node is replaced by its children."""
    return sum(
        penalty(node, children, leaves, total) - penalty(child, children, leaves, total)
        for child in children[node]
        for _ in row & leaves[child]
    )


def support(members, users):
    """How many different users have these transactions."""
    return len({users[row] for row in members})


def specialised(part, nodes, rows, children, leaves, k, total, users):
    """The sub-parts by the best node that can be specialised; None where none can."""
    gain = {v: sum(saved(rows[r], v, children, leaves, total) for r in part) for v in nodes if children[v]}
    for node in sorted(gain, key=lambda v: (-round(gain[v], 9), v)):
        holders = {}
        for row in part:
            holders.setdefault(tuple(c for c in children[node] if rows[row] & leaves[c]), []).append(row)
        kept = {held: members for held, members in sorted(holders.items()) if support(members, users) >= k}
        left = [row for row in part if not any(row in members for members in kept.values())]
        if not kept:
            continue
        if left:
            members = [(row, held) for held, these in kept.items() for row in these]
            order = [(round(saved(rows[row], node, children, leaves, total), 9), row, held) for row, held in members]
            for _, row, held in sorted(order):
                enough = support([other for other in kept[held] if other != row], users) >= k
                if support(left, users) < k and enough and users[row] not in {users[other] for other in left}:
                    kept[held].remove(row)
                    left.append(row)
            if support(left, users) < k:
                continue
        found = [(members, nodes - {node} | set(held)) for held, members in kept.items()]
        return found + ([(sorted(left), nodes)] if left else [])
    return None
