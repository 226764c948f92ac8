"""Odd data sets, and a few ordinary ones: what every method must either anonymize or refuse with a clear sentence.

`ODD` and `ORDINARY` are plain dicts of factories. A new data set is one function with the mark `@odd` or `@ordinary`;
every registered method meets it by itself. On an ordinary data set a method has no excuse: it must succeed.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pyarrow as pa

from anonset import Transactions
from anonset.generate import generate_quest, generate_supermarket

Factory = Callable[[], Transactions]
ODD: dict[str, Factory] = {}
ORDINARY: dict[str, Factory] = {}


def odd(make: Factory) -> Factory:
    ODD[make.__name__] = cache(make)
    return ODD[make.__name__]


def ordinary(make: Factory) -> Factory:
    ORDINARY[make.__name__] = cache(make)
    return ORDINARY[make.__name__]


# --- few transactions ---------------------------------------------------------------------------------------------


@odd
def empty_database() -> Transactions:
    return Transactions.from_lists([])


@odd
def empty_database_with_labels() -> Transactions:
    return Transactions.from_lists([], labels=["bread", "milk", "wine"])


@odd
def one_transaction() -> Transactions:
    return Transactions.from_lists([["bread", "milk", "wine"]])


@odd
def two_transactions() -> Transactions:
    """As many as the smallest k asks for, with nothing in common."""
    return Transactions.from_lists([["bread", "milk"], ["wine"]])


@odd
def five_transactions() -> Transactions:
    """As many as the larger k of the suite asks for."""
    return Transactions.from_lists([["a", "b"], ["b", "c"], ["c", "d"], ["d", "e"], ["e", "a"]])


# --- alike and unlike ---------------------------------------------------------------------------------------------


@odd
def all_equal() -> Transactions:
    return Transactions.from_lists([["bread", "milk", "wine"]] * 12)


@odd
def all_distinct() -> Transactions:
    """No two transactions share an item."""
    return Transactions.from_lists([[f"left {i}", f"right {i}"] for i in range(40)])


@odd
def every_item_everywhere_but_once() -> Transactions:
    """Dense: each transaction lacks one item of its own."""
    items = [f"item {i}" for i in range(20)]
    return Transactions.from_lists([[item for item in items if item != missing] for missing in items])


@odd
def nested_chain() -> Transactions:
    """Each transaction is contained in the next one."""
    return Transactions.from_lists([[str(j) for j in range(i + 1)] for i in range(30)])


@ordinary
def duplicates_heavy() -> Transactions:
    """Two hundred transactions, but only a handful of different ones."""
    kinds = [["a"], ["a", "b"], ["b", "c", "d"], ["d", "e", "f", "g"], ["h"], ["a", "h"]]
    sizes = [90, 50, 30, 20, 7, 3]
    return Transactions.from_lists([kind for kind, size in zip(kinds, sizes, strict=True) for _ in range(size)])


# --- nothing inside -----------------------------------------------------------------------------------------------


@odd
def only_empty_transactions() -> Transactions:
    return Transactions.from_lists([[] for _ in range(8)], labels=["bread", "milk"])


@odd
def some_empty_transactions() -> Transactions:
    full = [["a", "b"], ["b", "c"], ["a", "c"], ["a", "b", "c"], ["c"], ["d"]]
    return Transactions.from_lists([row for pair in zip(full, [[]] * 6, strict=True) for row in pair] * 3)


@odd
def one_empty_transaction() -> Transactions:
    return Transactions.from_lists([["a", "b"]] * 5 + [["a", "b", "c"]] * 5 + [[]])


# --- labels -------------------------------------------------------------------------------------------------------


@odd
def strange_labels() -> Transactions:
    """Composed and combining letters, right to left, emoji, quotes, separators, line ends, formulas, long names."""
    names = [
        "caf\u00e9",
        "cafe\u0301",
        "\u05dc\u05d7\u05dd",
        "\u202eabc",
        "\U0001f469\u200d\U0001f52c",
        'a "quoted" name',
        "comma, separated",
        "semi;colon",
        "two\nlines",
        "tab\tinside",
        "carriage\rreturn",
        " blanks around ",
        "=1+1",
        "-5",
        "007",
        "7",
        "nul\x00inside",
        "x" * 5000,
        "None",
        "{braces} and 100 %s",
    ]
    rng = np.random.default_rng(1)
    return Transactions.from_lists([rng.choice(names, rng.integers(1, 6), replace=False) for _ in range(60)])


@odd
def labels_in_no_order() -> Transactions:
    """Codes that do not follow the order of the labels, and labels that nobody uses."""
    rng = np.random.default_rng(2)
    labels = [str(i) for i in rng.permutation(50)]
    return Transactions.from_lists([rng.choice(labels[10:30], 4, replace=False) for _ in range(60)], labels=labels)


@odd
def vast_vocabulary() -> Transactions:
    """A million labels, of which forty are used."""
    rng = np.random.default_rng(3)
    used = rng.choice(1_000_000, 40, replace=False).astype(np.int32)
    rows = [rng.choice(used, rng.integers(1, 8), replace=False) for _ in range(60)]
    labels = pa.array(np.arange(1_000_000)).cast(pa.string())
    return Transactions.from_codes(np.cumsum([0, *map(len, rows)]), np.concatenate(rows), labels)


# --- lengths ------------------------------------------------------------------------------------------------------


@odd
def one_huge_transaction() -> Transactions:
    """A hundred thousand items in one transaction, among sixty small ones."""
    rng = np.random.default_rng(4)
    rows = [rng.choice(100, rng.integers(1, 6), replace=False) for _ in range(60)]
    rows.insert(17, np.arange(100_000))
    labels = pa.array(np.arange(100_000)).cast(pa.string())
    return Transactions.from_codes(np.cumsum([0, *map(len, rows)]), np.concatenate(rows), labels)


@odd
def single_items() -> Transactions:
    """Every transaction is one item; some of them are frequent."""
    return Transactions.from_lists([[str(i * i % 17)] for i in range(100)])


@ordinary
def long_tail() -> Transactions:
    """Zipf: few items are everywhere, many occur once."""
    rng = np.random.default_rng(5)
    return Transactions.from_lists([set(rng.zipf(1.5, rng.integers(1, 10)) % 1000) for _ in range(300)])


# --- users and sensitive items ------------------------------------------------------------------------------------


@odd
def everything_sensitive() -> Transactions:
    data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "c"], ["d"]] * 5)
    return replace(data, sensitive=np.ones(data.n_items, dtype=np.bool_))


@odd
def nothing_sensitive() -> Transactions:
    data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "c"], ["d"]] * 5)
    return replace(data, sensitive=np.zeros(data.n_items, dtype=np.bool_))


@odd
def a_sensitive_item_for_everybody() -> Transactions:
    return Transactions.from_lists([["a", "secret"], ["b", "secret"], ["a", "b", "secret"]] * 6, sensitive=["secret"])


@odd
def one_user() -> Transactions:
    rows = [["a", "b"], ["b", "c"], ["a", "c"], ["d"]] * 5
    return Transactions.from_lists(rows, users=["the only one"] * len(rows))


@odd
def every_degree_is_one() -> Transactions:
    data = Transactions.from_lists([["a", "b"], ["b", "c"], ["a", "c"], ["d"]] * 5)
    return replace(data, sensitivity=np.ones(data.nnz))


# --- as in life ---------------------------------------------------------------------------------------------------


@ordinary
def quest() -> Transactions:
    return generate_quest(400, mean_length=6, patterns=50, items=100, seed=6)


@ordinary
def supermarket() -> Transactions:
    return generate_supermarket(300, users=60, seed=7).transactions


DATA_SETS: dict[str, Factory] = {**ODD, **ORDINARY}


# --- what a method may need besides -------------------------------------------------------------------------------

EVERYTHING = ("users", "sensitive", "sensitivity")


def bring(data: Transactions, needs: tuple[str, ...]) -> Transactions:
    """The same data with ids, and with whatever of `needs` it does not bring itself."""
    columns: dict[str, object] = {}
    if data.ids is None:
        columns["ids"] = pa.array([f"id of {i}" for i in range(len(data))], type=pa.string())
    if "users" in needs and data.users is None:
        count = max(1, len(data) // 3)
        columns["users"] = np.arange(len(data), dtype=np.int32) % count
        columns["user_labels"] = pa.array([f"person {i}" for i in range(count)], type=pa.string())
    if "sensitive" in needs and data.sensitive is None:
        columns["sensitive"] = rare_items(data)
    if "sensitivity" in needs and data.sensitivity is None:
        columns["sensitivity"] = np.random.default_rng(8).random(data.nnz) ** 4
    return replace(data, **columns)


def rare_items(data: Transactions, most: int = 3) -> np.ndarray:
    """A mask of up to three items that at most a tenth of the transactions hold; at least one where there is any."""
    counts = data.item_counts
    used = np.flatnonzero(counts)
    rare = used[counts[used] <= max(1, len(data) // 10)]
    chosen = rare[np.argsort(-counts[rare], kind="stable")][:most]
    if not len(chosen):
        chosen = used[np.argsort(counts[used], kind="stable")][:1]
    mask = np.zeros(data.n_items, dtype=np.bool_)
    mask[chosen] = True
    return mask
