"""The checks of `models/` agree with a second, naive checker on releases as they were made and after sabotage."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from anonset import AnonsetError
from anonset.data.release import Release, Verdict
from anonset.io.publish.certificate import certify
from anonset.io.publish.certified import Found, differences
from anonset.models import model
from tests.oracle import checkers
from tests.oracle.sabotage import METHODS, SABOTAGE, packed, plain, valid

NAIVE = {
    "k-anonymity": checkers.k_anonymity,
    "km-anonymity": checkers.km_anonymity,
    "privacy-degree": checkers.privacy_degree,
    "kp-anonymity": lambda release, k, p: checkers.kp_anonymity(release, k, Fraction(str(p))),
    "multi-pattern": lambda release, k, combinations, support: checkers.multi_pattern(
        release, k, combinations, support
    ),
}
STRONGEST = {"privacy-degree": "p"}


def compare(name: str, release: checkers.Published, promised: dict[str, Any], what: str, seen: Counter) -> bool | None:
    """Both checkers on one release: they must agree on whether it holds and on the strongest value that does."""
    holds, strongest = NAIVE[name](release, **promised)
    try:
        verdict = model(name, **promised).check(packed(release, name))
    except AnonsetError:  # it has no answer where the promise says nothing, as where nothing sensitive is left
        if name not in ("privacy-degree", "multi-pattern", "k-anonymity"):
            raise
        seen["without an answer"] += 1
        return None
    assert verdict.holds == holds, (name, what, promised, release)
    assert verdict.measured[STRONGEST.get(name, "k")] == strongest, (name, what, promised, release)
    seen[f"{what}: {'still true' if holds else 'caught'}"] += 1
    return holds


def compare_many(name: str, count: int, seed: int) -> Counter:
    """At least `count` releases of one model: valid ones, and each after every kind of sabotage."""
    random, seen = Random(seed), Counter()
    while sum(seen.values()) < count:
        made = valid(name, random)
        if made is None:
            continue
        release, promised = made
        assert compare(name, release, promised, "as made", seen) in (True, None)
        if name == "k-anonymity":
            for more in ({"protect": "sensitive-only"}, {"diversity": 2}):
                compare(name, release, {**promised, **more}, "another promise", seen)
        for what, sabotage in SABOTAGE.items():
            once = sabotage(release, random)
            compare(name, once, promised, what, seen)
            if once.rows:
                compare(name, random.choice(list(SABOTAGE.values()))(once, random), promised, "two of them", seen)
    return seen


@pytest.mark.parametrize("name", METHODS)
def test_both_checkers_agree(name):
    seen = compare_many(name, 150, seed=1)
    assert any(key.endswith("caught") for key in seen), "a sabotage that nothing comes of tests nothing"


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("name", METHODS)
def test_both_checkers_agree_on_thousands(name, capsys):
    seen = compare_many(name, 2_200, seed=2)
    answered = sum(count for key, count in seen.items() if key != "without an answer")
    with capsys.disabled():
        caught = sum(count for key, count in seen.items() if key.endswith("caught"))
        print(f"\n{name}: {answered:,} releases, {caught:,} broken and caught by both; {dict(sorted(seen.items()))}")
    assert answered >= 2_000


# --- the certificate ----------------------------------------------------------------------------------------------


def honest(name: str, random: Random, folder: Path) -> tuple[Release, dict[str, Any], Verdict] | None:
    made = valid(name, random)
    if made is None:
        return None
    release = packed(made[0], name)
    try:
        verdict = model(name, **made[1]).check(release)
    except AnonsetError:
        return None
    names = tuple(release.transactions.sensitive_names())
    said = certify(verdict, {}, transactions=len(release), sensitive_items=names)
    return release, json.loads(json.dumps(said.to_dict())), verdict


def edits(said: dict[str, Any], random: Random) -> dict[str, dict[str, Any]]:
    """What somebody may write into a certificate."""
    measured = {name: value for name, value in said["measured"].items() if isinstance(value, (int, float))}
    better = random.choice(sorted(measured))
    first = random.choice(sorted(said["parameters"]))
    return {
        "measured": {"measured": {**said["measured"], better: measured[better] + 1}},
        "promise": {"promise": said["promise"].replace("at ", "in ", 1) + "!"},
        "transactions": {"transactions": said["transactions"] + random.choice([-1, 1, 100])},
        "parameters": {"parameters": {**said["parameters"], first: said["parameters"][first] + 1}},
        "sensitive items": {"sensitive_items": [*said["sensitive_items"], "nobody"]},
    }


@pytest.mark.parametrize("name", METHODS)
def test_every_edit_of_a_certificate_is_seen(name, tmp_path):
    random, seen = Random(3), 0
    while seen < 60:
        made = honest(name, random, tmp_path)
        if made is None:
            continue
        release, said, _ = made
        file = "certificate.json"
        assert differences(Found(file, file, said), release) == (), said
        for what, edit in edits(said, random).items():
            try:
                assert differences(Found("certificate.json", "certificate.json", {**said, **edit}), release), (
                    what,
                    edit,
                )
            except AnonsetError:  # parameters that no model takes, such as p = 1.5
                assert what == "parameters"
            seen += 1


def test_the_naive_checker_is_independent():
    text = Path(checkers.__file__).read_text()
    assert "anonset" not in text
    assert plain  # the way back from a release is in another file
