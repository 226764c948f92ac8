"""What is fuzzed: every reader (each format in each container), and every method and check through the public API.

Readers of archives and databases are in `books`, what is given beside the data in `beside`.

A target takes any bytes. It may answer with an error of anonset, whose sentence is then one line without control
characters; everything else (another exception, a crash, a release that does not hold) is a finding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import anonset
from anonset import Transactions
from anonset.data.hierarchy import read_cut, read_hierarchy
from anonset.data.param import Param
from anonset.methods import METHODS
from anonset.models import MODELS, model_spec
from tests.fuzz.beside import BESIDE
from tests.fuzz.books import BOOKS
from tests.fuzz.common import FOLDER, SPLIT, commanded, only_ours, reads


def hierarchy(data: bytes) -> None:
    """Any of the four formats of a hierarchy."""
    path = FOLDER / "tree.csv"
    path.write_bytes(data)
    for kind in (None, "table", "edges", "arx", "amnesia"):
        only_ours(lambda kind=kind: read_hierarchy(path, format=kind).show(depth=2))


TREE = read_hierarchy({"item": ["milk", "brie", "wine"], "level1": ["dairy", "dairy", "drinks"]})


def cut(data: bytes) -> None:
    """A cut of a small hierarchy."""
    path = FOLDER / "cut.csv"
    path.write_bytes(data)
    only_ours(lambda: read_cut(path, TREE).mapping())


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
        only_ours(lambda: anonset.verify(folder, "privacy-degree", p=2))

    return target


def certificate(data: bytes) -> None:
    """A certificate beside a release, read by `anonset verify`."""
    release = FOLDER / "release.dat"
    release.write_text("a b\na b\nc\nc\n")
    release.with_name("release.dat.certificate.json").write_bytes(data)
    commanded("verify", str(release), "--quiet")


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
        only_ours(lambda: _holds(source, spec.name, given, data[3]))

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
    "fimi": reads("dat", "fimi"),
    "spmf": reads("spmf", "spmf"),
    "basket": reads("basket", "basket"),
    "csv": reads("csv", *(f"{layout}.csv" for layout in TABLES)),
    "tsv": reads("tsv", *(f"{layout}.tsv" for layout in TABLES)),
    "jsonl": reads("jsonl", *(f"{layout}.jsonl" for layout in TABLES)),
    "parquet": reads("parquet", *(f"{layout}.parquet" for layout in TABLES)),
    "arrow": reads("arrow", *(f"{layout}.arrow" for layout in TABLES)),
    "unnamed": reads("data"),
    **BOOKS,
    **BESIDE,
    "hierarchy": hierarchy,
    "cut": cut,
    "groups-csv": _groups("csv"),
    "groups-jsonl": _groups("jsonl"),
    "groups-parquet": _groups("parquet"),
    "groups-arrow": _groups("arrow"),
    "certificate": certificate,
    **{f"kernels-{model}": _kernels(model) for model in MODELS},
}


def together(data: bytes) -> None:
    """All targets: the first byte says which."""
    if data:
        list(TARGETS.values())[data[0] % len(TARGETS)](data[1:])
