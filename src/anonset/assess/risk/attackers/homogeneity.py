"""Homogeneity: who finds a person's group learns each sensitive item with the share of the group that has it.

In a release in rows a group is everybody with the same published quasi-identifier items. Before, the groups are the
transactions with the same original items. The chance is that share, for every occurrence of a sensitive item.

A. Machanavajjhala et al., "l-diversity: privacy beyond k-anonymity", 2006.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from anonset.assess.risk.inference import occurrences
from anonset.assess.risk.spec import AttackSpec, Case, Chances, finding
from anonset.data.findings import Finding
from anonset.data.release import Release
from anonset.data.transactions import Floats, Longs, Transactions


def run(case: Case) -> tuple[Finding, ...]:
    """The shares of all groups and sensitive items; one entry for each occurrence."""
    after, weights = shares(marked(case))
    if not len(after):
        return ()
    found = finding(SPEC, case, Chances(after, weights=weights.astype(np.float64), attacked=int(weights.sum())))
    before, expected = shares(Release(case.data))
    if not len(before):  # sensitive to some of their holders only: then nothing is before
        return (found,)
    mean = float(np.average(before, weights=expected))
    return (replace(found, before=mean, certain_before=int(expected[before == 1].sum())),)


def marked(case: Case) -> Release:
    """The release with the original's sensitive items marked, where a file has lost the marks."""
    release = case.release
    if release.form == "groups" or release.transactions.sensitive is not None:
        return release
    names = set(release.transactions.labels.to_pylist()) & set(case.data.sensitive_names())
    return Release(release.transactions.with_sensitive(sorted(names))) if names else release


def shares(release: Release) -> tuple[Floats, Longs]:
    """For each group and sensitive item in it the share that has it, and how many do."""
    data: Transactions = release.transactions
    if data.sensitive is None and release.counts is None:
        return np.empty(0), np.empty(0, dtype=np.int64)
    sizes, group, _, count = occurrences(release)
    share: Floats = np.minimum(count / np.maximum(sizes[group], 1), 1.0)
    return share, count


SPEC = AttackSpec(
    name="homogeneity",
    part="inference",
    title="share of the group",
    knows="in which group a person is",
    run=run,
    needs=("sensitive",),
    reference="A. Machanavajjhala et al., l-diversity: privacy beyond k-anonymity, 2006",
)
