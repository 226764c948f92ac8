"""What runs say together: which of them no other beats, which one to take, and all of them as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anonset.assess.risk.words import share
from anonset.assess.utility import METRICS
from anonset.choose.runs import RISKS, Run
from anonset.data.transactions import Mask
from anonset.models import model_spec

OF_MODELS = ("k", "p")
"""Parameters that a recommendation names with the model, not as the method's own."""


def pareto(points: Iterable[tuple[float, float]]) -> Mask:
    """Which (strength, loss) no other point beats: none is at least as strong with less loss, or stronger with equal.

    Examples
    --------
    >>> pareto([(5, 0.3), (5, 0.4), (10, 0.5), (10, 0.3)]).tolist()
    [False, False, False, True]
    """
    rows = np.array(list(points), dtype=np.float64).reshape(-1, 2)
    strength, loss = rows[:, 0], rows[:, 1]
    beaten = (strength[None, :] >= strength[:, None]) & (loss[None, :] <= loss[:, None])
    better = beaten & ((strength[None, :] > strength[:, None]) | (loss[None, :] < loss[:, None]))
    return np.asarray(~better.any(axis=1), dtype=np.bool_)


def recommend(runs: Sequence[Run]) -> list[str]:
    """For each model and each strength that was asked for: what to take, why, and what attackers achieve then."""
    said: list[str] = []
    usable = [run for run in runs if not run.error and run.loss is not None and run.strength is not None]
    for model in dict.fromkeys(run.model for run in usable):
        own = [run for run in usable if run.model == model]
        for strength in sorted({_asked(run) for run in own}):
            said += _recommend([run for run in own if _asked(run) == strength])
    return said or ["No run gave a release that could be compared. See the errors in the table."]


def _recommend(runs: list[Run]) -> list[str]:
    """Of runs of one strength the least loss that nothing stands against; the faster one where two lose the same."""
    name = model_spec(runs[0].model).headline
    title = f"For {runs[0].model} with {name} = {_asked(runs[0]):g}"
    able = [run for run in runs if not run.refused]
    if not able:
        return [f"{title} take none: something stands against publishing each of them. {runs[0].refused}"]
    best = min(able, key=lambda run: (round(run.loss or 0.0, 4), run.seconds))
    own = {key: value for key, value in best.params.items() if key not in OF_MODELS}
    what = f"{title} take {best.method}"
    what += f" ({', '.join(f'{key} = {value}' for key, value in own.items())})" if own else ""
    measure_of = f"{best.loss_title} {best.loss_text}"
    others = [run for run in able if run.method != best.method]
    if not others:
        why = "no other method was compared at this strength"
        if len({run.method for run in runs}) > 1:
            why = "what the other methods made would be refused"
        return [f"{what}: {measure_of}{_risk(best)}.", f"It took {best.seconds:.2f} s; {why}."]
    second = min(others, key=lambda run: run.loss or 0.0)
    fastest = min(able, key=lambda run: run.seconds)
    why = f"the least loss ({measure_of}; next is {second.method} with {second.loss_text})"
    if second.loss_text == best.loss_text:
        why = f"nobody loses less ({measure_of}, and so does {second.method})"
    pace = "and it is the fastest" if fastest.method == best.method else f"{fastest.method} is faster"
    return [f"{what}: {why}{_risk(best)}.", f"It took {best.seconds:.2f} s, {pace} ({fastest.seconds:.2f} s)."]


def _risk(run: Run) -> str:
    """What attackers achieve against the release."""
    known = [(title, run.figures.get(name)) for name, (title, _) in RISKS.items()]
    said = [f"{title} {share(value)}" for title, value in known if value is not None]
    return f"; attackers are right: {', '.join(said)}" if said else ""


def _asked(run: Run) -> float:
    """The strength that was asked for."""
    return float(run.params.get(model_spec(run.model).headline, run.strength or 0.0))


def table(runs: Sequence[Run]) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the comparison, ready for CSV."""
    params = sorted({name for run in runs for name in run.params})
    figures = list(dict.fromkeys(name for run in runs for name in run.figures))
    columns = ["method", "model", *params, "seed", "strength", "seconds", "pareto", *figures, "refused", "error"]
    front = _front(runs)
    rows = [
        [
            run.method,
            run.model,
            *(run.params.get(name) for name in params),
            run.seed,
            run.strength,
            round(run.seconds, 4),
            "yes" if best else "",
            *(run.figures.get(name) for name in figures),
            run.refused,
            run.error,
        ]
        for run, best in zip(runs, front, strict=True)
    ]
    return columns, rows


def tables(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """For each model its runs as the page shows them: parameters, what was reached, loss, risk, time, and problems."""
    front = dict(zip(map(id, runs), _front(runs), strict=True))
    found = []
    for model in dict.fromkeys(run.model for run in runs):
        own = [run for run in runs if run.model == model]
        losses = list(dict.fromkeys(run.loss_title for run in own if run.loss is not None))
        risks = [name for name in RISKS if any(run.figures.get(name) is not None for run in own)]
        columns = ["method", "parameters", "reached", *losses, *(RISKS[name][0] for name in risks), "seconds", ""]
        rows = [
            [
                ("● " if front[id(run)] else "") + run.method,
                ", ".join(f"{name} = {_short(value)}" for name, value in run.params.items()),
                "–" if run.strength is None else f"{run.strength:g}",
                *(run.loss_text if run.loss_title == title and run.loss is not None else "–" for title in losses),
                *("–" if (value := run.figures.get(name)) is None else share(value) for name in risks),
                f"{run.seconds:.2f}",
                run.error or (f"would be refused: {run.refused}" if run.refused else ""),
            ]
            for run in own
        ]
        found.append({"model": model, "headline": model_spec(model).headline, "columns": columns, "rows": rows})
    return found


def _short(value: Any) -> str:
    """A value; of a path only the name."""
    return Path(value).name if isinstance(value, str) else str(value)


def explained(runs: Sequence[Run]) -> list[tuple[str, str, str]]:
    """Every figure of the comparison: its name in the table of all figures, its title, and what it means."""
    there = dict.fromkeys(name for run in runs for name in run.figures)
    known = {figure.name: (figure.title, figure.help) for metric in METRICS.values() for figure in metric.figures}
    known |= RISKS
    known |= {
        "loss_bound": ("least possible loss", "The information loss that no k-anonymous release can go below."),
        "loss_gap": ("gap", "How far the run's information loss lies above the least possible one."),
    }
    own = [
        ("strength", "reached", "The strength of the promise that really holds: at least what was asked for."),
        ("seconds", "seconds", "Time of the method, the check and the attacks on one thread."),
        ("pareto", "●", "Publishing it would not be refused, and no other such run is as strong and loses less."),
    ]
    return [*own, *((name, *known.get(name, (name.replace("_", " "), ""))) for name in there)]


def _front(runs: Sequence[Run]) -> list[bool]:
    """Which runs are on the Pareto front of those of their model that could be published."""
    front = [False] * len(runs)
    for model in {run.model for run in runs}:
        own = ((i, run) for i, run in enumerate(runs) if run.model == model and not run.refused)
        places = [i for i, run in own if run.loss is not None and run.strength]
        marks = pareto((runs[i].strength or 0.0, runs[i].loss or 0.0) for i in places)
        for place, mark in zip(places, marks.tolist(), strict=True):
            front[place] = mark
    return front


def points(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """What charts of the comparison show of each run that can be compared."""
    return [
        {
            "method": run.method,
            "model": run.model,
            "strength": run.strength,
            "loss": run.loss,
            "measure": run.loss_title,
            "seconds": run.seconds,
            "risk": run.risk,
            "front": best,
        }
        for run, best in zip(runs, _front(runs), strict=True)
        if not run.error and run.loss is not None and run.strength is not None
    ]
