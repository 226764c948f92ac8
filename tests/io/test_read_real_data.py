"""The public benchmark files have the shapes that their publishers state."""

import pytest

from anonset.io import read

SHAPES = {  # transactions, items, mean length, longest
    "chess.dat.gz": (3_196, 75, 37, 37),
    "mushroom.dat.gz": (8_124, 119, 23, 23),
    "connect.dat.gz": (67_557, 129, 43, 43),
    "T10I4D100K.dat.gz": (100_000, 870, 10.10, 29),
    "BMS-WebView-1.dat.gz": (59_602, 497, 2.51, 267),
    "BMS-WebView-2.dat.gz": (77_512, 3_340, 4.62, 161),
    "groceries.csv.gz": (9_835, 169, 4.41, 32),
    "completejourney.csv.gz": (155_848, 68_509, 9.43, 161),
}


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_the_benchmark_files(real_data, name):
    data = read(real_data(name))
    assert (len(data), data.n_items, round(data.nnz / len(data), 2), data.lengths.max()) == SHAPES[name]
    assert data.notes == ()
    assert data.item_counts.min() >= 1


def test_the_users_of_completejourney(real_data):
    data = read(real_data("completejourney.csv.gz"))
    assert data.nnz == 1_469_307
    assert len(data.user_labels) == 2_469


def test_whole_milk_is_what_people_buy(real_data):
    data = read(real_data("groceries.csv.gz"))
    assert data.item_counts.max() == 2_513
    assert data.labels[int(data.item_counts.argmax())].as_py() == "whole milk"
