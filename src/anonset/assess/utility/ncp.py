"""NCP, the normalised certainty penalty: how much less a published item says than the original one.

An item published as a node that stands for u of the hierarchy's I items loses u / I, or nothing where u = 1; an item
that is left out loses 1. NCP is the mean over all item occurrences. Terrovitis et al., section 3.3.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from anonset.assess.align import published_nodes
from anonset.assess.utility.metric import Comparison, Figure, Metric
from anonset.data.hierarchy import Cut
from anonset.data.hierarchy.cut import LEFT_OUT, ncp


def _run(comparison: Comparison) -> dict[str, float]:
    """Each item counts as published by its nearest ancestor in the release; an item without one is left out."""
    tree = comparison.hierarchy
    assert tree is not None
    original = comparison.data.quasi()
    published = comparison.release.transactions
    general = published.labels.filter(pa.array(published.quasi_mask))  # sensitive items stand beside, as they are
    node = published_nodes(tree.leaves, general, tree)
    return {"ncp": ncp(original, Cut(tree, np.where(node >= 0, node, LEFT_OUT).astype(np.int32)))}


METRIC = Metric(
    name="ncp",
    title="Normalised certainty penalty",
    definition="Mean over item occurrences of u / I: the published node stands for u of the I items (0 if u = 1).",
    reference="Terrovitis, Mamoulis, Kalnis, Privacy-preserving anonymization of set-valued data, VLDB 2008",
    figures=(Figure("ncp", "NCP", "How much less a published item says; 0 exact, 1 nothing left.", "share"),),
    run=_run,
    needs=("hierarchy", "no categories"),
)
