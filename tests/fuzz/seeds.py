"""Make the corpus: small valid inputs for every target. `python -m tests.fuzz.seeds` writes them anew."""

from __future__ import annotations

import tempfile
from pathlib import Path

import anonset
from anonset import Transactions
from anonset.io import save

CORPUS = Path(__file__).parent / "corpus"
ROWS = [["bread", "wine"], ["bread"], ["Ünïcödé ☂", "a,b", "10"], []]


def main() -> None:
    """Write every seed."""
    plain = Transactions.from_lists(ROWS)
    numbers = Transactions.from_lists([["1", "2"], ["2"], ["3", "10"]])
    marked = Transactions.from_lists(ROWS, users=["ann", "bob", "ann", "cid"], sensitive=["wine"])
    _save("fimi", "dat", numbers, "fimi")
    _save("spmf", "spmf", plain, "spmf")
    _save("basket", "basket", plain, "basket")
    for container in ("csv", "tsv", "jsonl", "parquet", "arrow"):
        for layout in ("long", "lists"):
            _save(container, container, marked, f"{layout}.{container}")
        _save(container, container, numbers, f"wide.{container}")
    _write("hierarchy", "table", b"item,level1,level2\nmilk,food,dairy\nwine,drinks,\n")
    _write("hierarchy", "edges", b"parent,child\nfood,milk\nALL,food\n")
    _write("hierarchy", "arx", b"milk;dairy;*\nwine;drinks;*\n")
    _write("hierarchy", "amnesia", b"distinct\nname x\ntype string\nheight 2\n\nALL has milk wine\n")
    _write("cut", "plain", b"item,published\nmilk,dairy\nbrie,dairy\n")
    _write("cut", "left-out", b"item;published\nwine;\n")
    for model in anonset.MODELS:
        for number in range(8):
            chosen = bytes([number, number, number, 1]) + bytes([4 * number + 1] * 12)
            _write(f"kernels-{model}", f"{number}", chosen + b"\x12\x30\x15\x30\x67\x40\x12\x40" * 6)
    _releases(marked)


def _save(target: str, ending: str, data: Transactions, format: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"seed.{ending}"
        save(data, path, format=format)
        _write(target, format, path.read_bytes())


def _releases(data: Transactions) -> None:
    from tests.fuzz.targets import SPLIT

    several = Transactions.from_lists([["a", "b"], ["a"], ["b", "s"], ["a", "b"], ["c"], ["a", "c"]], sensitive=["s"])
    with tempfile.TemporaryDirectory() as folder:
        for container in ("csv", "jsonl", "parquet", "arrow"):
            out = Path(folder) / container
            anonset.publish(several, anonset.Targets(out=out, format=container), method="cahd-gray", p=2, seed=1)
            parts = [(out / f"{name}.{container}").read_bytes() for name in ("transactions", "sensitive")]
            _write(f"groups-{container}", "release", SPLIT.join(parts))
        release = Path(folder) / "release.dat"
        release.write_text("a b\na b\nc\nc\n")
        published = anonset.read_release(release)
        out = Path(folder) / "out" / "release.dat"
        out.parent.mkdir()
        anonset.write(published, anonset.verify(published, k=2), out)
        _write("certificate", "valid", out.with_name("release.dat.certificate.json").read_bytes())


def _write(target: str, name: str, content: bytes) -> None:
    folder = CORPUS / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main()
