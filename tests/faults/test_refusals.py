"""Nothing unverified is published: every way around the check is closed."""

import json
import os
import stat
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import anonset
from anonset import ExistsError, GuaranteeError, InputError, OutputError, ParameterError, Transactions
from anonset.data.release import Draft, Release
from anonset.data.spec import MethodSpec
from anonset.io.publish import releases as publish
from anonset.io.publish.plan import require_plan
from anonset.io.publish.releases import release_outputs
from anonset.methods import METHODS

GOOD = Release(Transactions.from_lists([["bread", "wine"], ["bread", "wine"], ["beer"], ["beer"]], sensitive=["wine"]))
BAD = Release(Transactions.from_lists([["bread"], ["bread"], ["beer"], ["ale"]]))
PROMISE = anonset.model("k-anonymity", k=2)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_verdict_that_does_not_hold_is_refused(tmp_path):
    with pytest.raises(GuaranteeError, match="Nothing was published"):
        anonset.write(BAD, PROMISE.check(BAD), tmp_path / "out.dat")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "forge",
    [
        lambda verdict: replace(verdict, holds=True, witnesses=()),
        lambda verdict: PROMISE.check(GOOD),
    ],
    ids=["forged", "of another release"],
)
def test_a_verdict_that_only_claims_to_hold_is_refused(tmp_path, forge):
    with pytest.raises(GuaranteeError, match="Nothing was published"):
        anonset.write(BAD, forge(PROMISE.check(BAD)), tmp_path / "out.dat")
    assert names(tmp_path) == []


@pytest.mark.parametrize("change", [{"measured": {"k": 4, "groups": 2, "below_k": 0}}, {"promise": "all is well"}])
def test_a_verdict_with_other_figures_or_words_is_refused(tmp_path, change):
    with pytest.raises(GuaranteeError, match="does not fit"):
        anonset.write(GOOD, replace(PROMISE.check(GOOD), **change), tmp_path / "out.dat")
    assert names(tmp_path) == []


def test_a_verdict_of_an_unknown_model_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="model"):
        anonset.write(GOOD, replace(PROMISE.check(GOOD), model="trust-me"), tmp_path / "out.dat")
    assert names(tmp_path) == []


@pytest.mark.parametrize("name", ["out.dat", "out.csv", "out.basket.gz", "out.parquet", "out.jsonl"])
def test_tampering_after_the_write_is_caught_by_reading_back(tmp_path, monkeypatch, name):
    flush = publish.flush
    other = Release(Transactions.from_lists([["bread"], ["bread"], ["beer"], ["beer"]]))

    def tamper(path):
        with path.open("wb") as file:
            publish.write_to(file, other.transactions, publish.format_of(name))
        flush(path)

    monkeypatch.setattr(publish, "flush", tamper)
    with pytest.raises(OutputError, match="not what was written"):
        anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / name)
    assert names(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"\xff\xfe\x00garbage\x00", b"bread wine\nbread"])
def test_a_damaged_file_is_caught_by_reading_back(tmp_path, monkeypatch, content):
    monkeypatch.setattr(publish, "flush", lambda path: path.write_bytes(content))
    with pytest.raises(OutputError, match="Nothing was published"):
        anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat")
    assert names(tmp_path) == []


def test_tampering_after_reading_back_is_caught_too(tmp_path, monkeypatch):
    check = publish.check_again

    def check_and_tamper(path, *others):
        check(path, *others)
        path.write_bytes(path.read_bytes() + b"bread\n")

    monkeypatch.setattr(publish, "check_again", check_and_tamper)
    with pytest.raises(OutputError, match="changed while it was checked"):
        anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat")
    assert names(tmp_path) == []


def test_a_method_that_breaks_its_promise_publishes_nothing(tmp_path, monkeypatch):
    broken = MethodSpec(
        "broken", "Broken", "k-anonymity", "Changes nothing.", (), lambda data, job, k: Draft.of_rows(data), "none"
    )
    monkeypatch.setitem(METHODS, "broken", broken)
    with pytest.raises(GuaranteeError, match="defect of the method"):
        anonset.publish(BAD.transactions, anonset.Targets(out=tmp_path / "out.dat"), method="broken", k=2)
    assert names(tmp_path) == []


# --- where it may be written -----------------------------------------------------------------------------------


def test_release_and_certificate_are_for_the_owner_only_until_they_are_given_away(tmp_path):
    anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat")
    assert names(tmp_path) == ["out.dat", "out.dat.certificate.json"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}


@pytest.mark.parametrize("there", ["out.dat", "out.dat.certificate.json"])
def test_an_existing_output_needs_force(tmp_path, there):
    (tmp_path / there).write_text("old")
    with pytest.raises(ExistsError, match="force"):
        anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat")
    assert (tmp_path / there).read_text() == "old"
    assert names(tmp_path) == [there]
    certificate = anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat", force=True)
    assert json.loads((tmp_path / "out.dat.certificate.json").read_text()) == json.loads(
        json.dumps(certificate.to_dict())
    )


def test_an_existing_output_is_found_before_any_work(tmp_path):
    (tmp_path / "out.dat").write_text("old")
    with pytest.raises(ExistsError):
        anonset.publish(tmp_path / "not-even-there.dat", anonset.Targets(out=tmp_path / "out.dat"), k=2)


def test_the_output_must_not_be_the_input_whatever_it_is_called(tmp_path):
    source = tmp_path / "data.dat"
    source.write_text("1 2\n1 2\n")
    (tmp_path / "link.dat").symlink_to(source)
    (tmp_path / "twin.dat").hardlink_to(source)
    for out in (source, tmp_path / "link.dat", tmp_path / "twin.dat"):
        with pytest.raises(InputError, match="must not replace the input"):
            anonset.publish(str(source), anonset.Targets(out=out, force=True), k=2)
    for pattern in (str(tmp_path / "*.dat"), tmp_path, tmp_path.parent, [tmp_path / "other.dat", source]):
        with pytest.raises(InputError, match="must not replace the input"):
            require_plan(release_outputs(source), {"data": pattern}, force=True)
    assert source.read_text() == "1 2\n1 2\n"


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        (".", InputError, "is a folder"),
        ("new/", InputError, "is a folder"),
        ("missing/out.dat", InputError, "does not exist. Create it first"),
        ("pipe", InputError, "ordinary file"),
        ("out.unknown", InputError, "format"),
    ],
)
def test_a_bad_place_is_a_clear_error(tmp_path, monkeypatch, path, error, words):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    with pytest.raises(error, match=words):
        anonset.write(GOOD, PROMISE.check(GOOD), path, force=True)
    assert names(tmp_path) == ["pipe"]


def test_a_folder_without_permission_is_a_clear_error(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # the owner of the machine may write everywhere
    with pytest.raises(OutputError, match="no permission to write in"):
        anonset.write(GOOD, PROMISE.check(GOOD), tmp_path / "out.dat")


# --- what it says ----------------------------------------------------------------------------------------------


def test_the_certificate_says_what_is_promised_and_nothing_private(tmp_path):
    data = Transactions.from_lists([["a", "b"], ["a"], ["a", "b"], ["c"], ["a", "c"], ["c"]] * 5, sensitive=["b"])
    result = anonset.publish(
        data, anonset.Targets(out=tmp_path / "out.dat"), k=3, seed=123454321, threads=2, effort="quick"
    )
    text = (tmp_path / "out.dat.certificate.json").read_text()
    content = json.loads(text)
    assert content["anonset"] == "certificate"
    assert (content["model"], content["parameters"]) == ("k-anonymity", {"k": 3, "diversity": 2})
    assert content["promise"] == result.verdict.promise
    assert (content["method"], content["method_parameters"]["effort"]) == ("crowd", "quick")
    assert content["sensitive_items"] == ["b"]
    assert content["transactions"] == 30
    assert content["version"] == anonset.__version__
    assert content["files"] == {"out.dat": publish.sha256(tmp_path / "out.dat")}
    assert "123454321" not in text
    for word in ("seed", "threads", "loss", "source", "seconds", str(tmp_path)):
        assert word not in text


def test_ids_and_users_are_dropped_and_transactions_shuffled(tmp_path):
    count = 200
    data = replace(
        Transactions.from_lists(
            [[str(place % 10), "x"] for place in range(count)], users=[f"ann{i}" for i in range(count)]
        ),
        ids=pa.array([f"visit-{place}" for place in range(count)]),
    )
    result = anonset.publish(data, anonset.Targets(out=tmp_path / "out.csv"), k=2, seed=1)
    text = (tmp_path / "out.csv").read_text()
    assert "visit" not in text
    assert "ann" not in text
    assert not np.array_equal(result.row_origin, np.arange(count))
    assert sorted(result.row_origin) == list(range(count))
    published = anonset.read(tmp_path / "out.csv")
    assert published.same_sets(result.release.transactions)


@pytest.mark.parametrize("name", ["out.dat", "out.csv.gz", "out.parquet", "out.arrow", "out.jsonl.zst"])
def test_the_same_seed_gives_the_same_bytes_on_any_number_of_threads(tmp_path, name):
    data = Transactions.from_lists([[str(a % 13), str(a % 7), str(a % 5)] for a in range(700)], sensitive=["11"])
    written = set()
    for threads in (1, 2, 4):
        folder = tmp_path / str(threads)
        folder.mkdir()
        anonset.publish(data, anonset.Targets(out=folder / name), k=5, seed=9, threads=threads)
        written.add(tuple((path.name, path.read_bytes()) for path in sorted(folder.iterdir())))
    assert len(written) == 1
    other = tmp_path / "other"
    other.mkdir()
    anonset.publish(data, anonset.Targets(out=other / name), k=5, seed=10)
    assert (other / name).read_bytes() != (folder / name).read_bytes()


def test_the_vocabulary_of_a_file_holds_nothing_that_is_not_published(tmp_path):
    data = Transactions.from_lists([["a"], ["a"]], labels=["z", "secret", "a"])
    release = Release(data)
    anonset.write(release, PROMISE.check(release), tmp_path / "out.arrow")
    assert b"secret" not in (tmp_path / "out.arrow").read_bytes()
