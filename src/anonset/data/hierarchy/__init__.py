"""Item hierarchies: which items a general name stands for, how to get one, and how to cut through it.

::

    tree.py      Hierarchy: nodes keyed by their path, in depth-first order
    reading.py   tables, parent/child lists, ARX and Amnesia files
    problems.py  what is wrong with a source, and how it can be repaired
    lint.py      all of that at once
    build.py     hierarchies for data that has none
    cut.py       Cut: which node each item is published as
"""

from anonset.data.hierarchy.build import balanced, by_cooccurrence, by_frequency, by_prefix
from anonset.data.hierarchy.cut import Cut, read_cut
from anonset.data.hierarchy.lint import lint
from anonset.data.hierarchy.problems import Problem
from anonset.data.hierarchy.reading import read_hierarchy
from anonset.data.hierarchy.tree import Hierarchy

__all__ = [
    "Cut",
    "Hierarchy",
    "Problem",
    "balanced",
    "by_cooccurrence",
    "by_frequency",
    "by_prefix",
    "lint",
    "read_cut",
    "read_hierarchy",
]
