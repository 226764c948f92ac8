"""`anonset export`: a release in groups for tools that know no groups."""

import csv

import numpy as np
import pytest
from scipy.sparse import load_npz

import anonset


@pytest.fixture
def release(tmp_path):
    data = anonset.Transactions.from_lists([["a", "s"], ["a"], ["b"], ["b", "c"]] * 5, sensitive=["s"])
    anonset.publish(data, anonset.Targets(out=tmp_path / "release", accept="inference"), method="nn", p=2, seed=1)
    return tmp_path / "release"


def test_expected_as_a_matrix(cli, release, tmp_path):
    out = tmp_path / "matrix.npz"
    assert cli("export", release, out, "--expected").code == 0
    published = anonset.read_release(release)
    assert np.array_equal(load_npz(out).toarray(), anonset.expected(published).toarray())
    with np.load(out) as parts:
        assert parts["labels"].tolist() == published.transactions.labels.to_pylist()


def test_expected_as_a_table(cli, release, tmp_path):
    out = tmp_path / "matrix.csv"
    assert cli("export", release, out, "--expected").code == 0
    with out.open() as file:
        rows = list(csv.DictReader(file))
    shares = [float(row["share"]) for row in rows if row["item"] == "s"]
    assert sum(shares) == pytest.approx(5)
    assert max(shares) <= 0.5
    assert {row["transaction"] for row in rows} == {str(i) for i in range(1, 21)}


def test_a_sample_is_plain_transactions_and_a_seed_repeats_it(cli, release, tmp_path):
    files = [tmp_path / name for name in ("one.dat", "two.dat")]
    for file in files:
        assert cli("export", release, file, "--sample", "--seed", 3).code == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    world = anonset.read(files[0])
    assert len(world) == 20
    assert world.item_counts[world.labels.index("s").as_py()] == 5


def test_one_of_both_must_be_chosen_and_nothing_is_overwritten(cli, release, tmp_path):
    out = tmp_path / "matrix.npz"
    assert cli("export", release, out).code == 2
    assert cli("export", release, out, "--expected", "--sample").code == 2
    assert cli("export", release, tmp_path / "matrix.mat", "--expected").code == 2
    out.write_bytes(b"mine")
    assert cli("export", release, out, "--expected").code != 0
    assert out.read_bytes() == b"mine"
    assert cli("export", release, out, "--expected", "--force").code == 0


def test_a_release_in_rows_is_refused(cli, tmp_path):
    plain = tmp_path / "plain.dat"
    plain.write_text("1 2\n1 2\n")
    answer = cli("export", plain, tmp_path / "out.npz", "--expected")
    assert answer.code == 2
    assert "in rows" in answer.err
