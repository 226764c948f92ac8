"""Gray-TSP, a reconstruction: Gray order, segments, a tour through each by a genetic algorithm, PTA's windows.

Precondition   transactions with quasi-identifier items Q (all that are not sensitive); n = 0 or n ≥ k ≥ 2.
Pseudo-code    order ← Gray order of the transactions' Q
               segments ← segment_bounds(order), each with at least k transactions
               for each segment: tours ← the segment's own order and random ones (start = random: random ones only)
                   repeat: keep the shortest tour; fill the other places with children of two tours
                           (order crossover, sometimes a stretch turned around)
                   groups ← as PTA: disjoint windows of exactly k on the shortest tour, by ascending loss;
                            every other transaction joins the group with the nearest center
               publish every transaction with its Q replaced by the center of its group
Postcondition  as for PTA, whatever the tours are: every transaction is in one group, every group has at least k
               members, and the members of a group publish the same Q. So each published Q is shared by at least k
               transactions: k-anonymity.

The method is known to us only through the account that J. C.-W. Lin et al., "PTA", 2016, give of it where they compare.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonset.data.job import Job
from anonset.data.release import Draft, Tours
from anonset.data.spec import MethodSpec, Param, Unit
from anonset.data.transactions import Transactions
from anonset.data.unit import require_users
from anonset.methods.pta import REVOTE, SEGMENTS, fewer_segments, segment_bounds
from anonset.methods.steps.group.centers import in_source_order, publish_centers
from anonset.methods.steps.group.persons import groups_of_persons
from anonset.methods.steps.group.windows import window_groups
from anonset.methods.steps.order.gray import ITEM_ORDER, ItemOrder, gray_sorted
from anonset.methods.steps.order.tour import genetic_tours

POPULATION = Param(
    "population",
    "int",
    "How many tours are kept and crossed in each segment.",
    default=30,
    minimum=2,
    maximum=10_000,
    example=4,
)
GENERATIONS = Param(
    "generations",
    "int",
    "How many times new tours are bred; more give shorter tours and take longer.",
    default=300,
    minimum=0,
    maximum=1_000_000,
    example=5,
)
START = Param(
    "start",
    "choice",
    "Whether the Gray order is among the first tours, or all of them are random (what the comparison in PTA's paper "
    "looks like).",
    default="gray",
    choices=("gray", "random"),
    example="gray",
)


def run(
    data: Transactions,
    job: Job,
    *,
    k: int,
    segments: int | None,
    item_order: ItemOrder,
    revote: bool,
    population: int,
    generations: int,
    start: str = START.default,
    unit: Unit = "transaction",
) -> Draft:
    """Anonymize `data` so that every published quasi-identifier set is shared by at least k transactions."""
    bounds = segment_bounds(len(data), k, segments)
    if unit == "user":
        require_users(data, k)
    ordering, quasi = gray_sorted(data.quasi(), job, item_order)
    places = np.arange(len(data))
    effort = {"population": population, "generations": generations}
    loops, lengths = genetic_tours(quasi, places, bounds, job, random_start=start == "random", **effort)
    groups, voters = window_groups(quasi, loops, bounds, k, job)
    if unit == "user" and data.users is not None:
        groups = groups_of_persons(quasi, data.users[ordering], groups, k, job, rounds=0)
        revote = True  # who was in a window once may be elsewhere now
    published = publish_centers(data, quasi, groups, None if revote else voters, job, ordering)
    figures = {"segments": len(lengths), "loop_length": int(lengths.sum()), "groups": int(groups.max(initial=-1)) + 1}
    return replace(
        Draft.of_rows(published, figures),
        notes=fewer_segments("Gray-TSP", len(lengths), segments, k),
        groups=in_source_order(groups, ordering),
        tours=Tours(ordering[loops], bounds),
    )


SPEC = MethodSpec(
    name="gray-tsp",
    title="Gray-TSP (reconstruction)",
    model="k-anonymity",
    summary="As PTA, with tours from a genetic algorithm instead of PrimTSP: a baseline, much slower.",
    params=(SEGMENTS, ITEM_ORDER, REVOTE, START, POPULATION, GENERATIONS),
    run=run,
    paper="reconstructed from J. C.-W. Lin, Q. Liu, P. Fournier-Viger, T.-P. Hong, PTA: An Efficient System for "
    "Anonymizing Transaction Databases, IEEE Access 4, 2016, which compares with it",
    seeded=True,
    units=("user", "transaction"),
)
