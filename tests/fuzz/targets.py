"""What is fuzzed: every reader (each format in each container), and every method and check through the public API.

A target takes any bytes. It may answer with an error of anonset, whose sentence is then one line without control
characters; everything else (another exception, a crash, a release that does not hold) is a finding.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anonset
from anonset import AnonsetError, Transactions
from anonset.data.hierarchy import read_cut, read_hierarchy
from anonset.data.param import Param
from anonset.io.containers import database as databases
from anonset.methods import METHODS
from anonset.models import MODELS, model_spec

SPLIT = b"\n--8<--\n"
"""What separates the two tables of a release in groups inside one input."""

_FOLDER = tempfile.TemporaryDirectory(prefix="anonset-fuzz-")
FOLDER = Path(_FOLDER.name)


def share_database() -> None:
    """Opening a database takes ten times as long as reading a small file: in a fuzzer one is enough for all."""
    database = databases.connect()

    @contextmanager
    def shared() -> Iterator[Any]:
        yield database

    databases.connect = shared


def _reads(ending: str, *layouts: str) -> Callable[[bytes], None]:
    """Read the bytes as a file with this ending: as detected, then in every layout that it can hold."""

    def target(data: bytes) -> None:
        path = FOLDER / f"input.{ending}"
        path.write_bytes(data)
        for layout in (None, *layouts):
            _only_ours(lambda layout=layout: _measured(path, layout))

    return target


def _measured(path: Path, layout: str | None) -> None:
    """What anybody does with a file: read it, and ask whether it keeps a promise."""
    release = anonset.read_release(path, format=layout)
    release.transactions.labels.validate(full=True)
    anonset.verify(release, k=2)


def _only_ours(work: Callable[[], object]) -> None:
    try:
        work()
    except AnonsetError as error:
        if not str(error) or not str(error).isprintable():
            raise ValueError("an error without a sentence, or with control characters") from error


def hierarchy(data: bytes) -> None:
    """Any of the four formats of a hierarchy."""
    path = FOLDER / "tree.csv"
    path.write_bytes(data)
    for kind in (None, "table", "edges", "arx", "amnesia"):
        _only_ours(lambda kind=kind: read_hierarchy(path, format=kind).show(depth=2))


TREE = read_hierarchy({"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]})


def cut(data: bytes) -> None:
    """A cut of a small hierarchy."""
    path = FOLDER / "cut.csv"
    path.write_bytes(data)
    _only_ours(lambda: read_cut(path, TREE).mapping())


def _groups(ending: str) -> Callable[[bytes], None]:
    """A release in groups whose certificate fits whatever the two files hold."""

    def target(data: bytes) -> None:
        folder = FOLDER / f"groups-{ending}"
        folder.mkdir(exist_ok=True)
        transactions, _, sensitive = data.partition(SPLIT)
        files = {f"transactions.{ending}": transactions, f"sensitive.{ending}": sensitive}
        for name, content in files.items():
            (folder / name).write_bytes(content)
        digests = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
        (folder / "certificate.json").write_text(json.dumps({"anonset": "certificate", "files": digests}))
        _only_ours(lambda: anonset.verify(folder, "privacy-degree", p=2))

    return target


def certificate(data: bytes) -> None:
    """A certificate beside a release, read by `anonset verify`."""
    from anonset.cli.base.outcome import run

    release = FOLDER / "release.dat"
    release.write_text("a b\na b\nc\nc\n")
    release.with_name("release.dat.certificate.json").write_bytes(data)
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123
        code = _silently(nowhere, lambda: run(["verify", str(release), "--quiet"]))
    assert code in (0, 2, 3), f"exit code {code}"


def _silently(nowhere: object, work: Callable[[], int]) -> int:
    from contextlib import redirect_stderr, redirect_stdout

    with redirect_stdout(nowhere), redirect_stderr(nowhere):  # type: ignore[type-var]
        return work()


def _kernels(model: str) -> Callable[[bytes], None]:
    """The methods of a model on small data: method, parameters, seed and data are all chosen by the bytes."""
    names = sorted(name for name, spec in METHODS.items() if spec.model == model)
    most = max(len((*model_spec(model).params, *METHODS[name].params)) for name in names)

    def target(data: bytes) -> None:
        if len(data) < 4 + most:
            return
        spec = METHODS[names[data[0] % len(names)]]
        rows = _rows(data[4 + most :])
        items = sorted({item for row in rows for item in row})
        secret = items[-1 - data[1] % 3 :] if items and (data[1] & 64 or "sensitive" in spec.needs) else None
        params = (*model_spec(model).params, *spec.params)
        given = {param.name: _value(param, byte) for param, byte in zip(params, data[4:], strict=False)}
        source = Transactions.from_lists(
            rows,
            users=[f"u{number % (2 + data[2] % 6)}" for number in range(len(rows))] if "users" in spec.needs else None,
            sensitive=secret,
        )
        _only_ours(lambda: _holds(source, spec.name, given, data[3]))

    return target


def _value(param: Param, byte: int) -> object:
    """A value of a parameter: often one that fits small data, now and then one at the edge of what is allowed."""
    if byte % 4 == 0 or param.type in ("text", "hierarchy"):
        return param.example if param.required else None
    if param.choices:
        return param.choices[byte % len(param.choices)]
    if param.type == "bool":
        return bool(byte & 8)
    low = param.minimum if param.minimum is not None else param.above or 0
    high = param.maximum if param.maximum is not None else 2**31 - 1
    if param.type in ("int", "count"):
        edge = high if param.name in ("k", "m", "p") else min(high, 500)  # a billion rounds take as long as they take
        return int(edge if byte > 250 else min(low + byte // 4 % 12, high))
    return float(high) if byte > 250 else min(low + byte / 256, float(high))


def _holds(source: Transactions, name: str, given: dict, seed: int) -> None:
    result = anonset.anonymize(source, method=name, seed=seed, threads=1, **given)
    assert result.verdict.holds
    assert anonset.verify(result.release, result.verdict.model, **dict(result.verdict.params)).holds


def _rows(data: bytes) -> list[list[str]]:
    """Half a byte is an item; 0 ends a transaction."""
    rows: list[list[str]] = [[]]
    for byte in data[:200]:
        for item in (byte >> 4, byte & 15):
            rows.append([]) if item == 0 else rows[-1].append(f"i{item}")
    return [sorted(set(row)) for row in rows]


TABLES = ("long", "lists", "wide")
TARGETS: dict[str, Callable[[bytes], None]] = {
    "fimi": _reads("dat", "fimi"),
    "spmf": _reads("spmf", "spmf"),
    "basket": _reads("basket", "basket"),
    "csv": _reads("csv", *(f"{layout}.csv" for layout in TABLES)),
    "tsv": _reads("tsv", *(f"{layout}.tsv" for layout in TABLES)),
    "jsonl": _reads("jsonl", *(f"{layout}.jsonl" for layout in TABLES)),
    "parquet": _reads("parquet", *(f"{layout}.parquet" for layout in TABLES)),
    "arrow": _reads("arrow", *(f"{layout}.arrow" for layout in TABLES)),
    "hierarchy": hierarchy,
    "cut": cut,
    "groups-csv": _groups("csv"),
    "groups-jsonl": _groups("jsonl"),
    "groups-parquet": _groups("parquet"),
    "groups-arrow": _groups("arrow"),
    "certificate": certificate,
    **{f"kernels-{model}": _kernels(model) for model in MODELS},
}
