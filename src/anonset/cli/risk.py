"""`anonset risk DATA [RELEASE]`: measure re-identification risk in the data, and what a release changes about it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import show, show_json, table
from anonset.cli.base.found import EXPLAINED, attack_table
from anonset.cli.base.groups import (
    LINK,
    SEED,
    THREADS,
    WRITING,
    Source,
    as_read_options,
    planning,
    read_options,
    replace_options,
    run_options,
)
from anonset.cli.base.options import Choice, Given, takes
from anonset.cli.base.progress import Display
from anonset.data.errors import ParameterError
from anonset.data.spec import Param

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anonset.assess.risk import Risk
    from anonset.data.job import Job
    from anonset.data.transactions import Floats, Transactions

    Answer = tuple[dict[str, Any], list[Any], dict[str, Floats]]  # for machines, for people, for each transaction

app = Application()

PANEL = "Attacker"
ATTACKERS = ("random", "rarest", "frequent", "given")
M = Param("m", "int", "How many items the attacker knows. Default: 1 to 4.", minimum=1, maximum=6, short="-m")
ATTACKER = Param(
    "attacker", "choice", "Which items of a person the attacker knows.", "random", choices=ATTACKERS, example="random"
)
ITEMS = Param("items", "text", "The only items that an attacker can get to know, separated by commas.")
ABSENT = Param("absent", "int", "How many frequent items the attacker knows not to be there.", 0, minimum=0, maximum=64)
HIERARCHY = Param("hierarchy", "text", "The hierarchy that the release was generalized with.")
ATTACK = Param("attack", "text", "With a release: only these attacks, separated by commas. Default: all that fit.")
SCORES = Param(
    "scores", "text", "Write everybody's own chance of being found (.csv). It is private, and its name will say so."
)


def _attacks() -> list[str]:
    from anonset.assess.risk.attackers import ATTACKS

    return list(ATTACKS)


Previous = Annotated[
    list[str] | None,
    typer.Option(
        "--previous",
        help="Earlier data and their release; may be given several times.",
        metavar="DATA RELEASE",
        parser=lambda pair: pair,
        rich_help_panel=PANEL,
        show_default=False,
    ),
]
Published = Annotated[
    str | None,
    typer.Argument(help="A release of DATA, to see what it changes.", metavar="[RELEASE]", show_default=False),
]


@app.command(epilog="Example: anonset risk sales.csv release.csv")
@takes(
    attacking=[
        *(Choice(param, PANEL) for param in (M, ATTACKER, ITEMS, ABSENT)),
        Choice(ATTACK, PANEL, metavar="NAMES", complete=_attacks),
        Choice(HIERARCHY, PANEL, metavar="FILE"),
        Choice(LINK, PANEL, metavar="FILE"),
    ],
    writing=[Choice(SCORES, WRITING, metavar="FILE"), *replace_options()],
    reading=read_options(),
    running=run_options(SEED, THREADS),
)
def risk(
    data: Source,
    attacking: Given,
    writing: Given,
    reading: Given,
    running: Given,
    release: Published = None,
    previous: Previous = None,
) -> None:
    """Measure how likely people are to be found in DATA by an attacker who knows a few of their items.

    A person is singled out where the transaction is the only one that holds what the attacker knows. With a RELEASE of
    the data all attackers that fit are let loose on it, in three parts: singling out, linkability, inference; --attack
    runs one of them. The certificate beside the release says which attacks its promise is meant to stop, the link (of
    anonymize --link) whose transaction is whose; without it, chances are upper bounds. With --previous the same data's
    earlier releases are attacked together with this one. Where the data name users, persons are looked for, too.
    """
    from anonset.assess.risk.scores import scores_path, write_scores
    from anonset.data.job import Job
    from anonset.io import read
    from anonset.io.publish.plan import Output, reading_inputs, release_inputs, require_plan

    target = scores_path(writing.pop("scores")) if "scores" in writing else None
    if target is not None:
        inputs = {**reading_inputs(data, reading), **release_inputs(release), "hierarchy": attacking.get("hierarchy")}
        inputs["link"] = attacking.get("link")
        require_plan([Output("scores", target)], inputs, **planning(writing))
    with Display(quiet="quiet" in running or "json" in running) as display:
        job = Job(running.get("seed", 0), running.get("threads"), display)
        with job.stage("read"):
            transactions = read(data, **as_read_options(reading))
        many = [attacking["m"]] if "m" in attacking else [1, 2, 3, 4]
        if release is None:
            answer, page, scores = _alone(transactions, many, {**attacking, **_named(previous)}, job)
        else:
            more = {"previous": previous or [], "scores": target is not None, "reading": as_read_options(reading)}
            answer, page, scores = _against(transactions, release, {**attacking, **more}, job)
        if target is not None:
            write_scores(transactions, scores, target, **writing)
            page += ["", f"Everybody's own chance is in {target}."]
    if "json" in running:
        show_json({"source": data, "release": release, **answer, "scores": None if target is None else str(target)})
    elif "quiet" not in running:
        show(*page)


def _named(previous: list[str] | None) -> dict[str, Any]:
    return {"previous": previous} if previous else {}


def _alone(data: Transactions, many: list[int], attacking: Given, job: Job) -> Answer:
    from anonset.assess.risk import singled_out

    for name in ("hierarchy", "link", "attack", "previous"):
        if name in attacking:
            raise ParameterError(name, "come with a release", "no release", "Name the release after the data.")
    items = attacking["items"].split(",") if "items" in attacking else None
    attacker, absent = attacking.get("attacker", "random"), attacking.get("absent", 0)
    risks = [singled_out(data, m, attacker, items=items, absent=absent, job=job) for m in many]
    scores = {f"singled_out_by_{found.m}": found.scores for found in risks}
    persons, page = _in_persons(data, many, job)
    return {"risk": [found.to_dict() for found in risks], "persons": persons}, [*_risk_page(risks), *page], scores


def _in_persons(data: Transactions, many: list[int], job: Job) -> tuple[list[dict[str, Any]] | None, list[Any]]:
    """How likely a person is found among the different users; nothing where the data name none."""
    import numpy as np

    from anonset.assess.risk.find import find
    from anonset.assess.risk.persons import IN_PERSONS
    from anonset.assess.risk.spec import Case
    from anonset.assess.risk.words import share
    from anonset.data.release import Release

    if data.users is None:
        return None, []
    case = Case(data, Release(data), np.arange(len(data), dtype=np.int64), job=job, known=tuple(many))
    found = find(case, IN_PERSONS).attacks
    rows = [(one.knows, share(one.before or 0.0), one.certain_before, one.attacked) for one in found]
    columns = ("looking for a person, knowing", "success", "certain", "attacked")
    said = [{"name": one.name, "knows": one.knows, "success": one.before, "attacked": one.attacked} for one in found]
    return said, ["", table(columns, rows, numbers=columns[1:])]


def _risk_page(risks: list[Risk]) -> list[Any]:
    from anonset.assess.risk import ATTACKERS as EXPLAINED

    columns = ("items known", "singled out", "success", "candidates", "fewest", "attacked", "too short")
    rows = [
        (
            found.m,
            _share(found.share) + ("" if found.exact else f" ± {(found.interval[1] - found.interval[0]) / 2:.2%}"),
            _share(found.success),
            f"{found.expected_candidates:,.1f}",
            found.smallest_candidates,
            found.attacked,
            found.too_short,
        )
        for found in risks
    ]
    absent = f", and {risks[0].absent} frequent items that it does not hold" if risks[0].absent else ""
    return [
        f"The attacker {EXPLAINED[risks[0].attacker]}{absent}.",
        "",
        table(columns, rows, numbers=columns),
        "",
        "singled out: the chance that a transaction is the only candidate; success: that a guess among the "
        "candidates is right; candidates: their mean number. Transactions with fewer items are not attacked.",
    ]


def _against(data: Transactions, release: str, given: Mapping[str, Any], job: Job) -> Answer:
    from anonset.api.looking import known_case
    from anonset.assess.risk import infer, link
    from anonset.assess.risk.find import find
    from anonset.io import read

    if given.keys() & {"attacker", "items", "absent"}:
        raise ParameterError("attacker", "be left out with a release", "one", "Releases are attacked at random.")
    previous = [(read(before, **given["reading"]), there) for before, there in given["previous"]]
    case = known_case(
        data, release, hierarchy=given.get("hierarchy"), link=given.get("link"), previous=previous, job=job
    )
    case = replace(case, known=(given["m"],)) if "m" in given else case
    assert len(case.pair.original) == len(data)  # an error says here what does not fit
    found = find(case, given["attack"].split(",") if "attack" in given else None)
    inference = infer(case.release)
    scores = {}
    if given["scores"]:
        scores = {f"linked_by_{kind}": link(case.pair, job, kind).scores for kind in ("hamming", "jaccard")}
    answer = {"findings": found.to_dict(), "inference": None if inference is None else inference.to_dict()}
    page = [*attack_table(found), "", EXPLAINED, *(f"\n{sentence}" for sentence in found.remaining)]
    if "attack" in given:
        page += [f"\nNot tried: {name} ({why.rstrip('.')})." for name, why in found.left_out.items()]
    if data.users is not None and case.row_origin is None:
        page += ["", "Persons are not looked for: only the owner's link (--link) says whose transactions these are."]
    if inference is not None and inference.warning:
        page += ["", f"WARNING: {inference.warning}"]
    return answer, page, scores


def _share(value: float) -> str:
    return f"{value:.2%}" if value >= 0.001 or value == 0 else f"{value:.2g}"
