"""Without Spark or Java a sentence says what to install; options of Spark go with it only."""

import sys

import pytest

from anonset.cli.base.outcome import run
from anonset.data.errors import InputError


def test_without_pyspark_the_error_says_what_to_install(tmp_path, monkeypatch):
    from anonset.engines.spark.session import session

    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(InputError, match=r"pip install 'anonset\[spark\]'"):
        session()


def test_without_java_the_error_says_so(monkeypatch):
    from anonset.engines.spark.session import require_java

    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(InputError, match="Java 17"):
        require_java()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--master", "local[2]"], "--engine spark"),
        (["--engine", "spark"], "--out"),
        (["--engine", "spark", "-o", "out", "--report", "r.html"], "--report is not there on Spark"),
        (["--engine", "spark", "-o", "out", "--conf", "spark.x"], "NAME=VALUE"),
    ],
)
def test_options_that_do_not_fit_are_refused(given, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.dat").write_text("1 2\n1 2\n")
    assert run(["anonymize", "in.dat", "-k", "2", *given]) == 2
    assert said in " ".join(capsys.readouterr().err.split())
