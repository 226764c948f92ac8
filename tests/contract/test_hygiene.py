"""Nothing that leaves the house says whose it was: every file, answer, note and error of every method is searched.

The data carries marks that nothing else would produce: an id and a user for every transaction, labels that only a
single transaction holds, degrees with many digits. None of them may be found in what is published, in the bytes as they
are stored and in every compressed part of them, nor in what is printed; and the order of the release says nothing.
"""

import gzip
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import spearmanr

import anonset
from anonset import METHODS, MODELS, Result, Transactions
from anonset.cli.base.options import flag
from anonset.cli.base.outcome import run
from anonset.data.transactions import natural_order
from contract.contract import settings
from contract.data import rare_items

SIZE = 240
ID, USER, RARE, DEGREE = "idmark7q", "usermark7q", "raremark7q", "7318264"
ZSTD = b"\x28\xb5\x2f\xfd"

ROWS = ["out.dat", "out.dat.gz", "out.csv", "out.csv.zst", "out.jsonl", "out.parquet", "out.arrow", "out.basket"]
GROUPS = ["csv", "jsonl", "parquet", "arrow"]


@cache
def marked() -> Transactions:
    """Ordinary baskets in an order that has nothing to do with their content, with marks that must not come out."""
    rng = np.random.default_rng(11)
    rows = [[f"item{number}" for number in set(rng.zipf(1.6, 4) % 25)] for _ in range(SIZE)]
    for place in range(0, SIZE, 12):
        rows[place].append(f"{RARE}{place:03d}x")
    names = rng.permutation(SIZE // 4)
    data = Transactions.from_lists(rows, users=[f"{USER}{names[place % (SIZE // 4)]:03d}x" for place in range(SIZE)])
    ids = pa.array([f"{ID}{number:03d}x" for number in rng.permutation(SIZE)])
    degrees = np.array([float(f"0.{DEGREE}{number:06d}") for number in rng.integers(10**6, size=data.nnz)])
    degrees[rng.random(data.nnz) < 0.9] = 0
    return replace(data, ids=ids, sensitivity=degrees, sensitive=rare_items(data))


@cache
def released(method: str) -> Result:
    """Every method at its weakest, so that as much as possible is left to be found."""
    spec = METHODS[method]
    values = settings(spec, marked(), optional=False)
    return anonset.anonymize(marked(), method=method, seed=5, **values)


def secrets(result: Result) -> set[str]:
    """What must not be found: ids, users, degrees, and labels of the original that are not published."""
    published = set(result.release.transactions.labels.to_pylist())
    return {ID, USER, DEGREE, *(set(marked().labels.to_pylist()) - published)}


def everything_in(path: Path) -> bytes:
    """A file as it is stored, with every compressed part of it unpacked, and what a reader is told about it."""
    raw = path.read_bytes()
    parts = [raw, path.name.encode()]
    if raw.startswith(b"\x1f\x8b"):
        assert raw[3] == 0, "no name, no comment and nothing else in the head of a gzip file"
        assert raw[4:8] == b"\0\0\0\0", "no time either"
        parts.append(gzip.decompress(raw))
    parts += [_frame(raw[match.start() :]) for match in re.finditer(re.escape(ZSTD), raw)]
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        parts += [str(file.metadata.to_dict()).encode(), str(file.schema_arrow.metadata).encode()]
        parts.append(str(file.read().to_pydict()).encode())
    if path.suffix == ".arrow":
        with pa.ipc.open_file(path) as file:
            parts += [str(file.schema.metadata).encode(), str(file.read_all().to_pydict()).encode()]
    return b"\n".join(parts)


def _frame(data: bytes) -> bytes:
    """The content of the frame that begins here; whatever comes after it is another matter."""
    content = b""
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        while True:
            try:
                block = stream.read(256)
            except OSError:
                return content
            if not block:
                return content
            content += block


def found(content: bytes, words: set[str]) -> list[str]:
    """The words that occur; `item1` does not occur in `item12`."""
    return [word for word in words if re.search(re.escape(word.encode()) + rb"(?![0-9a-z])", content)] if words else []


def marks_in(content: bytes, result: Result) -> list[str]:
    fixed = [mark for mark in (ID, USER, DEGREE) if mark.encode() in content]
    return fixed + found(content, secrets(result) - {ID, USER, DEGREE})


# --- files -----------------------------------------------------------------------------------------------------


def places(method: str) -> list[str]:
    """The formats that can hold what the method publishes."""
    model = MODELS[METHODS[method].model]
    if model.form == "groups":
        return GROUPS
    if "counts" in model.publishes:
        return [name for name in ROWS if ".csv" in name]
    return [name for name in ROWS if ".csv" in name or "jsonl" in name or not model.protects_users]


CASES = [(method, place) for method in METHODS for place in places(method)]


def publish(result: Result, folder: Path, place: str) -> None:
    grouped = result.release.form == "groups"
    target = folder / ("out" if grouped else place)
    options = {"method": result.method, "params": result.params, "notes": result.public_notes}
    anonset.write(result.release, result.verdict, target, format=place if grouped else None, **options)


@pytest.mark.parametrize(("method", "place"), CASES, ids=lambda part: part)
def test_no_published_file_holds_ids_users_degrees_or_labels_that_are_not_published(tmp_path, method, place):
    result = released(method)
    publish(result, tmp_path, place)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) >= 2
    for path in files:
        assert marks_in(everything_in(path), result) == [], path.name


def test_the_search_finds_what_is_there(tmp_path):
    """The counter-check: with everything kept, each mark is found in each kind of file."""
    data = replace(marked(), sensitivity=None, sensitive=None)
    for name in ("out.csv", "out.csv.zst", "out.csv.gz", "out.jsonl", "out.parquet", "out.arrow"):
        anonset.convert(data, tmp_path / name)
        content = everything_in(tmp_path / name)
        assert all(mark.encode() in content for mark in (ID, USER, RARE)), name


@pytest.mark.parametrize("method", METHODS)
def test_reports_hold_no_ids_and_no_users_and_public_ones_nothing_unpublished(tmp_path, method):
    result = released(method)
    for public in (False, True):
        path = anonset.write_report(result, marked(), tmp_path / f"{public}.json", public=public)
        content = path.read_bytes()
        assert [mark for mark in (ID, USER) if mark.encode() in content] == []
        assert not public or marks_in(content, result) == []


# --- order -----------------------------------------------------------------------------------------------------


def within_chance(some, others) -> bool:
    """Whether a rank correlation is what unrelated ranks give, but for one case in fifty thousand."""
    if len(some) < 10 or len(set(some)) < 2 or len(set(others)) < 2:
        return True
    return abs(spearmanr(some, others).statistic) < 4.3 / np.sqrt(len(some) - 1)


@pytest.mark.parametrize("method", METHODS)
def test_the_order_says_nothing_about_the_original_order(method):
    result = released(method)
    origin = result.row_origin
    real = np.flatnonzero(origin >= 0)
    assert len(real) > 50
    assert within_chance(real, origin[real])
    steps = np.flatnonzero(np.diff(origin[real]) == 1)
    assert len(steps) < 12, "neighbours stay neighbours about as often as chance has it: once"


@pytest.mark.parametrize("method", METHODS)
def test_among_equal_transactions_the_order_says_nothing_either(method):
    result = released(method)
    release, origin = result.release, result.row_origin
    keys = [tuple(row) for row in release.transactions.to_lists()]
    keys = keys if release.groups is None else list(zip(release.groups.tolist(), keys, strict=True))
    places: dict[object, list[int]] = {}
    for key, source in zip(keys, origin.tolist(), strict=True):
        if source >= 0:
            places.setdefault(key, []).append(source)
    rises = [one < other for same in places.values() for one, other in zip(same[::2], same[1::2], strict=False)]
    spread = 4.3 * np.sqrt(max(len(rises), 1)) / 2
    assert abs(sum(rises) - len(rises) / 2) <= spread


@pytest.mark.parametrize("method", METHODS)
def test_numbers_of_groups_and_pseudonyms_say_nothing_about_who_came_first(method):
    result = released(method)
    origin = result.row_origin
    if result.release.groups is not None:
        numbers = result.release.groups
        middle = [origin[(numbers == number) & (origin >= 0)].mean() for number in np.unique(numbers)]
        assert within_chance(np.unique(numbers), middle)
    data = result.release.transactions
    if data.users is not None:
        real = origin >= 0
        names = [int(str(label)[1:]) for label in data.user_labels.take(pa.array(data.users[real])).to_pylist()]
        first = {}
        for name, source in zip(names, origin[real].tolist(), strict=True):
            first.setdefault(name, marked().users[source])
        assert within_chance(list(first), list(first.values()))


@pytest.mark.parametrize("method", [method for method in METHODS if len(places(method)) > 2])
def test_items_and_vocabulary_are_in_an_order_that_anybody_can_make(tmp_path, method):
    """Neither the items of a transaction nor the dictionary of a file follow the order of the source."""
    result = released(method)
    publish(result, tmp_path, "arrow" if result.release.form == "groups" else "out.arrow")
    (path,) = [*tmp_path.rglob("transactions.arrow"), *tmp_path.rglob("out.arrow")]
    table = pa.ipc.open_file(path).read_all()
    for labels in table["items"].to_pylist():
        assert in_natural_order(labels)
    values = table["items"].combine_chunks().flatten()
    if pa.types.is_dictionary(values.type):
        assert in_natural_order(values.dictionary.to_pylist())
        assert set(values.dictionary.to_pylist()) <= set(result.release.transactions.labels.to_pylist())


def in_natural_order(labels: list[str]) -> bool:
    return natural_order(pa.array(labels, type=pa.string())).tolist() == list(range(len(labels)))


def test_without_a_seed_every_release_is_shuffled_anew():
    rows = [["a"]] * 100
    orders = {tuple(anonset.anonymize(rows, k=2).row_origin.tolist()) for _ in range(3)}
    assert len(orders) == 3


# --- what is printed -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    folder = tmp_path_factory.mktemp("marked")
    anonset.convert(marked(), folder / "data.csv")
    return folder


def options(method: str) -> list[str]:
    given = settings(METHODS[method], marked(), optional=False)
    return [word for name, value in given.items() for word in (flag(name), str(value))]


@pytest.mark.parametrize("form", [[], ["--json"]], ids=["text", "json"])
@pytest.mark.parametrize("method", METHODS)
def test_what_a_command_prints_holds_none_of_it(capsys, source, tmp_path, method, form):
    arguments = ["--method", method, "--seed", "5", *options(method), *form]
    grouped = MODELS[METHODS[method].model].form == "groups"
    target = tmp_path / ("out" if grouped else "out.csv")
    command = ["anonymize", str(source / "data.csv"), "-o", str(target), *arguments]
    everything = ["--force", "--accept", "singling-out,linkability,inference,loss"]
    for anyway, codes in (([], (0, 4)), (everything, (0,))):
        assert run([*command, *anyway]) in codes
        printed = capsys.readouterr()
        content = (printed.out + printed.err).encode()
        assert [mark for mark in (ID, USER, RARE, DEGREE) if mark.encode() in content] == []
    assert run(["verify", str(target), *form]) in (0, 3)
    printed = capsys.readouterr()
    assert [mark for mark in (ID, USER, DEGREE) if mark in printed.out + printed.err] == []


LINE = f"{ID}001x,{USER}001x,{RARE}001x"
GOOD = f"transaction,user,item,sensitivity\n{LINE},0.5\n{ID}002x,{USER}002x,{RARE}002x,0.5\n"
BROKEN = {
    "a field too many": (GOOD + LINE + ",0.1,surplus\n", ["info"]),
    "a field too few": (GOOD + f"{ID}003x\n", ["info"]),
    "no transaction": (GOOD + f",{USER}003x,{RARE}003x,0.5\n", ["info"]),
    "no item": (GOOD + f"{ID}003x,{USER}003x,,0.5\n", ["info"]),
    "a degree that is none": (GOOD + f"{LINE}3,{USER}\n", ["info"]),
    "a degree out of range": (GOOD + f"{LINE}3,7.5\n", ["info"]),
    "an open quote": (GOOD + f'"{LINE},0.5\n', ["info"]),
    "no text": (GOOD.encode() + f"{ID}\xff{USER}".encode("latin-1") + b",x,y,0.5\n", ["info", "--encoding", "utf-8"]),
    "two users of one transaction": (GOOD + f"{ID}001x,{USER}009x,{RARE}009x,0.5\n", ["info"]),
    "k too large": (GOOD, ["anonymize", "-k", "5000"]),
    "p too large": (GOOD, ["anonymize", "--method", "cahd-gray", "-p", "4", "--sensitive", f"{RARE}001x"]),
    "no such column": (GOOD, ["info", "--item", "product"]),
    "not held": (GOOD, ["verify", "-k", "2", "--quiet"]),
    "a hierarchy of other items": (GOOD, ["anonymize", "--method", "km-apriori", "-k", "2", "--hierarchy", "TREE"]),
    "a query that fails": (GOOD, ["info", "--query", "SELECT CAST(item AS INTEGER) AS item FROM data"]),
}


@pytest.mark.parametrize(("content", "command"), BROKEN.values(), ids=BROKEN)
def test_no_error_quotes_a_transaction(capsys, tmp_path, content, command):
    path, tree = tmp_path / "data.csv", tmp_path / "tree.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    tree.write_text("item,level1\nbread,food\nwine,drinks\n")
    # Names of the vocabulary are said where somebody has to mend a file of names; never with whose they are.
    given = {f"{RARE}001x", f"{RARE}002x"} if "--sensitive" in command or "TREE" in command else set()
    code = run([command[0], str(path), *(str(tree) if word == "TREE" else word for word in command[1:])])
    printed = capsys.readouterr()
    assert code in (2, 3), printed.out + printed.err
    said = printed.out + printed.err
    assert ID not in said
    assert USER not in said
    assert set(re.findall(rf"{RARE}\w*", said)) <= given


# --- what the owner keeps --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("method", "form"), [("pta", "text"), ("cahd-blind", "json")])
def test_what_stays_with_the_owner_holds_no_more_than_it_must(capsys, source, tmp_path, method, form):
    """Of dossier, report, log, ledger, project file and link only the link knows whose transactions they are."""
    out = tmp_path / ("out" if method == "cahd-blind" else "out.csv")
    names = ("page.html", "report.json", "link.csv", "book", "log", "again.toml")
    beside = {name: str(tmp_path / name) for name in names}
    command = ["anonymize", str(source / "data.csv"), "-o", str(out), "--method", method, *options(method)]
    command += ["--dossier", beside["page.html"], "--report", beside["report.json"], "--link", beside["link.csv"]]
    command += ["--ledger", beside["book"], "--log", beside["log"], "--log-format", form]
    command += ["--write-config", beside["again.toml"], "--unit", "transaction", "--seed", "5"]
    assert run([*command, "--accept", "singling-out,linkability,inference,loss"]) == 0
    assert run(["ledger", beside["book"]]) == 0
    printed = capsys.readouterr()
    assert not marks(printed.out + printed.err)
    link = tmp_path / "link.PRIVATE.csv"
    found = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and path not in (out, link)}
    assert {"page.PRIVATE.html", "report.PRIVATE.json", "book", "log", "again.toml"} <= set(found)
    for name, content in found.items():
        assert not marks(content.decode(errors="replace"), () if name in VOCABULARY else (RARE, DEGREE)), name
    assert all(mark in link.read_text() for mark in (ID, USER))
    assert not any(mark in link.read_text() for mark in (RARE, DEGREE))
    private = [path for path in (link, *map(tmp_path.joinpath, found)) if not path.name.startswith("out")]
    assert {path.stat().st_mode & 0o777 for path in private} == {0o600}


VOCABULARY = ("page.PRIVATE.html", "report.PRIVATE.json")
"""What may name items of the original. (A ledger does where it keeps the cut of the first batch.)"""


def marks(text: str, more: tuple[str, ...] = (RARE, DEGREE)) -> list[str]:
    return [mark for mark in (ID, USER, *more) if mark in text]
