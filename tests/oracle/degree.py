"""Textbook versions of the groupings for privacy degree, slow and plain, to be read beside the paper.

`quasi` and `secrets` are lists of sets: the quasi-identifier and the sensitive items of each transaction.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

Sets = list[set[int]]
Finder = Callable[[int, list[int]], list[int]]


def degree(members: list[int], secrets: Sets) -> float:
    """Eq. 1."""
    counts = Counter(s for i in members for s in secrets[i])
    return min((len(members) / f for f in counts.values()), default=float("inf"))


def form_groups(secrets: Sets, p: int, find: Finder) -> list[list[int]]:
    """Figs. 3 and 11 with the feasibility test put right: what remains must have degree p."""
    left = list(range(len(secrets)))
    groups = []
    for t in [i for i in left if secrets[i]]:
        if t not in left:
            continue
        group = [t, *find(t, left)]
        rest = [i for i in left if i not in group]
        if len(group) == p and degree(rest, secrets) >= p:
            groups.append(group)
            left = rest
    return [*groups, left] if left else groups


def nearest(quasi: Sets, secrets: Sets, p: int) -> Finder:
    """NonConflictNN: p - 1 times the nearest that conflicts with nobody chosen so far."""

    def find(t: int, left: list[int]) -> list[int]:
        chosen: list[int] = []
        for _ in range(p - 1):
            taken = set().union(*(secrets[i] for i in [t, *chosen]))
            free = [i for i in left if i != t and i not in chosen and not secrets[i] & taken]
            if not free:
                break
            chosen.append(min(free, key=lambda i: (len(quasi[i] ^ quasi[t]), i)))
        return chosen

    return find


def cahd(quasi: Sets, secrets: Sets, p: int, alpha: int) -> Finder:
    """The candidate list: alternately one before and one behind t, up to alpha * p each, none in conflict."""

    def find(t: int, left: list[int]) -> list[int]:
        sides = [[i for i in reversed(left) if i < t], [i for i in left if i > t]]
        found: list[list[int]] = [[], []]
        taken = set(secrets[t])
        while any(sides[side] and len(found[side]) < alpha * p for side in (0, 1)):
            for side in (0, 1):
                before = len(found[side])
                while sides[side] and len(found[side]) == before < alpha * p:
                    candidate = sides[side].pop(0)
                    if not secrets[candidate] & taken:
                        taken |= secrets[candidate]
                        found[side].append(candidate)
        candidates = found[0] + found[1]
        candidates.sort(key=lambda i: (len(quasi[i] ^ quasi[t]), i))
        return candidates[: p - 1]

    return find


class Balanced:
    """The windows and weights as `methods/cahd_balanced.py` tells them, recomputed from the groups each time."""

    def __init__(self, quasi: Sets, secrets: Sets, p: int, alpha: int) -> None:
        self.quasi, self.secrets, self.p, self.reach = quasi, secrets, p, alpha * p
        self.last: list[int] = []
        self.done: list[list[int]] = []

    def __call__(self, t: int, left: list[int]) -> list[int]:
        if self.last and not set(self.last) & set(left):
            self.done.append(self.last)
        candidates = self.around(t, left)
        for item in sorted(self.quasi[t], key=lambda i: (sum(i in q for q in self.quasi), i))[:8]:
            candidates |= self.around(t, [i for i in left if item in self.quasi[i]])
        sides = [[i for i in reversed(left) if i < t][self.reach :], [i for i in left if i > t][self.reach :]]
        met = set(candidates)
        group = [t]
        ranked = sorted((x for x in candidates if not self.clash(x, group)), key=lambda x: self.weight(x, group))
        candidates, reserve = set(ranked[: 4 * self.p]), set(ranked[4 * self.p :])
        while len(group) < self.p:
            candidates = {x for x in candidates if not self.clash(x, group)}
            if candidates:
                group.append(min(candidates, key=lambda x: self.weight(x, group)))
                candidates.remove(group[-1])
            elif reserve:
                candidates, reserve = reserve, set()
            elif any(sides):
                candidates = {side.pop(0) for side in sides if side} - met
            else:
                break
        self.last = group
        return group[1:]

    def around(self, t: int, rows: list[int]) -> set[int]:
        return {*[i for i in rows if i < t][-self.reach :], *[i for i in rows if i > t][: self.reach]}

    def clash(self, x: int, group: list[int]) -> bool:
        return x in group or any(self.secrets[x] & self.secrets[member] for member in group)

    def weight(self, x: int, group: list[int]) -> tuple[float, int]:
        held = [s for member in group for s in sorted(self.secrets[member])]
        cost = 0.0
        for item in sorted(self.quasi[x]):
            cost += sum(self.term(s, item, group) for s in held)
        likeness = len(self.quasi[x]) - 2 * len(self.quasi[x] & self.quasi[group[0]])
        return cost + 0.1 * likeness, x

    def term(self, s: int, item: int, group: list[int]) -> float:
        both = sum(s in self.secrets[i] and item in self.quasi[i] for i in range(len(self.quasi)))
        if not both:
            return 1.0
        excess = 0.5
        for one in [*self.done, group]:
            for holder in (member for member in one if s in self.secrets[member]):
                excess += sum(item in self.quasi[i] for i in one) - self.p * (item in self.quasi[holder])
        return excess / (self.p * both + excess)


def hashed(quasi: Sets, secrets: Sets, p: int, tables: list[list[int]], most: int = 0) -> Finder:
    """ApproxNonConflictNN: the nearest among those that share a bucket in some table, else among all.

    With `most`, only the first that many distinct sets, and no bucket of sets that hold none of a table's items.
    """

    def find(t: int, left: list[int]) -> list[int]:
        met: list[frozenset[int]] = []
        for dims in tables:
            mine = quasi[t] & set(dims)
            for i in sorted(left, key=lambda i: quasi.index(quasi[i])) if mine or not most else []:
                one = frozenset(quasi[i])
                if one & set(dims) == mine and one not in met and not (most and len(met) >= most):
                    met.append(one)
        chosen = nearest(quasi, secrets, p)(t, [i for i in left if frozenset(quasi[i]) in met])
        return chosen if len(chosen) == p - 1 else nearest(quasi, secrets, p)(t, left)

    return find


def mondrian(quasi: Sets, secrets: Sets, p: int) -> list[list[int]]:
    """Split on the item nearest half and half that keeps degree p on both sides; ties to the evenest, then first."""

    def unevenness(one: list[int], two: list[int]) -> float:
        counts = [Counter(s for i in part for s in secrets[i]) for part in (one, two)]
        return sum(abs(counts[0][s] / len(one) - counts[1][s] / len(two)) for s in counts[0].keys() | counts[1].keys())

    def split(members: list[int]) -> list[list[int]]:
        best = None
        for item in sorted(set().union(*(quasi[i] for i in members))) if any(secrets[i] for i in members) else []:
            one = [i for i in members if item in quasi[i]]
            two = [i for i in members if item not in quasi[i]]
            if two and degree(one, secrets) >= p and degree(two, secrets) >= p:
                key = (abs(len(one) - len(two)), round(unevenness(one, two), 12), item)
                best = min(best, (key, one, two)) if best else (key, one, two)
        return [members] if best is None else split(best[1]) + split(best[2])

    return split(list(range(len(quasi)))) if quasi else []


def reverse_cuthill_mckee(quasi: Sets) -> list[int]:
    """Fig. 6 component by component, from an end of a pseudo-diameter, ties by degree and then by index."""
    around = [{j for j in range(len(quasi)) if j != i and quasi[i] & quasi[j]} for i in range(len(quasi))]

    def rank(i: int) -> tuple[int, int]:
        return len(around[i]), i

    def levels(root: int) -> list[list[int]]:
        found, seen = [[root]], {root}
        while True:
            level = []
            for i in found[-1]:
                fresh = sorted(around[i] - seen, key=rank)
                level += fresh
                seen |= set(fresh)
            if not level:
                return found
            found.append(level)

    ordering: list[int] = []
    for start in sorted(range(len(quasi)), key=rank):
        if start in ordering:
            continue
        root, height = start, len(levels(start))
        while True:
            end = min(levels(root)[-1], key=rank)
            if len(levels(end)) <= height:
                break
            root, height = end, len(levels(end))
        ordering += [i for level in levels(root) for i in level]
    return ordering[::-1]
