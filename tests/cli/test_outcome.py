"""How a command ends: exit codes, one sentence, and nothing that could quote the data."""

import pytest
import typer

from anonset.cli.base import commands
from anonset.cli.base.debug import set_debug
from anonset.data.errors import (
    CancelledError,
    DataError,
    ExistsError,
    GuaranteeError,
    InfeasibleError,
    OutputError,
    ParameterError,
)

SECRET = "wine, insulin"


@pytest.fixture
def broken(monkeypatch, cli):
    """Run `anonset methods` with a body that raises this."""

    def call(error: BaseException, *args: str):
        app = commands.Application()

        def methods() -> None:
            raise error

        def add_debug(debug: bool = typer.Option(False, callback=set_debug)) -> None:
            methods()

        app.command()(add_debug)
        monkeypatch.setattr(commands, "load", lambda name: commands.get_command(app))
        return cli("methods", *args)

    return call


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OutputError("The disk is full."), 1),
        (ParameterError("k", "be at least 2", 1), 2),
        (DataError("a null", source="a.csv", line=3), 2),
        (ExistsError("out.dat is there already."), 2),
        (InfeasibleError("k is larger than the data."), 3),
        (GuaranteeError("The release does not keep its promise."), 3),
        (CancelledError("Stopped on request."), 130),
    ],
)
def test_every_error_of_ours_is_one_sentence_and_its_exit_code(broken, error, code):
    done = broken(error)
    assert done.code == code
    assert done.err == f"Error: {error}\n"
    assert done.out == ""


def test_ctrl_c_says_stopped_and_ends_with_130(broken):
    done = broken(KeyboardInterrupt())
    assert (done.code, done.err, done.out) == (130, "Stopped.\n", "")


def test_a_defect_says_so_without_the_errors_own_words_and_without_a_traceback(broken):
    done = broken(KeyError(SECRET))
    assert done.code == 1
    assert done.err.startswith("Error: Something unexpected happened (KeyError at ")
    assert "This is a defect" in done.err
    assert SECRET not in done.err
    assert "Traceback" not in done.err
    assert done.err.count("\n") == 1


def test_a_traceback_comes_only_on_request(broken, monkeypatch):
    assert "Traceback" in broken(KeyError("x"), "--debug").err
    assert "Traceback" not in broken(KeyError("x")).err
    monkeypatch.setenv("ANONSET_DEBUG", "1")
    assert "Traceback" in broken(KeyError("x")).err


def test_too_little_memory_is_said_plainly(broken):
    for error in (MemoryError(), ImportError("x.so: failed to map segment from shared object")):
        done = broken(error)
        assert done.code == 2
        assert "not enough memory" in done.err


def test_what_the_system_refuses_names_the_file(broken):
    done = broken(PermissionError(13, "Permission denied", "/data/a.csv"))
    assert (done.code, done.err) == (1, "Error: /data/a.csv: Permission denied.\n")


@pytest.mark.parametrize(
    ("args", "suggestion"),
    [
        (["inof"], "'info'"),
        (["anonymize", "x", "--segmets", "3"], "--segments"),
        (["verify", "x", "--sensitve", "a"], "--sensitive"),
        (["methods", "pat"], "pta"),
        (["anonymize", "x", "--method", "ptaa", "-k", "3"], "pta"),
        (["anonymize", "x", "--model", "k-anonimity", "-k", "3"], "k-anonymity"),
        (["verify", "x", "--model", "k-anonimity", "-k", "3"], "k-anonymity"),
    ],
)
def test_a_typo_is_a_wrong_call_and_the_nearest_name_is_suggested(cli, args, suggestion):
    done = cli(*args)
    assert done.code == 2
    assert f"Did you mean {suggestion}" in done.err
    assert done.err.count("\n") == 1


def test_a_missing_argument_says_which_and_where_to_read(cli):
    done = cli("generate", "quest")
    assert done.code == 2
    assert "FILE" in done.err
    assert "anonset generate quest --help" in done.err


@pytest.mark.parametrize("command", ["info", "verify", "anonymize", "convert"])
def test_data_may_be_missing_only_where_a_query_names_it(cli, command):
    done = cli(command, *(["-k", "3"] if command in ("verify", "anonymize") else []))
    assert done.code == 2
    assert "DATA is missing" in done.err
    assert "--query" in done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["anonymize", "x"], "-k must be given"),
        (["anonymize", "x", "-k", "1"], "-k must be at least 2. Got 1."),
        (["anonymize", "x", "-k", "ten"], "-k must be a whole number. Got 'ten'."),
        (["anonymize", "x", "-k", "3", "--seed", "-1"], "--seed must be at least 0"),
        (["anonymize", "x", "-k", "3", "--threads", "0"], "--threads must be at least 1"),
        (["verify", "x", "--model", "k-anonymity"], "-k must be given"),
    ],
)
def test_a_bad_value_names_the_parameter_and_what_it_must_be(cli, args, sentence):
    done = cli(*args)
    assert done.code == 2
    assert sentence in done.err


def test_an_option_of_another_model_is_refused_and_the_fitting_ones_are_named(cli):
    done = cli("anonymize", "x", "-k", "3", "-p", "4")
    assert done.code == 2
    assert "--p does not belong to method crowd" in done.err
    assert "--k" in done.err
    assert "choose --model privacy-degree" in done.err
    assert cli("verify", "x", "-k", "3", "-p", "4").code == 2
