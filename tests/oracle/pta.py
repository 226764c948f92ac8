"""PTA as the paper prints it, in plain Python on sets, to be read beside its Algorithms 1, 2 and 3.

Departures (the paper contradicts itself there): the distance is added before Star or Dest moves, the loop's length
has its closing edge, and leftovers look for the nearest center among the groups made, not among the empty MG.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import inf

Items = frozenset[int]


def gray_rank(items: Items, domain: int) -> int:
    """The rank of a bitmap among all Gray code words, item 0 its most significant bit."""
    rank, bit = 0, 0
    for position in range(domain):
        bit ^= position in items
        rank = 2 * rank + bit
    return rank


def hd(a: Items, b: Items) -> int:
    return len(a ^ b)


def prim_tsp(segment: list[Items]) -> tuple[list[int], int]:
    """Algorithm 1 for one segment: the best loop (positions in the segment) and its length."""
    best: tuple[list[int], float] = ([], inf)
    for start in range(len(segment)):
        loop, length = loop_from(start, segment)
        if length < best[1]:
            best = (loop, length)
    return best[0], int(best[1])


def loop_from(start: int, segment: list[Items]) -> tuple[list[int], int]:
    """Lines 5 to 24: the loop that grows from `start` at both ends."""
    unvisited = [v for v in range(len(segment)) if v != start]
    star_side: list[int] = []
    dest_side: list[int] = []
    star = dest = start
    length = 0
    while unvisited:
        to_star, near_star = min((hd(segment[star], segment[v]), v) for v in unvisited)
        to_dest, near_dest = min(
            ((hd(segment[dest], segment[v]), v) for v in unvisited if v != near_star), default=(inf, -1)
        )
        if to_star > to_dest:
            length += int(to_dest)
            dest = near_dest
            dest_side.append(dest)
            unvisited.remove(dest)
        else:
            length += to_star
            star = near_star
            star_side.append(star)
            unvisited.remove(star)
    return [start, *dest_side, *reversed(star_side)], length + hd(segment[star], segment[dest])


@dataclass
class Group:
    tids: list[int]
    center: Items
    loss: int


def majority(members: list[Items]) -> Items:
    """The items of more than half of the members."""
    every = frozenset().union(*members)
    return frozenset(i for i in every if sum(i in member for member in members) > len(members) / 2)


def window(i: int, loop: list[int], data: list[Items], k: int) -> list[int]:
    """Algorithm 2, lines 3 to 14: the k transactions around position i."""

    def v(j: int) -> int:
        return loop[j % len(loop)]

    reach = k // 2
    tids = [v(j) for j in range(i - (reach - 1), i + reach)]
    if k % 2 == 1:
        return [*tids, v(i - reach), v(i + reach)]
    if hd(data[v(i - reach)], data[v(i)]) < hd(data[v(i + reach)], data[v(i)]):
        return [*tids, v(i - reach)]
    return [*tids, v(i + reach)]


def map_and_vote(loop: list[int], data: list[Items], k: int) -> list[Group]:
    """Algorithm 2: the candidate group around every node of the loop."""
    candidates = []
    for i in range(len(loop)):
        tids = window(i, loop, data, k)
        center = majority([data[t] for t in tids])
        candidates.append(Group(tids, center, sum(hd(data[t], center) for t in tids)))
    return candidates


def classes(loop: list[int], data: list[Items], k: int) -> tuple[list[Group], set[int]]:
    """Algorithm 3, lines 3 to 15: the groups of one loop, and the transactions that joined as leftovers."""
    candidates = map_and_vote(loop, data, k)
    chosen: list[Group] = []
    while candidates:
        best = min(candidates, key=lambda group: group.loss)
        chosen.append(best)
        candidates = [group for group in candidates if not set(group.tids) & set(best.tids)]
    grouped = {t for group in chosen for t in group.tids}
    left = [t for t in loop if t not in grouped]
    for t in left:
        nearest = min(chosen, key=lambda group: hd(group.center, data[t]))
        nearest.tids.append(t)
        nearest.loss += hd(nearest.center, data[t])
    return chosen, set(left)


def segments_of(ordering: list[int], k: int, segments: int) -> list[list[int]]:
    """Segments whose sizes differ by at most one, the larger ones first, none below k."""
    parts = max(1, min(segments, len(ordering) // k))
    size, more = divmod(len(ordering), parts)
    bounds = [i * size + min(i, more) for i in range(parts + 1)]
    return [ordering[a:b] for a, b in pairwise(bounds)]


def item_positions(data: list[Items], domain: int, item_order: str) -> list[int]:
    """Where each item stands in the bitmap."""
    order = list(range(domain))
    if item_order == "frequency":
        order.sort(key=lambda item: -sum(item in items for items in data))
    return [order.index(item) for item in range(domain)]


def gray_order(data: list[Items], domain: int, item_order: str) -> list[int]:
    place = item_positions(data, domain, item_order)
    return sorted(range(len(data)), key=lambda t: gray_rank(frozenset(place[i] for i in data[t]), domain))


def pta(
    data: list[Items], domain: int, k: int, segments: int, item_order: str = "frequency", revote: bool = True
) -> list[Group]:
    """All groups, segment by segment, the best window first, with the centers they publish."""
    groups: list[Group] = []
    for segment in segments_of(gray_order(data, domain, item_order), k, segments):
        loop, _ = prim_tsp([data[t] for t in segment])
        made, _ = classes([segment[v] for v in loop], data, k)
        groups += made
    if revote:
        for group in groups:
            group.center = majority([data[t] for t in group.tids])
            group.loss = sum(hd(data[t], group.center) for t in group.tids)
    return groups
