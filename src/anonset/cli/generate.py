"""`anonset generate quest FILE`, `anonset generate supermarket DIR`: example data in any amount."""

from __future__ import annotations

from typing import Annotated

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json
from anonset.cli.base.groups import SEED, THREADS, output_format, param_options, planning, replace_options, run_options
from anonset.cli.base.options import Given, takes
from anonset.cli.base.progress import Display
from anonset.generate import quest as quest_generator
from anonset.generate import supermarket as supermarket_generator

app = Application(
    help="Make example data: nobody's real transactions, the same for the same seed.", no_args_is_help=True
)

File = Annotated[
    str,
    typer.Argument(help="Where to write. The name says the format: data.dat, data.csv, …", metavar="FILE"),
]
Folder = Annotated[str, typer.Argument(help="The folder to write the three files into.", metavar="DIR")]


@app.command(epilog="Example: anonset generate quest T10I4D100K.dat --seed 1")
@takes(
    shape=param_options(quest_generator.PARAMS, "Shape"),
    writing=[output_format(), *replace_options()],
    running=run_options(SEED, THREADS),
)
def quest(out: File, shape: Given, writing: Given, running: Given) -> None:
    """Transactions made of recurring patterns, in the manner of the IBM Quest generator.

    The defaults give the shape of the public file T10I4D100K.
    """
    from anonset.data.job import Job
    from anonset.io import convert
    from anonset.io.publish.plan import require_plan
    from anonset.io.publish.releases import release_outputs

    require_plan(release_outputs(out), **planning(writing))
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed"), running.get("threads"), progress=display)
        data = quest_generator.generate_quest(**shape, job=job)
        with job.stage("write"):
            convert(data, out, **writing)
    answer = {"transactions": len(data), "items": data.n_items, "occurrences": data.nnz, "seed": job.seed}
    _say([out], answer, running)


@app.command(epilog="Example: anonset generate supermarket shop --transactions 5000 --seed 1")
@takes(
    shape=param_options(supermarket_generator.PARAMS, "Shape"),
    writing=replace_options(),
    running=run_options(SEED, THREADS),
)
def supermarket(directory: Folder, shape: Given, writing: Given, running: Given) -> None:
    """An example supermarket with named products, households, sensitive products and personal sensitivity.

    DIR gets transactions.csv (transaction,user,item,sensitivity), hierarchy.csv (item,level1,level2,level3) and
    sensitive.txt, one product per line.
    """
    from anonset.data.job import Job

    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed"), running.get("threads"), progress=display)
        market = supermarket_generator.write_supermarket(directory, **shape, **writing, job=job)
    data = market.transactions
    answer = {
        "transactions": len(data),
        "items": data.n_items,
        "users": 0 if data.user_labels is None else len(data.user_labels),
        "sensitive items": len(market.sensitive),
        "seed": job.seed,
    }
    _say([f"{directory.rstrip('/')}/{name}" for name in supermarket_generator.FILES], answer, running)


def _say(files: list[str], answer: dict[str, int], running: Given) -> None:
    if "json" in running:
        show_json({"files": files, **{name.replace(" ", "_"): value for name, value in answer.items()}})
    elif "quiet" not in running:
        shown = [(name, str(value) if name == "seed" else value) for name, value in answer.items()]
        show(facts([*(("written", file) for file in files), *shown]))
