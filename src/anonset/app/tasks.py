"""What a worker can be asked for. Each task calls the public API and puts the answer into plain data."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import anonset
from anonset.app.commands import arguments, command_line, write_project
from anonset.assess.profile import summarize
from anonset.assess.risk import singled_out
from anonset.choose.advise import advise as proposal
from anonset.choose.compare import compare as run_all
from anonset.choose.recommend import points, recommend
from anonset.choose.trials import Trial, sample
from anonset.data.advice import Situation
from anonset.data.hierarchy import Hierarchy, balanced, by_cooccurrence, by_frequency, by_prefix, read_hierarchy
from anonset.data.job import Job
from anonset.data.release import Result
from anonset.data.spec import Param
from anonset.data.targets import Targets
from anonset.data.transactions import Transactions
from anonset.data.unit import users_repeat
from anonset.reports import charts

Setup = Mapping[str, Any]
"""How the data are read and what is said of them: source, reading, sensitive, hierarchy, unit."""

FIRST = 10  # transactions that are shown
FOUND = 40  # items that a search shows
KNOWN = (1, 2, 3, 4)
SAMPLE = 2_000  # transactions on which a choice is tried
PAIRS = 8  # of them that are shown before and after
COMPARED = 10_000


class Desk:
    """What a worker has read, kept for its next task."""

    def __init__(self, told: Callable[[str, int, int | None], None] = lambda stage, done, total: None) -> None:
        self.told = told  # hears of progress that no job counts
        self._read: tuple[str, Transactions] | None = None
        self._tree: tuple[str, Hierarchy | None] | None = None
        self._reading = threading.Lock()  # a quick task may come while a long one reads

    def data(self, setup: Setup, job: Job) -> Transactions:
        """The transactions, with the sensitive items marked that are named in addition to those of the source."""
        key = json.dumps([setup["source"], setup.get("reading", {})], sort_keys=True)
        with self._reading:
            if self._read is None or self._read[0] != key:
                with job.stage("read"):
                    self._read = key, anonset.read(setup["source"], **setup.get("reading", {}))
            data = self._read[1]
        named = setup.get("sensitive")
        return data if named is None else data.with_sensitive(named)

    def tree(self, setup: Setup, job: Job) -> Hierarchy | None:
        """The hierarchy, read from a file or built; None where none is asked for."""
        asked = setup.get("hierarchy")
        if not asked:
            return None
        key = json.dumps([setup["source"], setup.get("reading", {}), asked], sort_keys=True)
        if self._tree is None or self._tree[0] != key:
            data = self.data(setup, job)
            with job.stage("hierarchy"):
                self._tree = key, _hierarchy(asked, data)
        return self._tree[1]


def _hierarchy(asked: Mapping[str, Any], data: Transactions) -> Hierarchy:
    if "file" in asked:
        return read_hierarchy(asked["file"])
    if asked["by"] == "cooccurrence":
        return by_cooccurrence(data)
    if asked["by"] == "frequency":
        return by_frequency(data)
    return by_prefix(data.labels) if asked["by"] == "prefix" else balanced(data.labels)


def market(desk: Desk, setup: Setup, job: Job, folder: str, transactions: int = 10_000) -> dict[str, Any]:
    """The built-in supermarket, written where an upload would be."""
    from anonset.generate import write_supermarket

    write_supermarket(folder, transactions, job=job)
    place = Path(folder)
    sensitive = (place / "sensitive.txt").read_text(encoding="utf-8").splitlines()
    return {
        "source": str(place / "transactions.csv"),
        "hierarchy": str(place / "hierarchy.csv"),
        "sensitive": [name for name in sensitive if name],
    }


def open_(desk: Desk, setup: Setup, job: Job) -> dict[str, Any]:
    """A first look: counts, what reading left out, the first transactions, the most frequent items."""
    data = desk.data(setup, job)
    with job.stage("summarize"):
        summary = summarize(data).to_dict()
    figures = (
        charts.item_frequencies(data.labels.to_pylist(), None, data.item_counts),
        charts.lengths(None, data.lengths),
    )
    return {
        "summary": summary,
        "notes": list(data.notes),
        "unread": list(data.unread),
        "first": [list(data[row]) for row in range(min(FIRST, len(data)))],
        "sensitive": data.sensitive_names(),
        "suggested": _suggested(data),
        "charts": [json.loads(figure.to_json()) for figure in figures],
    }


def items(desk: Desk, setup: Setup, job: Job, text: str = "") -> dict[str, Any]:
    """The items whose names hold a text, the most frequent first."""
    data = desk.data({**setup, "sensitive": None}, job)
    labels = data.labels
    places = np.arange(len(labels))
    if text:
        places = np.flatnonzero(pc.match_substring(labels, text, ignore_case=True).to_numpy(zero_copy_only=False))
    counts = data.item_counts[places]
    order = np.argsort(-counts, kind="stable")[:FOUND]
    names = labels.take(pa.array(places[order])).to_pylist()
    found = [{"item": name, "transactions": int(count)} for name, count in zip(names, counts[order], strict=True)]
    return {"found": found, "all": len(places)}


def hierarchy(desk: Desk, setup: Setup, job: Job, text: str = "") -> dict[str, Any]:
    """The hierarchy as a drawing of its upper levels, and the paths of items that a search names."""
    tree = desk.tree(setup, job)
    if tree is None:
        return {"drawing": "", "found": []}
    found: list[str] = []
    if text:
        hits = np.flatnonzero(pc.match_substring(tree.labels, text, ignore_case=True).to_numpy(zero_copy_only=False))
        found = [" › ".join(tree.path(int(node))) for node in hits[:FOUND]]
    missing = pc.invert(pc.is_in(desk.data(setup, job).labels, value_set=pa.array(tree.items)))
    return {
        "drawing": tree.show(depth=2, widest=12),
        "found": found,
        "items": tree.n_items,
        "height": tree.height,
        "missing": int(pc.sum(missing).as_py() or 0),
        "notes": list(tree.notes),
    }


def risk(desk: Desk, setup: Setup, job: Job) -> dict[str, Any]:
    """Whom an attacker finds in the data as they are, by the number of items known."""
    data = desk.data(setup, job)
    rows = [singled_out(data, m, job=job, samples=20_000).to_dict() for m in KNOWN]
    rows = [row for row in rows if row["attacked"]]
    holders = int((data.sensitive_part().lengths > 0).sum())
    return {
        "rows": rows,
        "chart": json.loads(charts.singled_out(rows).to_json()),
        "sensitive_items": len(data.sensitive_names()),
        "sensitive_transactions": holders,
    }


def advise(desk: Desk, setup: Setup, job: Job) -> dict[str, Any]:
    """What was tried on a sample: what attackers achieve, what is left, and what is recommended."""
    data = desk.data(setup, job)
    found = proposal(
        data,
        sensitive=bool(data.sensitive_names()) or data.sensitivity is not None,
        hierarchy=desk.tree(setup, job),
        users=setup.get("unit") == "user" and users_repeat(data),
        job=job,
    )
    cards = [_card(one, one is found.recommended) for one in found.trials if not one.candidate.built]
    return {
        "reasons": list(found.reasons),
        "help": list(found.help),
        "cards": sorted(cards, key=lambda card: (not card["best"], bool(card["problem"]), -card["kept"])),
    }


def _card(trial: Trial, best: bool) -> dict[str, Any]:
    """One trial: the promise, attacks before and after, what is left, and what stands against it."""
    said = trial.to_dict()
    kept = {name: said[name] for name in ("model", "method", "params", "promise", "kept", "problem", "transactions")}
    attacks = [{name: one[name] for name in ("sentence", "before", "after", "part")} for one in said["attacks"]]
    return {**kept, "best": best, "attacks": attacks}


def _suggested(data: Transactions) -> dict[str, dict[str, Any]]:
    """What each model would begin with on these data."""
    situation = Situation(data, sensitive=True, hierarchy=True, users=True)
    found = ((name, spec.advice(situation)) for name, spec in anonset.MODELS.items())
    return {
        name: {key: value for key, value in one.params.items() if isinstance(value, (int, float, str))}
        for name, one in found
        if one is not None
    }


def _options(desk: Desk, setup: Setup, job: Job, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as `anonymize` takes them, with the hierarchy where the method takes one."""
    takes = any(param.type == "hierarchy" for param in anonset.METHODS[method].params)
    tree = desk.tree(setup, job) if takes else None
    more = {} if tree is None else {"hierarchy": tree}
    return {**params, **more, **({"unit": setup["unit"]} if setup.get("unit") else {})}


def preview(desk: Desk, setup: Setup, job: Job, model: str, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The choice tried on a sample: what is lost, and transactions before and after."""
    data = sample(desk.data(setup, job), SAMPLE)
    result = anonset.anonymize(data, model, method=method, job=job, **_options(desk, setup, job, method, params))
    origin = result.row_origin
    known = np.flatnonzero(origin >= 0)
    places = known[np.linspace(0, len(known) - 1, min(PAIRS, len(known))).astype(np.int64)] if len(known) else known
    published = result.release.transactions
    return {
        "transactions": len(data),
        "lost": _lost(result),
        "pairs": [(list(data[int(origin[place])]), list(published[int(place)])) for place in places],
    }


def _lost(result: Result) -> list[tuple[str, str]]:
    """What a release lost, in the figures of its method."""
    return [
        (name, f"{value:.4g}" if name == "NCP" else f"{100 * value:.1f} %")
        for name, value in result.losses()
        if name in ("information loss", "NCP", "attribute loss")
    ]


def compare(
    desk: Desk,
    setup: Setup,
    job: Job,
    methods: list[str],
    strengths: Mapping[str, list[str]],
    others: Mapping[str, str],
) -> dict[str, Any]:
    """Methods at several strengths, measured alike, on at most so many transactions."""
    whole = desk.data(setup, job)
    data = sample(whole, COMPARED)
    grid: dict[str, list[Any]] = {**{name: [value] for name, value in others.items()}, **strengths}
    takers = [name for name in methods if any(one.type == "hierarchy" for one in anonset.METHODS[name].params)]
    if takers and (tree := desk.tree(setup, job)) is not None:
        grid["hierarchy"] = [tree]
    grid = {name: values if name == "hierarchy" else _parsed(methods, name, values) for name, values in grid.items()}
    with TemporaryDirectory() as folder:
        told = lambda done, total: desk.told("compare", done, total)  # noqa: E731
        runs, left_out = run_all(data, folder, methods=methods, grid=grid, told=told)
    shown = points(runs)
    usable = [run for run in runs if not run.error and run.loss is not None and run.strength is not None]
    drawn = (charts.tradeoff, charts.risk) if any(point["risk"] is not None for point in shown) else (charts.tradeoff,)
    figures = [draw(shown, str(shown[0]["measure"])) for draw in drawn] if shown else []
    failed = [(f"{run.method} {_values(run.params)}", run.error) for run in runs if run.error]
    return {
        "sampled": len(data) if data is not whole else 0,
        "advice": recommend(runs),
        "charts": [json.loads(figure.to_json()) for figure in figures],
        "runs": [
            {**point, "loss_text": run.loss_text, "params": {name: run.params[name] for name in strengths}}
            for point, run in zip(shown, usable, strict=True)
        ],
        "left_out": [*left_out.items(), *failed],
    }


def _parsed(methods: list[str], name: str, values: list[Any]) -> list[Any]:
    """The values of a parameter, as its description reads them."""
    params = (*anonset.MODELS[anonset.METHODS[methods[0]].model].params, *anonset.METHODS[methods[0]].params)
    param = next(one for one in params if one.name == name)
    return [param.parse(value) for value in values]


def _values(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in params.items() if name != "hierarchy")


def publish(
    desk: Desk,
    setup: Setup,
    job: Job,
    folder: str,
    ending: str,
    shown: str,
    model: str,
    method: str,
    params: Mapping[str, Any],
    accept: list[str],
    purpose: str,
    responsible: str,
) -> dict[str, Any]:
    """Make the release, check it, and write it with all that goes with it into a folder of its own."""
    place = Path(folder)
    shutil.rmtree(place, ignore_errors=True)  # what was offered before
    place.mkdir(mode=0o700)
    data = desk.data(setup, job)
    spec = anonset.MODELS[model]
    out = place / ("release" if spec.form == "groups" else f"release.{ending}")
    signed: dict[str, Any] = {"purpose": purpose, "responsible": responsible}
    accepted: dict[str, Any] = {"accept": tuple(accept)} if accept else {}
    targets = Targets(out=out, report=place / "report.html", dossier=place / "dossier.html", **signed, **accepted)
    options = _options(desk, setup, job, method, params)
    result = anonset.publish(data, targets, model, method=method, job=job, **options)
    said = {**_said(desk, setup, job, place, data, options), "report": "report.html", "dossier": "dossier.html"}
    said |= {name: value for name, value in signed.items() if value}
    words = arguments(said, {"model": model, "method": method, "params": params}, _params(method), out.name, accept)
    found = None if result.findings is None else result.findings.accepting(accept)
    write_project(place / "anonset.toml", shown, words)
    return {
        "promise": result.verdict.promise,
        "measured": dict(result.verdict.measured),
        "lost": _lost(result),
        "notes": list(result.notes),
        "accepted": list(accept),
        "findings": [] if found is None else [one.to_dict() for one in found],
        "remaining": [] if found is None else list(found.remaining),
        "files": _files(place),
        "command": command_line(shown, words),
    }


def _params(method: str) -> tuple[Param, ...]:
    spec = anonset.METHODS[method]
    return (*anonset.MODELS[spec.model].params, *spec.params)


def _said(
    desk: Desk, setup: Setup, job: Job, place: Path, data: Transactions, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What was said of the data, as options of the command line; names go into files beside the release."""
    said = dict(setup.get("reading", {}))
    if setup.get("sensitive"):
        names = data.sensitive_names()
        (place / "sensitive.PRIVATE.txt").write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        said["sensitive_file"] = "sensitive.PRIVATE.txt"
    if "hierarchy" in options:
        options["hierarchy"].write(place / "hierarchy.csv")
        said["hierarchy"] = "hierarchy.csv"
    if setup.get("unit"):
        said["unit"] = setup["unit"]
    return said


WHAT = {"release": ("release", True), "hierarchy": ("hierarchy", False), "sensitive": ("sensitive", False)}
"""What the files are by the beginning of their names, and whether they may be published."""


def _files(place: Path) -> list[dict[str, Any]]:
    """Everything that can be downloaded."""
    found = []
    for path in sorted(place.rglob("*")):
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(place).parts):
            name = str(path.relative_to(place))
            what, public = WHAT.get(name.split("/")[0].split(".")[0], ("config", False))
            if path.name.endswith("certificate.json"):
                what, public = "certificate", True
            if "report" in path.name or "dossier" in path.name:
                what, public = path.name.split(".")[0], False
            found.append(
                {"path": str(path), "name": name, "what": what, "public": public, "bytes": path.stat().st_size}
            )
    return sorted(found, key=lambda file: (not file["public"], file["name"] != "release", file["name"]))


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "market": market,
    "open": open_,
    "items": items,
    "hierarchy": hierarchy,
    "risk": risk,
    "advise": advise,
    "preview": preview,
    "compare": compare,
    "publish": publish,
}
QUICK = {"items"}
