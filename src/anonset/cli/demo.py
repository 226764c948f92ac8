"""`anonset demo [DIR]`: the whole way on an example supermarket, in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, measured, show, show_json, table
from anonset.cli.base.groups import SEED, THREADS, replace_options, run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.spec import Param

if TYPE_CHECKING:
    from anonset.assess.profile import Summary
    from anonset.assess.risk import Attack
    from anonset.data.job import Job
    from anonset.data.release import Result, Verdict

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

    @property
    def report(self) -> Path:
        """What the release cost, and what an attacker can still do."""
        return self.folder / "report.PRIVATE.html"


@dataclass(frozen=True)
class Told:
    """What the demo found, to be told in words or as JSON."""

    places: Places
    before: Summary
    result: Result
    attacks: list[Attack]
    verdict: Verdict


@app.command()
@takes(
    trying=[Choice(K, "Example"), Choice(SIZE, "Example")],
    writing=replace_options(),
    running=run_options(SEED, THREADS),
)
def demo(trying: Given, writing: Given, running: Given, directory: Folder = "anonset-demo") -> None:
    """Make an example supermarket, show what an attacker could do with its data, anonymize it and check the result.

    Everything is written into DIR; nothing in it is about a real person.
    """
    from anonset.data.job import Job
    from anonset.generate.supermarket import free_directory

    places = Places(Path(directory))
    shared = writing.get("shared_folder")
    free_directory(places.folder, "force" in writing, shared)
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed", 1), running.get("threads"), progress=display)
        _make_shop(places, SIZE.parse(trying.get("transactions")), job, writing)
        told = _whole_way(places, K.parse(trying.get("k")), job, shared)
    if "json" in running:
        show_json(_as_json(told))
    elif "quiet" not in running:
        show(*_story(told))


def _make_shop(places: Places, size: int, job: Job, writing: Given) -> None:
    from anonset.generate import write_supermarket

    write_supermarket(places.folder, size, job=job, **writing)


def _whole_way(places: Places, k: int, job: Job, shared: str | None) -> Told:
    """Read the shop's data as anybody would, anonymize it, attack the release, and check the file."""
    from anonset.assess.align import pair
    from anonset.assess.profile import summarize
    from anonset.assess.risk import attack
    from anonset.data.targets import Targets
    from anonset.io import read
    from anonset.pipeline import publish, verify

    secrets: dict[str, Any] = {"sensitive_file": str(places.sensitive)}
    with job.stage("read"):
        data = read(str(places.data), **secrets)
    targets = Targets(out=str(places.release), report=str(places.report), force=True, shared_folder=shared)
    result = publish(data, targets, k=k, job=job)
    both = pair(data, result.release, result.row_origin)
    attacks = [attack(both, m, job) for m in KNOWN]
    with job.stage("verify"):
        verdict = verify(str(places.release), k=k, **secrets)
    return Told(places, summarize(data), result, attacks, verdict)


def _story(told: Told) -> list[Any]:
    from rich.padding import Padding
    from rich.text import Text

    chapters = [
        ("An example supermarket", _shop(told)),
        ("What an attacker could do", _attack(told)),
        ("Anonymize", _anonymized(told)),
        ("What the attacker can do now", _attack_again(told)),
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
    shop = told.before
    columns = ("products known", "transactions found for certain")
    rows = [(found.m, f"{found.singled_out_before:.1%}") for found in told.attacks]
    return [
        f"Households are only numbers here, and still {shop.unique / max(shop.transactions, 1):.0%} of the "
        "transactions are the only ones with their products. Who saw a few products in your trolley finds your "
        "transaction, and reads the rest of it:",
        "",
        table(columns, rows, numbers=columns),
        "",
        f"$ anonset risk {told.places.data} \\",
        f"    --sensitive-file {told.places.sensitive}",
    ]


def _anonymized(told: Told) -> list[Any]:
    loss = told.result.measurements["information_loss_ratio"]
    return [
        f"The promise: {told.verdict.promise}. Similar transactions are put together and publish what most of them "
        f"hold. That has a price: for 100 products, {100 * loss:.0f} are taken out or put in. Households and the order "
        "of the transactions are gone.",
        f"$ anonset anonymize {told.places.data} -k {told.verdict.params['k']} -o {told.places.release} \\",
        f"    --sensitive-file {told.places.sensitive} --report {told.places.report}",
    ]


def _attack_again(told: Told) -> list[Any]:
    columns = ("products known", "found for certain", "guessed right, before", "now")
    rows = [
        (found.m, f"{found.singled_out_after:.1%}", f"{found.success_before:.1%}", f"{found.success_after:.1%}")
        for found in told.attacks
    ]
    return [
        table(columns, rows, numbers=columns),
        "",
        *_sensitive(told),
        f"$ anonset risk {told.places.data} {told.places.release} \\",
        f"    --sensitive-file {told.places.sensitive}",
    ]


def _sensitive(told: Told) -> list[str]:
    """What k-anonymity does not protect, said openly."""
    from anonset.assess.risk import infer

    inference = infer(told.result.release)
    if inference is None or not inference.largest:
        return []
    return [
        f"Sensitive products are published as they are: who finds your group is up to {inference.largest:.0%} sure of "
        "one. k-anonymity does not limit that; 'anonset methods cahd-blind' does.",
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
                (str(places.report), "private: what it cost and what an attacker can still do; open it in a browser"),
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
            "attacks": [found.to_dict() for found in told.attacks],
            "measurements": told.result.measurements,
            "seconds": told.result.seconds,
        },
    }
