"""Which method, which parameters: advice that was tried, and a comparison of everything that fits."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

from anonset.api.options import Reading
from anonset.choose.advise import SECONDS, Advice
from anonset.choose.advise import advise as propose
from anonset.choose.compare import compare as run_grid
from anonset.choose.recommend import recommend
from anonset.choose.recommend import table as as_table
from anonset.choose.runs import Run
from anonset.data.display import Picture, Shown
from anonset.data.job import Job, Progress
from anonset.data.progress import watched
from anonset.io import read


def advise(
    data: Any,
    *,
    has_sensitive: bool | None = None,
    has_users: bool | None = None,
    hierarchy: Any = None,
    seconds: float = SECONDS,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Advice:
    """Try what fits the data on a sample, attack it, measure it, and recommend what protects and leaves most.

    Parameters
    ----------
    data
        Anything that `anonset.read` takes; `reading` are its options.
    has_sensitive, has_users
        Whether some items are secret, and whether the whole history of users must be protected. By default the data
        answer: where they name sensitive items, and where users repeat.
    hierarchy
        A hierarchy of the items, as methods take it.
    seconds
        How long to try.

    Examples
    --------
    >>> import anonset
    >>> advice = anonset.advise([["a"], ["a", "b"]] * 50)
    >>> advice.method, advice.params["k"]
    ('crowd', 5)
    >>> anonset.anonymize([["a"], ["a", "b"]] * 50, method=advice.method, **advice.params).verdict.holds
    True
    """
    transactions = read(data, **reading)
    marked = bool(transactions.sensitive_names()) or transactions.sensitivity is not None
    users = transactions.users
    repeat = users is not None and len(users) > len(set(users.tolist()))
    with watched(progress) as heard:
        return propose(
            transactions,
            sensitive=marked if has_sensitive is None else has_sensitive,
            hierarchy=hierarchy,
            users=repeat if has_users is None else has_users,
            seconds=seconds,
            job=Job(0, progress=heard),
        )


@dataclass(frozen=True, repr=False)
class Comparison(Shown):
    """Runs of several methods, measured alike; `advice` says which to take, `left_out` who could not run, and why."""

    runs: tuple[Run, ...]
    left_out: Mapping[str, str]
    advice: tuple[str, ...]

    def __iter__(self) -> Any:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        return f"Comparison({len(self.runs)} runs of {', '.join(dict.fromkeys(run.method for run in self.runs))})"

    def to_dict(self) -> dict[str, list[Any]]:
        """The table of all runs by columns, ready for any data frame."""
        columns, rows = as_table(self.runs)
        return {name: [row[place] for row in rows] for place, name in enumerate(columns)}

    def to_pandas(self) -> Any:
        """The table of all runs as a pandas frame."""
        import pandas as pd

        return pd.DataFrame(self.to_dict())

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: each run's loss, what stands against publishing it, and which one to take."""
        for run in self.runs:
            params = ", ".join(f"{name}={value}" for name, value in run.params.items())
            said = run.error or f"{run.loss_title} {run.loss_text}{' (would be refused)' if run.refused else ''}"
            yield f"{run.method}({params})", said
        yield from (("advice", sentence) for sentence in self.advice)

    def picture(self) -> Picture | None:
        """The loss of every run; runs of different models have different measures of it."""
        shown = [run for run in self.runs if run.loss is not None]
        if not shown:
            return None
        names = [f"{run.method} {run.params.get('k', run.params.get('p', ''))} ({run.seed})" for run in shown]
        return Picture("Loss of each run", names, (("loss", [float(run.loss or 0.0) for run in shown]),))


def compare(
    data: Any,
    *,
    methods: Sequence[str] | None = None,
    k: Sequence[int] | None = None,
    p: Sequence[float] | None = None,
    m: Sequence[int] | None = None,
    grid: Mapping[str, Sequence[Any]] | None = None,
    hierarchy: Any = None,
    seeds: Sequence[int] = (1,),
    folder: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    budget_seconds: float | None = None,
    bound: bool = False,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Comparison:
    """Try methods and parameters, measure and attack every release alike, and say which one to take.

    Parameters
    ----------
    data
        Anything that `anonset.read` takes; `reading` are its options.
    methods
        Their names; by default all that fit the data.
    k, p, m, grid
        The values to try; k is 5, 10 and 20 where neither k nor p is given. `grid` names other parameters:
        `{"segments": [100, 1000]}`.
    hierarchy
        For methods that generalize.
    seeds
        For methods that draw at random.
    folder
        Where finished runs are kept: a comparison that was stopped goes on there. By default nothing is kept.
    workers, budget_seconds
        How many runs go side by side, and when to stop.
    bound
        Also find the least loss that any k-anonymous release can have.

    Examples
    --------
    >>> import anonset
    >>> found = anonset.compare([["a", "b"], ["a"], ["b"], ["a", "b"]] * 5, methods=["pta", "gsc"], k=[2, 5])
    >>> found
    Comparison(4 runs of pta, gsc)
    >>> found.to_dict()["method"]
    ['pta', 'pta', 'gsc', 'gsc']
    """
    named = {"k": (5, 10, 20) if k is None and p is None else k, "p": p, "m": m, **(grid or {})}
    asked: dict[str, list[Any]] = {name: list(values) for name, values in named.items() if values is not None}
    if hierarchy is not None:
        asked["hierarchy"] = [hierarchy]
    transactions = read(data, **reading)
    with tempfile.TemporaryDirectory() as passing, watched(progress) as heard:
        runs, left_out = run_grid(
            transactions,
            passing if folder is None else folder,
            methods=methods,
            grid=asked,
            seeds=seeds,
            workers=workers,
            budget_seconds=budget_seconds,
            bound=bound,
            told=None if heard is None else lambda done, total: heard("compare", done, total),
        )
    return Comparison(tuple(runs), left_out, tuple(recommend(runs)))
