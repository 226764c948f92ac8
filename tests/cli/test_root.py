"""The root command: fast, lazy, helpful."""

import subprocess
import sys

import pytest

import anonset
from anonset.cli.base.commands import load
from anonset.cli.table import COMMANDS

HEAVY = ("numpy", "pyarrow", "duckdb", "scipy", "plotly")
PROBE = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


def loaded_after(statement: str, **environment: str) -> str:
    """Which heavy modules a fresh interpreter has loaded after `statement`."""
    code = (
        f"import os\nos.environ.update({environment!r})\ntry:\n    {statement}\nexcept SystemExit:\n    pass\n{PROBE}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


RUN = "from anonset.cli.base.outcome import run; run({})"


@pytest.mark.parametrize(
    "statement",
    ["import anonset.cli", RUN.format(["--help"]), RUN.format(["--version"]), RUN.format(["inof"]), RUN.format([])],
)
def test_starting_loads_nothing_heavy(statement):
    assert loaded_after(statement) == "[]"


def test_completing_a_command_name_loads_nothing_heavy():
    words = {"_ANONSET_COMPLETE": "complete_bash", "COMP_WORDS": "anonset in", "COMP_CWORD": "1"}
    assert loaded_after(RUN.format([]), **words) == "[]"


def test_help_names_every_command_and_what_it_does(cli):
    done = cli("--help")
    assert done.code == 0
    text = " ".join(done.out.replace("│", " ").split())
    for name, (_, summary, _) in COMMANDS.items():
        assert name in text
        assert summary in text


def test_no_arguments_show_the_help_and_end_with_2(cli):
    done = cli()
    assert done.code == 2
    assert "Usage: anonset" in done.out


def test_version(cli):
    assert cli("--version").out == f"anonset {anonset.__version__}\n"


@pytest.mark.parametrize("order", [("--version", "--verbose"), ("--verbose", "--version")])
def test_a_bug_report_gets_all_versions_and_no_path(cli, order):
    done = cli(*order)
    assert done.code == 0
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert lines["anonset"] == anonset.__version__
    assert {"Python", "numpy", "pyarrow", "duckdb", "nicegui"} <= set(lines)
    assert "/" not in done.out.replace("system", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command_fits_80_columns(cli, name):
    done = cli(name, "--help")
    assert done.code == 0
    assert max(len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself_and_its_options(name):
    command = load(name)
    children = getattr(command, "commands", None)
    for each in children.values() if children else [command]:
        assert each.help
        assert all(param.help for param in each.params)


def test_help_of_anonymize_speaks_of_every_parameter_of_every_method_and_model(cli):
    text = " ".join(cli("anonymize", "--help").out.replace("│", " ").split())
    params = [param for spec in (*anonset.METHODS.values(), *anonset.MODELS.values()) for param in spec.params]
    for param in params:
        assert f"--{param.name.replace('_', '-')} " in text
        assert any(other.help in text for other in params if other.name == param.name)


def test_completion_scripts_are_there(process):
    told = {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # else it looks at the shell that runs the tests
    done = process("--show-completion", "bash", environment=told)
    assert done.returncode == 0
    assert "_ANONSET_COMPLETE" in done.stdout


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("anonset anonymize --meth", "--method"),
        ("anonset anonymize x --method p", "pta"),
        ("anonset anonymize x --item-order f", "frequency"),
        ("anonset methods p", "pta"),
        ("anonset ver", "verify"),
    ],
)
def test_completion_knows_commands_options_and_names(words, expected, monkeypatch, capsys):
    from anonset.cli.base.outcome import run

    monkeypatch.setenv("_ANONSET_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    with pytest.raises(SystemExit):
        run([])
    assert expected in capsys.readouterr().out.split()


def test_python_m_anonset_is_the_command_line(process):
    assert process("--version").stdout.startswith("anonset ")


def test_commands_do_not_wait_for_pandas(tmp_path):
    """pyarrow would load it, where it is installed, at the first array; a table by SQL goes without it, too."""
    (tmp_path / "t.csv").write_text("transaction,item\n1,a\n1,b\n2,a\n2,b\n")
    for args in (["anonymize", "t.csv", "-k", "2", "-o", "out.parquet"], ["info", "--query", "SELECT * FROM 't.csv'"]):
        code = (
            "import sys, anonset.cli\n"
            f"sys.argv = ['anonset', *{args!r}]\n"
            "try:\n    anonset.cli.main()\n"
            "except SystemExit as end:\n    assert not end.code, end.code\n"
            "assert not [name for name in sys.modules if name.startswith('pandas.')]\n"
        )
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
