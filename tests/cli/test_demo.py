"""`anonset demo`: the whole way, as `make demo` shows it."""

import json

import anonset

FILES = [
    "hierarchy.csv",
    "release.csv",
    "release.csv.certificate.json",
    "sensitive.txt",
    "transactions.csv",
]


def test_everything_is_made_checked_and_explained_at_80_columns(cli, tmp_path):
    folder = tmp_path / "demo"
    done = cli("demo", folder, "--transactions", "500", "-k", "5")
    assert (done.code, done.err) == (0, "")
    assert set(FILES) <= {path.name for path in folder.iterdir()}
    assert "The promise holds" in done.out
    assert str(folder / "release.csv") in done.out.replace("\n   ", "")
    assert max(len(line) for line in done.out.splitlines()) <= 80
    assert anonset.verify(str(folder / "release.csv"), k=5).measured["k"] >= 5


def test_the_commands_it_shows_work(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = cli("demo", "d", "--transactions", "500", "-k", "5").out
    joined = shown.replace("\\\n", " ")
    commands = [line.split()[2:] for line in joined.splitlines() if line.strip().startswith("$ anonset ")]
    assert [command[0] for command in commands] == ["generate", "risk", "anonymize", "risk", "verify"]
    for command in commands:
        assert cli(*command, *(["--force"] if command[0] in ("generate", "anonymize") else [])).code == 0


def test_a_folder_in_use_needs_force(cli, tmp_path):
    (tmp_path / "mine.txt").write_text("keep me\n")
    assert cli("demo", tmp_path, "--transactions", "200").code == 2
    assert cli("demo", tmp_path, "--transactions", "200", "--force", "--quiet").out == ""
    assert (tmp_path / "mine.txt").read_text() == "keep me\n"


def test_json_is_one_object(cli, tmp_path):
    answer = json.loads(cli("demo", tmp_path / "d", "--transactions", "200", "--json").out)
    assert answer["holds"] is True
    assert answer["measured"]["k"] >= 5
    assert [found["m"] for found in answer["private"]["attacks"]] == [1, 2, 3, 4]
