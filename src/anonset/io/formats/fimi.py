"""FIMI files: one transaction per line, items separated by white space."""

from __future__ import annotations

from typing import Any, BinaryIO

from anonset.data.transactions import Transactions
from anonset.io.containers.container import TEXT
from anonset.io.formats.lines import KernelLines, spaced, write_lines
from anonset.io.formats.sample import SPMF_HEADS, Sample
from anonset.io.source.shape import Shape


class Fimi(KernelLines):
    """The format of the frequent itemset mining repository."""

    name = "fimi"
    help = "one transaction per line, items separated by white space"
    endings = ("dat", "fimi")
    white_space = False
    line_breaks = False
    spmf_heads = False

    def sniff(self, sample: Sample) -> Shape | None:
        """Lines of words, without a separator and without names of items."""
        return None if sample.tabular or sample.names_items else Shape(self.name, TEXT)

    def shape(self, sample: Sample) -> Shape:
        """A file that names its items is SPMF, whatever its name says."""
        return Shape("spmf" if sample.start.startswith(SPMF_HEADS) else self.name, TEXT)

    def parse(self, data: Any, shape: Shape) -> Any:
        """Words, and nothing else."""
        return spaced(data, remarks=False)

    def line(self, data: Any, shape: Shape, row: int) -> int:
        """Every line is a transaction."""
        return row + 1

    def write(self, file: BinaryIO, data: Transactions) -> None:
        """Items separated by one space."""
        write_lines(file, data, data.labels, " ")
