"""Which column plays which part: by name in several languages, by content, by option; nothing is left aside unsaid."""

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anonset import DataError, ParameterError
from anonset.io import convert, read
from anonset.io.source.columns import whole_transaction
from anonset.io.source.guessing import UnclearColumns, certain, day_of, likely
from anonset.io.source.roles import Roles
from anonset.io.source.words import NAMES

RECEIPTS = """day,customer,product,price
1/2/2024,007,milk,1.20
1/2/2024,007,tea,2.30
1/2/2024,008,milk,1.20
1/3/2024,007,milk,1.10
"""


@pytest.mark.parametrize(
    "header",
    [
        "Bon-Nr.;Artikel;Kunden-Nr.",
        "Rechnungsnummer;Artikelnummer;Kunde",
        "Bestellnummer;Produkt;KundenID",
        "N° de commande;Produit;Client",
        "Numéro de facture;Code produit;Client",
        "Id pedido;Producto;Cliente",
        "Scontrino;Prodotto;Cliente",
        "Receipt No;SKU;Member Number",
        "Bestelling;Artikel;Klant",
        "Paragon;Towar;Klient",
    ],
)
def test_names_are_known_in_several_languages(saved, header):
    data = read(saved(f"{header}\n1;b;u\n1;a;u\n2;a;v\n", "a.csv"))
    assert data.to_lists() == [["a", "b"], ["a"]]
    assert data.user_labels.to_pylist() == ["u", "v"]
    assert data.notes == ()


def test_no_name_stands_for_two_parts():
    everything = [name for names in NAMES.values() for name in names]
    assert len(everything) == len(set(everything))


def test_several_columns_make_a_transaction_and_one_of_them_may_name_the_user(saved):
    for given_columns in ("day,customer", ["customer", "day"]):
        data = read(saved(RECEIPTS, "a.csv"), transaction=given_columns, drop="price")
        assert data.to_lists() == [["milk", "tea"], ["milk"], ["milk"]]
        assert [data.user_labels[int(user)].as_py() for user in data.users] == ["007", "008", "007"]
        assert data.notes == ("1 column was dropped as asked: price",)


def test_several_columns_in_parquet_and_in_frames_give_the_same(saved, tmp_path):
    text = read(saved(RECEIPTS, "a.csv"), transaction="day,customer")
    frame = pd.read_csv(saved(RECEIPTS, "a.csv"), dtype=str)
    pq.write_table(pa.Table.from_pandas(frame), tmp_path / "a.parquet")
    for source in (frame, tmp_path / "a.parquet"):
        data = read(source, transaction=["day", "customer"])
        assert data.to_lists() == text.to_lists()
        assert data.ids.equals(text.ids)
        assert data.notes == ("1 column was left aside, with no part to play: price",)


@given(st.lists(st.tuples(st.text(",\\a", max_size=3), st.text(",\\a", max_size=3)), min_size=1, max_size=30))
def test_different_values_never_make_the_same_transaction(pairs):
    one, other = zip(*pairs, strict=True)
    joined = whole_transaction(pa.table({"transaction": list(one), "transaction 2": list(other)}))["transaction"]
    assert len(set(joined.to_pylist())) == len(set(pairs))


def test_a_missing_part_is_a_missing_transaction(saved):
    name = saved("day,customer,item\n1,u,a\n2,,b\n", "a.csv")
    with pytest.raises(DataError, match="line 3: The line has no"):
        read(name, transaction="day,customer")
    data = read(name, transaction="day,customer", skip_nulls=True)
    assert data.to_lists() == [["a"]]


def test_a_wide_table_has_one_column_of_transactions(saved):
    name = saved("day,till,bread,wine\n1,5,1,0\n2,6,0,1\n", "a.csv")
    with pytest.raises(ParameterError, match="'transaction' must name one column of a wide table"):
        read(name, format="wide", transaction="day,till")


def test_a_column_that_plays_a_part_cannot_be_dropped(saved):
    name = saved(RECEIPTS, "a.csv")
    with pytest.raises(ParameterError, match=r"'drop' must name columns that play no other part. Got 'product'"):
        read(name, transaction="day", item="product", drop="product")
    with pytest.raises(ParameterError, match=r"'drop' must be a known name. Got 'prize'. Did you mean price"):
        read(name, transaction="day", item="product", drop="prize")


def test_dropped_columns_play_no_part_and_are_still_unread(saved):
    data = read(saved("tid,item,user\n1,a,u\n1,b,v\n", "a.csv"), drop="user")
    assert data.users is None
    assert data.unread == ("user",)  # a check must know that it did not look there


def test_content_tells_the_one_column_that_no_name_tells(saved):
    text = "receipt,was,preis\n1,milk,1.20\n1,tea,1.20\n2,milk,1.20\n2,oil,1.20\n"
    data = read(saved(text, "a.csv"))
    assert data.to_lists() == [["milk", "tea"], ["milk", "oil"]]
    assert data.notes[0] == "column was is taken for the item, by its content"


def test_where_two_columns_come_into_question_the_error_names_the_likeliest(saved):
    text = "receipt,what,where\n1,milk,x\n1,tea,y\n2,milk,y\n2,oil,z\n"
    with pytest.raises(UnclearColumns, match="Most likely: item=what") as error:
        read(saved(text, "a.csv"))
    assert error.value.worded(lambda name: f"--{name}").endswith(
        "The columns are: receipt, what, where. Most likely: --item what. Name them so, or otherwise, or give the "
        "format if this is no long table."
    )


def test_the_likeliest_columns_agree_with_a_search_over_all_pairs():
    rows = [
        ("a", "1", "x", "9"),
        ("a", "1", "y", "9"),
        ("b", "2", "x", "9"),
        ("b", "3", "y", "9"),
        ("c", "3", "z", "8"),
    ]
    columns = list(zip(*rows, strict=True))
    pairs = [
        (len(set(columns[one])), one, other)
        for one in range(4)
        for other in range(4)
        if one != other and len(set(zip(columns[one], columns[other], strict=True))) == 5
    ]
    assert (3, likely(Roles(), columns)["transaction"], likely(Roles(), columns)["item"]) in pairs
    assert not certain(Roles(), columns, likely(Roles(), columns))
    assert likely(Roles(), []) == {}


def test_where_a_user_and_a_day_are_known_the_transaction_is_a_users_day():
    rows = [("9", "1/2/2024", "7", "tea"), ("9", "1/2/2024", "8", "tea"), ("8", "12/31/2024", "7", "tea")]
    columns = list(zip(*rows, ("9", "12/31/2024", "7", "oil"), strict=True))
    assert day_of(Roles(user=2, item=3), columns) == 1
    assert day_of(Roles(user=2), columns) == 1
    assert day_of(Roles(item=3), columns) is None, "nobody says whose"
    assert day_of(Roles(user=2, item=3), columns, instead=0) is None, "another column is likelier"
    same = [*columns[:3], ("tea",) * 4]
    assert day_of(Roles(user=2, item=3), same) is None, "items would repeat"


def test_the_error_names_both_columns_of_a_users_day(saved):
    with pytest.raises(UnclearColumns, match="Most likely: transaction=day,customer") as error:
        read(saved(RECEIPTS, "a.csv"))
    assert error.value.guess == {"transaction": "day,customer"}
    assert not error.value.sure


def test_convert_leaves_out_parts_and_columns(saved, tmp_path):
    written = convert(saved(RECEIPTS, "a.csv"), tmp_path / "a.dat", transaction="day", drop="users,ids,price,customer")
    assert written.notes[0] == "2 columns were dropped as asked: customer, price"
