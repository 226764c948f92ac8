"""Look at data before and after: what is in them, who is found in them, what a release lost."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Unpack, overload

import numpy as np

from anonset.api.options import Reading
from anonset.assess.profile import Summary, summarize
from anonset.assess.risk import Risk, singled_out
from anonset.assess.risk.find import find
from anonset.assess.risk.spec import Case, Earlier
from anonset.assess.utility import Measurements
from anonset.assess.utility import measure as measure_all
from anonset.assess.utility.workload import Workload
from anonset.data.display import Picture, Shown
from anonset.data.errors import ParameterError
from anonset.data.findings import Findings
from anonset.data.hierarchy import Hierarchy, read_hierarchy
from anonset.data.job import Job, Progress
from anonset.data.progress import watched
from anonset.data.release import Release, Result
from anonset.data.transactions import Longs, Transactions
from anonset.io import read, read_release
from anonset.io.publish.certified import find_certificate
from anonset.io.publish.private_link import linked
from anonset.models import model

DRAWS = 20_000
"""More than at publishing: nobody waits for a release here."""

Path = str | os.PathLike[str]


def profile(data: Any, *, most: int = 10, **reading: Unpack[Reading]) -> Summary:
    """A first look at transactions: how many, how long, what is frequent, and how far from anonymous they are.

    Parameters
    ----------
    data
        Anything that `anonset.read` takes; `reading` are its options.
    most
        How many of the most frequent items to name.

    Examples
    --------
    >>> import anonset
    >>> anonset.profile([["wine", "bread"], ["bread"], ["bread"]])
    Summary(3 transactions, 2 items, k=1)
    """
    return summarize(read(data, **reading), most)


@dataclass(frozen=True, repr=False)
class Risks(Shown):
    """How likely people are singled out in data by 1, 2, … known items: one `Risk` for each number of items."""

    risks: tuple[Risk, ...]

    def __iter__(self) -> Any:
        return iter(self.risks)

    def __len__(self) -> int:
        return len(self.risks)

    def __getitem__(self, place: int) -> Risk:
        return self.risks[place]

    def __repr__(self) -> str:
        return f"Risks({', '.join(f'{_items(one.m)}: {one.share:.1%}' for one in self.risks)})"

    def facts(self) -> Iterable[tuple[str, Any]]:
        """What a notebook shows: who is singled out by how many items."""
        for one in self.risks:
            yield f"{_items(one.m)} known", f"{one.share:.1%} singled out, a guess is right in {one.success:.1%}"

    def picture(self) -> Picture | None:
        """The share that is singled out, by known items."""
        series = (("singled out", [one.share for one in self.risks]),)
        return Picture("Singled out, by items known", [str(one.m) for one in self.risks], series, "share")


def _items(many: int) -> str:
    return f"{many} item{'' if many == 1 else 's'}"


@overload
def risk(
    data: Any,
    release: None = None,
    *,
    m: int | Sequence[int] = ...,
    attacker: Literal["random", "rarest", "frequent", "given"] = ...,
    items: Sequence[str] | None = ...,
    absent: int = ...,
    seed: int = ...,
    progress: Progress | bool | None = ...,
    **reading: Unpack[Reading],
) -> Risks: ...


@overload
def risk(
    data: Any,
    release: Any,
    *,
    m: int | Sequence[int] = ...,
    attack: str | Sequence[str] | None = ...,
    hierarchy: Any = ...,
    link: Path | None = ...,
    previous: Sequence[tuple[Any, Any]] = ...,
    seed: int = ...,
    progress: Progress | bool | None = ...,
    **reading: Unpack[Reading],
) -> Findings: ...


def risk(
    data: Any,
    release: Any = None,
    *,
    m: int | Sequence[int] = (1, 2, 3, 4),
    attacker: Literal["random", "rarest", "frequent", "given"] = "random",
    items: Sequence[str] | None = None,
    absent: int = 0,
    attack: str | Sequence[str] | None = None,
    hierarchy: Any = None,
    link: Path | None = None,
    previous: Sequence[tuple[Any, Any]] = (),
    seed: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Risks | Findings:
    """How likely people are found in `data` by who knows a few of their items; with a release, what it changes.

    Parameters
    ----------
    data, release
        The original, and a release of it: a `Result`, a `Release`, a file, a frame. Without a release the answer is
        `Risks`, with one it is `Findings` of all attackers that fit.
    m
        How many items the attacker knows.
    attacker, items, absent
        Without a release: which items the attacker knows, the only ones that can be known, and how many frequent ones
        are known to be absent.
    attack, hierarchy, link, previous
        With a release: only these attacks; what it was generalized with; the owner's private link to the original;
        pairs of earlier data and their release.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["wine", "bread"], ["wine", "bread"], ["beer"], ["beer"], ["tea", "bread"]]
    >>> anonset.risk(baskets, m=2)
    Risks(2 items: 33.3%)
    >>> anonset.risk(baskets, anonset.anonymize(baskets, k=2, seed=1), attack="whole-basket")
    Findings(singling out 60.0% → 33.3%)
    """
    known = (m,) if isinstance(m, int) else tuple(m)
    with watched(progress) as heard:
        job = Job(seed, progress=heard)
        original = read(data, **reading)
        if release is None:
            given = {"attack": attack, "hierarchy": hierarchy, "link": link, "previous": previous or None}
            _require_none(given, "come with a release", "Name the release after the data.")
            risks = (singled_out(original, one, attacker, items=items, absent=absent, job=job) for one in known)
            return Risks(tuple(risks))
        _require_none({"items": items}, "be left out with a release", "Releases are attacked at random.")
        pairs = [(read(old, **reading), there) for old, there in previous]
        case = known_case(original, release, hierarchy=hierarchy, link=link, previous=pairs, job=job)
        names = [attack] if isinstance(attack, str) else attack
        return find(replace(case, known=known), names)


def _require_none(given: Mapping[str, Any], must: str, advice: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(name, must, "one", advice)


def known_case(
    original: Transactions,
    release: Any,
    *,
    hierarchy: Any = None,
    link: Path | None = None,
    previous: Sequence[tuple[Transactions, Any]] = (),
    job: Job,
) -> Case:
    """A release under attack, with all that is known of it: a result knows itself, a file has its certificate."""
    tree = None if hierarchy is None else read_hierarchy(hierarchy)
    if tree is None and isinstance(release, Result):
        tree = tree_of(release)
    with job.stage("read the release"):
        published = published_as(original, release)
        origin = row_origin_of(original, release, published, link)
        earlier = tuple(Earlier(old, published_as(old, there), hierarchy=tree) for old, there in previous)
    case = Case(original, published, origin, hierarchy=tree, job=job, draws=DRAWS, previous=earlier)
    return replace(case, **_promised(release))


def _promised(release: Any) -> dict[str, Any]:
    """The model, the method and the parameters that a release is known to come from."""
    if isinstance(release, Result):
        verdict = release.verdict
        target = model(verdict.model, **verdict.params, unit=verdict.unit)
        return {"model": target, "method": release.method, "params": dict(release.params)}
    found = find_certificate(os.fspath(release)) if isinstance(release, (str, os.PathLike)) else None
    if found is None:
        return {}
    said = found.certificate
    return {
        "model": model(said["model"], **said["parameters"], unit=said.get("unit") or "transaction"),
        "method": said.get("method", ""),
        "params": {**said["parameters"], **said.get("method_parameters", {})},
    }


def published_as(original: Transactions, release: Any) -> Release:
    """The release, read where it is not one yet; what is sensitive in the original is so in the release."""
    if isinstance(release, Result):
        return release.release
    secret = original.sensitive_names()
    return read_release(release, **({"sensitive": secret} if secret else {}))


def row_origin_of(original: Transactions, release: Any, published: Release, link: Path | None) -> Longs | None:
    """Which original transaction is behind each published one, where that is known."""
    if isinstance(release, Result):
        return release.row_origin if len(release.row_origin) == len(published) else None
    return None if link is None else linked(link, release, published, original)


def tree_of(result: Result) -> Hierarchy | None:
    """The hierarchy that a result was generalized with."""
    if result.cut is not None:
        return result.cut.hierarchy
    return None if result.levels is None else result.levels.tree


def measure(
    data: Any,
    release: Any,
    *,
    metrics: str | Sequence[str] | None = None,
    hierarchy: Any = None,
    link: Path | None = None,
    same_order: bool = False,
    pattern_support: float | None = None,
    query_items: int = 4,
    queries: int = 400,
    query_weighting: Literal["uniform", "frequency"] = "uniform",
    seed: int = 0,
    progress: Progress | bool | None = None,
    **reading: Unpack[Reading],
) -> Measurements:
    """What a release lost compared with the original, by every metric that can be computed.

    Parameters
    ----------
    data, release
        The original, and a `Result`, a `Release`, a file or a frame.
    metrics
        Only these; see the reference for what they mean.
    hierarchy, link, same_order
        What it was generalized with; which transaction became which: by the owner's link, or because the order is the
        same. A result knows both.
    pattern_support, query_items, queries, query_weighting
        At which support pattern distance is measured; what the reconstruction error asks.

    Examples
    --------
    >>> import anonset
    >>> baskets = [["wine", "bread"], ["wine", "bread"], ["wine", "beer"]]
    >>> anonset.measure(baskets, anonset.anonymize(baskets, k=3, seed=1))["information_loss_ratio"]
    0.3333333333333333
    """
    if same_order and link is not None:
        raise ParameterError("same_order", "be left out beside a link", "both", "The link says the order.")
    with watched(progress) as heard:
        job = Job(seed, progress=heard)
        original = read(data, **reading)
        published = published_as(original, release)
        origin = row_origin_of(original, release, published, link)
        if same_order:
            origin = np.arange(len(published), dtype=np.int64)
        tree = tree_of(release) if isinstance(release, Result) else None
        return measure_all(
            original,
            published,
            origin,
            hierarchy=tree if hierarchy is None else read_hierarchy(hierarchy),
            metrics=[metrics] if isinstance(metrics, str) else metrics,
            pattern_support=pattern_support,
            workload=Workload(r=query_items, queries=queries, weighting=query_weighting),
            job=job,
        )
