"""On Spark the same methods make the same releases, and no less is checked."""

import json
import os
import signal
import subprocess
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import anonset
from anonset.data.errors import GuaranteeError, InfeasibleError, InputError, OutputError, ParameterError
from anonset.data.release import Verdict, Witness
from anonset.data.transactions import Transactions
from anonset.generate import generate_quest, generate_supermarket
from anonset.methods.steps.order.gray import gray_keys

pytest.importorskip("pyspark", reason="needs the extra 'spark'")
from anonset.engines.spark import anonymize, checks, placing
from anonset.engines.spark.ranges import find_ranges, joined, place

pytestmark = [pytest.mark.timeout(600), pytest.mark.xdist_group("spark")]
slow = pytest.mark.slow  # what differs from its sibling in a name only


@pytest.fixture(scope="module")
def listed(tmp_path_factory):
    """Transactions as a Parquet folder of two files."""
    folder = tmp_path_factory.mktemp("listed") / "sales"
    folder.mkdir()
    rows = generate_quest(3000, items=200, patterns=80, seed=1).to_lists()
    for number, part in enumerate((rows[:1000], rows[1000:])):
        pq.write_table(pa.table({"items": pa.array(part, type=pa.list_(pa.string()))}), folder / f"{number}.parquet")
    return folder


@pytest.fixture(scope="module")
def quest(listed):
    return anonset.read(str(listed))


def sets(folder):
    """What a release in rows holds, each set as often as it stands there."""
    table = pq.read_table(folder)
    columns = [table[name].to_pylist() for name in table.column_names]
    return Counter(tuple(tuple(sorted(part)) for part in row) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("method", [pytest.param("gsc", marks=slow), pytest.param("pta", marks=slow), "crowd"])
def test_one_range_is_what_one_machine_does(spark, listed, quest, tmp_path, method):
    result = anonymize(listed, str(tmp_path / "out"), method=method, k=5, seed=3)
    here = anonset.anonymize(quest, method=method, k=5, seed=3)
    assert sets(tmp_path / "out") == Counter((tuple(sorted(row)),) for row in here.release.transactions.to_lists())
    assert result.verdict.measured == here.verdict.measured
    assert result.measurements["information_loss"] == here.measurements["information_loss"]
    assert result.ranges == 1


def test_several_ranges_keep_k_over_all_and_each_is_what_one_machine_does_with_it(spark, listed, quest, tmp_path):
    result = anonymize(listed, str(tmp_path / "out"), method="pta", k=7, seed=3, range_size=1000)
    assert result.ranges > 1
    found = anonset.verify(str(tmp_path / "out"), k=7)
    assert found.holds
    assert found.measured == result.verdict.measured

    keys = gray_keys(quest).cast(pa.binary())
    frame = spark.createDataFrame(pa.table({"key": keys}))
    ranges = find_ranges(frame, 1000, 1)
    numbers = place(keys, ranges.starts)
    assert np.bincount(numbers).tolist() == ranges.sizes.tolist()
    expected = Counter()
    for number in range(len(ranges)):
        part = quest.take(np.flatnonzero(numbers == number))
        release = anonset.anonymize(part, method="pta", k=7, seed=3, item_order="frequency").release
        expected.update((tuple(sorted(row)),) for row in release.transactions.to_lists())
    assert sum((sets(tmp_path / "out") & expected).values()) >= 0.95 * len(quest)  # ties of frequency inside a range


def test_ranges_are_exact_and_hold_all_equal_transactions(spark):
    chance = np.random.default_rng(5)
    words = [bytes(chance.integers(97, 100, size=chance.integers(0, 6)).astype(np.uint8)) for _ in range(4000)]
    words += [b"same"] * 3000
    ranges = find_ranges(spark.createDataFrame(pa.table({"key": pa.array(words, pa.binary())})), 500, 1)
    numbers = place(pa.array(words, pa.binary()), ranges.starts)
    assert np.bincount(numbers, minlength=len(ranges)).tolist() == ranges.sizes.tolist()
    assert list(ranges.starts) == sorted(ranges.starts)
    assert len({number for number, word in zip(numbers, words, strict=True) if word == b"same"}) == 1
    assert len(ranges) > 5


def test_ranges_that_are_too_small_join_their_neighbours(spark):
    frame = spark.createDataFrame(pa.table({"key": pa.array([b"a", b"b", b"c", b"d", b"e"] * 10, pa.binary())}))
    ranges = find_ranges(frame, 10, 1)
    both = joined(ranges, lambda first, last: ranges.sizes[first:last].sum() >= 20)
    assert both.sizes.tolist() == [20, 30]


def test_the_same_seed_gives_the_same_rows_in_the_same_order_and_another_seed_another_order(spark, listed, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        anonymize(listed, str(tmp_path / name), method="gsc", k=5, seed=seed, range_size=1000)
    first, again, other = (pq.read_table(tmp_path / name) for name in "abc")
    assert first.equals(again)
    assert not first.equals(other)
    assert sets(tmp_path / "a") == sets(tmp_path / "c")  # only the order differs


def test_an_executor_that_is_killed_changes_nothing(spark, listed, tmp_path):
    before = anonymize(listed, str(tmp_path / "a"), method="crowd", k=5, seed=3, range_size=1000)
    executors = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True).stdout
    own = [int(number) for number in executors.split() if _descends(int(number), os.getpid())]
    assert len(own) == 2
    killer = threading.Timer(1.5, os.kill, (own[0], signal.SIGKILL))
    killer.start()
    after = anonymize(listed, str(tmp_path / "b"), method="crowd", k=5, seed=3, range_size=1000)
    killer.join()
    assert pq.read_table(tmp_path / "a").equals(pq.read_table(tmp_path / "b"))  # bytes of Parquet footers may differ
    assert before.verdict.measured == after.verdict.measured


def _descends(process, ancestor):
    while process > 1 and process != ancestor:
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return process == ancestor


def test_skew_empty_and_long_transactions(spark, tmp_path):
    rows = [["bread"]] * 20_000 + [[]] * 30 + [[f"i{n}" for n in range(5000)]] + [["bread", "wine"]] * 40
    source = tmp_path / "skew.parquet"
    pq.write_table(pa.table({"items": pa.array(rows, type=pa.list_(pa.string()))}), source)
    result = anonymize(source, str(tmp_path / "out"), method="gsc", k=5, seed=1, range_size=1000)
    assert result.transactions == len(rows)
    assert anonset.verify(str(tmp_path / "out"), k=5).holds


def test_too_few_transactions_are_refused_with_their_number(spark, tmp_path):
    source = tmp_path / "few.parquet"
    pq.write_table(pa.table({"items": [["a"], ["b"]]}), source)
    with pytest.raises(InfeasibleError, match=r"number of transactions \(2\). Got 5"):
        anonymize(source, str(tmp_path / "out"), k=5)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.parquet"]


def test_long_tables_users_and_persons(spark, tmp_path):
    market = generate_supermarket(transactions=2000, users=150, seed=2).transactions
    lines = _long(market)
    pq.write_table(lines, tmp_path / "sales.parquet")
    result = anonymize(tmp_path / "sales.parquet", str(tmp_path / "out"), k=4, seed=3)
    here = anonset.anonymize(tmp_path / "sales.parquet", k=4, seed=3, format="long")
    assert "counts persons" in result.notes[-1]
    assert result.verdict.persons.measured["k"] >= 4
    assert result.certificate.unit == "user"
    assert anonset.verify(str(tmp_path / "out"), k=4).holds
    assert result.verdict.persons.promise == here.verdict.persons.promise
    with pytest.raises(InfeasibleError, match="different users"):
        anonymize(tmp_path / "sales.parquet", str(tmp_path / "more"), k=500)


def _long(data):
    names = np.array(data.labels.to_pylist(), dtype=object)
    users = np.array(data.user_labels.to_pylist(), dtype=object)
    columns = {
        "receipt": data.rows,
        "product": names[data.items],
        "customer": users[data.users][data.rows],
        "price": np.ones(data.nnz),
    }
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def test_columns_that_are_left_aside_are_said_and_nulls_refused(spark, tmp_path):
    table = pa.table({"order": ["1", "1", "2", None], "sku": ["a", "b", "a", "c"], "price": [1, 2, 3, 4]})
    pq.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="1 row was without a transaction or an item"):
        anonymize(tmp_path / "t.parquet", str(tmp_path / "out"), k=2)
    result = anonymize(tmp_path / "t.parquet", str(tmp_path / "out"), k=2, method="gsc", skip_nulls=True)
    assert result.notes[0] == "Columns left aside: price."
    assert result.transactions == 2


@pytest.mark.parametrize("kind", ["csv", pytest.param("json", marks=slow)])
def test_every_format_is_read_back_with_its_sensitive_items(spark, listed, quest, tmp_path, kind):
    secret = _secrets(quest, 5)
    result = anonymize(
        listed, str(tmp_path / "out"), method="crowd", k=4, diversity=3, sensitive=secret, format=kind, seed=1
    )
    found = anonset.verify(str(tmp_path / "out"), k=4, diversity=3)
    assert found.holds
    assert found.measured == result.verdict.measured
    assert list(result.certificate.sensitive_items) == sorted(secret)


def test_where_sensitive_items_are_named_groups_are_diverse_unless_that_is_off(spark, listed, quest, tmp_path):
    secret = _secrets(quest, 5)
    result = anonymize(listed, str(tmp_path / "out"), k=4, sensitive=secret, seed=1)
    assert result.params["diversity"] == 2
    assert "diversity=2" in result.notes[-1]
    assert anonset.verify(str(tmp_path / "out"), k=4, diversity=2).holds


def _secrets(data, p):
    """Three items that occur, none in more than one of p transactions."""
    counts = data.item_counts
    fitting = np.flatnonzero((counts > 0) & (counts * p <= len(data)))
    return [str(data.labels[int(code)]) for code in fitting[:3]]


@pytest.mark.parametrize("method", [pytest.param("cahd-gray", marks=slow), "cahd-blind"])
def test_groups_keep_the_degree_over_all_ranges(spark, listed, quest, tmp_path, method):
    secret = _secrets(quest, 6)
    result = anonymize(listed, str(tmp_path / "out"), method=method, p=4, sensitive=secret, seed=1, range_size=1000)
    found = anonset.verify(str(tmp_path / "out"), "privacy-degree", p=4)
    assert found.holds
    assert found.measured == result.verdict.measured
    exact = quest.with_sensitive(secret).quasi().to_lists()
    release = anonset.read_release(str(tmp_path / "out"))
    assert Counter(map(tuple, map(sorted, release.transactions.to_lists()))) == Counter(map(tuple, map(sorted, exact)))
    assert int(release.counts.count.sum()) == int(quest.with_sensitive(secret).sensitive_part().nnz)
    with pytest.raises(InfeasibleError, match="'p' must be at most"):
        anonymize(listed, str(tmp_path / "no"), method=method, p=2999, sensitive=secret)


def test_a_failing_check_publishes_nothing(spark, listed, tmp_path, monkeypatch):
    broken = Verdict("k-anonymity", {"k": 5}, "k", False, {"k": 1}, (Witness("one set stands alone"),))
    monkeypatch.setattr(checks, "k_anonymity", lambda *_: broken)
    with pytest.raises(GuaranteeError, match="one set stands alone"):
        anonymize(listed, str(tmp_path / "out"), method="gsc", k=5)
    assert not list(tmp_path.iterdir())


def test_the_check_finds_what_the_models_check_finds(spark):
    rows = [["a", "b"]] * 3 + [["c"]] * 2 + [[]] * 4
    users = ["u", "u", "v", "w", "w", "x", "y", "z", None]
    frame = spark.createDataFrame(pa.table({"items": rows, "user": users}))
    data = Transactions.from_lists(rows)
    model = anonset.model("k-anonymity", k=3)
    release = anonset.Release(data)
    mine = checks.k_anonymity(frame, {"k": 3})
    theirs = model.check(release)
    assert (mine.holds, mine.measured) == (theirs.holds, theirs.measured) == (False, dict(theirs.measured))
    codes = np.array([0, 0, 1, 2, 2, 3, 4, 5, -1], dtype=np.int32)
    persons = model.counting("user").check(release, codes).persons
    assert checks.k_anonymity(frame, {"k": 3}, frame).persons.measured == persons.measured


def test_files_that_are_not_what_was_made_are_refused(spark):
    one = spark.createDataFrame(pa.table({"items": [["a"], ["a"]]}))
    other = spark.createDataFrame(pa.table({"items": [["a"], ["b"]]}))
    checks.require_same(one, one, ["items"])
    with pytest.raises(OutputError, match="not what was written"):
        checks.require_same(one, other, ["items"])


def test_an_object_store_gets_a_new_version_whose_certificate_comes_last(spark, listed, tmp_path, monkeypatch):
    monkeypatch.setattr(placing, "_own", lambda out: None)
    for _ in range(2):
        result = anonymize(listed, f"file://{tmp_path}/store", method="gsc", k=5, seed=1)
        folder = Path(result.out.removeprefix("file://"))
        certificate = json.loads((folder / "certificate.json").read_text())
        assert set(certificate["files"]) == {path.name for path in folder.iterdir() if path.name.startswith("part-")}
    assert len(list((tmp_path / "store").iterdir())) == 2
    monkeypatch.setattr(placing, "_digest", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        anonymize(listed, f"file://{tmp_path}/store", method="gsc", k=5, seed=1)
    assert len(list((tmp_path / "store").iterdir())) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_the_command_line_makes_the_same_release(spark, listed, tmp_path, capsys):
    from anonset.cli.base.outcome import run

    given = ["--engine", "spark", "--method", "gsc", "-k", "5", "--seed", "3", "--json"]
    assert run(["anonymize", str(listed), "-o", str(tmp_path / "out"), *given]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["certificate"]["files"].values()
    assert anonset.verify(str(tmp_path / "out"), k=5).measured == said["measured"]
    assert run(["verify", str(tmp_path / "out"), "-k", "5"]) == 0
    assert run(["anonymize", str(listed), "-o", str(tmp_path / "out"), *given]) == 2
    assert "already" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"method": "kamp"}, "does not run on Spark"),
        ({"range_size": 5, "k": 2}, "range_size"),
        ({"k": 2, "method": "gsc", "item_order": "given"}, "item_order"),
        ({"k": 2, "sensitive": ["nobody"]}, "No item of the data has this name"),
        ({"k": 2, "unit": "user"}, "unit"),
        ({"k": 2, "item": "wrong"}, "item"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(spark, listed, tmp_path, given, said):
    with pytest.raises(ParameterError, match=said):
        anonymize(listed, str(tmp_path / "out"), **given)
    assert not list(tmp_path.iterdir())


def test_a_path_that_is_not_there_is_an_error_of_the_input(spark, tmp_path):
    with pytest.raises(InputError, match="PATH_NOT_FOUND"):
        anonymize(tmp_path / "none.parquet", str(tmp_path / "out"), k=2)
