"""Which method, which parameters? A grid of runs, measured alike, that can be stopped and continued.

Every finished run is one line of `runs.jsonl` in the output folder; a comparison that is started again there does only
what is missing. Runs go side by side, each on one thread, so that their times can be compared.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

from anonset.assess.bound.search import lower_bound
from anonset.assess.utility import measure
from anonset.choose.runs import Ledger, Plan, Run, fingerprint
from anonset.data.errors import AnonsetError, CancelledError, InputError, ParameterError
from anonset.data.findings import Findings
from anonset.data.job import Job
from anonset.data.spec import MethodSpec, Param
from anonset.data.transactions import Transactions
from anonset.methods import METHODS, method_spec
from anonset.models import model_spec
from anonset.pipeline import anonymize

RUNS = "runs.jsonl"
NEEDED = {"sensitive": "sensitive items", "sensitivity": "sensitivity degrees"}
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
        axes = _axes(spec, grid)
        for values in product(*axes.values()):
            params = dict(zip(axes, values, strict=True))
            made += [Plan(name, params, seed) for seed in (seeds if spec.seeded else seeds[:1])]
    unused = [name for name in grid if not any(name in plan.params for plan in made)]
    if made and unused:
        raise ParameterError(unused[0], "be a parameter of one of the methods compared", "one that none takes")
    return made, left_out


def _axes(spec: MethodSpec, grid: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """The values of each parameter that the method is run with: those of the grid that it can take.

    So that every model is compared, a parameter that must be given and is not there gets the values of k where it says
    how strong the promise is, else the value that its description uses as an example.
    """
    axes = {}
    model = model_spec(spec.model)
    for param in (*model.params, *spec.params):
        able = [value for value in grid.get(param.name, ()) if _takes(param, value)]
        if not able and param.required and param.name == model.headline:
            able = [value for value in grid.get("k", ()) if _takes(param, value)]
        if not able and param.required and param.example is not None:
            able = [param.example]
        elif param.name in grid and not able:
            able = list(grid[param.name])  # none fits: the run says why
        if able:
            axes[param.name] = able
    return axes


def _takes(param: Param, value: Any) -> bool:
    try:
        param.parse(value)
    except AnonsetError:
        return False
    return True


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
    lacking = [param.name for param in params if param.required and param.name not in grid and param.example is None]
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
    """The runs for which the least possible loss is known, with that and the gap to it among their figures."""
    ratios: dict[int, float] = {}
    more = []
    for run in runs:
        ratio = run.figures.get("information_loss_ratio")
        k = None if run.error else model_spec(run.model).bound_at(run.params)
        if k is not None and ratio is not None:
            k = int(k)
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
        cut = None if result.cut is None else result.cut.hierarchy
        tree = cut if result.levels is None else result.levels.tree
        lost = measure(data, result.release, result.row_origin, hierarchy=tree, metrics=CHEAP, job=job)
        figures = {one.figure.name: one.value for one in lost.figures}
        findings = result.findings or Findings()
        figures |= _risks(findings)
    except CancelledError:
        return None
    except AnonsetError as error:
        return Run(plan.method, spec.model, shown, plan.seed, error=str(error))
    strength = float(result.verdict.measured[model_spec(spec.model).headline])
    refused = " ".join(one.found for one in findings.refused)
    return Run(plan.method, spec.model, shown, plan.seed, strength, seconds, figures, refused=refused)


def _risks(findings: Findings) -> dict[str, float]:
    """What attackers achieve, under the names of `RISKS`."""
    found = {
        "risk_two_items": [one for one in findings if one.name == "known-items" and one.title.startswith("2 ")],
        "risk_all_items": [one for one in findings if one.name == "nearest-match"],
        "risk_secret": list(findings.of("inference")),
    }
    return {name: max(one.after for one in own) for name, own in found.items() if own}
