"""`query=` reads the files that it names, and does nothing else whatever is in it."""

import pytest

from anonset import InputError, ParameterError, read

LONG = "transaction,item\n007,a\n007,b\n08,a\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text(LONG)
    (tmp_path / "secret.csv").write_text("password\nhunter2\n")
    return tmp_path


def content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


WRITING = {
    "COPY": "COPY (SELECT 1) TO 'out.csv'",
    "COPY in a WITH": "WITH x AS (COPY (SELECT 'gone' AS item) TO 'sales.csv') SELECT * FROM x",
    "COPY two levels down": "SELECT * FROM (WITH x AS (COPY (SELECT 1) TO 'out.csv') SELECT * FROM x) y",
    "COPY in a subquery of WHERE": "SELECT * FROM 'sales.csv' WHERE item IN "
    "(WITH x AS (COPY (SELECT 1) TO 'out.csv') SELECT 'a')",
    "COPY in a UNION": "SELECT 1 UNION ALL (WITH x AS (COPY (SELECT 1) TO 'out.csv') SELECT 1)",
    "INSERT": "INSERT INTO t VALUES (1)",
    "INSERT in a WITH": "WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT * FROM x",
    "UPDATE in a WITH": "WITH x AS (UPDATE t SET a = 1 RETURNING *) SELECT * FROM x",
    "DELETE in a WITH": "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
    "ATTACH": "ATTACH 'new.db'",
    "INSTALL": "INSTALL httpfs",
    "LOAD": "LOAD httpfs",
    "SET": "SET enable_external_access = true",
    "EXPORT": "EXPORT DATABASE 'out'",
    "PRAGMA": "PRAGMA database_list",
    "CREATE": "CREATE TABLE t AS SELECT 1",
    "CALL": "CALL pragma_version()",
    "two statements": "SELECT 1; COPY (SELECT 1) TO 'out.csv'",
    "a query in a text": "SELECT * FROM query('COPY (SELECT 1) TO ''out.csv''')",
    "settings": "SELECT * FROM duckdb_settings()",
    "DESCRIBE": "DESCRIBE SELECT 1",
}


@pytest.mark.parametrize("query", WRITING.values(), ids=WRITING.keys())
def test_whatever_does_more_than_read_is_refused_and_no_file_changes(folder, query):
    before = content(folder)
    with pytest.raises(ParameterError, match="'query' must"):
        read(None, query=query)
    assert content(folder) == before


@pytest.mark.parametrize(
    "query",
    [
        "SELECT * FROM read_text('secret.csv')",
        "SELECT * FROM read_blob('secret.csv')",
        "SELECT * FROM glob('*')",
        "SELECT * FROM read_csv('sec' || 'ret.csv')",
        "SELECT * FROM read_csv(['sales.csv', lower('SECRET.CSV')])",
        "SELECT * FROM 'https://example.org/sales.csv'",
        "SELECT * FROM read_parquet('s3://bucket/file')",
        "SELECT getenv('HOME') AS item, 1 AS transaction",
    ],
)
def test_files_that_are_not_named_stay_closed(folder, query):
    with pytest.raises(InputError) as caught:
        read(None, query=query)
    assert "hunter2" not in str(caught.value)


def test_words_of_writing_as_names_and_texts_do_no_harm(folder):
    (folder / "odd.csv").write_text('transaction,item,"copy","set"\n1,a,insert,delete\n')
    query = "SELECT transaction, item, \"copy\" FROM 'odd.csv' WHERE \"set\" = 'delete' AND \"copy\" <> 'ATTACH'"
    assert read(None, query=query).to_lists() == [["a"]]


def test_delimited_files_are_text_so_that_ids_keep_their_zeros(folder):
    data = read(None, query="SELECT * FROM 'sales.csv'")
    assert data.ids.to_pylist() == ["007", "08"]
    assert read("sales.csv", query="SELECT * FROM data").ids.to_pylist() == ["007", "08"]


def test_a_date_that_changes_its_form_late_kills_nothing(folder):
    early = "".join(f"{n},a,0{n % 9 + 1}/0{n % 9 + 1}/2021\n" for n in range(30_000))
    (folder / "dates.csv").write_text("transaction,item,day\n" + early + "late,b,12/31/2021\n")
    assert len(read(None, query="SELECT * FROM 'dates.csv' WHERE day <> ''")) == 30_001


def test_patterns_lists_joins_and_common_tables_work(folder):
    (folder / "more.csv").write_text("transaction,item\n9,c\n")
    query = """WITH all_of AS (SELECT * FROM read_csv(['sales.csv', 'more.csv'], all_varchar=true)),
               kept AS (SELECT * FROM all_of WHERE item IN (SELECT unnest(['a', 'c'])))
               SELECT * FROM kept UNION ALL SELECT * FROM "m*re.csv" """
    assert read(None, query=query).to_lists() == [["a"], ["a"], ["c"]]


def test_numbers_can_be_compared_although_cells_are_text(folder):
    (folder / "years.csv").write_text("transaction,item,year\n1,a,2024\n2,b,2025\n")
    assert read(None, query="SELECT * FROM 'years.csv' WHERE year >= 2025").to_lists() == [["b"]]


def test_errors_say_the_line_of_the_query_and_quote_no_data(folder):
    with pytest.raises(InputError, match="line 2 of the query") as caught:
        read(None, query="SELECT transaction,\n itm AS item FROM 'sales.csv'")
    assert "itm" in str(caught.value)
    with pytest.raises(InputError, match="cannot be converted") as caught:
        read(None, query="SELECT CAST(password AS INTEGER) AS item, 1 AS transaction FROM 'secret.csv'")
    assert "hunter2" not in str(caught.value)


def test_a_query_reads_standard_input(folder, monkeypatch):
    with (folder / "sales.csv").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert read("-", query="SELECT * FROM data WHERE item = 'b'").ids.to_pylist() == ["007"]


def test_a_second_statement_is_called_one():
    with pytest.raises(ParameterError, match="Got a further statement behind it"):
        read(None, query="SELECT 1 AS receipt, 'a' AS item; DROP TABLE x")
