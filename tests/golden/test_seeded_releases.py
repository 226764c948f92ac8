"""The same seed gives the same release, also in the next version: digests of what every method publishes.

`python -m tests.golden.test_seeded_releases` writes them anew. Do that only where a release is meant to change, and say
so in the changelog. `crowd` is not here: it may find better groups in any version.
"""

import hashlib
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from anonset import METHODS, Transactions
from anonset.data.job import Job
from anonset.data.spec import parse_params
from anonset.generate.quest import generate_quest
from anonset.generate.supermarket import generate_supermarket
from tests.contract.contract import params_of, settings
from tests.contract.data import EVERYTHING, bring

DIGESTS = Path(__file__).with_name("seeded_releases.json")
SEED = 11
SLOW_METHODS = {"km-optimal", "kamp"}  # exponential, or nearly so
CASES = [(method, data) for method in METHODS if method != "crowd" for data in ("quest", "supermarket")]


@cache
def made(name: str, count: int) -> Transactions:
    if name == "quest":
        data = generate_quest(count, mean_length=6, patterns=100, items=200, seed=6)
    else:
        data = generate_supermarket(count, users=count // 5, seed=7).transactions
    return bring(data, EVERYTHING)


def digest(method: str, name: str) -> str:
    spec = METHODS[method]
    data = made(name, 200 if method in SLOW_METHODS else 1500)
    values = settings(spec, data, optional=method in SLOW_METHODS, strength=4)
    draft = spec.run(data, Job(SEED, threads=2), **parse_params(params_of(spec), values, method))
    release = draft.release
    found = hashlib.sha256("\n".join(map(repr, release.transactions.to_lists())).encode())
    arrays = [release.transactions.counts, release.groups]
    arrays += [] if release.counts is None else [release.counts.group, release.counts.item, release.counts.count]
    for array in arrays:
        found.update(b"none" if array is None else np.asarray(array, dtype="<i8").tobytes())
    return found.hexdigest()[:16]


@pytest.mark.parametrize(("method", "data"), CASES)
def test_a_seeded_release_is_what_it_was(method, data):
    assert digest(method, data) == json.loads(DIGESTS.read_text())[f"{method} {data}"]


def test_every_digest_belongs_to_a_case():
    assert set(json.loads(DIGESTS.read_text())) == {f"{method} {data}" for method, data in CASES}


if __name__ == "__main__":
    DIGESTS.write_text(
        json.dumps({f"{method} {data}": digest(method, data) for method, data in CASES}, indent=0) + "\n"
    )
