"""Project files: every option of `anonymize`, written and read back; runs, checks, logs, rights."""

import json
import os
import stat
from pathlib import Path

import pytest

import anonset
from anonset.cli.base import project
from tests.cli.test_asking import on_a_terminal


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{number},{item}" for number in range(12) for item in ("bread", ("milk", "wine")[number % 2])]
    Path("sales.csv").write_text("\n".join(["receipt,product", *rows]) + "\n")
    return tmp_path


COLUMNS = ("--transaction", "receipt", "--item", "product")


def start(cli, *more):
    return cli("init", "--data", "sales.csv", "-k", 3, "-o", "out.csv", *COLUMNS, *more)


def test_init_writes_run_does_and_the_file_is_private(cli):
    assert start(cli).code == 0
    assert stat.S_IMODE(Path("anonset.toml").stat().st_mode) == 0o600
    assert cli("run").code == 0
    assert anonset.verify("out.csv", k=3).holds


def test_every_option_of_anonymize_has_one_place_in_the_file():
    """Nothing is listed twice: a new option of any owner can stand in a project file by itself."""
    for name, param in project.options().items():
        value = True if getattr(param, "is_flag", False) else ["x"] if getattr(param, "multiple", False) else "x"
        Path("a.toml").write_text(project.as_text({name: value}))
        assert project.read_project(Path("a.toml")) == {name: value}


@pytest.mark.parametrize("text", ['a "quoted" \\ name', "tab\there", "00123", "1e3", "Ünï\u202e", "line\nline", "-7"])
def test_texts_are_read_as_they_were_written(text):
    Path("a.toml").write_text(project.as_text({"sensitive": text}), encoding="utf-8")
    assert project.read_project(Path("a.toml")) == {"sensitive": text}


def test_options_on_the_command_line_go_first(cli):
    start(cli)
    done = cli("run", "-k", 4, "-o", "other.csv", "--json")
    answer = json.loads(done.out)
    assert answer["params"]["k"] == 4
    assert answer["out"] == "other.csv"
    assert not Path("out.csv").exists()


def test_files_of_users_and_columns_are_meant_from_the_project_file_too(cli, tmp_path):
    there = tmp_path / "there"
    there.mkdir()
    (there / "sales.csv").write_text("receipt,user,item,store\n1,u,a,s\n2,v,a,t\n3,u,a,s\n4,v,a,t\n")
    (there / "users.csv").write_text("user,age\nu,30\nv,30\n")
    (there / "stores.csv").write_text("store,city\ns,B\nt,B\n")
    (there / "anonset.toml").write_text(
        '[source]\ndata = "sales.csv"\nusers = "users.csv"\nattribute = "store,age"\n'
        'attribute-hierarchy = "store=stores.csv"\n[privacy]\nk = 4\nunit = "transaction"\n[targets]\nout = "out.csv"\n'
    )
    assert cli("run", "there/anonset.toml").code == 0
    assert (there / "out.csv").read_text().splitlines()[1] == "1,a,B,30"


def test_check_only_validates(cli):
    start(cli)
    done = cli("run", "--check")
    assert done.code == 0
    assert "Nothing was written" in done.out
    assert sorted(path.name for path in Path().iterdir()) == ["anonset.toml", "sales.csv"]
    Path("sales.csv").unlink()
    assert cli("run", "--check").code == 2


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[source\n", "not a TOML file"),
        ("[sources]\n", "source"),
        ("[privacy]\nkk = 3\n", "k"),
        ("[source]\nk = 3\n", r"belongs in the table \[privacy\]"),
        ("[privacy]\nk = true\n", "a text or a number"),
        ("[run]\nquiet = 1\n", "true or false"),
        ("[source]\ndata = [[1]]\n", "a list of them"),
        ('[source]\ndata = "postgresql://me:secret@db/shop"\n', "no password"),
        ('[source]\ndata = "postgresql://me:se/cret@db/shop"\n', "no password"),
        ('[source]\ndata = "postgresql://me:secret@${HOME}/shop"\n', "no password"),
        ('[source]\ndata = "postgresql://me:secret${HOME}@db/shop"\n', "no password"),
        ('[source]\ndata = "postgresql://db/shop?user=me&password=secret"\n', "no password"),
        ('[source]\ndata = "postgresql://db/shop?sslpassword=secret"\n', "no password"),
        ('[source]\ndata = "${NOT_THERE_AT_ALL}"\n', "NOT_THERE_AT_ALL, which is not set"),
        ("[privacy]\nk = 1\n[source]\ndata = 'sales.csv'\n", "-k must be at least 2"),
        ("x = " + "[" * 3000 + "]" * 3000, "not a TOML file"),
    ],
)
def test_a_wrong_file_ends_in_a_sentence(cli, text, sentence):
    import re

    Path("anonset.toml").write_text(text)
    done = cli("run")
    assert done.code == 2
    assert re.search(sentence, done.err), done.err
    assert done.err.count("\n") == 1
    assert "secret" not in done.err


def test_secrets_come_from_the_environment_and_are_never_written(cli, monkeypatch):
    monkeypatch.setenv("WHERE", "sales.csv")
    Path("anonset.toml").write_text('[source]\ndata = "${WHERE}"\ntransaction = "receipt"\n[privacy]\nk = 3\n')
    assert cli("run", "--write-config", "again.toml").code == 0
    assert "${WHERE}" in Path("again.toml").read_text()
    assert "hunter2" not in project.as_text({"data": "postgresql://me:hunter2@db/shop"})


def test_write_config_saves_what_a_command_line_did(cli):
    done = cli(
        "anonymize",
        "sales.csv",
        "-k",
        3,
        "-o",
        "a.csv",
        *COLUMNS,
        "--write-config",
        "a.toml",
        "--sensitive",
        "wine",
        "--accept",
        "loss",
    )
    assert done.code == 0
    assert stat.S_IMODE(Path("a.toml").stat().st_mode) == 0o600
    found = project.read_project(Path("a.toml"))
    assert found == {"data": "sales.csv", "transaction": "receipt", "item": "product", "sensitive": "wine",
                     "k": "3", "out": "a.csv", "accept": "loss"}  # fmt: skip
    assert cli("run", "a.toml", "--force").code == 0


def test_the_project_file_is_an_input_that_nothing_overwrites(cli):
    start(cli)
    before = Path("anonset.toml").read_text()
    for option in ("-o", "--report", "--write-config", "--ledger"):
        done = cli("run", option, "anonset.toml", "--force", "--format", "long.csv")
        assert done.code == 2, option
    assert Path("anonset.toml").read_text() == before


def test_paths_are_meant_from_the_files_folder_and_the_day_is_filled_in(cli, tmp_path, monkeypatch):
    start(cli, "--replace")
    Path("anonset.toml").write_text(Path("anonset.toml").read_text().replace("out.csv", "out-{date}.csv"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert cli("run", "../anonset.toml").code == 0
    [made] = tmp_path.glob("out-????-??-??.csv")
    assert made.exists()


def test_nothing_new_is_said_and_is_no_failure(cli):
    start(cli, "--ledger", "sales.ledger")
    assert cli("run").code == 0
    done = cli("run", "-o", "b.csv", "--json")
    assert done.code == 0
    assert json.loads(done.out)["waiting"]["kind"] == "WaitingError"
    assert json.loads(cli("ledger", "sales.ledger", "--json").out)["transactions"] == 12
    assert "12 in all" in cli("ledger", "sales.ledger").out


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_log_tells_what_happened_and_nothing_personal(cli, form):
    start(cli, "--log", "night.log", "--log-format", form)
    assert cli("run").code == 0
    assert cli("run", "-k", 400, "--force").code == 3
    assert cli("run", "--sensitive", "win", "--force").code == 2
    text = Path("night.log").read_text()
    assert stat.S_IMODE(Path("night.log").stat().st_mode) == 0o600
    for personal in ("bread", "milk", "wine", 'win"', "receipt", "product"):
        assert personal not in text
    lines = text.splitlines()
    assert sum("start" in line for line in lines) == 3
    if form == "json":
        ends = [record for line in lines if (record := json.loads(line))["event"] == "end"]
        assert [(end["code"], end.get("parameter")) for end in ends] == [(0, None), (3, "-k"), (2, "--sensitive")]


def test_a_log_is_added_only_to_a_log(cli):
    start(cli)
    before = Path("sales.csv").read_text()
    done = cli("run", "--log", "sales.csv")
    assert done.code == 2
    assert "--log must be a log of anonset or a new file" in done.err
    assert Path("sales.csv").read_text() == before
    assert "anonset start" in cli("run", "--log", "-").err


@pytest.mark.parametrize(("mode", "rights"), [(None, 0o600), ("644", 0o644), ("640", 0o640), ("umask", 0o644)])
def test_the_release_is_for_its_owner_unless_mode_says_otherwise(cli, mode, rights):
    start(cli)
    before = os.umask(0o022)
    try:
        done = cli("run", *(["--mode", mode] if mode else []), "--report", "r.html")
    finally:
        os.umask(before)
    assert done.code == 0
    assert f"mode {rights:o}" in " ".join(done.out.split())
    for name in ("out.csv", "out.csv.certificate.json"):
        assert stat.S_IMODE(Path(name).stat().st_mode) == rights
    assert stat.S_IMODE(Path("r.PRIVATE.html").stat().st_mode) == 0o600


@pytest.mark.parametrize("mode", ["777", "200", "666", "abc", "4644"])
def test_a_mode_that_lets_others_write_is_refused(cli, mode):
    start(cli)
    assert cli("run", "--mode", mode).code == 2


class Terminal:
    """Standard input with a person behind it."""

    def isatty(self):
        return True


def test_init_asks_on_a_terminal_and_says_so_elsewhere(cli, monkeypatch):
    assert "Give options" in cli("init").err
    answers = iter(["sales.csv", "3", "", "out.csv", ""])
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("typer.prompt", lambda question, default=None: next(answers))
    assert cli("init").code == 0
    assert project.read_project(Path("anonset.toml")) == {"data": "sales.csv", "k": "3", "out": "out.csv"}


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("postgresql://me:${DB}@db/shop", "postgresql://me:${DB}@db/shop"),
        ("postgresql://db/shop?password=${DB}&user=me", "postgresql://db/shop?password=${DB}&user=me"),
        ("postgresql://me:secret@db/shop", "postgresql://me@db/shop"),
        ("postgresql://db/shop?password=secret&user=me", "postgresql://db/shop?&user=me"),
    ],
)
def test_a_written_project_file_says_where_a_password_is_and_never_which(monkeypatch, address, kept):
    monkeypatch.setenv("DB", "hunter2")
    Path("a.toml").write_text(project.as_text({"data": address}))
    assert project.raw(Path("a.toml")) == {"data": kept}
    assert project.read_project(Path("a.toml"))["data"] == kept.replace("${DB}", "hunter2")


UNCLEAR = "day,customer,what,price\n" + "".join(
    f"1/{d}/2024,{c},{i},1\n" for c in range(4) for d in (2, 3) for i in "ab"
)


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_check_refuses_a_text_whose_columns_are_unclear(cli, encoding):
    Path("sales.csv").write_text(UNCLEAR.replace("what", "Größe"), encoding=encoding)
    done = cli("anonymize", "sales.csv", "-k", 2, "--check")
    assert done.code == 2
    assert "Most likely: --transaction day,customer --item Größe" in done.err
    assert cli("anonymize", "sales.csv", "-k", 2, "--check", "--transaction", "day,customer", "--item", "3").code == 2
    assert (
        cli("anonymize", "sales.csv", "-k", 2, "--check", "--transaction", "day,customer", "--item", "Größe").code == 0
    )


def test_check_says_that_the_output_is_there_since_the_run_would(cli):
    start(cli)
    assert cli("run").code == 0
    for command in (("run", "--check"), ("run",)):
        done = cli(*command)
        assert done.code == 2
        assert "out.csv is there already" in done.err
    assert cli("run", "--check", "--force").code == 0


def test_init_asks_for_columns_where_the_data_do_not_show_them():
    Path("sales.csv").write_text(UNCLEAR)
    code, shown = on_a_terminal(".", ["init"], "sales.csv\n\nwhat\n3\n\nout.csv\n\n")
    assert code == 0, shown
    assert "Which one holds the transaction [day,customer]" in shown
    found = project.read_project(Path("anonset.toml"))
    expected = {"transaction": "day,customer", "item": "what"}
    assert found == {"data": "sales.csv", **expected, "k": "3", "out": "out.csv"}


def test_init_takes_data_that_come_later_and_says_so():
    code, shown = on_a_terminal(".", ["init"], "later.csv\n\n\n\n\n")
    assert code == 0, shown
    assert "written all the same" in shown
    assert project.read_project(Path("anonset.toml"))["data"] == "later.csv"


def test_run_says_what_to_write_so_that_nobody_is_asked_again():
    Path("sales.csv").write_text(UNCLEAR)
    Path("anonset.toml").write_text('[source]\ndata = "sales.csv"\nitem = "what"\n[privacy]\nk = 2\n')
    code, shown = on_a_terminal(".", ["run", "--check"], "\n")
    assert code == 0, shown
    assert 'To be asked no more, write transaction = "day,customer" under [source]' in shown
