"""Synthetic transactions in the manner of the IBM Quest generator.

R. Agrawal, R. Srikant, "Fast Algorithms for Mining Association Rules", VLDB 1994, section 2.4.3. People buy
*patterns*: sets of items that belong together, overlapping with one another, some much more popular than others,
and rarely bought completely. The paper leaves open how items enter a pattern; the public file T10I4D100K, in which 870
of 1,000 items occur, shows that some items must be much likelier than others: their popularity is exponential here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset import _native
from anonset.data.errors import ParameterError
from anonset.data.job import Job
from anonset.data.spec import Param, parse_params
from anonset.data.transactions import Transactions

PARAMS = (
    Param("transactions", "int", "How many transactions.", 100_000, minimum=0, maximum=1e9, example=1000),
    Param(
        "mean_length", "float", "The mean number of items of a transaction.", 10.0, minimum=1, maximum=1e5, example=10
    ),
    Param(
        "patterns",
        "int",
        "How many patterns people buy; fewer are more frequent.",
        2000,
        minimum=1,
        maximum=1e7,
        example=2000,
    ),
    Param("pattern_length", "float", "The mean number of items of a pattern.", 4.0, minimum=1, maximum=1e4, example=4),
    Param("items", "int", "How many items there are to buy.", 1000, minimum=1, maximum=1e7, example=1000),
    Param(
        "correlation",
        "float",
        "The mean part of a pattern's items that it shares with the pattern before it.",
        0.25,
        minimum=0,
        maximum=1,
        example=0.25,
    ),
    Param(
        "corruption",
        "float",
        "How likely, on average, items drop out of a pattern.",
        0.5,
        minimum=0,
        maximum=0.9,
        example=0.5,
    ),
    Param(
        "corruption_variance",
        "float",
        "How much that differs between patterns.",
        0.1,
        minimum=0,
        maximum=1,
        example=0.1,
    ),
    Param(
        "popularity",
        "choice",
        "Whether some items enter patterns much more often than others.",
        "exponential",
        choices=("exponential", "equal"),
        example="exponential",
    ),
)


def generate_quest(
    transactions: int = 100_000,
    *,
    mean_length: float = 10.0,
    patterns: int = 2000,
    pattern_length: float = 4.0,
    items: int = 1000,
    correlation: float = 0.25,
    corruption: float = 0.5,
    corruption_variance: float = 0.1,
    popularity: str = "exponential",
    seed: int | None = None,
    threads: int | None = None,
    job: Job | None = None,
) -> Transactions:
    """Transactions made of recurring patterns; the defaults give the shape of the public file T10I4D100K.

    Parameters
    ----------
    transactions, mean_length
        How many transactions, and how long they are on average (Poisson, at least one item).
    patterns, pattern_length
        How many patterns people buy, and how many items they have on average (Poisson, at least one).
    items
        The size of the vocabulary, `0` to `items - 1`; not every item needs to occur.
    correlation
        The mean part of a pattern's items that it shares with the one before it (exponential).
    corruption, corruption_variance
        Items drop out of a pattern again and again with the pattern's own probability: normal with this mean and
        variance, cut to [0, 1].
    popularity
        `exponential`: some items enter patterns much more often than others. `equal`: all alike.
    seed, threads, job
        The same seed gives the same transactions on any number of threads. A job brings its own seed and threads.

    Examples
    --------
    >>> from anonset.generate import generate_quest
    >>> generate_quest(5000, seed=1)
    Transactions(5,000 transactions, 1,000 items, mean length 10.1)
    """
    given = {name: value for name, value in locals().items() if name not in {"seed", "threads", "job"}}
    values = parse_params(PARAMS, given, "generate quest")
    _fits(values)
    job = job or Job(seed, threads)
    blocks = -(-values["transactions"] // _native.QUEST_BLOCK)
    with job.stage("generate", total=blocks) as monitor:
        offsets, codes = _native.quest(
            **{name: values[name] for name in values if name != "popularity"},
            equal_items=values["popularity"] == "equal",
            seed=int(job.random("quest").integers(2**63)),
            threads=job.threads,
            monitor=monitor,
        )
    labels = pc.cast(pa.array(np.arange(values["items"])), pa.string())
    return Transactions(offsets, codes, labels)


def _fits(values: dict[str, Any]) -> None:
    for name in ("mean_length", "pattern_length"):
        if values[name] > values["items"]:
            most = f"be at most the number of items ({values['items']:,})"
            raise ParameterError(name, most, f"{values[name]:g}", f"Choose a smaller {name} or more items.")
