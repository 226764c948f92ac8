"""A method, a model and a format that the package does not know, each as somebody else would write it.

`python outside.py COMMAND …` is the command line with all three.
"""

from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

import anonset
from anonset import Job, Release, Transactions, Verdict
from anonset.data.params import K
from anonset.data.release import Draft, Witness
from anonset.data.spec import MethodSpec, ModelSpec, Param
from anonset.io import LAYOUTS, ReadOptions
from anonset.io.containers.container import TEXT
from anonset.io.formats.layout import Lines
from anonset.io.formats.parsed import Parsed
from anonset.io.formats.sample import Sample
from anonset.io.source.shape import Shape
from anonset.io.source.streams import File, text

# --- a method of a known model: everybody gets the items that most have -------------------------------------------

SHARE = Param("least_share", "float", "Which share must hold an item.", default=0.5, minimum=0, maximum=1, example=0.6)


def everybody_alike(data: Transactions, job: Job, *, k: int, least_share: float) -> Draft:
    if len(data) < k:
        raise anonset.InfeasibleError(f"'k' must be at most the number of transactions ({len(data)}). Got {k}.")
    common = np.flatnonzero(data.item_counts >= max(1, least_share * len(data))).astype(np.int32)
    offsets = np.arange(len(data) + 1) * len(common)
    return Draft.of_rows(Transactions.from_codes(offsets, np.tile(common, len(data)), data.labels))


METHOD = MethodSpec(
    name="alike",
    title="Everybody alike",
    model="k-anonymity",
    summary="Publishes the same set for everybody: the items that a share of all hold.",
    params=(SHARE,),
    run=everybody_alike,
    paper="none",
)

# --- a model, and a method that reaches it: no published item is rare ----------------------------------------------


def check(release: Release, k: int) -> Verdict:
    counts = release.transactions.item_counts
    used = counts[counts > 0]
    rarest = int(used.min()) if len(used) else len(release)
    holds = rarest >= k
    witnesses = () if holds else (Witness(f"an item is in {rarest} transactions", (), rarest),)
    return Verdict("no-rare-items", {"k": k}, MODEL.promise({"k": k}), holds, {"k": rarest}, witnesses)


def weakest(release: Release) -> Mapping[str, Any]:
    return {"k": 2}


MODEL = ModelSpec(
    name="no-rare-items",
    title="no rare items",
    statement="every published item is in at least {k} transactions",
    params=(K,),
    check=check,
    paper="none",
    default_method="drop-rare",
    meaning="no item of yours is in fewer than {measured[k]} transactions",
    stops=("singling out",),
    weakest=weakest,
)


def drop_rare(data: Transactions, job: Job, *, k: int) -> Draft:
    kept = (data.item_counts >= k)[data.items]
    sizes = np.bincount(data.rows[kept], minlength=len(data))
    offsets = np.concatenate(([0], np.cumsum(sizes)))
    return Draft.of_rows(Transactions.from_codes(offsets, data.items[kept], data.labels))


DROP_RARE = MethodSpec("drop-rare", "Drop rare items", "no-rare-items", "Leaves rare items out.", (), drop_rare, "none")

# --- a format: items between bars ----------------------------------------------------------------------------------


class Bars(Lines):
    name = "bars"
    help = "one transaction per line, items between bars: |bread|wine|"
    endings = ("bars",)
    line_breaks = False

    def sniff(self, sample: Sample) -> Shape | None:
        lines = sample.text.splitlines()
        barred = bool(lines) and all(line.startswith("|") and line.endswith("|") for line in lines)
        return Shape(self.name, TEXT) if barred else None

    def read(self, file: File, shape: Shape, options: ReadOptions) -> Parsed:
        rows = [line.strip("|").split("|") for line in text(file, options.encoding).decode().splitlines()]
        rows = [[item for item in row if item] for row in rows]
        words = pa.array([item for row in rows for item in row], pa.string()).dictionary_encode()
        offsets = np.cumsum([0, *map(len, rows)])
        return Parsed(offsets, np.asarray(words.indices).astype(np.int32), words.dictionary)

    def write(self, file: BinaryIO, data: Transactions) -> None:
        for row in data:
            file.write(f"|{'|'.join(row)}|\n".encode())


def register() -> None:
    """What somebody else's package does when it is imported."""
    anonset.METHODS[METHOD.name] = METHOD
    anonset.METHODS[DROP_RARE.name] = DROP_RARE
    anonset.MODELS[MODEL.name] = MODEL
    LAYOUTS[Bars.name] = Bars()


if __name__ == "__main__":
    from anonset.cli import main

    register()
    main()
