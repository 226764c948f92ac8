"""GSC and Gray-TSP in plain Python: runs of k in Gray order; the genetic algorithm on the kernel's numbers."""

from tests.oracle.pta import Group, Items, gray_order, hd, majority

STEP, WORD = 0x9E3779B97F4A7C15, (1 << 64) - 1


def gsc(data: list[Items], domain: int, k: int, item_order: str = "frequency") -> list[Group]:
    """Runs of k in Gray order; the last takes what is left over."""
    order = gray_order(data, domain, item_order)
    count = len(order) // k
    runs = [order[i * k : (i + 1) * k if i + 1 < count else None] for i in range(count)]
    centers = [majority([data[t] for t in run]) for run in runs]
    return [Group(run, c, sum(hd(data[t], c) for t in run)) for run, c in zip(runs, centers, strict=True)]


class Random:
    """SplitMix64, one stream per segment."""

    def __init__(self, seed: int, stream: int) -> None:
        self.state = self.mix(seed ^ self.mix((stream + STEP) & WORD))

    @staticmethod
    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
        return z ^ (z >> 31)

    def next(self) -> int:
        self.state = (self.state + STEP) & WORD
        return self.mix(self.state)

    def below(self, bound: int) -> int:
        return (self.next() >> 32) * bound >> 32

    def coin(self) -> bool:
        return (self.next() >> 11) < 1 << 52


def length(tour: list[int], segment: list[Items]) -> int:
    return sum(hd(segment[a], segment[b]) for a, b in zip(tour, [*tour[1:], tour[0]], strict=True))


def order_crossover(mother: list[int], father: list[int], start: int, end: int) -> list[int]:
    """The mother's stretch where it is; behind it, and around, the others in the father's order."""
    stretch = mother[start : end + 1]
    others = [node for node in father[end + 1 :] + father[: end + 1] if node not in stretch]
    behind = len(mother) - end - 1
    return others[behind:] + stretch + others[:behind]


def genetic_tour(
    segment: list[Items], population: int, generations: int, seed: int, stream: int, start: str = "gray"
) -> list[int]:
    """The shortest tour of the last generation."""
    random, n = Random(seed, stream), len(segment)

    def shuffled() -> list[int]:
        tour = list(range(n))
        for i in range(n - 1, 0, -1):
            j = random.below(i + 1)
            tour[i], tour[j] = tour[j], tour[i]
        return tour

    def parent() -> list[int]:
        one, two = tours[random.below(population)], tours[random.below(population)]
        return two if length(two, segment) < length(one, segment) else one

    def stretch() -> list[int]:
        return sorted((random.below(n), random.below(n)))

    tours = [shuffled() if start == "random" or place else list(range(n)) for place in range(population)]
    for _ in range(generations if n > 3 else 0):
        children = [min(tours, key=lambda tour: length(tour, segment))]
        while len(children) < population:
            mother, father = parent(), parent()
            child = order_crossover(mother, father, *stretch())
            if random.coin():
                first, last = stretch()
                child[first : last + 1] = child[first : last + 1][::-1]
            children.append(child)
        tours = children
    return min(tours, key=lambda tour: length(tour, segment))
