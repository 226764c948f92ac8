"""SPMF files: one transaction per line, items as whole numbers that lines at the start may name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.account import PassedOver
from anonset.data.errors import counted
from anonset.data.transactions import Transactions
from anonset.io.containers.container import TEXT
from anonset.io.containers.quoting import joined, text_bytes
from anonset.io.formats.lines import KernelLines, spaced, write_lines
from anonset.io.formats.parsed import Parsed
from anonset.io.formats.sample import Sample
from anonset.io.source.shape import Shape

_REMARKS = (b"@", b"#", b"%")


class Spmf(KernelLines):
    """The format of the SPMF library."""

    name = "spmf"
    help = "one transaction per line, items as numbers that @ITEM lines name"
    endings = ("spmf",)
    line_breaks = False
    headed = False

    def sniff(self, sample: Sample) -> Shape | None:
        """A file that names its items at the start."""
        return Shape(self.name, TEXT) if sample.names_items else None

    def parse(self, data: Any, shape: Shape) -> Any:
        """Words, and remarks between them."""
        return spaced(data, remarks=True)

    def line(self, data: Any, shape: Shape, row: int) -> int:
        """Remarks are no transactions."""
        rows = [n for n, line in enumerate(data.tobytes().split(b"\n"), 1) if not line.startswith(_REMARKS)]
        return rows[row]

    def named(self, parsed: Parsed, remarks: pa.StringArray) -> Parsed:
        """With the names that `@ITEM=code=name` lines give to codes; a code without a name keeps its number."""
        parsed = replace(parsed, notes=(*parsed.notes, *_comments(remarks)))
        pairs = pc.extract_regex(remarks, r"(?s)^@ITEM=(?P<code>[^=]*)=(?P<name>.*?)\r?$").drop_null()
        if not len(pairs):
            return parsed
        code, name = pairs.field("code"), pairs.field("name")
        place = pc.index_in(parsed.labels, value_set=code)
        labels = pc.coalesce(name.take(place), parsed.labels)
        merged = pc.dictionary_encode(labels)
        notes = parsed.notes
        unused = len(code) - pc.sum(pc.is_in(code, value_set=parsed.labels)).as_py()
        if unused:
            notes = (*notes, PassedOver(f"{counted(unused, 'item')} named that no transaction holds"))
        if place.null_count:
            notes = (*notes, f"{counted(place.null_count, 'item')} kept by number for want of an @ITEM line")
        if len(merged.dictionary) < len(labels):
            twins = len(labels) - len(merged.dictionary)
            notes = (*notes, f"{counted(twins, 'item')} merged with another of the same name")
        codes = np.asarray(merged.indices)[parsed.codes]
        return Parsed(parsed.offsets, codes, merged.dictionary, notes, parsed.degrees)

    def write(self, file: BinaryIO, data: Transactions) -> None:
        """Items as whole numbers; other labels are numbered and named in the head of the file."""
        numbers = pc.all(pc.match_substring_regex(data.labels, r"^(0|[1-9][0-9]{0,8})$")).as_py()
        labels = data.labels
        if numbers is False:
            labels = pa.array(np.arange(1, data.n_items + 1)).cast(pa.large_string())
            file.write(b"@CONVERTED_FROM_TEXT\n")
            file.write(text_bytes(joined("@ITEM=", labels, "=", pc.cast(data.labels, pa.large_string()), "\n")))
        write_lines(file, data, labels, " ")


def _comments(remarks: pa.StringArray) -> tuple[PassedOver, ...]:
    """What to say of lines that are neither transactions nor names of items."""
    known = pc.match_substring_regex(remarks, r"^@(ITEM=|CONVERTED_FROM_TEXT\s*$)")
    many = len(remarks) - (pc.sum(known).as_py() or 0)
    return (PassedOver(f"{counted(many, 'comment line')} left out"),) if many else ()
