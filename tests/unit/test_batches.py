"""Batches of what was never released: disjoint, joined safely, and said."""

from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import anonset
from anonset import InputError, ParameterError, Targets, Transactions, WaitingError
from anonset.nightly.ledger import KEY, opened


def numbered(rows, **columns):
    return replace(Transactions.from_lists(rows, **columns), ids=pa.array([f"t{place}" for place in range(len(rows))]))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), min_size=1, max_size=24), st.data())
def test_the_union_of_batches_keeps_the_promise_and_nothing_is_there_twice(tmp_path_factory, rows, draw):
    folder = tmp_path_factory.mktemp("batches")
    data = numbered([sorted(set(row)) for row in rows])
    ends = sorted(draw.draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    released, waiting = [], 0
    for night, end in enumerate([*ends, len(rows)]):
        out = folder / f"{night}.csv"
        try:
            batch = Targets(out=out, ledger=folder / "ledger", accept="loss")
            anonset.publish(data.take(range(end)), batch, k=3, seed=night)
        except WaitingError as error:
            waiting = error.transactions
        else:
            waiting = 0
            released += anonset.read(out).to_lists()
    assert len(released) + waiting == len(rows)
    assert waiting < 3
    if released:
        assert anonset.verify(released, k=3).holds


def test_too_few_wait_and_are_counted(tmp_path):
    places = Targets(out=tmp_path / "a.csv", ledger=tmp_path / "l")
    with pytest.raises(WaitingError, match="2 new transactions wait for the next run: 3 are needed") as caught:
        anonset.publish(numbered([["a"]] * 2), places, k=3)
    assert caught.value.exit_code == 0
    assert not (tmp_path / "a.csv").exists()
    result = anonset.publish(numbered([["a"]] * 5), places, k=3)
    assert "5 transactions were new, 0 were released earlier, 0 wait." in result.notes


def test_batches_in_groups_are_disjoint_too(tmp_path):
    rows = [["a", "s"], ["a"], ["b"], ["b"], ["a", "b"], ["b", "s"], ["a"], ["b"]]
    data = numbered(rows, sensitive=["s"])
    for night, end in enumerate((4, 8)):
        places = Targets(out=tmp_path / f"{night}", ledger=tmp_path / "l")
        anonset.publish(data.take(range(end)), places, model="privacy-degree", p=2, seed=1)
    with opened(tmp_path / "l") as ledger:
        assert [batch.transactions for batch in ledger.batches()] == [4, 4]


TREE = {"item": ["milk", "brie", "wine", "beer"], "level1": ["dairy", "dairy", "drinks", "drinks"]}


def test_the_cut_of_the_first_batch_is_used_for_all(tmp_path):
    first = numbered([["milk", "wine"], ["brie", "wine"], ["milk", "beer"], ["brie", "beer"]])
    whole = numbered([*first.to_lists(), *([["milk"]] * 2), *([["brie"]] * 2)])
    results = [
        anonset.publish(
            data,
            Targets(out=tmp_path / f"{night}.csv", ledger=tmp_path / "l"),
            method="km-apriori",
            k=2,
            m=2,
            hierarchy=TREE,
            seed=1,
        )
        for night, data in enumerate((first, whole))
    ]
    assert results[0].cut.mapping() == results[1].cut.mapping()
    assert results[1].method == "recode"
    assert len(results[1].release) == 4


def test_where_the_cut_does_not_fit_the_new_ones_wait(tmp_path):
    places = Targets(out=tmp_path / "0.csv", ledger=tmp_path / "l")
    options = {"method": "km-apriori", "k": 2, "m": 1, "hierarchy": TREE, "seed": 1}
    first = numbered([["milk"]] * 4 + [["wine"]] * 2)
    anonset.publish(first, places, **options)
    more = numbered([*first.to_lists(), ["milk"], ["milk"], ["wine"]])
    with pytest.raises(WaitingError, match="3 new transactions wait for the next run: the cut of the earlier"):
        anonset.publish(more, Targets(out=tmp_path / "1.csv", ledger=tmp_path / "l"), **options)


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (Transactions.from_lists([["a"]] * 3), {"k": 2}, "name their transactions"),
        (numbered([["a"]] * 4), {"model": "multi-pattern", "k": 2, "support": 2}, "be left out for multi-pattern"),
        (numbered([["a"]] * 4), {"method": "km-apriori", "k": 2, "m": 1}, "come with a hierarchy"),
    ],
)
def test_what_cannot_be_released_in_batches_is_refused(tmp_path, data, options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        anonset.publish(data, Targets(out=tmp_path / "a.csv", ledger=tmp_path / "l"), **options)
    with pytest.raises(ParameterError, match="come with an output"):
        anonset.publish(data, Targets(ledger=tmp_path / "l"), k=2)


def test_a_key_from_the_environment_is_not_stored_and_is_needed_again(tmp_path, monkeypatch):
    monkeypatch.setenv(KEY, "correct horse")
    with opened(tmp_path / "l") as ledger:
        before = ledger.hashes(numbered([["a"]]))
    assert b"correct horse" not in (tmp_path / "l").read_bytes()
    with opened(tmp_path / "l") as ledger:
        assert ledger.hashes(numbered([["a"]])) == before
    monkeypatch.setenv(KEY, "another")
    with pytest.raises(InputError, match="must be the key"), opened(tmp_path / "l"):
        pass
    monkeypatch.delenv(KEY)
    with pytest.raises(InputError, match="must be set"), opened(tmp_path / "l"):
        pass


def test_two_ledgers_hash_differently(tmp_path):
    hashes = []
    for name in "ab":
        with opened(tmp_path / name) as ledger:
            hashes += ledger.hashes(numbered([["a"]]))
    assert hashes[0] != hashes[1]


def test_what_is_no_ledger_or_can_be_read_by_others_is_refused(tmp_path):
    text = tmp_path / "text"
    text.write_text("a b\n")
    with pytest.raises(InputError, match="another kind of file"), opened(text):
        pass
    assert text.read_text() == "a b\n"
    with opened(tmp_path / "l"):
        pass
    (tmp_path / "l").chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"), opened(tmp_path / "l"):
        pass
