"""A PostgreSQL table of 3 M lines becomes a verified release in under 500 MB; the forecast is never too low."""

import re
import subprocess
import sys

import pytest

from anonset.io import ReadOptions
from anonset.io.source.size import BASE, DRIVER, PER_ROW, about_rows
from tests.cli.conftest import ENVIRONMENT

LIMIT = 500_000_000
LINES = 3_000_000
FEW = 120_000

MEASURED = """
from anonset.cli import main
try:
    main()
finally:
    print(open("/proc/self/status").read())  # a process that is only waited for counts its parent's memory, too
"""


def table_of(server, lines):
    """A table of so many lines: 10 for each receipt, 6 receipts for each customer, 1,000 products, two more columns."""
    name = server.new()
    server.run(
        f"CREATE TABLE receipts AS SELECT 'R' || lpad((n / 10)::text, 7, '0') AS receipt_no, "
        f"'C' || lpad(((n / 10) % {lines // 60})::text, 6, '0') AS customer, "
        "'item ' || (power((n::bigint * 7919 % 10007) / 10007.0, 3) * 1000)::int AS product, "
        "(date '2024-01-01' + n / 10000)::text AS day, (n % 997 / 100.0)::numeric(8, 2) AS price "
        f"FROM generate_series(0, {lines - 1}) n",
        "ANALYZE receipts",
        database=name,
    )
    return server.address.format(database=name)


def peak_of(*command, folder):
    """The bytes that a command needs at most; it must end well."""
    run = [sys.executable, "-c", MEASURED, *map(str, command), "--quiet"]
    done = subprocess.run(run, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(re.search(r"VmHWM:\s+(\d+) kB", done.stdout)[1]) * 1024


def test_the_forecast_of_a_table_is_not_too_low(server, tmp_path):
    source = table_of(server, FEW)
    peak = peak_of("anonymize", source, "-k", 10, "-o", "release.csv", "--accept", "loss,linkability", folder=tmp_path)
    assert peak < BASE + DRIVER + PER_ROW * FEW


def test_the_rows_of_a_table_are_known_with_statistics_and_without(server):
    source = table_of(server, 20_000)
    name = source.rpartition("/")[2]
    server.run("CREATE TABLE fresh AS SELECT * FROM receipts", "CREATE VIEW seen AS SELECT * FROM fresh", database=name)
    for table in ("receipts", "fresh"):
        assert about_rows(source, ReadOptions(table=table)) == 20_000
    assert about_rows(source, ReadOptions(table="seen")) > 0
    assert about_rows(source, ReadOptions(query="SELECT * FROM receipts")) == 20_000


@pytest.mark.slow
def test_three_million_lines_fit_in_500_megabytes(server, tmp_path):
    source = table_of(server, LINES)
    limited = ("--memory-limit", "500M", "--accept", "loss")
    peaks = {
        "anonymize": peak_of("anonymize", source, "-k", 10, "-o", "release.csv", *limited, folder=tmp_path),
        "verify": peak_of("verify", "release.csv", "-k", 10, folder=tmp_path),
        "info": peak_of("info", source, folder=tmp_path),
    }
    print({name: f"{peak / 1e6:.0f} MB" for name, peak in peaks.items()})
    assert max(peaks.values()) < LIMIT
