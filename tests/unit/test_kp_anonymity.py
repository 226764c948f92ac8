"""The check of (k, p)-anonymity by hand, and what a release of attribute counts must survive."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import anonset
from anonset import InputError, ParameterError, Release, Transactions
from anonset.assess.utility.attribute_loss import attribute_loss
from anonset.data.params import fraction
from anonset.generate import generate_supermarket
from anonset.models.kp_anonymity import check


def rows(*transactions: tuple[dict[str, int], list[str]], kinds: dict[str, str] | None = None) -> Release:
    """Transactions of attribute counts and sensitive items; `kinds` are the attributes of the latter."""
    lists = [[*counts, *secret] for counts, secret in transactions]
    secrets = {name for _, secret in transactions for name in secret}
    data = Transactions.from_lists(lists, sensitive=sorted(secrets))
    counts = [counts.get(name, 1) for (counts, _), names in zip(transactions, data, strict=True) for name in names]
    names = data.labels.to_pylist()
    attributes = None if kinds is None else pa.array([kinds.get(name, name) for name in names])
    return Release(replace(data, counts=counts, attributes=attributes))


def test_a_release_that_holds():
    release = rows(({"dairy": 2}, ["beer"]), ({"dairy": 2}, []), ({"drinks": 1}, []), ({"drinks": 1}, ["milk"]))
    verdict = check(release, 2, 0.5)
    assert verdict.holds
    assert dict(verdict.measured) == {"k": 2, "p": 0.5, "groups": 2, "groups_below_k": 0, "groups_above_p": 0}


def test_other_counts_are_another_group():
    verdict = check(rows(({"dairy": 2}, []), ({"dairy": 1}, []), ({"dairy": 2}, [])), 2, 1.0)
    assert not verdict.holds
    assert verdict.witnesses[0].items == ("dairy: 1",)
    assert verdict.witnesses[0].size == 1
    assert "2 are needed" in verdict.witnesses[0].statement


def test_two_sensitive_items_of_one_attribute_count_together():
    kinds = {"beer": "drinks", "wine": "drinks"}
    baskets = (({"dairy": 1}, ["beer"]), ({"dairy": 1}, ["wine"]), ({"dairy": 1}, []))
    assert check(rows(*baskets), 2, 0.5).measured["p"] == pytest.approx(1 / 3)
    verdict = check(rows(*baskets, kinds=kinds), 2, 0.5)
    assert verdict.measured["p"] == pytest.approx(2 / 3)
    assert "2 of 3" in verdict.witnesses[0].statement
    assert "'drinks'" in verdict.witnesses[0].statement


def test_two_of_one_attribute_in_one_transaction_count_once():
    kinds = {"beer": "drinks", "wine": "drinks"}
    release = rows(({"dairy": 1}, ["beer", "wine"]), ({"dairy": 1}, []), kinds=kinds)
    assert check(release, 2, 0.5).holds


def test_p_is_the_fraction_it_stands_for():
    baskets = [({"dairy": 1}, ["beer"])] + [({"dairy": 1}, [])] * 2
    assert check(rows(*baskets), 2, 1 / 3).holds
    assert not check(rows(*baskets), 2, 0.33).holds


def test_a_count_of_zero_says_nothing():
    release = rows(({"dairy": 1, "drinks": 0}, []), ({"dairy": 1}, []))
    assert check(release, 2, 1.0).holds


@pytest.mark.parametrize("p", [0, -0.5, 1.01, "many"])
def test_p_outside_its_range_is_refused(p):
    with pytest.raises(ParameterError, match="'p' must"):
        anonset.model("kp-anonymity", k=2, p=p)


# --- the whole way -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def market():
    return generate_supermarket(600, seed=3)


def publish(market, out=None, format=None, **more):
    data = replace(market.transactions, sensitive=None)
    values = {"k": 5, "p": 0.5, "threshold": 0.8, "hierarchy": market.hierarchy, "seed": 1, **more}
    return anonset.publish(data, anonset.Targets(out=out, format=format), method="ant", **values), data


@pytest.mark.parametrize("name", ["r.csv", "r.tsv.gz", "long.jsonl", "long.parquet", "long.arrow"])
def test_what_is_written_is_what_is_read_and_verified(market, tmp_path, name):
    path = tmp_path / name
    result, _ = publish(market, path, format="long" if name.startswith("long") else None)
    again = anonset.read_release(path)
    assert again.transactions.counts is not None
    assert check(again, 5, 0.5) == replace(result.verdict, persons=None)


@pytest.mark.parametrize("name", ["r.dat", "r.basket", "r.parquet", "r.jsonl"])
def test_a_format_without_room_for_counts_is_refused_before_any_work(market, tmp_path, name):
    with pytest.raises(InputError, match=r"cannot hold .* Use the format long"):
        publish(market, tmp_path / name, k=10**6)
    assert not list(tmp_path.iterdir())


def test_degrees_are_published_only_when_asked_for(market, tmp_path):
    quiet, _ = publish(market)
    assert quiet.release.transactions.sensitivity is None
    assert "Sensitivity degrees are withheld." in quiet.notes
    loud, _ = publish(market, tmp_path / "loud.csv", keep=anonset.Keep(degrees=True))
    out = loud.release.transactions
    secret = out.sensitive[out.items]
    assert (out.sensitivity[secret] >= 0.8).all()
    assert (out.sensitivity[~secret] == 0).all()
    assert any("personal data" in note for note in loud.notes)


def test_other_models_publish_no_degrees(market):
    with pytest.raises(ParameterError, match="'keep_degrees' must be off"):
        anonset.anonymize(market.transactions, k=2, keep=anonset.Keep(degrees=True))


def test_the_loss_of_the_method_is_that_of_the_metric(market):
    result, data = publish(market)
    again = attribute_loss(data, result.release, result.row_origin, result.cut.hierarchy)
    assert again == {name: result.measurements[name] for name in again}


def test_marked_items_are_sensitive_for_everybody(market):
    result = anonset.anonymize(
        market.transactions, method="ant", k=3, p=0.9, threshold=1.0, hierarchy=market.hierarchy, seed=1
    )
    out = set(result.release.transactions.sensitive_names())
    assert (
        set(market.transactions.sensitive_part().labels.take(market.transactions.sensitive_part().items).to_pylist())
        <= out
    )


def test_nothing_sensitive_is_plain_k_anonymity_and_says_so(market):
    data = replace(market.transactions, sensitivity=np.zeros(market.transactions.nnz), sensitive=None)
    result = anonset.anonymize(data, method="ant", k=5, p=0.5, hierarchy=market.hierarchy, seed=1)
    assert any("plain k-anonymity" in note for note in result.notes)
    assert result.release.transactions.sensitive_part().nnz == 0


def test_an_item_without_an_attribute_is_refused(market):
    tree = market.hierarchy.slice(5)
    with pytest.raises(InputError, match="'hierarchy' must hold every item"):
        anonset.anonymize(market.transactions, method="ant", k=5, p=0.5, hierarchy=tree)


def test_an_attribute_of_the_same_name_as_an_item_gets_another_one():
    data = Transactions.from_lists([["bread"], ["bread", "milk"], ["milk"], ["milk"]])
    data = replace(data, sensitivity=[0.9, 0.1, 0.1, 0.1, 0.1])
    tree = {"item": ["bread", "milk"], "level1": ["bread", "dairy"]}
    out = anonset.anonymize(data, method="ant", k=2, p=0.5, threshold=0.8, hierarchy=tree, seed=1).release.transactions
    assert out.sensitive_names() == ["bread"]
    assert len(set(out.labels.to_pylist())) == out.n_items


def test_attributes_can_come_with_the_data(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(
        "transaction,item,attribute,sensitivity\n"
        "1,milk,dairy,0.1\n1,beer,drinks,0.9\n2,brie,dairy,0.2\n3,milk,dairy,0\n4,wine,drinks,0\n"
    )
    out = anonset.anonymize(path, method="ant", k=2, p=0.5, seed=1).release.transactions
    assert {*out.attributes.to_pylist()} <= {"dairy", "drinks"}


@pytest.mark.parametrize("p", [4e-7, 9.99e-7, 0.3333333, 0.6666666, 0.1234567891, 1 - 1e-9, 1e-300])
def test_p_is_never_rounded_up(p):
    assert fraction(p) <= Fraction(str(p))


@pytest.mark.parametrize(
    ("p", "meant"), [(0.6, (3, 5)), (1 / 3, (1, 3)), (2 / 3, (2, 3)), (1.0, (1, 1)), (1e-6, (1, 10**6))]
)
def test_p_is_the_fraction_that_it_stands_for(p, meant):
    assert fraction(p) == Fraction(*meant)


def test_a_tiny_p_allows_no_holder_at_all():
    release = rows(*[({"dairy": 1}, ["beer"] if row == 0 else []) for row in range(2_000)])
    assert check(release, 2, 1e-3).holds
    assert not check(release, 2, 4e-7).holds
