"""A release as a table: staged, read back, checked, renamed in one transaction, with its certificate beside it."""

import json
import stat
from pathlib import Path

import pyarrow as pa
import pytest

import anonset
from anonset import ExistsError, InputError, OutputError, Targets
from anonset.cli.base.outcome import run as command
from anonset.data.address import Address
from anonset.data.errors import UnclearError
from anonset.io.database import session, staged
from anonset.io.database.staged import StagedTable, became, certificate_of
from tests.databases.conftest import PASSWORD

BASKETS = anonset.Transactions.from_lists([["bread", "wine"]] * 4 + [['it\'s "a\\b"', "wine"]] * 4 + [[]] * 4)


def publish(database, table="release", **targets):
    return anonset.publish(BASKETS, Targets(out=database.at(table), **targets), k=4, seed=1)


def names(database):
    known = {
        "postgresql": "SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'",
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'table'",
        "duckdb": "SELECT table_name FROM information_schema.tables",
    }
    return sorted(name for (name,) in database.run(known[database.kind]))


def test_a_release_is_a_table_with_its_certificate_beside_it(database):
    result = publish(database)
    assert names(database) == ["release", "release_certificate"]
    assert anonset.verify(database.at("release"), k=4).holds
    text, signature = certificate_of(Address.of(database.at("release")))
    assert json.loads(text)["files"] == dict(result.certificate.files)
    assert signature is None
    assert sorted(map(sorted, anonset.read(database.at("release")))) == sorted(map(sorted, BASKETS))


def test_a_table_has_the_columns_of_whole_receipts_and_is_checked_with_them(database):
    rows = [(n, store, 1 + n % 2, "milk") for n, store in enumerate(["Mitte", "Altona"] * 4)]
    receipts = pa.table(
        dict(zip(("receipt", "store", "quantity", "product"), map(list, zip(*rows, strict=True)), strict=True))
    )
    options = {"attribute": "store", "count": "quantity", "k": 4, "seed": 1}
    anonset.publish(receipts, Targets(out=database.at("release")), **options)
    shown = database.run("SELECT store, quantity, product FROM release")
    assert sorted(map(tuple, shown)) == sorted([("Altona", 2, "milk"), ("Mitte", 1, "milk")] * 4)
    assert anonset.verify(database.at("release"), k=4).measured["k"] == 4
    assert not anonset.verify(database.at("release"), k=5).holds


def test_the_sha256_is_that_of_the_table_as_csv(database, tmp_path):
    result = publish(database)
    anonset.convert(database.at("release"), tmp_path / "t.csv", keep_formulas=True)
    import hashlib

    [digest] = result.certificate.files.values()
    assert hashlib.sha256((tmp_path / "t.csv").read_bytes()).hexdigest() == digest


def test_verify_compares_a_table_with_its_certificate(database, capsys):
    publish(database)
    assert command(["verify", database.at("release")]) == 0
    assert "this very table" in " ".join(capsys.readouterr().out.split())
    database.run("UPDATE release SET item = 'bread' WHERE item = 'wine'")
    assert command(["verify", database.at("release")]) == 3
    assert "sha256 of the table differs" in " ".join(capsys.readouterr().out.split())


def test_an_old_table_is_replaced_only_with_force_and_as_a_whole(database):
    database.run("CREATE TABLE release (a int)", "INSERT INTO release VALUES (7)")
    with pytest.raises(ExistsError, match="is there already"):
        publish(database)
    assert database.run("SELECT a FROM release") == [(7,)]
    publish(database, force=True)
    publish(database, force=True)
    assert names(database) == ["release", "release_certificate"]


@pytest.mark.parametrize("breaking", ["write", "check_again", "_rename", "transaction"])
def test_where_a_step_fails_everything_is_as_before(database, breaking, monkeypatch, tmp_path):
    publish(database)
    before = certificate_of(Address.of(database.at("release")))
    owner = {"check_again": __import__("anonset.io.publish.tables", fromlist=["x"]), "transaction": session.Session}

    def broken(*args, **settings):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(owner.get(breaking, StagedTable), breaking, broken)
    with pytest.raises(OutputError):
        publish(database, force=True, report=tmp_path / "r.html")
    monkeypatch.undo()
    assert names(database) == ["release", "release_certificate"]
    assert certificate_of(Address.of(database.at("release"))) == before
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(("r.", ".r."))]


def test_two_runs_do_not_write_one_table(database):
    target = Address.of(database.at("release"))
    first = StagedTable.claim(target, force=False)
    try:
        with pytest.raises(ExistsError, match="Another run is writing"):
            publish(database)
    finally:
        first.release()
    publish(database)


def test_what_a_dead_run_left_is_removed_and_said(database):
    left = str(staged.staging_table(Address.of(database.at("release"))).table)
    database.run(f'CREATE TABLE "{left}" (a int)')
    assert any("ended before it was done" in note for note in publish(database).notes)
    assert names(database) == ["release", "release_certificate"]
    assert [name for name in names(database) if name.startswith(session.STAGING)] == []


def test_it_is_known_what_became_of_a_release(database):
    target = Address.of(database.at("release"))
    assert became(target, "x") is None
    result = publish(database)
    [digest] = result.certificate.files.values()
    assert became(target, digest) == "released"
    assert became(target, "0" * 64) is None


def test_an_unclear_end_is_called_by_its_name_and_undoes_nothing(database, monkeypatch):
    def silent(self):
        raise session.CommitError

    monkeypatch.setattr(StagedTable, "_rename", lambda self, session: silent(self))
    monkeypatch.setattr(staged, "became", lambda target, digest: None)
    with pytest.raises(UnclearError, match="not known whether"):
        publish(database)
    assert any(name.startswith(session.STAGING) for name in names(database)), "the evidence stays"


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"format": "wide"}, "'format' must be long"),
        ({"mode": 0o644}, "'mode' must be left out"),
        ({}, "folder"),
    ],
)
def test_what_a_table_cannot_be_is_refused_before_the_work(database, settings, said):
    groups = {"model": "privacy-degree", "p": 2, "sensitive": ["wine"]}
    targets = Targets(out=database.at("release"), **settings)
    with pytest.raises(InputError, match=said):
        anonset.publish([["bread", "wine"]] * 4, targets, **({"k": 4} if settings else groups))
    assert names(database) == []


def test_the_table_that_is_read_is_never_replaced(database):
    publish(database, "sales")
    for reading in ({}, {"table": "sales"}, {"query": 'SELECT * FROM "sales"'}):
        source = database.at("sales") if not reading else database.address
        with pytest.raises(InputError, match="must not replace the table that is read"):
            anonset.publish(source, Targets(out=database.at("sales"), force=True), k=2, **reading)
    assert anonset.verify(database.at("sales"), k=4).holds
    anonset.publish(database.at("sales"), Targets(out=database.at("again")), k=4)


def test_a_table_that_may_be_read_without_being_named_is_never_replaced(database):
    database.run("CREATE TABLE sales (receipt int, item text)", "INSERT INTO sales VALUES (1, 'a'), (2, 'a'), (3, 'a')")
    database.run("CREATE VIEW seen AS SELECT * FROM sales")
    ways = [(database.address, {}), (database.at("seen"), {}), (database.address, {"query": "SELECT * FROM seen"})]
    for source, reading in ways:
        for name in ("sales", "SALES") if database.kind != "postgresql" else ("sales",):
            with pytest.raises(InputError, match="must not replace a table of the database that is read"):
                anonset.publish(source, Targets(out=database.at(name), force=True), k=2, **reading)
    assert sorted(database.run("SELECT receipt FROM sales")) == [(1,), (2,), (3,)]


def test_a_release_that_may_be_meant_is_not_replaced_by_itself(database):
    publish(database, "release")
    with pytest.raises(InputError, match="must not replace a table of the database that is read"):
        anonset.publish(database.address, Targets(out=database.at("release"), force=True), k=2)


def test_a_table_that_only_has_the_name_of_a_certificate_is_nobody_elses(database):
    database.run("CREATE TABLE birth_certificate (child text)", "INSERT INTO birth_certificate VALUES ('Ann')")
    for force in (False, True):
        with pytest.raises(InputError, match="has the name of a certificate, and is another table"):
            publish(database, "birth", force=force)
    assert database.run("SELECT child FROM birth_certificate") == [("Ann",)]


def test_two_certificates_are_none(database, capsys):
    publish(database)
    database.run("INSERT INTO release_certificate SELECT certificate, 'x' FROM release_certificate")
    assert command(["verify", database.at("release")]) == 2
    assert "there must be one certificate here" in capsys.readouterr().err


def test_a_release_is_not_taken_for_the_source_of_the_next_run(database):
    database.run("CREATE TABLE sales (receipt int, item text)", "INSERT INTO sales VALUES (1, 'a'), (2, 'a'), (3, 'a')")
    for _ in range(2):
        anonset.publish(database.address, Targets(out=database.at("release"), force=True), k=3)
    assert anonset.read(database.address).ids.to_pylist() == ["1", "2", "3"]


def test_an_address_without_a_table_and_one_that_is_too_long(database):
    with pytest.raises(InputError, match="must name a table"):
        anonset.publish(BASKETS, Targets(out=database.address), k=2)
    with pytest.raises(InputError, match="1 to 51 bytes"):
        publish(database, "x" * 52)
    publish(database, "x" * 51)


def test_a_new_file_is_for_its_owner_only(tmp_path):
    for name in ("new.sqlite", "new.duckdb"):
        anonset.publish(BASKETS, Targets(out=f"{tmp_path}/{name}/release"), k=4)
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
        assert anonset.verify(f"{tmp_path}/{name}/release", k=4).holds
    with pytest.raises(InputError, match="does not exist"):
        anonset.publish(BASKETS, Targets(out=f"{tmp_path}/no/new.sqlite/release"), k=4)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new.duckdb", "new.sqlite"]


def test_marks_survive(database):
    data = anonset.Transactions.from_lists([["a"]] * 10 + [["a", "s"]] * 2, sensitive=["s"])
    anonset.publish(data, Targets(out=database.at("marked")), k=3)
    assert anonset.read(database.at("marked")).sensitive_names() == ["s"]
    assert anonset.verify(database.at("marked"), k=3).holds


def test_a_postgresql_schema_is_named_and_a_view_stands_in_the_way(server):
    name = server.new()
    server.run("CREATE SCHEMA open_data", database=name)
    place = server.address.format(database=name) + "/open_data.release"
    anonset.publish(BASKETS, Targets(out=place), k=4)
    server.run("CREATE VIEW open_data.v AS SELECT * FROM open_data.release", database=name)
    with pytest.raises(OutputError, match="depend"):
        anonset.publish(BASKETS, Targets(out=place, force=True), k=4)
    assert anonset.verify(place, k=4).holds
    with pytest.raises(OutputError, match="nosuch"):
        anonset.publish(BASKETS, Targets(out=server.address.format(database=name) + "/nosuch.t"), k=4)


def test_nothing_that_is_written_or_shown_holds_the_password(server, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    name = server.new()
    place = server.address.format(database=name)
    server.run(
        "CREATE TABLE sales (receipt int, product text)",
        "INSERT INTO sales SELECT i / 2, (ARRAY['a', 'b'])[1 + i % 2] FROM generate_series(0, 19) i",
        database=name,
    )
    beside = ["--ledger", "l.db", "--write-config", "a.toml", "--log", "x.log", "--json"]
    assert command(["anonymize", f"{place}/sales", "-k", "3", "-o", f"{place}/release", *beside]) == 0
    assert command(["run", "a.toml", "--check"]) == 2, "no password in the file, none in the environment"
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert command(["run", "a.toml", "-o", f"{place}/other"]) == 0
    assert command(["ledger", "l.db"]) == 0
    for how in (
        ["-o", f"{place}/release"],
        ["-o", f"{place}x/release"],
        ["--report", f"{place}/x"],
        ["--nosuch", place],
    ):
        command(["anonymize", f"{place}/sales", "-k", "3", *how])
    shown = "".join(capsys.readouterr())
    kept = b"".join(path.read_bytes() for path in Path().iterdir() if path.is_file())
    stored = json.dumps(certificate_of(Address.of(f"{place}/release")))
    for secret in (PASSWORD, PASSWORD.replace("/", "%2F"), "hunter2"):
        assert secret not in shown
        assert secret.encode() not in kept
        assert secret not in stored
    assert "hunter2" not in repr(Targets(out=f"{place}/release"))


@pytest.mark.parametrize("keep", [anonset.Keep(), anonset.Keep(ids=True)], ids=["shuffled", "ids kept"])
def test_the_private_link_of_a_table_finds_everybody_again(database, tmp_path, keep):
    rows = "".join(f"{n},u{n % 7},{item}\n" for n in range(28) for item in ("bread", "tea" if n % 2 else "wine"))
    (tmp_path / "sales.csv").write_text("receipt,user,item\n" + rows)
    original = anonset.read(tmp_path / "sales.csv")
    targets = Targets(out=database.at("release"), link=tmp_path / "link.csv")
    anonset.publish(original, targets, k=4, seed=3, keep=keep)
    link = tmp_path / "link.PRIVATE.csv"
    published = anonset.read(database.at("release"))
    found = anonset.io.read_link(link)
    assert [set(one) for one in published] == [set(original.to_lists()[place]) for place in found.row_origin(original)]
    assert anonset.verify(database.at("release"), k=4, unit="user", link=link).holds
    assert command(["verify", database.at("release"), "--link", str(link), "--quiet"]) == 0
    database.run("UPDATE release SET item = 'wine' WHERE item = 'tea'")
    with pytest.raises(InputError, match="belongs to another one"):
        anonset.verify(database.at("release"), k=2, link=link)
