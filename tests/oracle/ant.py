"""ANT as the paper and its errata say it, in plain Python: counts as tuples, means as fractions of whole numbers."""

from __future__ import annotations

from fractions import Fraction
from math import floor

Vector = tuple[int, ...]
FINEST, COARSEST, BITS_16 = 1024, 64, 32767
MANY_CLUSTERS, CLUSTERS_OF_PART = 1500, 250


def apart(one, other) -> Fraction | int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))


def scale_for(vectors: list[Vector]) -> int:
    """Into how many parts a count is divided: as finely as 16 bits allow."""
    scale, longest = FINEST, max(map(sum, vectors))
    while scale >= COARSEST and longest * scale + len(vectors[0]) >= BITS_16:
        scale //= 2
    return scale if scale >= COARSEST else FINEST


def mean(vectors: list[Vector], scale: int) -> tuple[Fraction, ...]:
    return tuple(
        Fraction(floor(Fraction(sum(column), len(vectors)) * scale + Fraction(1, 2)), scale)
        for column in zip(*vectors, strict=True)
    )


def rounded_mean(vectors: list[Vector]) -> Vector:
    return tuple(floor(Fraction(sum(column), len(vectors)) + Fraction(1, 2)) for column in zip(*vectors, strict=True))


def k_means(vectors: list[Vector], starts: list[int], iterations: int = 10) -> list[int]:
    centers, scale = [vectors[start] for start in starts], scale_for(vectors)
    of: list[int] = []
    for _ in range(iterations + 1):
        now = [min(range(len(centers)), key=lambda c: (apart(vector, centers[c]), c)) for vector in vectors]
        if now == of:
            break
        of = now
        for c in range(len(centers)):
            members = [vector for vector, cluster in zip(vectors, of, strict=True) if cluster == c]
            centers[c] = mean(members, scale) if members else centers[c]
    return of


def fill(vectors, secrets, cluster: list[int], k: int, p: Fraction) -> tuple[list[list[int]], list[int]]:
    """Groups of one cluster, and who is left over."""
    center = rounded_mean([vectors[row] for row in cluster])
    rest = sorted(cluster, key=lambda row: (apart(vectors[row], center), row))
    groups, left = [], []
    while len(rest) >= k:
        seed = rest[0]
        group: list[int] = []
        for row in [seed, *sorted(rest[1:], key=lambda row: (apart(vectors[row], vectors[seed]), row))]:
            fits = all(Fraction(sum(a in secrets[m] for m in group) + 1, k) <= p for a in secrets[row])
            if fits and len(group) < k:
                group.append(row)
            elif row == seed:
                break
        if len(group) == k:
            groups.append(group)
            rest = [row for row in rest if row not in group]
        else:
            left.append(seed)
            rest.remove(seed)
    return groups, left + rest


def admits(group: list[int], row: int, secrets, p: Fraction) -> bool:
    size = len(group) + 1
    return all(Fraction(sum(a in secrets[m] for m in group) + 1, size) <= p for a in secrets[row])


def place(vectors, secrets, groups: list[list[int]], parts: list[tuple[range, list[int]]], p: Fraction):
    """Everybody in a group; who is left over in a part looks among its groups first."""
    centers = [rounded_mean([vectors[row] for row in group]) for group in groups]

    def by_distance(row: int, among: range) -> list[int]:
        alive = [g for g in among if groups[g]]
        return sorted(alive, key=lambda g: (apart(vectors[row], centers[g]), g))

    def join(row: int, among: range) -> bool:
        for g in by_distance(row, among):
            if admits(groups[g], row, secrets, p):
                groups[g].append(row)
                return True
        return False

    stuck = sorted(row for among, left in parts for row in sorted(left) if not join(row, among))
    everywhere = range(len(groups))
    while stuck:
        row = stuck[0]
        if not join(row, everywhere) and not merge_around(row, secrets, groups, by_distance(row, everywhere), p):
            return [[*stuck, *(row for group in groups for row in group)]]
        stuck.pop(0)
    return [group for group in groups if group]


def merge_around(row: int, secrets, groups: list[list[int]], order: list[int], p: Fraction) -> bool:
    host = None
    for g in order:
        if not any(
            (host is None or not _room(groups[host], a, p, 1)) and _room(groups[g], a, p, 0) for a in secrets[row]
        ):
            continue
        if host is None:
            host = g
        else:
            groups[host] += groups[g]
            groups[g] = []
        if admits(groups[host], row, secrets, p):
            groups[host].append(row)
            return True
    return False


def _room(group: list[int], attribute, p: Fraction, more: int) -> bool:
    """Whether a group has strictly less than it may (more = 0), or could take one more holder (more = 1)."""
    held = sum(attribute in _SECRETS[m] for m in group)
    return Fraction(held + 1, len(group) + 1) <= p if more else held < p * len(group)


_SECRETS: list[set[int]] = []


def ant(vectors, secrets, clusters: list[int], k: int, p: Fraction) -> set[frozenset[int]]:
    """The groups of ANT for these clusters."""
    _SECRETS[:] = secrets
    groups: list[list[int]] = []
    parts: list[tuple[range, list[int]]] = []
    together = CLUSTERS_OF_PART if max(clusters) >= MANY_CLUSTERS else MANY_CLUSTERS
    for part in sorted({c // together for c in clusters}):
        before, left = len(groups), []
        for c in sorted({c for c in clusters if c // together == part}):
            more, rest = fill(vectors, secrets, [row for row, of in enumerate(clusters) if of == c], k, p)
            groups += more
            left += rest
        parts.append((range(before, len(groups)), left))
    return {frozenset(group) for group in place(vectors, secrets, groups, parts, p)}
