"""Whole receipts through every method that takes them: odd data with quantities and a column beside the items."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import anonset
from anonset import METHODS, Transactions
from anonset.data.attributes import Values, with_values
from anonset.data.columns import Attribute
from anonset.data.errors import AnonsetError
from anonset.data.hierarchy.values import tree_of
from contract.contract import settings
from contract.data import ODD

MOST = 400  # item occurrences: what is larger takes long and shows nothing more
ABLE = [name for name, spec in METHODS.items() if spec.columns]
NAMES = pa.array(["Altona", "Mitte", "Wedding"])
SHOPS = {"item": NAMES.to_pylist(), "level1": ["Hamburg", "Berlin", "Berlin"]}


def receipts(data: Transactions) -> Transactions:
    """The data with a quantity of every item and a store, which every fourth transaction lacks."""
    shop = Attribute("store")
    store = Attribute("store", tree=tree_of(shop, NAMES, SHOPS))
    codes = (np.arange(len(data)) % 4 - 1).astype(np.int32)
    counts = (1 + (data.items + data.rows) % 3).astype(np.int32)
    return with_values(replace(data, counts=counts, count_as="keep"), [Values(store, codes, NAMES)])


@pytest.mark.parametrize("method", ABLE)
@pytest.mark.parametrize("name", ODD)
def test_a_method_keeps_its_promise_for_whole_receipts_or_says_why_not(tmp_path, name, method):
    data = ODD[name]()
    if data.nnz > MOST:
        pytest.skip("too large for this")
    data = receipts(data)
    values = settings(METHODS[method], data, optional=False)
    try:
        result = anonset.anonymize(data, method=method, seed=3, **values)
    except AnonsetError:
        return  # what a refusal says is looked at for all odd data in test_methods
    assert result.verdict.holds
    assert set(result.release.transactions.sensitive_names()) <= set(data.sensitive_names())
    out = tmp_path / "out.parquet"
    anonset.write(result.release, result.verdict, out, format="long", method=method, params=result.params)
    found = anonset.read_release(out).transactions
    assert found.counts is not None or not found.nnz
    assert anonset.verify(out, result.verdict.model, **result.verdict.params).holds
