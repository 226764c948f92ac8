"""Which method, which parameters? A grid of runs, measured alike, that can be stopped and continued.

Every finished run is one line of `runs.jsonl` in the output folder; a comparison that is started again there does only
what is missing. Runs go side by side, each on one thread, so that their times can be compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from anonset.assess.bound.search import lower_bound
from anonset.assess.utility import measure
from anonset.data.errors import AnonsetError, CancelledError, InputError, ParameterError
from anonset.data.job import Job
from anonset.data.spec import MethodSpec
from anonset.data.transactions import Mask, Transactions
from anonset.methods import METHODS, method_spec
from anonset.models import model_spec
from anonset.pipeline import anonymize

RUNS = "runs.jsonl"
STRENGTH = ("k", "p")
NEEDED = {"sensitive": "sensitive items", "sensitivity": "sensitivity degrees"}
LOSSES = ("attribute_loss_ratio", "ncp", "reconstruction_error", "information_loss_ratio", "query_error_2")
CHEAP = (
    "attribute-loss",
    "information-loss",
    "ncp",
    "reconstruction",
    "discernibility",
    "item-frequencies",
    "queries",
    "lengths",
)


@dataclass(frozen=True)
class Plan:
    """One run to make: a method, all parameters of the grid that it takes, and a seed."""

    method: str
    params: Mapping[str, Any]
    seed: int

    @property
    def key(self) -> str:
        """The same run has the same key."""
        return json.dumps(
            [self.method, sorted((name, _identity(value)) for name, value in self.params.items()), self.seed]
        )


@dataclass(frozen=True)
class Run:
    """What became of a plan: its figures, or the reason why it has none."""

    method: str
    model: str
    params: dict[str, Any]
    seed: int
    strength: float | None = None
    seconds: float = 0.0
    figures: dict[str, float | None] = field(default_factory=dict)
    error: str = ""

    @property
    def loss(self) -> float | None:
        """The model's own measure of loss."""
        return next((self.figures[name] for name in LOSSES if self.figures.get(name) is not None), None)

    @property
    def loss_name(self) -> str:
        """What `loss` is."""
        return next((name for name in LOSSES if self.figures.get(name) is not None), "")

    @property
    def loss_title(self) -> str:
        """What `loss` is, in words."""
        return "NCP" if self.loss_name == "ncp" else self.loss_name.replace("_", " ")


def _identity(value: Any) -> str:
    """What a value is; of a file (a hierarchy) also its content: another one under the same name is another run."""
    if isinstance(value, (str, os.PathLike)) and Path(value).is_file():
        return f"{value} {hashlib.sha256(Path(value).read_bytes()).hexdigest()}"
    return str(value)


Told = Callable[[int, int], None]


def plans(
    data: Transactions, methods: Sequence[str] | None, grid: Mapping[str, Sequence[Any]], seeds: Sequence[int]
) -> tuple[list[Plan], dict[str, str]]:
    """All runs of the grid, and for each method that cannot run on these data the reason why."""
    made: list[Plan] = []
    left_out: dict[str, str] = {}
    for name in methods or METHODS:
        spec = method_spec(name)
        reason = _unfit(spec, data, grid)
        if reason and methods:
            raise InputError(f"Method {name} cannot be compared: {reason}.")
        if reason:
            left_out[name] = reason
            continue
        known = [param.name for param in (*model_spec(spec.model).params, *spec.params) if param.name in grid]
        for values in product(*(grid[param] for param in known)):
            params = dict(zip(known, values, strict=True))
            made += [Plan(name, params, seed) for seed in (seeds if spec.seeded else seeds[:1])]
    unused = [name for name in grid if not any(name in plan.params for plan in made)]
    if made and unused:
        raise ParameterError(unused[0], "be a parameter of one of the methods compared", "one that none takes")
    return made, left_out


def _unfit(spec: MethodSpec, data: Transactions, grid: Mapping[str, Sequence[Any]]) -> str:
    """Why a method cannot run, or nothing."""
    there = {
        "sensitive": data.sensitive is not None and bool(data.sensitive.any()),
        "users": data.users is not None,
        "sensitivity": data.sensitivity is not None,
    }
    missing = [need for need in spec.needs if not there.get(need, True)]
    if missing:
        return f"the data have no {' and no '.join(NEEDED.get(need, need) for need in missing)}"
    params = (*model_spec(spec.model).params, *spec.params)
    lacking = [param.name for param in params if param.required and param.name not in grid]
    return f"it needs {', '.join(lacking)}" if lacking else ""


def compare(
    data: Transactions,
    folder: str | os.PathLike[str],
    *,
    methods: Sequence[str] | None = None,
    grid: Mapping[str, Sequence[Any]],
    seeds: Sequence[int] = (1,),
    workers: int | None = None,
    budget_seconds: float | None = None,
    bound: bool = False,
    told: Told | None = None,
) -> tuple[list[Run], dict[str, str]]:
    """Run the grid, measure every release, and keep each run in `folder`; gives all runs and who was left out.

    Runs that were finished there before, with the same data and version, are not made again. With `bound`, runs for
    k-anonymity also say the least loss that any release could have, and how far above it they are.
    """
    wanted, left_out = plans(data, methods, grid, seeds)
    if not wanted:
        reasons = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        raise InputError(f"No method can be compared on these data ({reasons}).")
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(place / RUNS, fingerprint(data))
    todo = [plan for plan in wanted if plan.key not in ledger.runs]
    if told is not None:
        told(len(wanted) - len(todo), len(wanted))
    _run_all(data, todo, ledger, workers or os.cpu_count() or 1, budget_seconds, told, len(wanted))
    runs = [ledger.runs[plan.key] for plan in wanted if plan.key in ledger.runs]
    return _with_bounds(data, runs) if bound else runs, left_out


def _with_bounds(data: Transactions, runs: list[Run]) -> list[Run]:
    """The runs for plain k-anonymity with the least possible loss, and the gap to it, among their figures."""
    ratios: dict[int, float] = {}
    more = []
    for run in runs:
        ratio = run.figures.get("information_loss_ratio")
        if run.model == "k-anonymity" and ratio is not None and run.params.get("protect", "all") == "all":
            k = int(run.params["k"])
            ratios[k] = ratios[k] if k in ratios else lower_bound(data, k).ratio
            run = replace(run, figures={**run.figures, "loss_bound": ratios[k], "loss_gap": ratio - ratios[k]})
        more.append(run)
    return more


def _run_all(
    data: Transactions,
    todo: list[Plan],
    ledger: Ledger,
    workers: int,
    budget: float | None,
    told: Told | None,
    total: int,
) -> None:
    end = None if budget is None else time.monotonic() + budget
    jobs = {plan.key: Job(plan.seed, 1) for plan in todo}
    pending: set[Future[None]] = set()
    queue = iter(todo)

    def work(plan: Plan) -> None:
        run = _one(data, plan, jobs[plan.key])
        if run is not None:
            ledger.add(plan, run)

    pool = ThreadPoolExecutor(workers)
    try:
        while True:
            over = end is not None and time.monotonic() >= end
            while not over and len(pending) < workers and (plan := next(queue, None)) is not None:
                pending.add(pool.submit(work, plan))
            if over:
                for job in jobs.values():
                    job.cancel()
            if not pending:
                return
            done, pending = wait(pending, timeout=0.2, return_when=FIRST_COMPLETED)
            for future in done:
                future.result()
            if told is not None:
                told(len(ledger.runs), total)
    except BaseException:
        for job in jobs.values():
            job.cancel()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _one(data: Transactions, plan: Plan, job: Job) -> Run | None:
    """One run, measured; None where it was stopped. What a method cannot do is an answer, too."""
    spec = method_spec(plan.method)
    shown = {name: value if isinstance(value, (int, float, str)) else str(value) for name, value in plan.params.items()}
    start = time.perf_counter()
    try:
        result = anonymize(data, method=plan.method, job=job, **plan.params)
        seconds = time.perf_counter() - start
        tree = None if result.cut is None else result.cut.hierarchy
        lost = measure(data, result.release, result.row_origin, hierarchy=tree, metrics=CHEAP, job=job)
        figures = {one.figure.name: one.value for one in lost.figures}
    except CancelledError:
        return None
    except AnonsetError as error:
        return Run(plan.method, spec.model, shown, plan.seed, error=str(error))
    measured = result.verdict.measured
    strength = next((float(measured[name]) for name in STRENGTH if name in measured), None)
    return Run(plan.method, spec.model, shown, plan.seed, strength, seconds, figures)


class Ledger:
    """The runs made so far, one JSON object per line; a line that a crash cut short is passed over."""

    def __init__(self, path: Path, data: str) -> None:
        from anonset import __version__

        self.path, self.about = path, {"data": data, "version": __version__}
        self.runs: dict[str, Run] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if entry.get("about") == self.about:
                self.runs[entry["key"]] = Run(**entry["run"])

    def add(self, plan: Plan, run: Run) -> None:
        """Keep a finished run, on the disk before anything else."""
        entry = {"key": plan.key, "about": self.about, "run": asdict(run)}
        with open(self.path, "a", encoding="utf-8", opener=_own) as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.runs[plan.key] = run


def _own(path: str, flags: int) -> int:
    """Open a file for this user's eyes only, and never through a link."""
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def fingerprint(data: Transactions) -> str:
    """The same data give the same text."""
    digest = hashlib.sha256()
    for part in (data.offsets, data.items, data.sensitive, data.users, data.sensitivity):
        digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
    digest.update("\0".join(data.labels.to_pylist()).encode())
    return digest.hexdigest()


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
    name = next((name for name in STRENGTH if name in best.params), "k")
    what = f"For {best.model} with {name} = {asked:g} take {best.method}"
    own = {key: value for key, value in best.params.items() if key not in STRENGTH}
    what += f" ({', '.join(f'{key} = {value}' for key, value in own.items())})" if own else ""
    others = [run for run in strongest if run.method != best.method]
    measure_of = f"{best.loss_title} {best.loss:.3g}"
    if not others:
        return [
            f"{what}: {measure_of}.",
            f"It took {best.seconds:.2f} s; no other method was compared at this strength.",
        ]
    second = min(others, key=lambda run: run.loss or 0.0)
    fastest = min(strongest, key=lambda run: run.seconds)
    why = f"the least loss ({measure_of}; next is {second.method} with {second.loss:.3g})"
    if f"{second.loss:.3g}" == f"{best.loss:.3g}":
        why = f"nobody loses less ({measure_of}, and so does {second.method})"
    pace = "and it is the fastest" if fastest.method == best.method else f"{fastest.method} is faster"
    return [f"{what}: {why}.", f"It took {best.seconds:.2f} s, {pace} ({fastest.seconds:.2f} s)."]


def _asked(run: Run) -> float:
    """The strength that was asked for."""
    return next((float(run.params[name]) for name in STRENGTH if name in run.params), run.strength or 0.0)


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
