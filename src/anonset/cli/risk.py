"""`anonset risk DATA [RELEASE]`: measure re-identification risk in the data, and what a release changes about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, table
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
    from anonset.assess.risk import Attack, Inference, Linking, Risk
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
SCORES = Param(
    "scores", "text", "Write everybody's own chance of being found (.csv). It is private, and its name will say so."
)

Published = Annotated[
    str | None,
    typer.Argument(help="A release of DATA, to see what it changes.", metavar="[RELEASE]", show_default=False),
]


@app.command(epilog="Example: anonset risk sales.csv release.csv")
@takes(
    attacking=[
        *(Choice(param, PANEL) for param in (M, ATTACKER, ITEMS, ABSENT)),
        Choice(HIERARCHY, PANEL, metavar="FILE"),
        Choice(LINK, PANEL, metavar="FILE"),
    ],
    writing=[Choice(SCORES, WRITING, metavar="FILE"), *replace_options()],
    reading=read_options(),
    running=run_options(SEED, THREADS),
)
def risk(
    data: Source, attacking: Given, writing: Given, reading: Given, running: Given, release: Published = None
) -> None:
    """Measure how likely people are to be found in DATA by an attacker who knows a few of their items.

    A person is singled out where the transaction is the only one that holds what the attacker knows. With a RELEASE of
    the data the attacker's chances before and after are compared, everybody is linked with the nearest published sets,
    and it is said how surely sensitive items can be inferred.
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
            answer, page, scores = _alone(transactions, many, attacking, job)
        else:
            answer, page, scores = _against(transactions, release, many, attacking, job)
        if target is not None:
            write_scores(transactions, scores, target, **writing)
            page += ["", f"Everybody's own chance is in {target}."]
    if "json" in running:
        show_json({"source": data, "release": release, **answer, "scores": None if target is None else str(target)})
    elif "quiet" not in running:
        show(*page)


def _alone(data: Transactions, many: list[int], attacking: Given, job: Job) -> Answer:
    from anonset.assess.risk import singled_out

    for name in ("hierarchy", "link"):
        if name in attacking:
            raise ParameterError(name, "come with a release", "no release", "Name the release after the data.")
    items = attacking["items"].split(",") if "items" in attacking else None
    attacker, absent = attacking.get("attacker", "random"), attacking.get("absent", 0)
    risks = [singled_out(data, m, attacker, items=items, absent=absent, job=job) for m in many]
    scores = {f"singled_out_by_{found.m}": found.scores for found in risks}
    return {"risk": [found.to_dict() for found in risks]}, _risk_page(risks), scores


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


def _against(data: Transactions, release: str, many: list[int], attacking: Given, job: Job) -> Answer:
    from anonset.assess.align import pair
    from anonset.assess.risk import attack, infer, link
    from anonset.data.hierarchy import read_hierarchy
    from anonset.io import read_release
    from anonset.io.publish.private_link import linked

    if attacking.keys() & {"attacker", "items", "absent"}:
        raise ParameterError("attacker", "be left out with a release", "one", "Releases are attacked at random.")
    with job.stage("read the release"):
        secret = data.sensitive_names()
        published = read_release(release, **({"sensitive": secret} if secret else {}))
    tree = read_hierarchy(attacking["hierarchy"]) if "hierarchy" in attacking else None
    source = linked(attacking["link"], release, published, data) if "link" in attacking else None
    both = pair(data, published, source, tree)
    attacks = [attack(both, m, job) for m in many]
    links = [link(both, job, measure) for measure in ("hamming", "jaccard")]
    inference = infer(published)
    answer = {
        "attacks": [found.to_dict() for found in attacks],
        "linking": [found.to_dict() for found in links],
        "inference": None if inference is None else inference.to_dict(),
    }
    scores = {f"linked_by_{found.measure}": found.scores for found in links}
    return answer, _release_page(attacks, links, inference), scores


def _release_page(attacks: list[Attack], links: list[Linking], inference: Inference | None) -> list[Any]:
    most = "at most " if links[0].upper_bound else ""
    columns = ("items known", "success before", "after, at most" if most else "after", "singled out before", "then")
    rows = [
        (
            found.m,
            _share(found.success_before),
            _share(found.success_after),
            _share(found.singled_out_before),
            _share(found.singled_out_after),
        )
        for found in attacks
    ]
    nearest = [
        (
            f"all, {found.measure}",
            f"success {_share(found.before)} before, {most}{_share(found.success)} after "
            f"(worst case {_share(found.largest)}); {found.certain:,} found for certain",
        )
        for found in links
    ]
    page: list[Any] = [table(columns, rows, numbers=columns), "", "Linked with the nearest published set:"]
    page += [facts(nearest)]
    if inference is not None:
        sure = f"at most {_share(inference.largest)} in any group, {_share(inference.expected)} on average"
        page += ["", facts([("sensitive items", sure)])]
        if inference.warning:
            page += ["", f"WARNING: {inference.warning}"]
    return page


def _share(value: float) -> str:
    return f"{value:.2%}" if value >= 0.001 or value == 0 else f"{value:.2g}"
