"""`anonset bound DATA -k 10`: how little any k-anonymous release can lose."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json
from anonset.cli.base.groups import (
    PRIVACY,
    SEED,
    THREADS,
    SourceOrQuery,
    as_read_options,
    read_options,
    require_source,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.params import K
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.data.release import Bound

app = Application()

SAMPLE = Param(
    "sample",
    "int",
    "Transactions to draw at random, for a bound that holds with 99 % confidence; 0: all. Default: all where quick.",
    minimum=0,
)

ROUNDS = Param(
    "rounds",
    "int",
    "Rounds that tighten the bound; 0: only its quick part. Default: 3 to 10, one where transactions are long.",
    minimum=0,
)


@app.command(epilog="Example: anonset bound sales.csv -k 10")
@takes(
    asking=[Choice(replace(K, required=False), PRIVACY), Choice(SAMPLE, PRIVACY), Choice(ROUNDS, PRIVACY)],
    reading=read_options(),
    running=run_options(SEED, THREADS),
)
def bound(asking: Given, reading: Given, running: Given, data: SourceOrQuery = None) -> None:
    """Compute a lower bound of the information loss of any k-anonymous release of DATA.

    No method can add or remove fewer items. The bound is proved by linear programming duality; it is not tight: the
    best release possible may lose more. It is computed from the original data, so keep it private.
    """
    from anonset.assess.bound.search import lower_bound
    from anonset.data.job import Job
    from anonset.io import read

    k = K.parse(asking.get("k"))
    require_source(data, reading)
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed", 0), running.get("threads"), display)
        with job.stage("read"):
            transactions = read(data, **as_read_options(reading))
        found = lower_bound(transactions, k, sample=asking.get("sample"), rounds=asking.get("rounds"), job=job)
    if "json" in running:
        show_json({"source": data, **found.to_dict(), "seconds": job.seconds})
    elif "quiet" not in running:
        show(*_page(found))


def _page(found: Bound) -> list[Any]:
    rows: list[tuple[str, Any]] = [
        ("least loss", f"{found.ratio:.2%} of all items: no {found.k}-anonymous release changes fewer"),
        ("items", f"{found.loss:,.0f} added or removed"),
        ("certain", "yes, all transactions were looked at"),
    ]
    if found.estimate is not None and found.sample is not None:
        rows[-1] = ("confidence", f"{found.confidence:.0%}, from {found.sample:,} transactions drawn at random")
        rows.append(("sample says", f"{found.estimate:.2%}; {found.error:.2%} of it may be chance and is not counted"))
    return [facts(rows)]
