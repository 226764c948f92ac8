"""A lower bound of the information loss that any k-anonymous release of the same data must have.

Every transaction has a dual value. Values are feasible if no group of k or more loses less than the values of its
members add up to; then their sum is a lower bound (the proofs are in docs/explanation/bound.md). For any prices
0 ≤ y_v ≤ |v| these are feasible:

    value_u = ½ (y_u + mean of the k − 1 smallest d(u, v) − y_v over all other v)

They are raised as far as they stay feasible: on sparse data to the least charge of each transaction in any group, then
by separation at centers and subgradient steps, or by dual increments where transactions are so long that there are too
many centers.

Where looking at all pairs would take too long, transactions are drawn at random: each value lies between (y_u − |u|)/2
and (y_u + |u|)/2, and an inequality for the mean of bounded values gives a bound that holds with a stated confidence.
Precondition: n ≥ k, else no release exists.
"""

from __future__ import annotations

import numpy as np

from anonset.assess.bound import settings
from anonset.assess.bound.cuts import Cuts
from anonset.assess.bound.limits import Limits
from anonset.assess.bound.problem import Problem, problem_of, rounded
from anonset.assess.bound.sampled import sampled
from anonset.data.errors import InfeasibleError, ParameterError
from anonset.data.job import Job
from anonset.data.release import Bound
from anonset.data.transactions import Floats, Transactions


def lower_bound(
    data: Transactions,
    k: int,
    *,
    sample: int | None = None,
    passes: int = settings.PASSES,
    rounds: int | None = None,
    job: Job | None = None,
) -> Bound:
    """The best lower bound that up to `passes` over all pairs and `rounds` of separation find.

    Parameters
    ----------
    data, k
        What would be released, and how many transactions would have to share each published set.
    sample
        How many transactions to draw for a bound that holds with 99 % confidence; 0: look at all of them, and the
        bound is certain. Left out, it is 0 where that is a matter of minutes, or of an hour if transactions are long.
    passes, rounds
        Passes over all pairs, and rounds of separation after them. More rounds raise the bound a little further; 0
        leaves it at what pairs and anchors prove. Left out, 3 to 10 by the data. Where transactions are long there is
        one round of dual increments, or none if this is 0.

    Examples
    --------
    >>> far_apart = Transactions.from_lists([["a", "b"], ["c", "d"]])
    >>> round(lower_bound(far_apart, k=2).loss, 1)
    4.0
    """
    if k < 2:
        raise ParameterError("k", "be at least 2", k)
    if len(data) < k:
        raise InfeasibleError(f"'k' must be at most the number of transactions ({len(data):,}). Got {k:,}.")
    if sample is not None and (sample < 0 or sample == 1):
        raise ParameterError("sample", "be at least 2, or 0 for all transactions", sample)
    job = job or Job(seed=0)
    problem = problem_of(data.quasi(), k)
    if problem.occurrences == 0:
        return Bound(k, 0.0, 0.0)
    work = min(problem.visits)
    if sample is None and work > settings.MOST_WORK:
        sample = int(np.clip(settings.SAMPLED_WORK * len(problem.sets) / work, settings.PILOT, 20 * settings.PILOT))
    return sampled(problem, sample, job) if sample else _exact(problem, passes, rounds, job)


def _exact(problem: Problem, passes: int, rounds: int | None, job: Job) -> Bound:
    """The best of what pairs, anchors and centers say, each after the other."""
    values, prices = by_pairs(problem, passes, job)
    start = values
    if problem.sparse:
        anchored = by_anchors(problem, prices, job)
        values, start = anchored, np.minimum(values + settings.START, anchored)
    far = problem.total(values) > settings.FAR * float(problem.weights.sum())
    if far and problem.sparse:
        raised = values if rounds == 0 else by_increments(problem, rounded(values), prices, job)
    else:
        if rounds is None:
            least = settings.LEAST_ROUNDS[not problem.sparse]
            rounds = 0 if far else int(np.clip(settings.ROUND_WORK / min(problem.visits), least, settings.ROUNDS))
        raised = by_centers(problem, start, rounds, job)
    best = max(problem.total(values), problem.total(raised), 0.0)
    return Bound(problem.k, best, best / problem.occurrences)


def by_pairs(problem: Problem, passes: int, job: Job) -> tuple[Floats, Floats]:
    """Every set moves most of the way to the price that suits it best; the best values on the way, and their prices."""
    rows = np.arange(len(problem.sets), dtype=np.int64)
    prices = np.zeros(len(rows))
    best = (prices, prices)
    with job.stage("bound", total=passes * len(rows)):
        for _ in range(passes):
            values, wanted = problem.look(prices, rows, job)
            before = problem.total(best[0])
            if problem.total(values) > before:
                best = (values, prices)
            if problem.total(values) <= before * (1 + settings.ENOUGH) and prices.any():
                break
            prices = rounded(prices + (settings.STEP if prices.any() else 0.5) * (wanted - prices))
    return best


def by_anchors(problem: Problem, prices: Floats, job: Job) -> Floats:
    """What every set is charged in any group; for the few that are hard to search with many more steps."""
    rows = np.arange(len(prices), dtype=np.int64)
    budget = int(np.clip(settings.ANCHOR_STEPS / len(rows), settings.LEAST_STEPS, settings.MOST_STEPS))
    with job.stage("anchors", total=len(rows)):
        values, steps = problem.at_least(prices, rows, budget, job)
    hard = rows[steps >= budget]
    more = int(min(settings.HARD_STEPS / max(1, len(hard)), settings.MOST_HARD_STEPS))
    with job.stage("hard anchors", total=len(hard)):
        if more > budget:
            values[hard] = problem.at_least(prices, hard, more, job)[0]
    return values


def by_increments(problem: Problem, anchored: Floats, prices: Floats, job: Job) -> Floats:
    """What anchors say, raised as far as the search around every set that is raised allows."""
    # Above this a set would save more than its demand in any group.
    most = np.minimum(anchored + settings.INCREMENT, np.maximum((problem.sets.lengths + prices) / 2, anchored))
    most[(problem.weights >= problem.k) | (problem.frequent_lengths > settings.LONGEST)] = 0.0
    target = np.maximum(rounded(most), anchored)
    with job.stage("dual increments", total=len(anchored)):
        return problem.incremented(anchored, target, prices, settings.INCREMENT_STEPS, job)


def by_centers(problem: Problem, values: Floats, rounds: int, job: Job) -> Floats:
    """In turn a target from the cuts that were violated so far, and feasibility restored."""
    values, cuts, idle = rounded(values), Cuts.none(), 0
    limits = Limits(problem, values)
    with job.stage("raise", total=rounds * len(values)):
        for _ in range(rounds):
            target = cuts.target(values, limits.most(values), problem.weights, problem.k, job)
            found, steps, violated = problem.restored(values, rounded(target), job)
            limits.learn(values, steps)
            cuts = cuts.union(violated)
            gain = problem.total(found) - problem.total(values)
            idle = idle + 1 if gain <= settings.GAIN * problem.total(values) else 0
            if gain > 0:
                values = found
            if idle == 2:
                break
    return values
