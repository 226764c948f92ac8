"""Fixtures that every test folder may use."""

import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

DATA = Path(__file__).parents[2] / "shared" / "data"

# Timings on shared machines vary; a slow example is not a wrong one.
settings.register_profile("anonset", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("anonset")

# A shell starts its background jobs with Ctrl-C ignored, and children inherit that; the tests about Ctrl-C must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def real_data():
    """The path of a public benchmark file; the test is skipped where the file is not there."""

    def find(name: str) -> Path:
        path = DATA / name
        if not path.exists():
            pytest.skip(f"needs the public benchmark file {name} in ../shared/data")
        return path

    return find
