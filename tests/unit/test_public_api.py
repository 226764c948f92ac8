"""The public names are a promise: adding one is a decision, losing one is a break."""

import doctest
import inspect
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import anonset
from anonset.api.options import Reading

PUBLIC = """
    Advice Anonymizer Comparison Findings
    METHODS MODELS AnonsetError CancelledError Certificate Cut DataError ExistsError GuaranteeError Hierarchy
    InfeasibleError InputError Job Keep OutputError ParameterError Release Result Targets Transactions Verdict
    WaitingError __version__ advise anonymize check compare convert expected hierarchy measure model profile publish
    query read read_cut read_hierarchy read_release recode report risk sampled verify write write_report
""".split()
PROGRAM = Path(__file__).parents[1] / "typing" / "uses_everything.py"
FUNCTIONS = [name for name in PUBLIC if inspect.isfunction(getattr(anonset, name))]
TYPES = [name for name in PUBLIC if inspect.isclass(getattr(anonset, name)) and not name.endswith("Error")]


def test_the_public_names_are_exactly_these():
    assert sorted(anonset.__all__) == sorted(PUBLIC)


@pytest.mark.parametrize("name", [*FUNCTIONS, *TYPES])
def test_every_name_is_documented_and_its_example_runs(name):
    value = getattr(anonset, name)
    assert value.__doc__
    members = [member for _, member in inspect.getmembers(value, inspect.isfunction)] if name in TYPES else []
    find = doctest.DocTestFinder(recurse=False).find
    examples = [test for part in (value, *members) for test in find(part, name) if test.examples]
    shown = name in ("Certificate", "Verdict", "Comparison", "Advice", "Release", "Cut")  # others hand these over
    assert examples or shown, f"{name} has no example"
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in examples:
        assert runner.run(test).failed == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_typed_and_documented(name):
    function = getattr(anonset, name)
    text = re.sub(r"\s+", " ", function.__doc__)
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, f"{name}({parameter.name}) has no type"
    said = re.search(r"Parameters\n\s*---+\n(.*?)(\n\s*\n\s*(Examples|Returns|Raises)|\Z)", function.__doc__, re.S)
    words = set(re.findall(r"\w+", said[1] if said else text))
    known = {"reading", "progress", "job", "seed", "threads", "force", "shared_folder"}  # the same everywhere
    missing = set(signature.parameters) - words - known
    assert not missing or len(signature.parameters) <= 3, f"{name} does not speak of {missing}"


def test_the_keywords_of_reading_are_those_of_read():
    parameters = inspect.signature(anonset.read).parameters
    assert set(Reading.__annotations__) == set(parameters) - {"source"}
    kinds = typing.get_type_hints(anonset.read)
    own = typing.get_type_hints(Reading)
    assert {name: own[name] for name in own} == {name: kinds[name] for name in own}


def test_a_program_that_uses_every_name_runs_and_is_typed():
    text = PROGRAM.read_text()
    for name in PUBLIC:
        assert re.search(rf"\b{name}\b", text), f"{name} is not used"
    subprocess.run([sys.executable, PROGRAM], check=True, capture_output=True, text=True)
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "mypy", "--strict", str(PROGRAM)]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_the_lazy_table_and_the_public_list_agree():
    assert {*anonset._HOMES, "__version__"} == set(anonset.__all__)


def test_importing_the_package_loads_nothing_heavy():
    heavy = "numpy pyarrow duckdb scipy plotly pandas polars".split()
    code = f"import sys, anonset; print([m for m in {heavy} if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_a_function_stays_one_when_rooms_of_the_package_are_loaded():
    code = "import anonset, anonset.reports.page, anonset.assess.risk, anonset.data.hierarchy, anonset.choose.compare; "
    code += "print([callable(getattr(anonset, name)) for name in ('report', 'risk', 'hierarchy', 'compare', 'model')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([True] * 5)


def test_an_unknown_attribute_is_an_attribute_error():
    assert not hasattr(anonset, "anonimize")
