"""A method, a model and a format from outside work everywhere, without a change to the package."""

import json
import subprocess
import sys

import pytest

import anonset
from anonset.assess.audit import audit
from anonset.choose.advise import advise
from anonset.choose.compare import compare
from anonset.io import LAYOUTS
from tests.contract import contract, outside

BASKETS = [["bread", "wine"], ["bread", "beer"], ["bread", "wine", "milk"], ["bread"], ["wine", "bread"], ["beer"]] * 4


@pytest.fixture(autouse=True)
def registered():
    registries = (anonset.METHODS, anonset.MODELS, LAYOUTS)
    before = [dict(registry) for registry in registries]
    outside.register()
    yield
    for registry, old in zip(registries, before, strict=True):
        registry.clear()
        registry.update(old)


@pytest.fixture
def command(tmp_path):
    """The command line of somebody who brings all three."""

    def call(*args: object) -> subprocess.CompletedProcess:
        line = [sys.executable, outside.__file__, *map(str, args)]
        return subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, check=False)

    return call


@pytest.fixture
def baskets(tmp_path):
    path = tmp_path / "baskets.bars"
    path.write_text("".join(f"|{'|'.join(row)}|\n" for row in BASKETS))
    return path


@pytest.mark.parametrize("spec", [outside.METHOD, outside.DROP_RARE], ids=lambda spec: spec.name)
def test_a_method_keeps_the_contract_like_any_other(spec):
    data = anonset.Transactions.from_lists(BASKETS)
    result = contract.keep_contract(spec.name, data, contract.settings(spec, data, optional=True))
    assert isinstance(result, anonset.Result)


def test_a_method_is_compared_with_the_others(tmp_path):
    data = anonset.Transactions.from_lists(BASKETS)
    runs, _ = compare(data, tmp_path, methods=["alike", "pta"], grid={"k": [2]}, seeds=[1])
    assert {run.method: run.error for run in runs} == {"alike": "", "pta": ""}
    assert {run.strength for run in runs if run.method == "alike"} == {24.0}


def test_a_method_runs_from_the_command_line(command, baskets, tmp_path):
    asked = ["--method", "alike", "-k", 5, "--least-share", 0.4, "-o", "out.csv", "--json"]
    assert command("anonymize", baskets, *asked).returncode == 4  # all alike: nothing is left
    done = command("anonymize", baskets, *asked, "--accept", "loss")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["method"] == "alike"
    assert anonset.read(tmp_path / "out.csv").to_lists() == [["bread", "wine"]] * 24
    assert "least-share" in command("methods", "alike").stdout
    assert command("anonymize", baskets, "--method", "pta", "-k", 5, "--least-share", 0.4).returncode == 2


def test_a_model_is_promised_checked_audited_and_reported(tmp_path):
    result = anonset.publish(BASKETS, anonset.Targets(out=tmp_path / "out.dat"), "no-rare-items", k=5, seed=1)
    assert result.method == "drop-rare"
    assert result.verdict.measured == {"k": 8}
    assert not anonset.verify(BASKETS, "no-rare-items", k=5).holds
    verdicts = {verdict.model: verdict for verdict in audit(anonset.read_release(BASKETS)).verdicts}
    assert verdicts["no-rare-items"].measured["k"] == 4
    page = anonset.write_report(result, BASKETS, tmp_path / "report.html").read_text()
    assert "no item of yours is in fewer than 8 transactions" in page
    assert advise(anonset.Transactions.from_lists(BASKETS)).model == "k-anonymity"  # it does not propose itself


def test_a_model_works_from_the_command_line(command, baskets):
    done = command("anonymize", baskets, "--model", "no-rare-items", "-k", 5, "-o", "out.dat")
    assert done.returncode == 0, done.stderr
    assert command("verify", "out.dat").returncode == 0
    assert command("verify", baskets, "--model", "no-rare-items", "-k", 5).returncode == 3
    audited = json.loads(command("verify", baskets, "--json").stdout)["verdicts"]
    assert "no-rare-items" in [verdict["model"] for verdict in audited]


def test_a_format_is_known_by_name_and_by_content(baskets, tmp_path):
    expected = [sorted(row) for row in BASKETS]
    assert anonset.read(baskets).to_lists() == expected
    nameless = tmp_path / "data.txt"
    nameless.write_bytes(baskets.read_bytes())
    assert anonset.read(nameless).to_lists() == expected
    anonset.convert(nameless, tmp_path / "copy.bars.gz")
    assert anonset.read(tmp_path / "copy.bars.gz").to_lists() == expected


def test_a_release_in_a_format_from_outside_is_read_back_and_certified(tmp_path):
    result = anonset.publish(BASKETS, anonset.Targets(out=tmp_path / "out.bars"), k=3, seed=1)
    assert result.certificate is not None
    assert anonset.verify(tmp_path / "out.bars", k=3).holds


def test_a_format_works_from_the_command_line(command, baskets):
    assert command("convert", baskets, "copy.parquet").returncode == 0
    done = command("convert", "copy.parquet", "copy.bars")
    assert done.returncode == 0, done.stderr
    assert "bars" in command("convert", "--help").stdout


def test_what_a_format_cannot_hold_is_refused():
    with pytest.raises(anonset.InputError, match="bars cannot hold"):
        anonset.io.save(anonset.Transactions.from_lists([["a"]], users=["u"]), "unused.bars")
