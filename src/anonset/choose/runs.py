"""What a comparison makes: plans, runs, and the ledger that keeps finished runs across a stop."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from anonset.assess.utility import METRICS
from anonset.data.findings import Part
from anonset.data.transactions import Transactions
from anonset.data.version import VERSION
from anonset.models import model_spec

RISKS: dict[str, tuple[str, str]] = {
    "risk_two_items": ("2 items known", "How often somebody who knows two items of a person finds the transaction."),
    "risk_all_items": (
        "all items known",
        "How often somebody who knows all ordinary items of a person finds the transaction, taking the nearest one.",
    ),
    "risk_secret": (
        "secret",
        "How often somebody who guesses who holds a sensitive item is right.",
    ),
}
"""What attackers achieve against a release: the figure's name, its title, and what it means. Lower is better."""

PARTS_OF: dict[str, Part] = {
    "risk_two_items": "singling out",
    "risk_all_items": "singling out",
    "risk_secret": "inference",
}
LOSSES = ("attribute_loss_ratio", "ncp", "reconstruction_error", "information_loss_ratio", "query_error_2")


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
    refused: str = ""  # what stands against publishing the release

    @property
    def loss(self) -> float | None:
        """The model's own measure of loss."""
        return next((self.figures[name] for name in LOSSES if self.figures.get(name) is not None), None)

    @property
    def risk(self) -> float | None:
        """The greatest success of an attack of a kind that the model speaks about; of any kind where none was tried."""
        tried = {name: value for name in RISKS if (value := self.figures.get(name)) is not None}
        about = model_spec(self.model).stops
        found = [value for name, value in tried.items() if PARTS_OF[name] in about] or [*tried.values()]
        return max(found) if found else None

    @property
    def loss_name(self) -> str:
        """What `loss` is."""
        return next((name for name in LOSSES if self.figures.get(name) is not None), "")

    @property
    def loss_text(self) -> str:
        """`loss` as its metric writes it: a share in per cent, anything else as a number."""
        written = (figure for metric in METRICS.values() for figure in metric.figures if figure.name == self.loss_name)
        return next((figure.write(self.loss) for figure in written), "–")

    @property
    def loss_title(self) -> str:
        """What `loss` is, in words."""
        return "NCP" if self.loss_name == "ncp" else self.loss_name.replace("_", " ")


def _identity(value: Any) -> str:
    """What a value is; of a file (a hierarchy) also its content: another one under the same name is another run."""
    if isinstance(value, (str, os.PathLike)) and Path(value).is_file():
        return f"{value} {hashlib.sha256(Path(value).read_bytes()).hexdigest()}"
    return str(value)


class Ledger:
    """The runs made so far, one JSON object per line; a line that a crash cut short is passed over."""

    def __init__(self, path: Path, data: str) -> None:
        self.path, self.about = path, {"data": data, "version": VERSION}
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
