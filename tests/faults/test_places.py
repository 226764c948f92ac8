"""One plan of all paths: no output destroys an input or another output, and nothing but a file is ever replaced."""

import os
import sqlite3
import stat
import sys
import unicodedata
from contextlib import closing
from pathlib import Path

import pytest

import anonset
from anonset import ExistsError, InputError
from anonset.cli.base.outcome import run
from anonset.io.publish import folders, plan
from anonset.io.publish.atomic import staging
from anonset.io.publish.plan import Output, require_plan

ROWS = "bread wine\nbread wine\nbeer ale\nbeer ale\nbread ale\nbread ale\n"
TREE = "item,level1\nbread,food\nwine,drinks\nbeer,drinks\nale,drinks\n"
GROUPED = ["--method", "cahd-gray", "-p", "2", "--sensitive", "wine"]
CUTTING = ["--method", "km-apriori", "-k", "2", "-m", "1"]


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder with data and everything that goes with it, each by a second and a third name."""
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "data.dat": ROWS,
        "table.csv": "transaction,item\n1,a\n1,b\n2,a\n2,b\n",
        "tree.csv": TREE,
        "secret.txt": "wine\n",
        "degrees.csv": "item,sensitivity\nwine,0.9\n",
        "cut.csv": "item,published\nbread,food\nwine,drinks\nbeer,drinks\nale,drinks\n",
    }.items():
        path = Path(name)
        path.write_text(text)
        Path(f"link-{name}").symlink_to(path.resolve())
        Path(f"twin-{name}").hardlink_to(path)
    return tmp_path


def state(folder):
    """Every name in a folder with what it is and what it holds."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_ino, path.read_bytes() if path.is_file() else None)
        for path in sorted(folder.rglob("*"))
        if not stat.S_ISFIFO(path.lstat().st_mode)
    }


def refused(capsys, folder, words, *arguments):
    before = state(folder)
    code = run([str(argument) for argument in arguments])
    said = capsys.readouterr().err
    assert code == 2, said
    assert words in said
    assert "unexpected" not in said
    assert state(folder) == before


# --- an output that is an input --------------------------------------------------------------------------------

DATA = "data.dat"
ONTO_INPUTS = {
    "out = DATA": (DATA, ["anonymize", DATA, "-k", "2", "-o"]),
    "out = hierarchy": ("tree.csv", ["anonymize", DATA, *CUTTING, "--hierarchy", "tree.csv", "-o"]),
    "out = sensitive file": (
        "secret.txt",
        ["anonymize", DATA, "-k", "2", "--sensitive-file", "secret.txt", "--format", "fimi", "-o"],
    ),
    "out = degrees file": ("degrees.csv", ["anonymize", DATA, "-k", "2", "--degrees-file", "degrees.csv", "-o"]),
    "out = file in a query": ("table.csv", ["anonymize", "-k", "2", "--query", "SELECT * FROM 'table.csv'", "-o"]),
    "out = file in a function of a query": (
        "table.csv",
        ["anonymize", "-k", "2", "--query", "SELECT * FROM read_csv(['table.csv'])", "-o"],
    ),
    "out = file by a pattern in a query": (
        "table.csv",
        ["anonymize", "-k", "2", "--query", 'SELECT * FROM "tab*.csv"', "-o"],
    ),
    "cut = DATA": (DATA, ["anonymize", DATA, *CUTTING, "--write-cut"]),
    "cut = hierarchy": ("tree.csv", ["anonymize", DATA, *CUTTING, "--hierarchy", "tree.csv", "--write-cut"]),
    "recode = cut": (
        "cut.csv",
        ["recode", DATA, "--cut", "cut.csv", "--hierarchy", "tree.csv", "-k", "2", "-m", "1", "-o"],
    ),
    "out = users": ("table.csv", ["anonymize", DATA, "-k", "2", "--users", "table.csv", "-o"]),
    "out = hierarchy of a column": (
        "cut.csv",
        ["anonymize", DATA, "-k", "2", "--attribute", "s", "--attribute-hierarchy", "s=cut.csv", "-o"],
    ),
    "convert = DATA": (DATA, ["convert", DATA]),
    "convert = file in a query": ("table.csv", ["convert", "--query", "SELECT * FROM 'table.csv'"]),
    "hierarchy build = DATA": (DATA, ["hierarchy", "build", DATA, "-o"]),
    "hierarchy lint = its file": ("tree.csv", ["hierarchy", "lint", "tree.csv", "--repair", "-o"]),
}


@pytest.mark.parametrize("name", ["{}", "link-{}", "twin-{}", "./{}", "../{folder}/{}"])
@pytest.mark.parametrize(("onto", "command"), ONTO_INPUTS.values(), ids=ONTO_INPUTS)
def test_no_output_replaces_an_input_by_whatever_name(capsys, shop, onto, command, name):
    target = name.format(onto, folder=shop.name)
    refused(capsys, shop, "must not replace the input", *command, target, "--force")


@pytest.mark.parametrize("option", ["-o", "--report", "--link", "--log", "--ledger", "--write-config"])
@pytest.mark.parametrize("folder", ["sales", "link-sales", "sales/part"])
def test_nothing_new_is_put_into_a_folder_that_is_read(capsys, shop, folder, option):
    Path("sales/part").mkdir(parents=True)
    Path("link-sales").symlink_to("sales")
    Path("sales/a.dat").write_text(ROWS)
    name = {"--report": "new.html", "--link": "new.csv"}.get(option, "new.dat")
    out = [] if option == "-o" else ["-o", "out.dat"]
    words = "must not replace the input" if option == "--log" else "must not lie in a folder that is read"
    refused(capsys, shop, words, "anonymize", "sales", "-k", "2", *out, option, f"{folder}/{name}")


def test_a_report_does_not_replace_an_input(capsys, shop):
    Path("in.PRIVATE.json").write_text('{"items": ["a"]}\n{"items": ["a"]}\n')
    arguments = ["--input-format", "lists.jsonl", "--report", "in.json", "--force"]
    refused(capsys, shop, "must not replace the input", "anonymize", "in.PRIVATE.json", "-k", "2", *arguments)
    other = ["report", DATA, "in.PRIVATE.json", "-o", "in.json", "--force"]
    refused(capsys, shop, "must not replace the input", *other)


def test_scores_do_not_replace_an_input(capsys, shop):
    Path("x.PRIVATE.csv").write_text("transaction,item\n1,a\n2,a\n")
    refused(capsys, shop, "must not replace the input", "risk", "x.PRIVATE.csv", "--scores", "x.csv", "--force")


def test_a_comparison_does_not_replace_its_input(capsys, shop):
    Path("results.csv").write_text("transaction,item\n1,a\n2,a\n")
    refused(capsys, shop, "must not replace the input", "compare", "results.csv", "-k", "2", "-o", ".")


@pytest.mark.parametrize("named", ["key", "key.pub"])
@pytest.mark.parametrize("out", ["key", "key.pub", "link"])
def test_a_release_does_not_replace_the_key_that_signs_it(capsys, shop, out, named):
    for name in ("key", "key.pub"):
        Path(name).write_text(name)
    Path("link").symlink_to("key")
    arguments = ["-k", "2", "--format", "fimi", "--sign", named, "--force", "-o", out]
    refused(capsys, shop, "--out must not replace the input", "anonymize", DATA, *arguments)


@pytest.mark.parametrize("what", ["--sample", "--expected"])
@pytest.mark.parametrize("name", ["transactions.csv", "sensitive.csv", "certificate.json", "../link.csv"])
def test_an_export_does_not_replace_what_it_reads(capsys, shop, what, name):
    run(["anonymize", DATA, *GROUPED, "-o", "release", "--quiet"])
    Path("link.csv").symlink_to("release/transactions.csv")
    refused(capsys, shop, "OUT must not replace the input", "export", "release", f"release/{name}", what, "--force")


def test_a_report_does_not_replace_the_certificate_that_it_reads(capsys, shop):
    run(["anonymize", DATA, "-k", "2", "-o", "r.dat", "--quiet"])
    arguments = ["-o", "r.dat.certificate.json", "--public", "--force"]
    refused(capsys, shop, "--out must not replace the input", "report", DATA, "r.dat", *arguments)


@pytest.mark.parametrize(
    ("onto", "option"),
    [
        ("tree.csv", ["--hierarchy", "tree.csv"]),
        ("secret.txt", ["--sensitive-file", "secret.txt"]),
        ("twin-data.dat", ["--sign", DATA]),
        ("link-table.csv", ["--query", "SELECT * FROM 'table.csv'"]),
        ("cut.csv", ["--ledger", "cut.csv"]),
        ("cut.csv", ["--log", "./cut.csv"]),
        ("cut.csv", ["--users", "cut.csv"]),
        ("shop.db", ["--data", "shop.db/sales"]),
        ("tree.csv", ["--attribute-hierarchy", "store=cut.csv,area=tree.csv"]),
    ],
)
def test_a_project_file_does_not_replace_what_it_names(capsys, shop, onto, option):
    sqlite3.connect("shop.db").execute("CREATE TABLE sales (item)").connection.close()
    refused(capsys, shop, "FILE must not replace the input", "init", onto, "--replace", "-k", "2", *option)


LEDGER = ["anonymize", "table.csv", "--transaction", "transaction", "-k", "2", "--ledger", "sales"]


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
@pytest.mark.parametrize("option", ["-o", "--write-config", "--log"])
def test_names_that_sqlite_takes_for_its_own_are_no_outputs(capsys, shop, ending, option):
    out = [] if option == "-o" else ["-o", "out.csv"]
    name = f"sales{ending}"
    refused(capsys, shop, f"must be another file than {name}", *LEDGER, *out, "--format", "fimi", option, name)


@pytest.mark.parametrize("ending", ["", "-journal", "-wal", "-shm"])
@pytest.mark.parametrize("source", [DATA, "two.db/sales", "one.db/sales"])
@pytest.mark.parametrize("option", ["--write-config", "--log"])
def test_the_files_of_a_database_are_no_outputs(capsys, shop, ending, source, option):
    for name in ("one.db", "two.db"):
        with closing(sqlite3.connect(name)) as database, database:
            database.execute("CREATE TABLE sales AS SELECT 1 AS 'transaction', 'a' AS item")
    words = f"{option} must" if ending else "must"
    refused(capsys, shop, words, "anonymize", source, "-k", "2", "-o", "two.db/release", option, f"two.db{ending}")
    if source != DATA:
        name = source.split("/")[0]
        refused(capsys, shop, words, "anonymize", source, "-k", "2", option, f"{name}{ending}", "--force")


@pytest.mark.parametrize("ending", ["-journal", "-wal"])
def test_a_file_of_somebody_else_beside_a_ledger_stays(capsys, shop, ending):
    beside = Path(f"sales{ending}")
    beside.write_bytes(Path("table.csv").read_bytes())
    refused(capsys, shop, "to itself", *LEDGER, "-o", "out.csv")
    refused(capsys, shop, "FILE must have the name", "ledger", "sales")
    data = ["anonymize", beside, "--input-format", "long.csv", *LEDGER[2:], "-o", "out.csv"]
    refused(capsys, shop, "must not replace the input", *data)


def test_a_log_that_is_another_file_of_the_run_leaves_no_trace(capsys, shop):
    for words, *arguments in (
        ("--log must be another file than --out", DATA, "-o", "out.dat", "--log", "out.dat"),
        ("--log must be another file than --ledger", DATA, "-o", "out.dat", "--log", "new", "--ledger", "new"),
        ("--log must not replace the input", "*.dat", "-o", "out.txt", "--format", "fimi", "--log", "new.dat"),
    ):
        refused(capsys, shop, words, "anonymize", *arguments, "-k", "2")


def test_a_name_that_no_certificate_can_say_is_refused(capsys, shop):
    name = os.fsdecode(b"out\xff.dat")
    refused(capsys, shop, "--out must have a name that is UTF-8 text", "anonymize", DATA, "-k", "2", "-o", name)


def test_standard_input_is_an_input_too(shop, monkeypatch):
    with Path(DATA).open() as file:
        monkeypatch.setattr(sys, "stdin", file)
        with pytest.raises(InputError, match="must not replace the input"):
            anonset.publish("-", anonset.Targets(out=DATA, force=True), k=2)
    assert Path(DATA).read_text() == ROWS


def test_a_folder_of_groups_does_not_replace_its_own_input(capsys, shop):
    run(["anonymize", DATA, *GROUPED, "-o", "release", "--quiet"])
    inside = shop / "release" / "transactions.csv"
    assert inside.is_file()
    refused(
        capsys,
        shop,
        "must not replace the input",
        "anonymize",
        inside,
        *GROUPED[:-1],
        "ale",
        "-o",
        "release",
        "--force",
    )
    Path("elsewhere.csv").hardlink_to(inside)
    for source in ("release", "elsewhere.csv", "rel*/*.csv"):
        with pytest.raises(InputError, match="must not replace the input"):
            require_plan([Output("out", Path("release"), folder=True)], {"data": source}, force=True)


def test_a_file_in_a_folder_that_is_read_is_an_input(shop):
    Path("many").mkdir()
    Path("many/one.dat").write_text(ROWS)
    Path("many/two.dat").write_text(ROWS)
    Path("other.dat").hardlink_to("many/two.dat")
    for out in ("many/one.dat", "other.dat"):
        with pytest.raises(InputError, match="must not replace the input"):
            anonset.publish("many", anonset.Targets(out=out, force=True), k=2)
    assert Path("other.dat").read_text() == ROWS


def test_texts_of_a_query_that_are_no_files_do_no_harm(shop):
    query = "SELECT * FROM 'table.csv' WHERE item <> '/' AND item <> '*' AND item <> '\\' AND item <> ''"
    result = anonset.publish(None, anonset.Targets(out="fresh.csv"), k=2, query=query, seed=1)
    assert len(result.release) == 2


# --- two outputs that are one ----------------------------------------------------------------------------------

KM = ["anonymize", DATA, *CUTTING, "--force"]
ALIKE = {
    "report = certificate": [*KM, "-o", "r.dat", "--report", "r.dat.certificate.json", "--public"],
    "cut = release": [*KM, "-o", "r.csv", "--write-cut", "r.csv"],
    "cut = certificate": [*KM, "-o", "r.csv", "--write-cut", "r.csv.certificate.json"],
    "cut = signature": [*KM, "-o", "r.csv", "--write-cut", "r.csv.certificate.json.sig"],
    "cut = report": [*KM, "--report", "r.html", "--write-cut", "r.PRIVATE.html"],
    "by case": [*KM, "-o", "release.csv", "--write-cut", "Release.CSV"],
    "by accents": [
        *KM,
        "-o",
        unicodedata.normalize("NFC", "bäcker.csv"),
        "--write-cut",
        unicodedata.normalize("NFD", "bäcker.csv"),
    ],
    "by hard link": [*KM, "-o", "data-a.csv", "--write-cut", "data-b.csv"],
    "through a linked folder": [*KM, "-o", "r.csv", "--write-cut", "here/r.csv"],
    "in the folder of groups": ["anonymize", DATA, *GROUPED, "--force", "-o", "g", "--report", "g/r.html"],
}


@pytest.mark.parametrize("arguments", ALIKE.values(), ids=ALIKE)
def test_two_outputs_are_two_files(capsys, shop, arguments):
    Path("here").symlink_to(shop, target_is_directory=True)
    Path("data-a.csv").write_text("old")
    Path("data-b.csv").hardlink_to("data-a.csv")
    if "g/r.html" in arguments:
        run(["anonymize", DATA, *GROUPED, "-o", "g", "--quiet"])
    refused(capsys, shop, "must be another file than", *arguments)


# --- places that are no place for a file -----------------------------------------------------------------------

WRITERS = {
    "anonymize": ["anonymize", DATA, "-k", "2", "--format", "fimi", "-o"],
    "groups": ["anonymize", DATA, *GROUPED, "--format", "csv", "-o"],
    "write-cut": ["anonymize", DATA, *CUTTING, "--write-cut"],
    "recode": [
        *("recode", DATA, "--cut", "cut.csv", "--hierarchy", "tree.csv", "-k", "2", "-m", "1"),
        *("--format", "fimi", "-o"),
    ],
    "convert": ["convert", DATA, "--format", "fimi"],
    "hierarchy build": ["hierarchy", "build", DATA, "-o"],
    "generate quest": ["generate", "quest", "--transactions", "10", "--format", "fimi"],
}
FOLDERS = {
    "generate supermarket": ["generate", "supermarket", "--transactions", "100"],
    "demo": ["demo", "--transactions", "100"],
    "compare": ["compare", DATA, "--methods", "pta", "-k", "2", "-o"],
}


@pytest.fixture
def no_writing(monkeypatch):
    """What is staged here has passed the plan: that must not happen, least of all on a device."""

    def never(*args, **options):
        raise AssertionError("something was about to be written")

    monkeypatch.setattr("anonset.io.publish.slots.Slot.claim", never)
    monkeypatch.setattr(os, "rename", never)


@pytest.mark.usefixtures("no_writing")
@pytest.mark.parametrize("place", ["pipe", "missing/out", "/dev/stdout", "/dev/full", "/dev/fd/1", "/proc/self/out"])
@pytest.mark.parametrize("command", WRITERS.values(), ids=WRITERS)
def test_devices_pipes_and_missing_folders_are_refused_before_the_work(capsys, shop, command, place):
    os.mkfifo("pipe")
    kinds = {name: stat.S_IFMT(Path(name).lstat().st_mode) for name in ("pipe", "/dev/stdout", "/dev/full")}
    words = "does not exist" if place.startswith("missing") else "is a f" if place == "pipe" else "ordinary file"
    words = "ordinary file" if place == "pipe" and "--sensitive" not in command else words
    refused(capsys, shop, words, *command, place, "--force")
    assert kinds == {name: stat.S_IFMT(Path(name).lstat().st_mode) for name in kinds}


@pytest.mark.usefixtures("no_writing")
@pytest.mark.parametrize("place", ["/dev/anonset", "/proc/anonset", "data.dat"])
@pytest.mark.parametrize("command", FOLDERS.values(), ids=FOLDERS)
def test_folders_of_the_system_and_files_are_refused_as_folders(capsys, shop, command, place):
    before = state(shop)
    assert run([*command, place]) in (1, 2)
    assert "unexpected" not in capsys.readouterr().err
    assert state(shop) == before
    assert place == DATA or not Path(place).exists()


@pytest.mark.parametrize("kind", ["/dev/full", "pipe"])
def test_a_device_that_comes_at_the_last_moment_is_not_replaced(shop, monkeypatch, kind):
    """The plan is passed, then the name becomes a device: found by what the system says of the name."""
    os.mkfifo("pipe")
    target = Path("out.dat")
    device = Path(kind).stat()
    usual = os.stat

    def disguised(path, *args, **options):
        there = path == target.name and options.get("dir_fd") is not None and not options.get("follow_symlinks", True)
        return device if there else usual(path, *args, **options)

    def write():
        with staging(force=True) as stage:
            stage.file(target).write_text("new")
            monkeypatch.setattr(os, "stat", disguised)
            stage.publish()

    with pytest.raises(InputError, match="ordinary file"):
        write()
    monkeypatch.undo()
    assert not target.exists()


def test_a_report_in_a_missing_folder_is_refused_before_anything_is_published(capsys, shop):
    words = "does not exist"
    refused(capsys, shop, words, "anonymize", DATA, "-k", "2", "-o", "r.dat", "--report", "missing/report.html")
    refused(capsys, shop, words, "anonymize", DATA, *CUTTING, "-o", "r.dat", "--write-cut", "missing/cut.csv")


def test_a_dash_is_no_file_name_beside_a_release(capsys, shop):
    refused(capsys, shop, "path with a name", "anonymize", DATA, "-k", "2", "-o", "out.dat", "--write-config", "-")


# --- folders that others can write -----------------------------------------------------------------------------


@pytest.mark.parametrize(("mode", "who"), [(0o777, "everybody"), (0o707, "everybody"), (0o770, "its group")])
def test_a_folder_that_others_can_write_must_be_named(capsys, shop, monkeypatch, mode, who):
    monkeypatch.setattr(folders, "own_group", lambda number: False)
    place = shop / "shared"
    place.mkdir()
    place.chmod(mode)
    command = ["anonymize", DATA, "-k", "2", "-o", "shared/out.dat"]
    refused(capsys, shop, f"can be written by {who}", *command, "--force")
    refused(capsys, shop, f"can be written by {who}", *command, "--shared-folder", ".")
    assert run([*command, "--shared-folder", "shared", "--quiet"]) == 0
    assert sorted(path.name for path in place.iterdir()) == ["out.dat", "out.dat.certificate.json"]


def test_a_folder_below_one_that_others_can_write_must_be_named_too(capsys, shop):
    (shop / "open").mkdir()
    (shop / "open").chmod(0o777)
    (shop / "open" / "mine").mkdir(mode=0o700)
    command = ["anonymize", DATA, "-k", "2", "-o", "open/mine/out.dat"]
    refused(capsys, shop, "can be written by everybody", *command)
    assert run([*command, "--shared-folder", "open/mine", "--quiet"]) == 0


def test_a_sticky_folder_is_safe_since_others_cannot_rename_in_it(shop):
    (shop / "sticky").mkdir()
    (shop / "sticky").chmod(0o1777)
    assert run(["anonymize", DATA, "-k", "2", "-o", "sticky/out.dat", "--quiet"]) == 0


@pytest.mark.parametrize("command", [*WRITERS.values(), *FOLDERS.values()], ids=[*WRITERS, *FOLDERS])
def test_every_command_that_writes_asks_for_the_name_of_a_shared_folder(capsys, shop, command):
    place = shop / "shared"
    place.mkdir()
    place.chmod(0o777)
    target = "shared" if command in FOLDERS.values() else "shared/out"
    refused(capsys, shop, "--shared-folder", *command, target)
    assert run([*command, target, "--shared-folder", "shared", "--quiet"]) == 0
    assert any(place.iterdir())


def test_the_own_group_is_nobody_else(monkeypatch):
    class Group:
        gr_mem = ("me",)

    class User:
        pw_name, pw_gid = "me", 1000

    monkeypatch.setattr(folders.pwd, "getpwuid", lambda number: User)
    monkeypatch.setattr(folders.grp, "getgrgid", lambda number: Group)
    monkeypatch.setattr(folders.pwd, "getpwall", lambda: [User])
    assert folders.own_group(1000)
    Group.gr_mem = ("me", "you")
    assert not folders.own_group(1000)


def test_no_link_can_be_slipped_in_while_a_file_is_staged(shop):
    """Somebody with a right to write here swaps the hidden folder for a link: what is published is ours still."""
    trap = shop / "trap"
    trap.mkdir()
    (trap / "out.dat").write_text("somebody else's")
    with staging(force=True) as stage:
        stage.file(shop / "out.dat").write_text("ours")
        (shop / ".out.dat.part").rename(shop / "away")
        (shop / ".out.dat.part").symlink_to(trap, target_is_directory=True)
        stage.publish()
    assert (shop / "out.dat").read_text() == "ours"
    assert (trap / "out.dat").read_text() == "somebody else's"


def test_a_hidden_name_that_somebody_else_has_taken_is_not_followed(shop):
    trap = shop / "trap"
    trap.mkdir()
    (shop / ".out.dat.part").symlink_to(trap, target_is_directory=True)
    with pytest.raises(anonset.OutputError, match="made by somebody else"), staging() as stage:
        stage.file(shop / "out.dat")
    assert list(trap.iterdir()) == []


def test_the_folder_that_was_checked_is_the_one_that_is_written(shop):
    (shop / "a").mkdir()
    (shop / "b").mkdir()
    with staging() as stage:
        stage.file(shop / "a" / "out").write_text("x")
        (shop / "a").rename(shop / "c")
        (shop / "a").symlink_to(shop / "b", target_is_directory=True)
        # What is flushed by path is gone; the descriptors still lead to where it is.
        stage._slots[shop / "a" / "out"].link()
    assert [path.name for path in (shop / "c").iterdir()] == ["out"]
    assert list((shop / "b").iterdir()) == []


def test_existing_outputs_are_all_found_before_the_work(capsys, shop):
    Path("r.PRIVATE.html").write_text("old")
    refused(capsys, shop, "is there already", "anonymize", DATA, "-k", "2", "-o", "r.dat", "--report", "r.html")
    with pytest.raises(ExistsError):
        plan.require_plan([Output("out", Path(DATA))])


@pytest.mark.parametrize("name", ["new.db", "./new.db", "new.db-wal"])
def test_a_log_is_not_left_where_a_database_is_to_be(capsys, shop, name):
    refused(
        capsys, shop, "--log must be another file", "anonymize", DATA, "-k", "2", "-o", "new.db/release", "--log", name
    )
