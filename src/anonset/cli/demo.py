"""`anonset demo [DIR]`: the whole way on an example supermarket, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, measured, show, show_json, table
from anonset.cli.base.groups import FORCE, SEED, THREADS, WRITING, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.spec import Param

if TYPE_CHECKING:
    from anonset.job import Job
    from anonset.release import Result, Verdict
    from anonset.risk import Risk
    from anonset.summary import Summary
    from anonset.transactions import Transactions

app = Application()

K = Param("k", "int", "How many transactions share each published set.", 5, minimum=2, maximum=1000, short="-k")
SIZE = Param("transactions", "int", "How many transactions the supermarket has.", 10_000, minimum=100, maximum=10**7)

KNOWN = (1, 2, 3, 4)  # how many items the attackers know

Folder = Annotated[str, typer.Argument(help="The folder to write everything into.", metavar="[DIR]")]


@dataclass(frozen=True)
class Places:
    """What the demo writes, and where."""

    folder: Path

    @property
    def data(self) -> Path:
        """The private transactions."""
        return self.folder / "transactions.csv"

    @property
    def sensitive(self) -> Path:
        """The names of the sensitive products."""
        return self.folder / "sensitive.txt"

    @property
    def release(self) -> Path:
        """What may be published."""
        return self.folder / "release.csv"


@dataclass(frozen=True)
class Told:
    """What the demo found, to be told in words or as JSON."""

    places: Places
    before: Summary
    risks: list[Risk]
    result: Result
    verdict: Verdict


@app.command()
@takes(
    trying=[Choice(K, "Example"), Choice(SIZE, "Example")],
    writing=[Choice(FORCE, WRITING, switch=True)],
    running=run_options(SEED, THREADS),
)
def demo(trying: Given, writing: Given, running: Given, directory: Folder = "anonset-demo") -> None:
    """Make an example supermarket, show what an attacker could do with its data, anonymize it and check the result.

    Everything is written into DIR; nothing in it is about a real person.
    """
    from anonset.job import Job
    from anonset.risk import singled_out
    from anonset.summary import summarize

    places, k = Places(Path(directory)), K.parse(trying.get("k"))
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed", 1), running.get("threads"), progress=display)
        shop = _make_shop(places, SIZE.parse(trying.get("transactions")), job, "force" in writing)
        risks = [singled_out(shop, m, job=job) for m in KNOWN]
        result = _anonymize(places, k, job)
        verdict = _check(places, k, job)
    told = Told(places, summarize(shop), risks, result, verdict)
    if "json" in running:
        show_json(_as_json(told))
    elif "quiet" not in running:
        show(*_story(told))


def _make_shop(places: Places, size: int, job: Job, force: bool) -> Transactions:
    from anonset.generate import write_supermarket

    return write_supermarket(places.folder, size, job=job, force=force).transactions


def _anonymize(places: Places, k: int, job: Job) -> Result:
    from anonset.pipeline import anonymize

    secrets = {"sensitive_file": str(places.sensitive)}
    return anonymize(str(places.data), k=k, out=str(places.release), force=True, job=job, read_options=secrets)


def _check(places: Places, k: int, job: Job) -> Verdict:
    from anonset.pipeline import verify

    with job.stage("verify"):
        return verify(str(places.release), k=k, read_options={"sensitive_file": str(places.sensitive)})


def _story(told: Told) -> list[Any]:
    from rich.padding import Padding
    from rich.text import Text

    chapters = [
        ("An example supermarket", _shop(told)),
        ("What an attacker could do", _attack(told)),
        ("Anonymize", _anonymized(told)),
        ("Check, as anybody can", _checked(told)),
        ("What you have now", _files(told)),
    ]
    parts: list[Any] = []
    for number, (title, paragraphs) in enumerate(chapters, 1):
        parts.append(Text(f"{number}  {title}", style="bold"))
        for paragraph in paragraphs:
            parts.append(Padding(Text(paragraph) if isinstance(paragraph, str) else paragraph, (0, 0, 0, 3)))
        parts.append("")
    return parts[:-1]


def _shop(told: Told) -> list[Any]:
    shop = told.before
    return [
        f"{shop.transactions:,} transactions of {shop.users:,} households, with {shop.items:,} products. "
        f"{shop.sensitive_items} products are sensitive: nobody wants the neighbours to know.",
        f"$ anonset generate supermarket {told.places.folder}",
    ]


def _attack(told: Told) -> list[Any]:
    share = told.before.unique / max(told.before.transactions, 1)
    rows = [(risk.m, f"{risk.share:.0%}", f"{risk.expected_candidates:,.1f}") for risk in told.risks]
    return [
        f"Households are only numbers, and still {share:.0%} of the transactions are the only ones with their "
        "products. Who saw a few of them in your trolley finds the transaction, and reads the rest:",
        "",
        table(("products known", "singled out", "candidates, mean"), rows, numbers=("products known", "singled out")),
        "",
        f"$ anonset info {told.places.data}",
    ]


def _anonymized(told: Told) -> list[Any]:
    loss = told.result.measurements["information_loss_ratio"]
    return [
        f"The promise: {told.verdict.promise}. Similar transactions are put together and publish what most of them "
        f"hold. That has a price: for 100 products, {100 * loss:.0f} are taken out or put in. Households and the order "
        "of the transactions are gone.",
        f"$ anonset anonymize {told.places.data} -k {told.verdict.params['k']} -o {told.places.release}",
        f"  --sensitive-file {told.places.sensitive}",
    ]


def _checked(told: Told) -> list[Any]:
    answer = "The promise holds" if told.verdict.holds else "The promise does NOT hold"
    return [
        f"{answer}: {measured(told.verdict.measured)}. The checker reads only what is published and shares no code "
        "with the method.",
        f"$ anonset verify {told.places.release}",
    ]


def _files(told: Told) -> list[Any]:
    places = told.places
    return [
        facts(
            [
                (str(places.release), "may be published"),
                (f"{places.release}.certificate.json", "goes with it: what is promised"),
                (str(places.data), "private: the original"),
                (str(places.sensitive), "private: the sensitive products"),
                (str(places.folder / "hierarchy.csv"), "which product is of which kind"),
            ]
        )
    ]


def _as_json(told: Told) -> dict[str, Any]:
    return {
        "folder": str(told.places.folder),
        "release": str(told.places.release),
        "holds": told.verdict.holds,
        "measured": told.verdict.measured,
        "private": {
            "before": told.before.to_dict(),
            "risk": [risk.to_dict() for risk in told.risks],
            "measurements": told.result.measurements,
            "seconds": told.result.seconds,
        },
    }
