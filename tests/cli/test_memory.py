"""`--memory-limit` refuses before the work, and names what would fit."""

import json
import re

import pytest

from anonset.io import ReadOptions
from anonset.io.source.size import BASE, PER_ROW, about_rows, bytes_in

ROWS = "".join(f"{n // 4},{'abcdefgh'[n % 8]}\n" for n in range(40_000))


@pytest.fixture
def sales(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("receipt,product\n" + ROWS)
    return path


def test_too_little_is_refused_before_the_work_and_what_fits_is_named(cli, sales):
    done = cli("anonymize", sales, "-k", 4, "--memory-limit", f"{(BASE >> 20) + 1}M", "--json")
    assert done.code == 2
    error = json.loads(done.out)["error"]
    assert error["parameter"] == "--memory-limit"
    fits = int(re.search(r"About ([0-9,]+) rows would fit", error["message"])[1].replace(",", ""))
    assert fits == (1 << 20) // PER_ROW
    assert cli("anonymize", sales, "-k", 4, "--memory-limit", "1M").err.endswith("Allow more.\n")


def test_enough_lets_the_run_go_on(cli, sales):
    assert cli("anonymize", sales, "-k", 4, "--memory-limit", "1G", "--quiet").code == 0


def test_the_number_of_rows_is_about_right(sales, tmp_path):
    import anonset

    for name in ("a.parquet", "a.dat", "a.csv.gz", "a.jsonl"):
        anonset.convert(sales, tmp_path / name, format="long.parquet" if name == "a.parquet" else None, drop="ids")
    for name in ("sales.csv", "a.parquet", "a.dat"):
        assert about_rows(tmp_path / name, ReadOptions()) == pytest.approx(40_000, rel=0.1), name
    assert about_rows("-", ReadOptions()) is None


@pytest.mark.parametrize("text", ["much", "-1", "2X", ""])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="must be a size"):
        bytes_in(text)
