"""What executors do: give transactions their Gray key, and run a method on the transactions of one range.

Everything here is called by `mapInArrow`: batches in, batches out. The methods are the same as on one machine.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.arrays import Ints, Longs
from anonset.data.errors import GuaranteeError
from anonset.data.job import Job
from anonset.data.transactions import Mask, Transactions
from anonset.engines.spark.codes import KEY, RANGE, ROW, decoded, encoded

LOST = ("items_removed", "items_added", "item_differences")
BATCH = 10_000


@dataclass(frozen=True, eq=False)
class Words:
    """The items that occur, in natural order, their rank in Gray order, and which are sensitive."""

    labels: pa.StringArray
    ranks: Ints
    secret: Mask
    counts: Longs

    @property
    def width(self) -> int:
        """The bytes of a token of a Gray key."""
        return 1 + int(np.log2(max(len(self.labels) + 1, 2)) // 8)


def keyed(batches: Iterable[pa.RecordBatch], words: Words) -> Iterator[pa.RecordBatch]:
    """Key, codes and user of each transaction."""
    from anonset.methods.steps.order.gray import keys_by

    for batch in batches:
        lists = batch.column("items")
        codes = pc.index_in(lists.values, value_set=words.labels).to_numpy(zero_copy_only=False)
        offsets = lists.offsets.to_numpy().astype(np.int64)
        data = Transactions.from_codes(offsets - offsets[0], codes[offsets[0] : offsets[-1]], words.labels)
        keys = keys_by(data.only(~words.secret), words.ranks)
        columns = [keys.cast(pa.binary()), encoded(data.offsets, data.items), *_users(batch)]
        yield pa.RecordBatch.from_arrays(columns, names=[KEY, ROW, *batch.schema.names[1:]])


def _users(batch: pa.RecordBatch) -> list[pa.Array]:
    return [batch.column("user")] if "user" in batch.schema.names else []


@dataclass(frozen=True, eq=False)
class Task:
    """What to do with the transactions of a range."""

    method: str
    values: Mapping[str, Any]
    words: Words
    seed: int
    grouped: bool
    whole: int  # transactions in all
    promise: Mapping[str, Any]  # name, parameters and unit of the model
    attacked: int  # the range that attackers try

    def parameters(self, size: int) -> dict[str, Any]:
        """The parameters for a range of this size: of the segments of the whole it gets its share."""
        values = dict(self.values)
        if values.get("segments") is not None:
            values["segments"] = max(1, round(values["segments"] * size / self.whole))
        return values

    def job(self, number: int) -> Job:
        """The job of a range: the first one has the seed of the run, so that one range is what one machine does."""
        seed = self.seed if not number else int(np.random.default_rng([self.seed, number]).integers(1 << 62))
        return Job(seed, threads=1)


def anonymized(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """The published transactions of one range, each with a random place, and what was lost in the first row."""
    from anonset.assess.utility.information_loss import information_loss
    from anonset.methods import METHODS

    table = _together(batches)
    if table is None:
        return
    number = _only_range(table)
    data = _transactions(table, task.words)
    job = task.job(number)
    draft = METHODS[task.method].run(data, job, **task.parameters(len(data)))
    lost = {} if task.grouped else information_loss(data, draft.release, draft.row_origin)
    columns = _columns(draft, data, job, lost, task.grouped)
    found = _attacked(draft, data, task, job) if number == task.attacked else None
    columns["findings"] = pa.array([found, *[None] * (len(draft.release) - 1)], type=pa.binary())
    if task.grouped:
        columns |= _groups(draft, data, number, job, task.words)
    yield from pa.table(columns).to_batches(max_chunksize=BATCH)


def _together(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """All rows of the partition by key, then by everything else, so that nothing depends on how they arrived."""
    kept = [batch for batch in batches if batch.num_rows]
    if not kept:
        return None
    table = pa.Table.from_batches(kept)
    users = [("user", "ascending")] if "user" in table.column_names else []
    return table.sort_by([(KEY, "ascending"), (ROW, "ascending"), *users]).combine_chunks()


def _only_range(table: pa.Table) -> int:
    numbers = pc.unique(table[RANGE])
    if len(numbers) != 1:
        raise GuaranteeError(
            "A partition holds several ranges, so that the order was lost. Nothing was published. Please report it."
        )
    return int(numbers[0].as_py())


def _transactions(table: pa.Table, words: Words) -> Transactions:
    """The transactions with only the items that occur here, still in natural order."""
    offsets, codes = decoded(table[ROW].combine_chunks())
    used = np.union1d(codes, np.flatnonzero(words.secret)).astype(np.int64)  # a range may hold no secret at all
    users, names = None, None
    if "user" in table.column_names:
        coded = table["user"].combine_chunks().dictionary_encode()
        users = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        names = coded.dictionary
    return Transactions.from_codes(
        offsets,
        np.searchsorted(used, codes).astype(np.int32),
        words.labels.take(pa.array(used)),
        users=users,
        user_labels=names,
        sensitive=words.secret[used] if words.secret.any() else None,
    )


def _attacked(draft: Any, data: Transactions, task: Task, job: Job) -> bytes:
    """What attackers find in this range, as if it were all there is."""
    from anonset.assess.risk.find import find_all
    from anonset.assess.risk.spec import Case
    from anonset.models import model

    case = Case(
        data,
        draft.release,
        draft.row_origin,
        model=model(**task.promise),
        method=task.method,
        params={name: value for name, value in task.values.items() if name != "hierarchy"},
        hierarchy=task.values.get("hierarchy"),
        job=job,
    )
    return pickle.dumps(find_all(case, draft.measurements))


def _columns(draft: Any, data: Transactions, job: Job, lost: Mapping[str, int], grouped: bool) -> dict[str, Any]:
    """What is written into the snapshot: sets, users, a random place for each, and what was lost."""
    n = len(draft.release)
    columns: dict[str, Any] = {"items": _lists(draft.release.transactions.quasi())}
    if data.sensitive is not None:
        columns["sensitive"] = _lists(_secrets(draft, data, grouped))
    if data.users is not None and data.user_labels is not None:
        names = data.user_labels.take(pa.array(data.users, mask=data.users < 0))
        columns["user"] = names.take(pa.array(draft.row_origin))
    columns["place"] = pa.array(job.random("shuffle").integers(1 << 62, size=n))
    for name in LOST:
        first = np.zeros(n, dtype=np.int64)
        first[:1] = lost.get(name, 0)
        columns[name] = pa.array(first)
    return columns


def _groups(draft: Any, data: Transactions, number: int, job: Job, words: Words) -> dict[str, Any]:
    """The group of each transaction, one place for all its members, and their order inside: by their items."""
    groups, quasi = draft.release.groups, draft.release.transactions.quasi()
    places = job.random("shuffle").integers(1 << 62, size=int(groups.max(initial=-1)) + 1)
    codes = pc.index_in(quasi.labels, value_set=words.labels).to_numpy(zero_copy_only=False)
    return {
        "place": pa.array(places[groups]),
        "group": pa.array((np.int64(number) << 40) + groups),
        "canon": encoded(quasi.offsets, codes[quasi.items].astype(np.int32)),
    }


def _secrets(draft: Any, data: Transactions, grouped: bool) -> Transactions:
    """The sensitive items of each published transaction; of groups their counts are made later."""
    return data.sensitive_part().take(draft.row_origin) if grouped else draft.release.transactions.sensitive_part()


def _lists(data: Transactions) -> pa.ListArray:
    values = data.labels.take(pa.array(data.items))
    return pa.ListArray.from_arrays(pa.array(data.offsets.astype(np.int32)), values)
