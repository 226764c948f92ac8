"""What runs say together: which of them no other beats, which one to take, and all of them as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from anonset.choose.runs import Run
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
    """Two plain sentences for each model: what to take, and why."""
    said: list[str] = []
    usable = [run for run in runs if not run.error and run.loss is not None and run.strength is not None]
    for model in dict.fromkeys(run.model for run in usable):
        said += _recommend([run for run in usable if run.model == model])
    return said or ["No run gave a release that could be compared. See the errors in the table."]


def _recommend(runs: list[Run]) -> list[str]:
    """The least loss at the strongest promise asked for; the faster one where two lose the same."""
    asked = max(_asked(run) for run in runs)
    strongest = [run for run in runs if _asked(run) == asked]
    best = min(strongest, key=lambda run: (round(run.loss or 0.0, 4), run.seconds))
    name = model_spec(best.model).headline
    what = f"For {best.model} with {name} = {asked:g} take {best.method}"
    own = {key: value for key, value in best.params.items() if key not in OF_MODELS}
    what += f" ({', '.join(f'{key} = {value}' for key, value in own.items())})" if own else ""
    others = [run for run in strongest if run.method != best.method]
    measure_of = f"{best.loss_title} {best.loss_text}"
    if not others:
        return [
            f"{what}: {measure_of}.",
            f"It took {best.seconds:.2f} s; no other method was compared at this strength.",
        ]
    second = min(others, key=lambda run: run.loss or 0.0)
    fastest = min(strongest, key=lambda run: run.seconds)
    why = f"the least loss ({measure_of}; next is {second.method} with {second.loss_text})"
    if second.loss_text == best.loss_text:
        why = f"nobody loses less ({measure_of}, and so does {second.method})"
    pace = "and it is the fastest" if fastest.method == best.method else f"{fastest.method} is faster"
    return [f"{what}: {why}.", f"It took {best.seconds:.2f} s, {pace} ({fastest.seconds:.2f} s)."]


def _asked(run: Run) -> float:
    """The strength that was asked for."""
    return float(run.params.get(model_spec(run.model).headline, run.strength or 0.0))


def table(runs: Sequence[Run]) -> tuple[list[str], list[list[Any]]]:
    """Columns and rows of the comparison, ready for CSV."""
    params = sorted({name for run in runs for name in run.params})
    figures = list(dict.fromkeys(name for run in runs for name in run.figures))
    columns = ["method", "model", *params, "seed", "strength", "seconds", "pareto", *figures, "error"]
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
            run.error,
        ]
        for run, best in zip(runs, front, strict=True)
    ]
    return columns, rows


def _front(runs: Sequence[Run]) -> list[bool]:
    """Which runs are on the Pareto front of their model."""
    front = [False] * len(runs)
    for model in {run.model for run in runs}:
        places = [i for i, run in enumerate(runs) if run.model == model and run.loss is not None and run.strength]
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
            "front": best,
        }
        for run, best in zip(runs, _front(runs), strict=True)
        if not run.error and run.loss is not None and run.strength is not None
    ]
