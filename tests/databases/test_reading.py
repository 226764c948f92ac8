"""Tables of databases are read like files: the same transactions, in the same order, whatever the server does."""

import pytest

import anonset
from anonset import InputError, ParameterError
from anonset.cli.base.outcome import run as command
from anonset.data.address import Address
from tests.databases.conftest import PASSWORD

ROWS = [(2, "bread", "007"), (1, "milk", "008"), (10, "tea", "007"), (2, "wine", "007"), (1, "bread", "008")]
TABLE = "CREATE TABLE receipts (receipt_no int, product text, customer text, price double precision)"


def filled(database, *more):
    values = ", ".join(f"({one}, '{item}', '{who}', 1.5)" for one, item, who in ROWS)
    database.run(TABLE, f"INSERT INTO receipts VALUES {values}", *more)
    return database.address


def sets(data):
    return [tuple(sorted(one)) for one in data]


def test_a_database_with_one_table_opens_without_an_option(database):
    data = anonset.read(filled(database))
    assert data.ids.to_pylist() == ["1", "2", "10"], "by their ids: rows of a table have no order"
    assert sets(data) == [("bread", "milk"), ("bread", "wine"), ("tea",)]
    assert data.user_labels.take(data.users).to_pylist() == ["008", "007", "007"], "leading zeros stay"
    assert data.unread == ("price",)


def test_the_order_of_rows_changes_nothing(database):
    filled(database, "CREATE TABLE again AS SELECT * FROM receipts ORDER BY product DESC")
    one, other = anonset.read(database.at("receipts")), anonset.read(database.at("again"))
    assert one.same_sets(other)
    assert one.labels.equals(other.labels)
    assert [*one.items] == [*other.items]


def test_a_query_chooses_and_columns_that_play_no_part_are_dropped(database):
    filled(database)
    data = anonset.read(database.address, query="SELECT receipt_no, product FROM receipts WHERE product <> 'tea';")
    assert len(data) == 2
    assert anonset.read(database.at("receipts"), drop="price,customer").users is None


def test_of_several_tables_the_one_that_holds_transactions_is_read_and_that_is_said(database):
    filled(database, "CREATE TABLE stores (name text, city text)")
    assert any("receipts was read, not stores" in note for note in anonset.read(database.address).notes)


def test_where_several_tables_could_be_meant_they_are_named(database):
    filled(database, "CREATE TABLE orders (order_id int, item text)")
    with pytest.raises(InputError, match=r"several tables: orders, receipts. Name it: table=orders"):
        anonset.read(database.address)
    assert len(anonset.read(database.address, table="receipts")) == 3
    with pytest.raises(ParameterError, match="Did you mean receipts"):
        anonset.read(database.address, table="receipt")


def test_an_empty_table_and_a_database_without_tables(database):
    with pytest.raises(InputError, match="holds no table"):
        anonset.read(database.address)
    database.run(TABLE)
    assert len(anonset.read(database.address)) == 0


def test_columns_that_begin_with_nothing_are_texts_all_the_same(database):
    database.run(TABLE)
    rows = ", ".join(["(1, 'a', NULL, 1)"] * 3000 + ["(2, 'b', 'x', 1)"])
    database.run(f"INSERT INTO receipts VALUES {rows}")
    data = anonset.read(database.address)
    assert (len(data), data.labels.to_pylist()) == (2, ["a", "b"])
    assert "x" in data.user_labels.to_pylist()


@pytest.mark.parametrize(
    "query",
    [
        "DROP TABLE receipts",
        "DELETE FROM receipts",
        "SELECT 1; DROP TABLE receipts",
        "SELECT 1) AS q; DROP TABLE receipts; --",
        "WITH x AS (DELETE FROM receipts RETURNING *) SELECT * FROM x",
        "UPDATE receipts SET product = 'x' RETURNING *",
        "COPY receipts TO '/tmp/anonset-must-not-be-there'",
        "ATTACH 'anonset-must-not-be-there.db' AS y",
        "SELECT * FROM nosuch",
        "SELECT product FROM receipts WHERE",
    ],
)
def test_a_query_only_reads(database, query, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    filled(database)
    with pytest.raises(InputError) as caught:
        anonset.read(database.address, query=query, transaction="receipt_no", item="product")
    assert "hunter2" not in str(caught.value)
    assert database.run("SELECT count(*) FROM receipts")[0][0] == len(ROWS)
    assert not [path for path in tmp_path.iterdir() if "must-not" in path.name]


def test_functions_that_change_something_are_refused_by_the_read_only_transaction(server):
    name = server.new()
    server.run("CREATE SEQUENCE numbers", database=name)
    with pytest.raises(InputError, match="read-only transaction"):
        anonset.read(server.address.format(database=name), query="SELECT nextval('numbers') AS receipt, 'a' AS item")


def test_a_value_that_does_not_fit_is_not_quoted(database):
    filled(database)
    query = "SELECT receipt_no, CAST(product AS int) AS product FROM receipts"
    if database.kind == "sqlite":
        pytest.skip("SQLite casts anything")
    with pytest.raises(InputError, match="does not have the type that is asked for") as caught:
        anonset.read(database.address, query=query)
    assert not any(product in str(caught.value) for _, product, _ in ROWS)


def test_postgresql_types_arrive_as_people_see_them(server):
    name = server.new()
    server.run(
        "CREATE TABLE t (id uuid, item numeric(8,2), customer date)",
        "INSERT INTO t VALUES ('f13b2299-849c-4f1f-a0ff-bcba481a4a24', 1.50, '2024-03-01')",
        "CREATE TABLE lists (order_id bigint, items text[])",
        "INSERT INTO lists VALUES (2, ARRAY['a', 'b']), (1, ARRAY['c'])",
        database=name,
    )
    data = anonset.read(server.address.format(database=name), table="t", transaction="id")
    assert (data.ids.to_pylist(), data.labels.to_pylist(), data.user_labels.to_pylist()) == (
        ["f13b2299-849c-4f1f-a0ff-bcba481a4a24"], ["1.50"], ["2024-03-01"],
    )  # fmt: skip
    assert sets(anonset.read(server.address.format(database=name), table="lists")) == [("c",), ("a", "b")]


@pytest.mark.parametrize("spoilt", ["127.0.0.1:1", "nosuch.invalid", "127.0.0.1:{port}/nosuch"])
def test_no_password_is_ever_said(server, spoilt, capsys):
    port = server.address.split(":")[3].split("/")[0]
    login = server.address.split("@")[0]
    for place in (f"{login}@{spoilt.format(port=port)}/shop/t", f"{login}x@127.0.0.1:{port}/postgres/t"):
        assert command(["info", place, "--json"]) == 2
        said = "".join(capsys.readouterr())
        assert "hunter2" not in said
        assert "127.0.0.1" in said or "nosuch.invalid" in said


def test_passwords_come_from_the_environment_and_from_the_password_file(server, monkeypatch, tmp_path):
    name = server.new()
    server.run(TABLE, database=name)
    place = server.address.format(database=name).replace(":" + PASSWORD.replace("/", "%2F"), "")
    with pytest.raises(InputError, match="password"):
        anonset.read(place)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    assert len(anonset.read(place)) == 0
    monkeypatch.delenv("PGPASSWORD")
    word = tmp_path / "pgpass"
    word.write_text(f"127.0.0.1:*:*:tester:{PASSWORD}\n")
    word.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(word))
    assert len(anonset.read(place)) == 0


@pytest.mark.parametrize(
    ("text", "shown", "table", "secret"),
    [
        ("postgresql://ann:pw@db:5433/shop/s.t", "postgresql://ann@db:5433/shop/s.t", "s.t", "pw"),
        ("postgres://db/shop?password=pw&sslmode=require", "postgresql://db/shop?sslmode=require", None, "pw"),
        ("postgresql://a%40b:p%40w@[::1]/shop", "postgresql://a%40b@[::1]/shop", None, "p@w"),
        ("postgresql:///shop/t", "postgresql:///shop/t", "t", None),
    ],
)
def test_an_address_shows_everything_but_its_password(text, shown, table, secret):
    place = Address.of(text)
    assert (place, place.table, place.secret.get("password")) == (shown, table, secret)
    assert place.table is None or Address.of(place.of_table(place.table)) == place
    assert Address.of(place) is place


def test_two_columns_of_one_name_are_refused(database):
    filled(database)
    with pytest.raises(InputError):
        anonset.read(database.address, query="SELECT product, product FROM receipts")


def test_the_memory_limit_knows_the_size_of_a_table(database, capsys):
    filled(database)
    copies = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)"
    database.run(f"INSERT INTO receipts {copies} SELECT i, 'a', 'b', 1 FROM n")
    if database.kind == "postgresql":
        database.run("ANALYZE receipts")
    assert command(["anonymize", database.address, "-k", "2", "--memory-limit", "190M"]) == 2
    assert "4,005 rows" in capsys.readouterr().err
