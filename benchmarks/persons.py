"""What it costs to count persons instead of transactions: loss, time and groups in both units, in one run.

`python -m benchmarks.persons [--write]` prints the page; with `--write` it becomes docs/results/persons.md. Times are
processor seconds of one thread, the least of three runs that take turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

import anonset
from anonset import METHODS, MODELS, InfeasibleError, Transactions
from anonset.assess.utility.information_loss import information_loss
from anonset.data.histories import histories
from anonset.data.job import Job
from anonset.data.release import Draft
from anonset.data.spec import parse_params
from anonset.generate import generate_supermarket
from anonset.methods import crowd
from benchmarks._tools import data_file, processor_seconds, publish, table

KS = (5, 10, 20)
RUNS = 3
SUPERMARKET, TEN_TIMES, SMALL = 100_000, 1_000_000, 10_000
RARE, OFTEN = "1069415", "987724"  # products of Complete Journey that are bought 204 and 570 times
ROWS = ("k", "groups", "below k persons", "loss", "in persons: groups", "loss", "÷", "time ÷")

PAGE = """# Persons instead of transactions, measured

`python -m benchmarks.persons --write` made this page, everything in one run. *Loss* is the information loss ratio,
*time* processor seconds of the method on one thread, the least of {runs} runs that take turns with those of the other
unit. *Below k persons* says how many groups of the release that counts transactions hold
fewer than k different users.

## `crowd`

{crowd}

## What the two constants are worth

Where persons are counted, `crowd` looks at {reach} times as many neighbours of an anchor (reach) and remembers
{remembered} times as many (candidates). Both were chosen on Complete Journey. Loss and time ÷ those of
`unit=transaction`, k = 5:

{constants}

## Privacy degree in persons

The largest p (of 2, 3, 4, …) that a method reaches in persons. *No more than* is what no grouping can exceed: users by
occurrences of the most frequent sensitive item. The last column is the largest p where every user's transactions are
one (`one_per_user`).

{degree}

## The other methods

{small:,} transactions of the supermarket, its sensitive products, degrees and hierarchy; k = 5, m = 2, p = 4 for
privacy degree and 0.6 for kp-anonymity. The loss is the one that the method's model measures (none for groups).
`km-optimal` is left out: the supermarket's hierarchy has too many cuts for it.

{others}

## Ten times as many transactions

`crowd` in persons with k = 10 takes {scale:.1f} × as long on {ten:,} transactions of the supermarket as on {one:,}.

## What it says

{text}
"""

TEXT = """- A release that counts transactions protects fewer persons than its k says: see *below k persons*.
- Asking for k *different* users costs `crowd` little loss, as a group takes no two transactions of one user from the
  beginning. Entering every user as a sensitive item with diversity k, a stronger condition, came to .8535 on Complete
  Journey with k = 5 and to .8711 with k = 10.
- It takes longer because equal transactions are no longer one class, and because more neighbours are looked at: many
  near a transaction are its own user's.
- Goals on Complete Journey and the supermarket: at most 1.02 times the loss is met, on Complete Journey with k = 5 by
  0.0002. At most 1.5 times the processor time is met (one earlier run on a busy machine had 1.61). Ten times the data
  in at most 12 times the time is met in one run and missed in others (11.1, 12.1, 12.3), so it is at its edge;
  `unit=transaction` takes 11.4 times as long.
- BMS-WebView-2 names no persons. Here every visit is one of seven invented persons who begin with its first page, so
  that those who are near each other often are one person: harder than real customers. Neither goal is met there.
- The two constants lower the loss on all three sets, most on the one they were not chosen on. The second one is what
  takes time.
- Privacy degree in persons bounds what all transactions of a user say together, which allows a small p where users buy
  the same things again. Merging each user's transactions into one allows several times as much. So transactions are
  its usual unit, and what cannot be is refused with the p that merging allows.
- `km-refine` in persons counts them in bitmaps. Where these take more than half a gigabyte, as with the 68,509
  products of Complete Journey, it raises the cut of transactions, which loses more (.0092 instead of .0034, without a
  hierarchy)."""


def made(data: Transactions, unit: str, method: str = "crowd", **options: Any) -> tuple[Draft, float]:
    """What a method makes, and the processor time that it takes."""
    spec = METHODS[method]
    values = parse_params((*MODELS[spec.model].params, *spec.params), options, method)
    counting = {"unit": "user"} if unit == "user" else {}
    found: list[Draft] = []
    taken = processor_seconds(lambda: found.append(spec.run(data, Job(1, 1), **values, **counting)))
    return found[0], taken


def both(data: Transactions, runs: int = RUNS, **options: Any) -> Iterator[tuple[Draft, float]]:
    """What is made in each unit, with the least time; the units take turns."""
    rounds = [[made(data, unit, **options) for unit in ("transaction", "user")] for _ in range(runs)]
    for turn in zip(*rounds, strict=True):
        yield turn[0][0], min(taken for _, taken in turn)


def crowd_row(data: Transactions, k: int) -> tuple[str, ...]:
    (one, time), (other, longer) = both(data, k=k)
    target = anonset.model("k-anonymity", k=k, unit="user")
    before, after = (target.check(draft.release, data.users) for draft in (one, other))
    assert before.persons is not None
    assert after.persons is not None
    assert after.persons.measured["k"] >= k
    losses = [
        information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"] for draft in (one, other)
    ]
    return (
        f"{k}", f"{before.measured['groups']:,}", f"{before.persons.measured['groups_below_k']:,}", f"{losses[0]:.4f}",
        f"{after.measured['groups']:,}", f"{losses[1]:.4f}", f"{losses[1] / losses[0]:.4f}", f"{longer / time:.2f}",
    )  # fmt: skip


PARAMS = {
    "k-anonymity": {"k": 5},
    "km-anonymity": {"k": 5, "m": 2},
    "kp-anonymity": {"k": 5, "p": 0.6, "threshold": 0.8},
    "privacy-degree": {"p": 4},
}


def loss_of(data: Transactions, draft: Draft) -> str:
    """What the method's model calls loss."""
    own = next(
        (draft.measurements[name] for name in ("ncp", "attribute_loss_ratio") if name in draft.measurements), None
    )
    if own is None and draft.release.form == "rows":
        own = information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"]
    return "–" if own is None else f"{own:.4f}"


def other_rows(data: Transactions, hierarchy: Any) -> Iterator[tuple[str, ...]]:
    for name, spec in METHODS.items():
        if "user" not in spec.units or name in ("crowd", "km-optimal"):
            continue
        options = {**PARAMS[spec.model], **({"hierarchy": hierarchy} if spec.cuts else {}), "method": name}
        one, time = made(data, "transaction", **options)
        try:
            other, longer = made(data, "user", **options)
        except InfeasibleError as error:
            yield name, loss_of(data, one), "–", "–", str(error).split(":")[0]
            continue
        ratio = f"{longer / max(time, 1e-9):.1f}"
        yield name, loss_of(data, one), loss_of(data, other), ratio, "reached"


def constants_rows(sets: dict[str, Transactions]) -> Iterator[tuple[str, ...]]:
    """Loss and time with and without looking further where persons are counted."""
    given = crowd.PERSON_REACH, crowd.PERSON_CANDIDATES
    for name, data in sets.items():
        cells = []
        for reach, remembered in ((1, 1), (given[0], 1), (1, given[1]), given):
            crowd.PERSON_REACH, crowd.PERSON_CANDIDATES = reach, remembered
            (one, time), (other, longer) = both(data, runs=2, k=5)
            losses = [
                information_loss(data, draft.release, draft.row_origin)["information_loss_ratio"]
                for draft in (one, other)
            ]
            cells.append(f"{losses[1] / losses[0]:.4f} / {longer / time:.2f}")
        yield name.split(",")[0], *cells
    crowd.PERSON_REACH, crowd.PERSON_CANDIDATES = given


def degree_rows(sets: dict[str, Transactions]) -> Iterator[tuple[str, ...]]:
    """The largest degree that methods reach in persons, and the one that histories allow."""
    for name, data in sets.items():
        most = int(data.sensitive_part().item_counts.max())
        users = len(np.unique(data.users))
        merged = histories(data)
        reached = [largest_degree(data, method) for method in ("cahd-gray", "cahd-blind")]
        allowed = users // int(merged.sensitive_part().item_counts.max())
        assert largest_degree(merged, "cahd-gray", from_=allowed) == allowed
        yield name, f"{users:,}", f"{most:,}", f"{users // most:,}", *map(str, reached), f"{allowed:,}"


def largest_degree(data: Transactions, method: str, from_: int = 2) -> int:
    """The last p from this one on that is reached, one after the other; 0 for none."""
    p = from_
    while True:
        try:
            made(data, "user", method, p=p)
        except InfeasibleError:
            return p - 1 if p > from_ else 0
        p += 1


def split_by_first_item(data: Transactions) -> Transactions:
    """Every transaction as one of seven persons who begin with its first item: persons who repeat themselves."""
    first = data.items[np.minimum(data.offsets[:-1], data.nnz - 1)].astype(np.int64)
    whose = first * 7 + np.random.default_rng(1).integers(0, 7, len(data))
    names, codes = np.unique(whose, return_inverse=True)
    return replace(data, users=codes.reshape(-1).astype(np.int32), user_labels=list(map(str, names)))


def main() -> int:
    sets = {
        f"The generated supermarket, {SUPERMARKET:,} transactions": generate_supermarket(
            SUPERMARKET, seed=1
        ).transactions
    }
    if (file := data_file("completejourney.csv.gz")) is not None:
        sets = {"Complete Journey": anonset.read(file), **sets}
    if (file := data_file("BMS-WebView-2.dat.gz")) is not None:
        sets["BMS-WebView-2, its visits given to persons by their first page"] = split_by_first_item(anonset.read(file))
    parts = []
    for name, data in sets.items():
        rows = [crowd_row(data, k) for k in KS]
        parts.append(f"### {name}\n\n" + table(ROWS, rows))
        print(parts[-1], flush=True)
    market = generate_supermarket(SMALL, seed=2)
    columns = ("data", "neither", "reach", "candidates", "both")
    constants = table(columns, list(constants_rows(sets)))
    print(constants, flush=True)
    secret = {f"The generated supermarket, {SMALL:,} transactions": market.transactions}
    if "Complete Journey" in sets:
        secret[f"Complete Journey, product {RARE}"] = sets["Complete Journey"].with_sensitive([RARE])
        secret[f"Complete Journey, product {OFTEN}"] = sets["Complete Journey"].with_sensitive([OFTEN])
    columns = ("data", "users", "occurrences", "no more than", "cahd-gray", "cahd-blind", "one_per_user")
    degree = table(columns, list(degree_rows(secret)))
    print(degree, flush=True)
    rows = list(other_rows(market.transactions, market.hierarchy))
    others = table(("method", "loss", "in persons", "time ÷", "promise in persons"), rows)
    print(others, flush=True)
    times = [
        min(made(data, "user", k=10)[1] for _ in range(2))
        for data in (generate_supermarket(count, seed=1).transactions for count in (SUPERMARKET, TEN_TIMES))
    ]
    page = PAGE.format(
        reach=crowd.PERSON_REACH, remembered=crowd.PERSON_CANDIDATES, constants=constants, degree=degree,
        runs=RUNS, crowd="\n\n".join(parts), others=others, small=SMALL, scale=times[1] / times[0], ten=TEN_TIMES,
        one=SUPERMARKET, text=TEXT,
    )  # fmt: skip
    publish("persons.md", page.rstrip("\n"))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
