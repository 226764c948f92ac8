"""An example supermarket: named products in a hierarchy, households with habits, and what they would rather not tell.

Nobody's real shopping. A household has its tastes (most never buy from some categories), about a dozen favourite
products and three favourite meals; the rest is bought by popularity (Zipf). A few percent of the households need
each sensitive product and buy it now and then. How sensitive a product is, everybody says for himself: mostly
hardly at all, rarely very much, and high for the sensitive products.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from anonset import _native
from anonset.data.errors import ExistsError, ParameterError, argument
from anonset.data.job import Job
from anonset.data.spec import Param, parse_params
from anonset.data.transactions import Floats, Ints, Transactions, natural_order
from anonset.generate.catalogue import Product, meals, products
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.plan import require_files_in

PARAMS = (
    Param("transactions", "int", "How many transactions.", 10_000, minimum=0, maximum=1e9, example=1000),
    Param(
        "users",
        "int",
        "How many households share them; by default one for every 12 transactions.",
        minimum=1,
        maximum=2**31 - 1,
        example=100,
    ),
    Param("mean_length", "float", "The mean number of products to buy.", 8.0, minimum=1, maximum=100, example=8),
)

TRANSACTIONS_PER_USER = 12
FILES = ("transactions.csv", "hierarchy.csv", "sensitive.txt")

# Beta(a, 1) of the sensitivity degrees: their mean is a / (a + 1).
ORDINARY, PRIVATE, SENSITIVE = 0.12, 0.5, 6.0


@dataclass(frozen=True, eq=False)
class Supermarket:
    """Transactions with users, sensitive items and degrees; the products' hierarchy; the sensitive products."""

    transactions: Transactions
    hierarchy: pa.Table
    sensitive: tuple[str, ...]

    def write(
        self, directory: str | os.PathLike[str], *, force: bool = False, shared_folder: SharedFolder = None
    ) -> list[Path]:
        """Write `transactions.csv`, `hierarchy.csv` and `sensitive.txt`; a directory in use needs `force`."""
        target = free_directory(directory, force, shared_folder)
        places = [target / name for name in FILES]
        with plain_errors(target), staging(force=force, shared=shared_folder) as stage:
            target.mkdir(parents=True, exist_ok=True)
            transactions, hierarchy, sensitive = map(stage.file, places)
            _write_transactions(self.transactions, transactions)
            csv.write_csv(self.hierarchy, hierarchy, _CSV)
            sensitive.write_text("".join(f"{name}\n" for name in self._bought()), encoding="utf-8")
            stage.publish()
        return places

    def _bought(self) -> list[str]:
        """The sensitive products that occur: reading takes a name that the data does not hold for a mistake."""
        bought = self.transactions.item_counts > 0
        return list(self.transactions.labels.filter(pa.array(bought & ~self.transactions.quasi_mask)).to_pylist())


def generate_supermarket(
    transactions: int = 10_000,
    *,
    users: int | None = None,
    mean_length: float = 8.0,
    seed: int | None = None,
    threads: int | None = None,
    job: Job | None = None,
) -> Supermarket:
    """Shopping of example households in an example supermarket.

    Parameters
    ----------
    transactions, users
        How many transactions, and by how many households: some come often, most rarely, each at least once.
    mean_length
        The mean number of products that a transaction sets out to hold.
    seed, threads, job
        The same seed gives the same supermarket on any number of threads. A job brings its own seed and threads.

    Examples
    --------
    >>> from anonset.generate import generate_supermarket
    >>> market = generate_supermarket(1000, seed=1)
    >>> len(market.transactions), market.hierarchy.column_names
    (1000, ['item', 'level1', 'level2', 'level3'])
    >>> "pregnancy test" in market.sensitive
    True
    """
    given = {"transactions": transactions, "users": users, "mean_length": mean_length}
    values = parse_params(PARAMS, given, "generate supermarket")
    count, households = values["transactions"], _households(values["transactions"], values["users"])
    job = job or Job(seed, threads)
    inside = int(job.random("supermarket").integers(2**63))
    shop, shape = _assortment(), _shapes()
    blocks = 2 * -(-count // _native.SUPERMARKET_BLOCK)
    with job.stage("generate", total=blocks) as monitor:
        buyers = _visits(count, households, job)
        lengths = _lengths(count, values["mean_length"], job)
        offsets, items = _native.supermarket(shop, buyers, lengths, inside, job.threads, monitor)
        degrees = _native.sensitivity(shop, offsets, items, buyers, shape, inside, job.threads, monitor)
    data = Transactions(
        offsets,
        items,
        pa.array([product.name for product in _by_name()]),
        users=buyers,
        user_labels=_numbered("h", households),
        ids=_numbered("", count),
        sensitive=np.array([product.sensitive for product in _by_name()]),
        sensitivity=degrees,
    )
    return Supermarket(data, _hierarchy(), tuple(data.sensitive_names()))


def write_supermarket(
    directory: str | os.PathLike[str],
    transactions: int = 10_000,
    *,
    users: int | None = None,
    mean_length: float = 8.0,
    seed: int | None = None,
    threads: int | None = None,
    job: Job | None = None,
    force: bool = False,
    shared_folder: SharedFolder = None,
) -> Supermarket:
    """Make a supermarket (see `generate_supermarket`) and write its three files into `directory`."""
    free_directory(directory, force, shared_folder)
    job = job or Job(seed, threads)
    market = generate_supermarket(transactions, users=users, mean_length=mean_length, job=job)
    with job.stage("write"):
        market.write(directory, force=force, shared_folder=shared_folder)
    return market


def free_directory(directory: str | os.PathLike[str], force: bool, shared: SharedFolder = None) -> Path:
    """The directory, if it may be written to: it is not there yet, it is empty, or `force` is given."""
    target = Path(directory)
    if target.exists() and not target.is_dir():
        raise ParameterError("directory", "name a directory", f"{target}, which is a file")
    if target.is_dir() and any(target.iterdir()) and not force:
        raise ExistsError(
            f"{target} is not empty. Choose another directory, or replace the files: {argument('force')}."
        )
    require_files_in(target, FILES, force=force, shared=shared)
    return target


# --- households and their visits ------------------------------------------------------------------------------


def _households(transactions: int, users: int | None) -> int:
    if users is None:
        return max(1, transactions // TRANSACTIONS_PER_USER)
    if users > max(1, transactions):
        most = f"be at most the number of transactions ({transactions:,})"
        raise ParameterError("users", most, users, "Choose fewer users or more transactions.")
    return users


def _visits(transactions: int, users: int, job: Job) -> Ints:
    """The household of each transaction: every one comes once, and again the oftener the more active it is."""
    random = job.random("visits")
    activity = np.cumsum(random.lognormal(0.0, 1.1, users))
    again = np.searchsorted(activity, random.random(max(0, transactions - users)) * activity[-1], side="right")
    once = np.arange(min(users, transactions))
    return random.permutation(np.concatenate((once, again)).astype(np.int32))


def _lengths(transactions: int, mean: float, job: Job) -> Ints:
    """How many products to buy: often a few, sometimes many (Poisson around a log-normal mean), at least one."""
    random = job.random("lengths")
    sigma = 0.75
    means = (mean - 1) * random.lognormal(-(sigma**2) / 2, sigma, transactions)
    return (1 + random.poisson(means)).astype(np.int32)


# --- the assortment as arrays -----------------------------------------------------------------------------------


@cache
def _by_name() -> tuple[Product, ...]:
    """All products in the order of their codes."""
    names = pa.array([product.name for product in products()], type=pa.string())
    return tuple(products()[i] for i in natural_order(names))


@cache
def _assortment() -> _native.Assortment:
    """What the kernel needs to know of the shop."""
    shelf = _by_name()
    code = {product.name: i for i, product in enumerate(shelf)}
    categories = list(dict.fromkeys(product.path[:2] for product in products()))
    buyers = {product.path[:2]: product.buyers for product in shelf}
    sensitive = [product for product in shelf if product.sensitive]
    return _native.Assortment(
        popularity=_popularity(),
        category=np.array([categories.index(product.path[:2]) for product in shelf], dtype=np.int32),
        buyers=np.array([buyers[category] for category in categories]),
        meal_offsets=np.cumsum([0, *(len(meal) for meal in meals())], dtype=np.int64),
        meals=np.array([code[name] for meal in meals() for name in meal], dtype=np.int32),
        sensitive=np.array([code[product.name] for product in sensitive], dtype=np.int32),
        need=np.array([product.popularity / 100 for product in sensitive]),
    )


def _popularity() -> Floats:
    """Zipf-Mandelbrot weights by rank; the ranks follow the catalogue, a little stirred, and are always the same."""
    wished = np.array([0.0 if product.sensitive else product.popularity for product in _by_name()])
    stirred = wished * np.random.default_rng(0).uniform(0.7, 1.3, len(wished))
    rank = np.empty(len(wished))
    rank[np.argsort(-stirred, kind="stable")] = np.arange(len(wished))
    return np.where(wished > 0, 1.0 / (rank + 4.0), 0.0)


def _shapes() -> Floats:
    """How sensitive people find each product, as the shape of the degrees' distribution."""
    return np.array([SENSITIVE if p.sensitive else PRIVATE if p.private else ORDINARY for p in _by_name()])


def _numbered(prefix: str, count: int) -> pa.StringArray:
    """`prefix` with 1 to `count`."""
    numbers = pc.cast(pa.array(np.arange(1, count + 1)), pa.string())
    return pc.binary_join_element_wise(prefix, numbers, "") if prefix else numbers


def _hierarchy() -> pa.Table:
    columns = {"item": [product.name for product in products()]}
    for level in range(3):
        columns[f"level{level + 1}"] = [product.path[level] for product in products()]
    return pa.table(columns)


# --- files --------------------------------------------------------------------------------------------------------

_CSV = csv.WriteOptions(quoting_style="needed")
_ROWS_AT_ONCE = 100_000


def _write_transactions(data: Transactions, path: Path) -> None:
    """One line per item occurrence, in slices, so that memory stays small."""
    schema = pa.schema(
        {"transaction": pa.int64(), "user": pa.string(), "item": pa.string(), "sensitivity": pa.float64()}
    )
    with csv.CSVWriter(path, schema, write_options=_CSV) as out:
        for first in range(0, len(data), _ROWS_AT_ONCE):
            part = data.take(np.arange(first, min(first + _ROWS_AT_ONCE, len(data))))
            out.write_table(pa.table(_occurrences(part, first), schema=schema))


def _occurrences(part: Transactions, first: int) -> list[pa.Array]:
    """Transaction, user, item and degree of each item occurrence."""
    assert part.users is not None
    assert part.user_labels is not None
    return [
        pa.array(part.rows + first + 1),
        part.user_labels.take(pa.array(part.users[part.rows])),
        part.labels.take(pa.array(part.items)),
        pa.array(part.sensitivity),
    ]
