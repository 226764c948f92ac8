"""The kinds of files, by name. A new one is a class in a file here, and a line below."""

from __future__ import annotations

from anonset.io.containers.arrow import Arrow
from anonset.io.containers.container import Container, PlainLines
from anonset.io.containers.csv import Csv, Tsv
from anonset.io.containers.jsonl import JsonLines
from anonset.io.containers.parquet import Parquet
from anonset.io.containers.xlsx import Spreadsheet

CONTAINERS: dict[str, Container] = {
    container.name: container
    for container in (PlainLines(), Csv(), Tsv(), JsonLines(), Parquet(), Arrow(), Spreadsheet())
}
