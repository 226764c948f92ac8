"""What every method owes its users, as plain assertions. Nothing here knows any method by name."""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa

import anonset
from anonset import METHODS, MODELS, InfeasibleError, InputError, Result, Transactions
from anonset.data.hierarchy import balanced
from anonset.data.spec import MethodSpec, Model, Param
from anonset.data.unit import users_behind

SEED = 20
COLUMNS = ("offsets", "items", "users", "sensitive", "sensitivity", "counts")
TEXTS = ("labels", "user_labels", "ids", "attributes")
RUNS_LONG_ENOUGH_TO_SHUFFLE = 20


def params_of(spec: MethodSpec) -> tuple[Param, ...]:
    return (*MODELS[spec.model].params, *spec.params)


def settings(spec: MethodSpec, data: Transactions, *, optional: bool, strength: int | None = None) -> dict[str, Any]:
    """Parameters from the specs' examples: what is required, or everything; `strength` replaces a whole k, p or m."""
    values: dict[str, Any] = {}
    for param in params_of(spec):
        if not (param.required or optional):
            continue
        if param.type == "hierarchy":
            values[param.name] = balanced(data.labels)
        elif strength is not None and param.name in {"k", "p"} and param.type == "int":
            values[param.name] = strength
        elif param.example is not None:
            values[param.name] = param.example
    return values


def attempt(method: str, data: Transactions, values: dict[str, Any], threads: int = 1) -> Result | Exception:
    """The result, or the refusal where it is one of the two kinds that a method may answer with.

    Transactions are counted unless `values` say otherwise, or the model knows nothing but users.
    """
    unit = {} if MODELS[METHODS[method].model].protects_users else {"unit": "transaction"}
    try:
        return anonset.anonymize(data, method=method, seed=SEED, threads=threads, **{**unit, **values})
    except (InfeasibleError, InputError) as refusal:
        return refusal


def keep_contract(method: str, data: Transactions, values: dict[str, Any]) -> Result | Exception:
    """Run `method` and check all that it promises, whatever its answer is."""
    spec, before = METHODS[method], snapshot(data)
    answer, again = attempt(method, data, values, threads=1), attempt(method, data, values, threads=2)
    assert snapshot(data) == before, "the input was changed"
    if isinstance(answer, Exception):
        check_refusal(answer, spec, data)
        assert (type(again), str(again)) == (type(answer), str(answer)), "the refusal depends on the threads"
    else:
        assert isinstance(again, Result), "the answer depends on the number of threads"
        assert same_release(answer, again), "the release depends on the number of threads"
        for check in CHECKS:
            check(answer, spec, data)
    return answer


def snapshot(data: Transactions) -> dict[str, Any]:
    """The content of every column, byte by byte."""
    arrays = {name: getattr(data, name) for name in COLUMNS}
    texts = {name: getattr(data, name) for name in TEXTS}
    return {
        **{name: None if array is None else array.tobytes() for name, array in arrays.items()},
        **{
            name: None if text is None else [bytes(part or b"") for part in text.buffers()]
            for name, text in texts.items()
        },
    }


def same_release(one: Result, other: Result) -> bool:
    """Whether both publish exactly the same, in the same order, from the same origins."""
    mine, yours = one.release, other.release
    pairs = [(one.row_origin, other.row_origin), (mine.groups, yours.groups)]
    pairs += [(getattr(mine.transactions, name), getattr(yours.transactions, name)) for name in COLUMNS]
    if mine.counts is not None:
        pairs += [(getattr(mine.counts, name), getattr(yours.counts, name)) for name in ("group", "item", "count")]
    texts = [(getattr(mine.transactions, name), getattr(yours.transactions, name)) for name in TEXTS]
    return all(_equal(a, b, np.array_equal) for a, b in pairs) and all(_equal(a, b, pa.Array.equals) for a, b in texts)


def _equal(one: Any, other: Any, compare: Callable[[Any, Any], bool]) -> bool:
    return one is other if one is None or other is None else compare(one, other)


# --- a refusal -----------------------------------------------------------------------------------------------------


def check_refusal(error: Exception, spec: MethodSpec, data: Transactions) -> None:
    """It names a parameter (or what the data lacks), is made of sentences, and quotes nobody."""
    text = str(error)
    known = {param.name for param in params_of(spec)} | {"sensitive", "users", "sensitivity", "unit"}
    assert set(re.findall(r"'(\w+)'", text)) & known, f"no parameter is named: {text}"
    assert text.endswith((".", "?")), f"not a sentence: {text}"
    assert len(text) < 600, f"too long to read: {text[:100]} …"
    for people in (data.ids, data.user_labels):
        names = [] if people is None else people.to_pylist()
        assert not any(f"{name}" in text for name in names if len(name) > 5), f"somebody is quoted: {text}"


# --- a release -----------------------------------------------------------------------------------------------------


def promise_holds(result: Result, spec: MethodSpec, data: Transactions) -> None:
    """The verdict is the model's own, on exactly what is published, for exactly what was asked."""
    model = MODELS[spec.model]
    asked = model.promised(result.params)
    users = users_behind(data, result.row_origin) if result.verdict.persons is not None else None
    verdict = Model(model, asked, result.verdict.unit).check(result.release, users)
    assert verdict.holds, "the promise does not hold"
    assert verdict == result.verdict, "the verdict is not the model's"
    assert dict(verdict.params) == asked, "another promise was checked than asked for"
    assert result.release.form == model.form, "the model speaks about another form of release"


def alignment_is_valid(result: Result, spec: MethodSpec, data: Transactions) -> None:
    """Every published transaction has one origin, none has two; what is added or left out is counted and said."""
    source = result.row_origin
    assert source.dtype == np.int64
    assert len(source) == len(result.release), "a published transaction has no origin"
    origins = source[source >= 0]
    assert len(np.unique(origins)) == len(origins), "a transaction is published twice"
    assert np.all((source >= -1) & (source < len(data))), "an origin does not exist"
    assert len(source) - len(origins) == result.measurements.get("transactions_added", 0), "transactions were added"
    assert len(data) - len(origins) == result.measurements.get("transactions_removed", 0), "transactions are missing"


def nothing_leads_back(result: Result, spec: MethodSpec, data: Transactions) -> None:
    """No ids, no degrees, no notes, no real user, no unpublished label, no telling order; and no counts or attributes
    but those that the model says it publishes.
    """
    out = result.release.transactions
    assert out.ids is None, "ids are published"
    assert out.sensitivity is None, "degrees are published"
    for part in ("counts", "attributes"):
        assert getattr(out, part) is None or part in MODELS[spec.model].publishes, f"{part} are published"
    assert out.notes == (), "notes about the source are published"
    if out.users is None:
        assert out.user_labels is None, "names of users are published"
    else:
        assert MODELS[spec.model].protects_users, "users are published"
        assert not set(out.user_labels.to_pylist()) & set(data.user_labels.to_pylist()), "real users are published"
        assert set(range(len(out.user_labels))) == set(out.users.tolist()), "unused pseudonyms are published"
    counted = [] if result.release.counts is None else result.release.counts.item.tolist()
    assert set(range(out.n_items)) == {*out.items.tolist(), *counted}, "unused labels are published"
    if len(result.row_origin) >= RUNS_LONG_ENOUGH_TO_SHUFFLE:
        assert np.any(np.diff(result.row_origin) < 0), "the order of the source is kept"


def sensitive_items_are_true(result: Result, spec: MethodSpec, data: Transactions) -> None:
    """Nobody is published with a sensitive item that was not his own; in groups every count is exact."""
    if result.release.form == "groups":
        groups_are_exact(result, data)
        return
    # Where sensitivity belongs to the occurrence, an item need not be marked as sensitive in the data.
    source = data if "attributes" in MODELS[spec.model].publishes else data.sensitive_part()
    real, out = labelled(source), labelled(result.release.transactions.sensitive_part())
    for row, origin in enumerate(result.row_origin.tolist()):
        assert origin < 0 or out[row] <= real[origin], "somebody has a sensitive item that is not his"


def groups_are_exact(result: Result, data: Transactions) -> None:
    release = result.release
    quasi, secrets, out = labelled(data.quasi()), labelled(data.sensitive_part()), labelled(release.transactions)
    expected: dict[tuple[int, str], int] = {}
    for row, origin in enumerate(result.row_origin.tolist()):
        assert out[row] == quasi[origin], "the items of a transaction in a group were changed"
        for name in secrets[origin]:
            key = (int(release.groups[row]), name)
            expected[key] = expected.get(key, 0) + 1
    names = release.transactions.labels.take(release.counts.item).to_pylist()
    counts = zip(release.counts.group.tolist(), names, release.counts.count.tolist(), strict=True)
    assert {(group, name): count for group, name, count in counts} == expected, "counts are wrong"


def loss_is_what_was_lost(result: Result, spec: MethodSpec, data: Transactions) -> None:
    """The private figures agree with a plain count of the items added and removed."""
    if "information_loss" not in result.measurements:
        return
    before, after = labelled(data.quasi()), labelled(result.release.transactions)
    quasi = frozenset().union(*before)
    pairs = [
        (before[origin], after[row] & quasi) for row, origin in enumerate(result.row_origin.tolist()) if origin >= 0
    ]
    assert result.measurements["items_added"] == sum(len(new - old) for old, new in pairs), "wrong loss"
    assert result.measurements["items_removed"] == sum(len(old - new) for old, new in pairs), "wrong loss"


def labelled(data: Transactions) -> list[frozenset[str]]:
    """The labels of each transaction."""
    names, bounds = data.labels.take(data.items).to_pylist(), data.offsets.tolist()
    return [frozenset(names[start:end]) for start, end in pairwise(bounds)]


CHECKS: tuple[Callable[[Result, MethodSpec, Transactions], None], ...] = (
    promise_holds,
    alignment_is_valid,
    nothing_leads_back,
    sensitive_items_are_true,
    loss_is_what_was_lost,
)
