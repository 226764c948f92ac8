"""Algorithm 1 of Hsu and Tsai (KAMP-p1) as printed, slowly, for tiny data.

CP(D) is read as the table as it is at that moment. Users are numbered; those beyond the ones with transactions are
virtual. The table is a list of sets of patterns, each closed under parts.
"""

from itertools import combinations

from tests.oracle.kamp import Itemset, maximal

PASSES = 4
VIRTUAL = 10  # users for each real one, at most
Members = tuple[Itemset, ...]


class Phase1:
    """The table as it changes; `rows[u]` are the transactions of user u."""

    def __init__(self, rows: list[list[Itemset]], patterns: list[Itemset], support: int, k: int, most: int) -> None:
        self.rows, self.patterns, self.least, self.k, self.most = rows, patterns, support, k, most
        self.table = [{p for p in patterns if any(p <= row for row in own)} for own in rows]
        self.support = {p: sum(p <= row for own in rows for row in own) for p in patterns}

    def run(self) -> list[set[Itemset]]:
        """Passes over m = 1 … M until nothing is rare; gives up after a few."""
        for _ in range(PASSES):
            if not any(self.rare(m) for m in range(1, self.most + 1)):
                break
            for m in range(1, self.most + 1):
                for members in self.rare(m):
                    self.repair(members, m)
        return self.table

    def own(self, u: int) -> list[Itemset]:
        return sorted(maximal(self.table[u]), key=self.patterns.index)

    def users(self, members: Members) -> set[int]:
        return {u for u, held in enumerate(self.table) if held.issuperset(members)}

    def owned(self, members: Members) -> list[int]:
        return [u for u in range(len(self.table)) if set(members) <= set(self.own(u))]

    def rare(self, m: int) -> list[Members]:
        """Rare combinations of m patterns, least rare first; not those that begin with a rare one."""
        found = {c for u in range(len(self.table)) for c in combinations(self.own(u), m)}
        below = [c for c in found if len(self.users(c)) < self.k]
        first = [c for c in below if all(len(self.users(c[:i])) >= self.k for i in range(1, m))]
        return sorted(first, key=lambda c: (-len(self.users(c)), [self.patterns.index(p) for p in c]))

    def repair(self, members: Members, m: int) -> None:
        users = self.users(members)
        if len(users) >= self.k or not self.owned(members):
            return
        costs = {p: sum(self.times(u, p) for u in users) for p in members if self.suppressible(p, users, m)}
        need = self.k - len(users)
        if not costs or need <= min(costs.values()):
            self.generalize(members, need)
        else:
            self.suppress(min(costs, key=lambda p: costs[p]), users)

    def times(self, u: int, p: Itemset) -> int:
        return max(1, len(self.holding(u, p)))

    def holding(self, u: int, p: Itemset) -> list[Itemset]:
        return [row for row in self.rows[u] if p <= row] if u < len(self.rows) else []

    def suppressible(self, p: Itemset, users: set[int], m: int) -> bool:
        rows = [row for u in users for row in self.holding(u, p)]
        beside = {q for row in rows for q in self.patterns if q <= row and q != p}
        rest = [row - p for row in rows if row - p]
        return (
            self.harms_none(p, users, m)
            and all(self.support[q] - len(rows) >= self.least for q in beside)
            and all(part in self.patterns for row in rest for part in parts(row))
        )

    def harms_none(self, p: Itemset, users: set[int], m: int) -> bool:
        for u in users:
            for size in range(1, m + 1):
                for c in combinations(self.own(u), size):
                    shared = self.users(c)
                    if any(p <= q for q in c) and len(shared) >= self.k > len(shared - users):
                        return False
        return True

    def suppress(self, p: Itemset, users: set[int]) -> None:
        for u in users:
            gone = {q for q in self.table[u] if p <= q}
            for q in gone:
                self.support[q] -= self.times(u, q)
            self.table[u] -= gone

    def generalize(self, members: Members, need: int) -> None:
        lack = [(sum(p not in held for p in members), u) for u, held in enumerate(self.table)]
        for missing, u in sorted(lack):
            if missing and need and self.candidate(u, members):
                need -= 1
        if len(self.table) + need <= (1 + VIRTUAL) * len(self.rows):
            self.table += [self.with_parts(set(), members) for _ in range(need)]

    def candidate(self, u: int, members: Members) -> bool:
        """Give the combination to u if every combination that arises is in CP(D)."""
        before, own = self.table[u], set(self.own(u))
        known = {frozenset(c) for v in range(len(self.table)) for n in range(1, self.most + 1) for c in self.sets(v, n)}
        self.table[u] = self.with_parts(before, members)
        made = (c for n in range(1, self.most + 1) for c in self.sets(u, n) if not set(c) <= own)
        if all(frozenset(c) in known for c in made):
            return True
        self.table[u] = before
        return False

    def sets(self, u: int, n: int) -> list[Members]:
        return list(combinations(self.own(u), n))

    def with_parts(self, held: set[Itemset], members: Members) -> set[Itemset]:
        return held | {q for q in self.patterns if any(q <= p for p in members)}


def parts(row: Itemset) -> list[Itemset]:
    return [frozenset(part) for size in range(1, len(row) + 1) for part in combinations(sorted(row), size)]
