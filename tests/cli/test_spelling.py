"""Errors name the option on the command line and the argument in Python, for every option there is."""

import ast
import json
import re
from pathlib import Path

import pytest

import anonset
from anonset.cli.base.commands import load
from anonset.cli.base.spelling import remember, spelt
from anonset.cli.table import COMMANDS
from anonset.data.errors import AnonsetError, InputError, ParameterError, argument, setting

ROOT = Path(anonset.__file__).parent


def commands():
    """Every command with options of its own, and how it is called."""
    for name in COMMANDS:
        command = load(name)
        inner = getattr(command, "commands", {})
        yield from ((f"{name} {one}", inner[one]) for one in inner) if inner else [(name, command)]


ALL = dict(commands())
OPTIONS = [(call, param.name) for call, command in ALL.items() for param in command.params if param.name != "help"]


@pytest.mark.parametrize(("call", "name"), OPTIONS, ids=lambda value: str(value))
def test_an_error_about_any_argument_names_the_option_or_the_place(call, name):
    command = ALL[call]
    param = next(param for param in command.params if param.name == name)
    remember(command)
    error = ParameterError(name, "be right", "wrong", f"Try {setting(name, 5)}.")
    written = {*param.opts, str(param.metavar).strip("[]"), name.upper()}
    assert spelt(name) in written
    assert error.worded(spelt) == f"{spelt(name)} must be right. Got wrong. Try {spelt(name)} 5."
    assert str(error) == f"'{error.name}' must be right. Got wrong. Try {error.name}=5."


NUMBERS = [
    (method, param.name)
    for method, spec in anonset.METHODS.items()
    for param in (*anonset.MODELS[spec.model].params, *spec.params)
    if param.type in ("int", "float", "count", "choice")
]


@pytest.mark.parametrize(("method", "name"), NUMBERS)
def test_a_bad_value_of_any_parameter_of_any_method_names_its_option(cli, method, name):
    spec = anonset.METHODS[method]
    needed = {p.name: p.example for p in (*anonset.MODELS[spec.model].params, *spec.params) if p.required}
    given = {**needed, name: "bad"}
    options = [word for key, value in given.items() for word in (f"--{key.replace('_', '-')}", value)]
    done = cli("anonymize", "x", "--method", method, *options)
    assert done.code == 2
    option = f"-{name}" if len(name) == 1 else f"--{name.replace('_', '-')}"
    assert f"{option} must " in done.err
    assert f"'{name}'" not in done.err
    assert f"{name}=" not in done.err


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["anonymize", "in.dat", "-k", "2", "-o", "in.dat", "--force"], "--out must not replace the input.*which DATA"),
        (["anonymize", "in.dat", "-k", "2", "-o", "out.dat", "--report", "out.dat"], "--report must end in"),
        (["anonymize", "in.dat", "-k", "2", "--write-cut", "cut.csv"], "--write-cut is for methods"),
        (["anonymize", "in.dat", "-k", "2", "--sign", "key"], "--sign must come with an output.*--out …"),
        (["convert", "in.dat", "in.dat", "--force"], "OUT must not replace the input.*which DATA reads"),
        (["info", "in.dat", "--input-format", "foo"], "--input-format must be a known name"),
        (["info", "nul.dat"], "--encoding utf-16"),
        (["info", "in.csv", "--input-format", "long"], "--item …"),
        (["anonymize", "in.dat", "-k", "2", "-o", "there.dat"], "replace it: --force"),
        (
            ["anonymize", "in.dat", "--method", "gsc", "-k", "2", "--protect", "sensitive-only"],
            "--sensitive …, or choose --protect all",
        ),
    ],
)
def test_sentences_speak_of_options(cli, tmp_path, monkeypatch, args, sentence):
    monkeypatch.chdir(tmp_path)
    Path("in.dat").write_text("a b\nb c\na b\n")
    Path("there.dat").write_text("a\n")
    Path("nul.dat").write_bytes(b"a\0b\n")
    Path("in.csv").write_text("when,what\n1,a\n1,b\n")
    done = cli(*args)
    assert done.code == 2
    assert re.search(sentence, done.err), done.err
    assert done.err.count("\n") == 1


def test_labels_that_look_like_marks_or_options_stay_what_they_are():
    remember(ALL["anonymize"])
    error = InputError(f"{argument('k')} is odd beside '\ue000seed', 'seed' and \x1b.")
    assert error.worded(spelt) == "-k is odd beside '\\ue000seed', 'seed' and \\x1b."


def test_under_json_an_error_is_json_with_code_parameter_and_hint(cli, tmp_path):
    data = tmp_path / "in.dat"
    data.write_text("a b\na b\n")
    done = cli("anonymize", data, "-k", 1, "--json")
    assert done.code == 2
    assert json.loads(done.out)["error"] == {
        "code": 2,
        "kind": "ParameterError",
        "message": "-k must be at least 2. Got 1. Choose a larger value.",
        "parameter": "-k",
        "hint": "Choose a larger value.",
    }
    assert done.err == "Error: -k must be at least 2. Got 1. Choose a larger value.\n"
    usage = json.loads(cli("anonymize", data, "--kk", 1, "--json").out)["error"]
    assert (usage["code"], usage["kind"], usage["parameter"]) == (2, "UsageError", "--kk")
    infeasible = json.loads(cli("anonymize", data, "-k", 9, "--json").out)["error"]
    assert (infeasible["code"], infeasible["parameter"]) == (3, "-k")


def test_no_error_of_the_library_spells_an_option_itself():
    """`--out` inside a sentence of the library would be wrong for Python, `out=…` for the command line."""
    found = []
    for path in ROOT.rglob("*.py"):
        if "cli" in path.relative_to(ROOT).parts:
            continue
        for call in ast.walk(ast.parse(path.read_text())):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "").endswith("Error"):
                texts = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
                found += [(path.name, t) for t in texts if isinstance(t, str) and re.search(r"--[a-z]|\w=…", t)]
    assert found == []


def test_every_error_keeps_its_sentence_for_python():
    for kind in AnonsetError.__subclasses__():
        assert str(kind(f"Leave {argument('k')} out.")) == "Leave 'k' out."
