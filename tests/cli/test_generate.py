"""`anonset generate`."""

import json

import pytest


def test_quest_writes_the_asked_number_in_the_asked_format(cli, tmp_path):
    out = tmp_path / "data.dat"
    done = cli("generate", "quest", out, "--transactions", "500", "--mean-length", "5", "--seed", "3", "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    assert (answer["transactions"], answer["seed"], answer["files"]) == (500, 3, [str(out)])
    rows = [line.split() for line in out.read_text().splitlines()]
    assert len(rows) == 500
    assert 4 < sum(map(len, rows)) / 500 < 6


def test_the_same_seed_gives_the_same_file(cli, tmp_path):
    for name in ("a.dat", "b.dat"):
        cli("generate", "quest", tmp_path / name, "--transactions", "100", "--seed", "3")
    assert (tmp_path / "a.dat").read_bytes() == (tmp_path / "b.dat").read_bytes()


def test_supermarket_writes_three_files(cli, tmp_path):
    folder = tmp_path / "shop"
    done = cli("generate", "supermarket", folder, "--transactions", "200", "--seed", "1")
    assert done.code == 0
    assert sorted(path.name for path in folder.iterdir()) == ["hierarchy.csv", "sensitive.txt", "transactions.csv"]
    head = (folder / "transactions.csv").read_text().splitlines()[0]
    assert head.replace('"', "") == "transaction,user,item,sensitivity"
    assert "users" in done.out


@pytest.mark.parametrize("kind", ["quest", "supermarket"])
def test_what_is_there_needs_force(cli, tmp_path, kind):
    target = tmp_path / "there"
    if kind == "quest":
        target = tmp_path / "there.dat"
        target.write_text("1\n")
    else:
        target.mkdir()
        (target / "old.txt").write_text("1\n")
    assert cli("generate", kind, target, "--transactions", "50").code == 2
    assert cli("generate", kind, target, "--transactions", "50", "--force").code == 0


def test_a_bad_shape_names_the_parameter(cli, tmp_path):
    done = cli("generate", "quest", tmp_path / "x.dat", "--corruption", "2")
    assert done.code == 2
    assert "--corruption must be at most 0.9" in done.err


def test_a_misspelt_generator_is_a_wrong_call(cli):
    done = cli("generate", "qest", "x")
    assert done.code == 2
    assert "Did you mean 'quest'?" in done.err
