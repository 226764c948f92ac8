"""What an attacker with m known items achieves against a release, compared with the original data.

The attacker knows m items of a person's original transaction, looks for the published transactions that hold them all
(or the nodes that stand for them), and picks one. *Success* is the chance that it is the person's own: 1 / candidates
where that one is among them, else 0. Subsets are drawn at random, each transaction equally often.

Where nobody can say which published transaction is whose (`source` is None), the person's own is assumed to be among
the candidates: the figure is then an upper bound.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from anonset import _native
from anonset.assess.align import Pair
from anonset.assess.risk.knowledge import drawn
from anonset.assess.risk.singled_out import singled_out
from anonset.data.job import Job
from anonset.data.transactions import Ints, Longs, Mask, Transactions

DRAWS = 50_000


@dataclass(frozen=True)
class Attack:
    """An attacker with m known items, before and after.

    `singled_out` is the chance of exactly one candidate (after: and that it is the right one), `success` that of
    picking the right candidate, `margin` the half width of its 95 % confidence interval.
    """

    m: int
    attacked: int
    singled_out_before: float
    singled_out_after: float
    success_before: float
    success_after: float
    margin: float
    upper_bound: bool

    def to_dict(self) -> dict[str, Any]:
        """A plain dictionary, ready for JSON."""
        return asdict(self)


def attack(pair: Pair, m: int, job: Job, draws: int = DRAWS) -> Attack:
    """An attacker who knows m random items of a transaction, before and after."""
    before = singled_out(pair.known, m, job=job, samples=draws)
    rows = np.flatnonzero(pair.known.lengths >= m)
    if not len(rows):
        return Attack(m, 0, 0.0, 0.0, 0.0, 0.0, 0.0, pair.row_origin is None)
    random = job.random(f"attack on the release {m}")
    owners = _owners(rows, draws, random)
    queries = pair.seen(drawn(pair.known, owners, m, random))
    sizes, found = _candidates(pair, queries, owners, m, job)
    chance = np.where(found, 1 / np.maximum(sizes, 1), 0.0)
    spread = float(chance.std()) / np.sqrt(len(chance)) * NormalDist().inv_cdf(0.975)
    return Attack(
        m=m,
        attacked=len(rows),
        singled_out_before=before.share,
        singled_out_after=float((found & (sizes == 1)).mean()),
        success_before=before.success,
        success_after=float(chance.mean()),
        margin=float(spread),
        upper_bound=pair.row_origin is None,
    )


def _owners(rows: Longs, draws: int, random: np.random.Generator) -> Longs:
    if len(rows) > draws:
        return np.sort(random.choice(rows, draws, replace=False))
    return np.repeat(rows, max(1, draws // len(rows)))


def _candidates(pair: Pair, queries: Ints, owners: Longs, m: int, job: Job) -> tuple[Longs, Mask]:
    """How many published transactions hold all items of each query, and whether the owner's own is one of them."""
    data = pair.published
    flat = np.ascontiguousarray(queries).reshape(-1)
    with job.stage("attack the release"):
        sizes = _native.count_candidates(
            data.offsets, data.items, data.n_items, flat, m, None, None, job.threads, job.monitor
        )
    if pair.row_origin is None:
        return sizes, sizes > 0
    own = pair.published_of()[owners]
    return sizes, (own >= 0) & _holds_all(data, np.maximum(own, 0), queries)


def _holds_all(data: Transactions, rows: Longs, queries: Ints) -> Mask:
    """Whether row `rows[i]` holds all items of query i: every pair (row, item) is looked up in the sorted data."""
    if not data.nnz:
        return np.zeros(len(rows), dtype=np.bool_)
    keys = data.rows * data.n_items + data.items
    wanted = rows[:, None] * data.n_items + queries
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.asarray((keys[place] == wanted).all(axis=1))
