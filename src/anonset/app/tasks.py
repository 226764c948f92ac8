"""What a worker can be asked for. Each task calls the public API and puts the answer into plain data."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import anonset
from anonset.assess.profile import summarize
from anonset.assess.risk import singled_out
from anonset.data.hierarchy import Hierarchy, balanced, by_cooccurrence, by_prefix, read_hierarchy
from anonset.data.job import Job
from anonset.data.transactions import Transactions
from anonset.report import charts

Setup = Mapping[str, Any]
"""How the data are read and what is said of them: source, reading, sensitive, hierarchy, unit."""

FIRST = 10  # transactions that are shown
FOUND = 40  # items that a search shows
KNOWN = (1, 2, 3, 4)


class Desk:
    """What a worker has read, kept for its next task."""

    def __init__(self) -> None:
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


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "market": market,
    "open": open_,
    "items": items,
    "hierarchy": hierarchy,
    "risk": risk,
}
QUICK = {"items"}
