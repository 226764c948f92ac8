"""Fixtures that every test folder may use."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import anonset

WANTING = "needs the public benchmark file"
DATA = Path(__file__).parents[2] / "shared" / "data"

# Timings on shared machines vary; a slow example is not a wrong one, and no load may fail a test.
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("anonset", deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.register_profile("brief", settings.get_profile("anonset"), max_examples=10)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "anonset"))

# A shell starts its background jobs with Ctrl-C ignored, and children inherit that; the tests about Ctrl-C must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_data():
    """The path of a public benchmark file; the test is skipped where the file is not there."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"{WANTING} {name} in ../shared/data")
        return path

    return find


@pytest.fixture(scope="session")
def some_data(tmp_path_factory):
    """The path of a public benchmark file, or of one that the project makes itself where that is not there.

    For tests that need data of some size and shape, whichever they are.
    """
    made: dict[str, Path] = {}

    def find(name: str) -> Path:
        if (DATA / name).exists():
            return DATA / name
        if not made:
            made.update(_made(tmp_path_factory.mktemp("made")))
        return made[name]

    return find


def _made(folder: Path) -> dict[str, Path]:
    """Quest transactions, and a supermarket with its hierarchy, under the names of the files they stand for."""
    from anonset.generate import generate_quest, write_supermarket
    from anonset.io import save

    quest = folder / "quest.dat.gz"
    save(generate_quest(3000, items=300, patterns=100, seed=1), quest)
    dense = folder / "dense.dat.gz"
    save(generate_quest(2000, items=60, patterns=20, mean_length=20, seed=2), dense)
    write_supermarket(folder / "market", transactions=3000, users=600, seed=3)
    market, tree = folder / "market" / "transactions.csv", folder / "market" / "hierarchy.csv"
    items = folder / "items.csv.gz"
    save(anonset.read(market), items, drop=("users", "sensitive", "sensitivity"))
    return {
        "T10I4D100K.dat.gz": quest,
        "mushroom.dat.gz": dense,
        "groceries.csv.gz": items,
        "groceries-hierarchy.csv.gz": tree,
        "completejourney.csv.gz": market,
        "completejourney-hierarchy.csv.gz": tree,
    }


def pytest_terminal_summary(terminalreporter):
    """Say in one line what was not tested for want of data."""
    skipped = [str(report.longrepr) for report in terminalreporter.stats.get("skipped", ())]
    wanting = sum(WANTING in text for text in skipped)
    if wanting:
        terminalreporter.write_line(f"{wanting} tests need public benchmark data in ../shared/data and were skipped.")
