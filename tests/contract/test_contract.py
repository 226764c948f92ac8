"""The contract can fail: each of these methods breaks one clause, and is caught by exactly that one."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from anonset import METHODS, Job, ParameterError, Release, Transactions, pipeline
from anonset.data.release import Draft
from anonset.data.spec import MethodSpec
from tests.contract.contract import keep_contract
from tests.contract.data import EVERYTHING, ORDINARY, bring


def honest(data: Transactions, job: Job, k: int) -> Draft:
    """Publish nothing but the sensitive items: as k-anonymous as the database is large."""
    empty = np.zeros(len(data) + 1, dtype=np.int64)
    return Draft.of_rows(data.with_quasi(empty, np.empty(0, dtype=np.int32)))


def changes_its_input(data: Transactions, job: Job, k: int) -> Draft:
    draft = honest(data, job, k)
    data.sensitivity.base[0] = 0.123
    return draft


def depends_on_threads(data: Transactions, job: Job, k: int) -> Draft:
    if job.threads == 1:
        return honest(data, job, k)
    one = np.zeros(len(data), dtype=np.int32)
    return Draft.of_rows(replace(honest(data, job, k).release.transactions, **whole(one)))


def whole(items: np.ndarray) -> dict[str, np.ndarray]:
    return {"offsets": np.arange(len(items) + 1), "items": items}


def refuses_without_a_reason(data: Transactions, job: Job, k: int) -> Draft:
    raise ParameterError("somehow", "work", "nothing")


def quotes_somebody(data: Transactions, job: Job, k: int) -> Draft:
    raise ParameterError("k", "be smaller", f"a problem with {data.user_labels[0]}")


def swaps_origins(data: Transactions, job: Job, k: int) -> Draft:
    draft = honest(data, job, k)
    return replace(draft, row_origin=draft.row_origin[::-1].copy())


def publishes_twice(data: Transactions, job: Job, k: int) -> Draft:
    draft = honest(data, job, k)
    return replace(draft, row_origin=np.zeros(len(data), dtype=np.int64))


def drops_in_silence(data: Transactions, job: Job, k: int) -> Draft:
    draft = honest(data, job, k)
    most = np.arange(len(data) - 5)
    return Draft(Release(draft.release.transactions.take(most)), most)


def lies_about_its_loss(data: Transactions, job: Job, k: int) -> Draft:
    return replace(honest(data, job, k), measurements={"items_removed": 1})


def gives_sensitive_items_away(data: Transactions, job: Job, k: int) -> Draft:
    draft = honest(data, job, k)
    secret = np.full(len(data), np.flatnonzero(data.sensitive)[0], dtype=np.int32)
    return Draft.of_rows(replace(draft.release.transactions, **whole(secret)))


BROKEN = {
    changes_its_input: "the input was changed",
    depends_on_threads: "depends on the number of threads",
    refuses_without_a_reason: "no parameter is named",
    quotes_somebody: "somebody is quoted",
    swaps_origins: "a sensitive item that is not his",
    publishes_twice: "published twice",
    drops_in_silence: "transactions are missing",
    lies_about_its_loss: "wrong loss",
    gives_sensitive_items_away: "a sensitive item that is not his",
}


@pytest.fixture
def contract(monkeypatch):
    """Run the contract over a method that is registered for the length of a test."""

    def check(run) -> None:
        spec = MethodSpec("mine", "Mine", "k-anonymity", "For tests.", (), run, "no paper")
        monkeypatch.setitem(METHODS, "mine", spec)
        data = bring(ORDINARY["quest"](), EVERYTHING)
        own = replace(data, **{name: getattr(data, name).copy() for name in ("sensitivity", "users")})
        keep_contract("mine", own, {"k": 2})

    return check


def test_an_honest_method_passes(contract):
    contract(honest)


@pytest.mark.parametrize("run", BROKEN, ids=lambda run: run.__name__)
def test_a_broken_method_is_caught(contract, run):
    with pytest.raises(AssertionError, match=BROKEN[run]):
        contract(run)


LEAKS = {
    "ids": "ids are published",
    "users": "users are published",
    "sensitivity": "degrees are published",
    "labels": "unused labels are published",
    "order": "the order of the source is kept",
}


@pytest.mark.parametrize("leak", LEAKS)
def test_an_unlinking_that_leaks_is_caught(contract, monkeypatch, leak):
    real = pipeline.unlink

    def leaky(draft, model, job, keep):
        release, source, notes = real(draft, model, job, keep)
        if leak == "order":
            place = np.argsort(source)
            return Release(release.transactions.take(place)), source[place], notes
        return Release(with_leak(release.transactions, leak)), source, notes

    monkeypatch.setattr(pipeline, "unlink", leaky)
    with pytest.raises(AssertionError, match=LEAKS[leak]):
        contract(honest)


def with_leak(out: Transactions, leak: str) -> Transactions:
    if leak == "ids":
        return replace(out, ids=pa.array([str(i) for i in range(len(out))]))
    if leak == "users":
        return replace(out, users=np.zeros(len(out), dtype=np.int32), user_labels=pa.array(["u1"]))
    if leak == "sensitivity":
        return replace(out, sensitivity=np.zeros(out.nnz))
    labels = pa.concat_arrays([out.labels, pa.array(["unpublished"])])
    return replace(out, labels=labels, sensitive=np.append(out.sensitive, False))
