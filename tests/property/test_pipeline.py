"""Whatever order somebody does things in, a release that is there keeps its promise and says so to everybody.

A state machine walks through the program: make data, save and convert them, anonymize, publish, verify, damage, publish
again. After every step all releases that were published and not touched verify, and touched ones never do.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

import anonset
from anonset import AnonsetError, Transactions
from anonset.cli.base.outcome import run

LABELS = ["a", "b", "c", "d,e", 'f"g', "ü", " h "]
BASKETS = st.lists(st.sets(st.sampled_from(LABELS), max_size=4), min_size=4, max_size=14)
PROMISES = st.sampled_from(
    [
        {"method": "pta", "k": 2},
        {"method": "crowd", "k": 3},
        {"method": "km-apriori", "k": 2, "m": 2},
        {"method": "cahd-gray", "p": 2},
    ]
)
ENDINGS = st.sampled_from(["csv", "tsv", "jsonl", "parquet", "arrow"])


class Pipeline(RuleBasedStateMachine):
    """Sources and releases in one folder."""

    sources = Bundle("sources")
    releases = Bundle("releases")

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="anonset-test-"))
        self.count = 0
        self.published: dict[Path, dict] = {}
        self.content: dict[Path, list[list[str]]] = {}

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    def _place(self, ending: str) -> Path:
        self.count += 1
        return self.folder / f"{self.count}.{ending}"

    @initialize(target=sources, rows=BASKETS, ending=ENDINGS)
    def begin(self, rows, ending):
        return self._save(Transactions.from_lists(rows), ending)

    @rule(target=sources, rows=BASKETS, ending=ENDINGS)
    def save(self, rows, ending):
        return self._save(Transactions.from_lists(rows), ending)

    def _save(self, data: Transactions, ending: str) -> Path:
        path = self._place(ending)
        anonset.convert(data, path)
        self.content[path] = data.to_lists()
        return path

    @rule(target=sources, source=sources, ending=ENDINGS)
    def convert(self, source, ending):
        path = self._place(ending)
        anonset.convert(source, path)
        self.content[path] = self.content[source]
        return path

    @rule(target=releases, source=sources, promise=PROMISES, ending=ENDINGS, seed=st.integers(0, 5))
    def anonymize(self, source, promise, ending, seed):
        path = self._place(ending)
        options = {"sensitive": ["a"]} if promise["method"] == "cahd-gray" else {}
        try:
            result = anonset.publish(source, anonset.Targets(out=path), seed=seed, **options, **promise)
        except AnonsetError:
            assert not path.exists()
            return multiple()
        self.published[path] = dict(result.verdict.params)
        return path

    @rule(target=sources, release=releases, ending=ENDINGS)
    def take_a_release_as_a_source(self, release, ending):
        if release.is_dir() or release not in self.published:
            return multiple()
        return self._save(anonset.read_release(release).transactions, ending)

    @rule(release=releases)
    def ask_for_more_than_it_keeps(self, release):
        if release in self.published:
            name = "p" if "p" in self.published[release] else "k"
            assert run(["verify", str(release), f"-{name}", "1000", "--quiet"]) in (0, 3)

    @rule(release=consumes(releases), where=st.floats(0, 1, exclude_max=True))
    def damage(self, release, where):
        """One byte of what was published is another one."""
        if self.published.pop(release, None) is None:
            return
        file = next(release.glob("transactions.*")) if release.is_dir() else release
        content = bytearray(file.read_bytes())
        content[int(where * len(content))] ^= 1
        file.write_bytes(content)
        assert run(["verify", str(release), "--quiet"]) in (2, 3)

    @rule(release=consumes(releases), more=st.integers(1, 5))
    def boast(self, release, more):
        """The certificate says more than what holds."""
        if self.published.pop(release, None) is None:
            return
        path = release / "certificate.json" if release.is_dir() else Path(f"{release}.certificate.json")
        said = json.loads(path.read_text())
        said["transactions"] += more
        path.write_text(json.dumps(said))
        assert run(["verify", str(release), "--quiet"]) == 3

    @invariant()
    def sources_read_back(self):
        for path, rows in self.content.items():
            assert anonset.read(path).to_lists() == rows

    @invariant()
    def releases_hold(self):
        for path in self.published:
            assert run(["verify", str(path), "--quiet"]) == 0


Pipeline.TestCase.settings = settings(
    max_examples=12, stateful_step_count=8, deadline=None, suppress_health_check=list(HealthCheck)
)
TestPipeline = Pipeline.TestCase
