"""Transactions as (k, p)-anonymity sees them: counts of attributes, and apart from them what is sensitive.

Everybody says for himself how sensitive an item is. An occurrence whose degree reaches the threshold is sensitive; it
is published as it is, beside the counts, and is not among them. All others are published only as counts of attributes,
the nodes of a hierarchy on a level of choice.

Counts are kept in unary code: an attribute with count c is c items ("at least 1" … "at least c"). So a transaction is
a set again, every step for sets works on it, and the number of differing items is the sum of the differences of counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from anonset import _native
from anonset.data.arrays import distinct
from anonset.data.errors import InfeasibleError, InputError, ParameterError, setting
from anonset.data.hierarchy import Cut, Hierarchy, balanced
from anonset.data.hierarchy.cut import lacking
from anonset.data.hierarchy.reading import as_hierarchy
from anonset.data.job import Job
from anonset.data.params import fraction
from anonset.data.release import Draft
from anonset.data.spec import Param, Unit
from anonset.data.transactions import Ints, Longs, Mask, Transactions
from anonset.data.unit import known_users, require_users
from anonset.methods.steps.group.centers import alike, require_enough
from anonset.methods.steps.group.persons import groups_of_persons

FAN_OUT = 5
GROUPS = (
    "There was no hierarchy, so attributes are no kinds of things: 'group3' stands for some items that are neighbours "
    "in the order of their names, 'ALL/x' for the item x alone."
)

PAPER = (
    "B. Zhang et al., A (k, p)-anonymity Framework to Sanitize Transactional Database with Personalized Sensitivity, "
    "Journal of Internet Technology 20(3), 2019"
)
THRESHOLD = Param(
    "threshold",
    "float",
    "From which degree on an occurrence is sensitive.",
    default=0.75,
    minimum=0.0,
    maximum=1.0,
    example=0.75,
)
HIERARCHY = Param(
    "hierarchy",
    "hierarchy",
    "The item hierarchy: a file or table (item, level1, level2, …), or a Hierarchy. By default the attributes that the "
    "data name, else neighbouring items share an attribute, five by five.",
)
LEVEL = Param(
    "level",
    "int",
    "Which level of the hierarchy gives the attributes, 1 being the coarsest. Default: the one right above the items.",
    minimum=1,
    maximum=1000,
    example=1,
)


@dataclass(frozen=True, eq=False)
class Attributes:
    """A hierarchy of two levels: attributes, and the items of the data below them.

    `of_item` is the attribute of each item code (0 for items that do not occur), `names` are their published names.
    """

    tree: Hierarchy
    nodes: Ints
    of_item: Ints
    names: pa.StringArray
    notes: tuple[str, ...] = ()
    public_notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.names)

    @property
    def cut(self) -> Cut:
        """The cut that publishes the attributes."""
        return Cut.of_nodes(self.tree, self.nodes)


@dataclass(frozen=True, eq=False)
class KpProblem:
    """What the methods work on: counts in unary code, sensitive attributes, and the promise to keep."""

    data: Transactions
    attributes: Attributes
    secret: Mask  # of each occurrence
    offsets: Longs
    codes: Ints
    secret_offsets: Longs
    secrets: Ints
    first: Ints  # the code for "at least 1" of each attribute; one more for the end
    k: int
    p: Fraction
    notes: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.data)

    @property
    def sets(self) -> Transactions:
        """The counts as transactions in unary code."""
        labels = pa.array(np.arange(int(self.first[-1]))).cast(pa.string())
        return Transactions(self.offsets, self.codes, labels)

    @property
    def kernel(self) -> tuple[Longs, Ints, Longs, Ints, Ints]:
        """The arrays that every kernel takes."""
        return self.offsets, self.codes, self.secret_offsets, self.secrets, self.first

    @property
    def limit(self) -> tuple[int, int]:
        """p in whole numbers."""
        return self.p.numerator, self.p.denominator

    def for_persons(self, groups: Ints, unit: Unit, job: Job) -> Ints:
        """The groups; where users are counted, changed until each has k users of whom a share p holds a secret.

        First transactions change places or groups so that each group has k users (see group/persons.py), then groups
        that do not keep p are merged with neighbours. A union of two groups that keep p need not keep it, as they may
        have users in common: so those that publish the same counts are one group before it is looked at again. One
        group of all keeps both, as `kp_problem` made sure.
        """
        users = self.data.users
        if unit == "transaction" or users is None or not len(self):
            return groups
        self._require_persons(users)
        with job.stage("persons") as monitor:
            found = groups_of_persons(self.sets, users, groups, self.k, job)
            number = int(self.first[-1])
            secrets = (self.secret_offsets, self.secrets)
            while True:
                found = _native.merged_for_persons(
                    self.offsets, self.codes, *secrets, users, number, found, self.k, self.limit, monitor
                )
                count = int(found.max(initial=-1)) + 1
                same = alike(
                    _native.mean_centers(self.offsets, self.codes, self.first, found, count, job.threads, monitor)
                )
                if same.max(initial=-1) + 1 == len(same):
                    return found
                found = same[found]

    def _require_persons(self, users: Ints) -> None:
        """All transactions in one group must keep the promise in persons."""
        require_users(self.data, self.k)
        rows = np.repeat(np.arange(len(self)), np.diff(self.secret_offsets))
        whose = np.where(users[rows] < 0, len(users) + rows, users[rows]).astype(np.int64)
        holders = np.bincount(
            distinct(self.secrets.astype(np.int64) * (2 * len(users) + int(users.max(initial=0)) + 1) + whose)
            // (2 * len(users) + int(users.max(initial=0)) + 1),
            minlength=1,
        )
        worst, everybody = int(np.argmax(holders)), known_users(self.data)
        if int(holders[worst]) * self.p.denominator <= self.p.numerator * everybody:
            return
        least = math.ceil(Fraction(int(holders[worst]), everybody) * 10_000) / 10_000
        raise InfeasibleError(
            f"'p' must be at least {least:g}, because {int(holders[worst]):,} of {everybody:,} users hold something "
            f"sensitive of '{self.attributes.names[worst]}'. Got {float(self.p):g}. Choose a larger p or a higher "
            f"threshold, or count transactions: {setting('unit', 'transaction')}."
        )

    def draft(self, groups: Ints, centers: tuple[Longs, Ints], job: Job, **figures: Any) -> Draft:
        """Every transaction with the counts of its group's center, and its own sensitive items."""
        secret = self.secret.view(np.uint8)
        with job.stage("publish") as monitor:
            (offsets, items), counts = _native.publish_counts(
                *centers, self.first, groups, self.data.offsets, self.data.items, secret, job.threads, monitor
            )
            loss = self._loss(groups, centers, job)
        names = self.attributes.names
        # Without attributes nothing occurs, and any name will do for what is not published.
        kinds = names.take(pa.array(self.attributes.of_item)) if len(names) else self.data.labels
        published = replace(
            self.data,
            offsets=offsets,
            items=items,
            counts=counts,
            labels=pa.concat_arrays([names, self.data.labels]),
            attributes=pa.concat_arrays([names, kinds]),
            sensitive=np.arange(len(names) + self.data.n_items) >= len(names),
            sensitivity=self._degrees(items),
            notes=(),
            appearance=None,
        )
        draft = Draft.of_rows(published, {**loss, "groups": int(groups.max(initial=-1)) + 1, **figures})
        return replace(draft, notes=self.notes, public_notes=self.attributes.public_notes, cut=self.attributes.cut)

    def _loss(self, groups: Ints, centers: tuple[Longs, Ints], job: Job) -> dict[str, Any]:
        """The paper's Definition 4 on the counts (see `anonset.assess.utility.attribute_loss`)."""
        apart = int(_native.center_distances(self.offsets, self.codes, *centers, groups, job.threads).sum())
        published = int(np.diff(centers[0])[groups].sum())
        more = (apart + published - len(self.codes)) // 2
        return {
            "attribute_loss": apart,
            "attribute_loss_ratio": apart / max(1, len(self.codes)),
            "attributes_added": more,
            "attributes_removed": apart - more,
        }

    def _degrees(self, items: Ints) -> Any:
        """The degrees of what is published as it is; counts of attributes are nobody's secret."""
        if self.data.sensitivity is None:
            return None
        degrees = np.zeros(len(items))
        # By places: a mask without a pattern takes many times as long.
        own = np.flatnonzero(items >= len(self.attributes))
        degrees[own] = self.data.sensitivity[np.flatnonzero(self.secret)]
        return degrees


def kp_problem(
    data: Transactions, job: Job, *, k: int, p: float, threshold: float, hierarchy: Any, level: int | None
) -> KpProblem:
    """The data apart into counts and what is sensitive; an error where no release can keep the promise.

    Examples
    --------
    >>> data = Transactions.from_lists([["milk", "wine"], ["brie"], ["beer", "wine"]])
    >>> data = replace(data, sensitivity=[0.1, 0.9, 0.2, 0.3, 0.8])
    >>> tree = {"item": ["milk", "brie", "wine", "beer"], "kind": ["dairy", "dairy", "drink", "drink"]}
    >>> problem = kp_problem(data, Job(), k=2, p=0.7, threshold=0.8, hierarchy=tree, level=None)
    >>> problem.attributes.names.to_pylist(), problem.sets.lengths.tolist(), problem.secrets.tolist()
    (['drink', 'dairy'], [1, 1, 1], [0, 0])
    """
    if data.sensitivity is None:
        advice = "Name the column of degrees, read item:degree, or give a file of degrees."
        raise ParameterError("sensitivity", "give a degree for every item of a transaction", "none", advice)
    require_enough(len(data), k)
    with job.stage("map"):
        found = find_attributes(data, hierarchy, level)
        secret = data.sensitivity >= threshold
        notes = found.notes
        if data.sensitive is not None and data.sensitive.any():
            secret = secret | data.sensitive[data.items]
            notes = (*notes, "Items that are marked sensitive count as sensitive for everybody.")
        if len(data) and not secret.any():
            notes = (*notes, f"No occurrence reaches the threshold of {threshold:g}: this is plain k-anonymity.")
        rows, secrets, first = _native.map_attributes(
            data.offsets, data.items, secret.view(np.uint8), found.of_item, len(found), job.threads, job.monitor
        )
    _require_feasible(found, secrets[1], len(data), p)
    return KpProblem(data, found, secret, *rows, *secrets, first, k, fraction(p), notes)


def find_attributes(data: Transactions, hierarchy: Any, level: int | None) -> Attributes:
    """The attributes of the items in use: from a hierarchy, from the data themselves, or five by five.

    Examples
    --------
    >>> data = Transactions.from_lists([["milk", "wine"], ["brie"]])
    >>> tree = {"item": ["milk", "brie", "wine"], "kind": ["dairy", "dairy", "drink"]}
    >>> found = find_attributes(data, tree, None)
    >>> [found.names[int(a)].as_py() for a in found.of_item]
    ['dairy', 'dairy', 'drink']
    """
    used = np.flatnonzero(data.item_counts > 0)
    items = data.labels.take(pa.array(used))
    notes: tuple[str, ...] = ()
    public: tuple[str, ...] = ()
    if hierarchy is not None:
        source = as_hierarchy(hierarchy)
        names, notes = _on_level(source, items, level), source.notes
    elif data.attributes is not None:
        names = data.attributes.take(pa.array(used))
    else:
        names = _on_level(balanced(items, FAN_OUT), items, level) if len(items) else items
        notes = (f"No hierarchy was given: neighbouring items share an attribute, {FAN_OUT} by {FAN_OUT}.",)
        public = (GROUPS,)
    # A tree of its own gives every attribute a name that no item has, so that a file can tell them apart.
    tree = Hierarchy.from_levels(items, [names])
    nodes, place = np.unique(tree.parent[tree.nodes_of(items)], return_inverse=True)
    of_item = np.zeros(data.n_items, dtype=np.int32)
    of_item[used] = place.reshape(-1)
    return Attributes(tree, nodes.astype(np.int32), of_item, tree.names.take(pa.array(nodes)), notes, public)


def _on_level(tree: Hierarchy, items: pa.StringArray, level: int | None) -> pa.StringArray:
    """The name of the node above each item on this level (or the deepest that it has); items of the root themselves."""
    leaves = tree.nodes_of(items)
    if (leaves < 0).any():
        raise InputError(lacking(items.filter(pa.array(leaves < 0))))
    if level is not None and level >= max(2, tree.height):
        most = f"be at most {tree.height - 1:,}, the levels that the hierarchy has"
        raise ParameterError("level", most, level, "Choose a coarser level.")
    node = tree.parent[leaves]
    deepest = tree.height if level is None else level
    while (tree.depth[node] > deepest).any():
        node = np.where(tree.depth[node] > deepest, tree.parent[node], node)
    return tree.names.take(pa.array(np.where(node > 0, node, leaves)))


def _require_feasible(found: Attributes, secrets: Ints, n: int, p: float) -> None:
    """All transactions in one group must keep p, else no groups can: the average of shares is that of all."""
    holders = np.bincount(secrets, minlength=1)
    worst = int(np.argmax(holders))
    limit, most = fraction(p), int(holders[worst])
    if most * limit.denominator <= limit.numerator * n:
        return
    least = math.ceil(Fraction(most, n) * 10_000) / 10_000
    raise InfeasibleError(
        f"'p' must be at least {least:g}, because {most:,} of {n:,} transactions hold something sensitive of "
        f"'{found.names[worst]}'. Got {p:g}. Choose a larger p or a higher threshold."
    )
