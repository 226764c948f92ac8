"""Each room of the package may know only certain others, in one direction, and nothing goes in circles.

`ROOMS` is the whole architecture in one table. It is read in both directions: a room imports nothing that its line does
not name, and a name that nobody uses any more has to go. Imports inside functions count like all others, and so do
those for type checkers only: a reader who follows a type walks the same way as the interpreter.
"""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import anonset
import anonset.io

ROOT = Path(anonset.__file__).parent
HERE = "anonset"

ROOMS = {
    "data": {"_native"},
    "models": {"data"},
    "mining": {"data", "_native"},
    "methods.steps": {"data", "_native"},
    "methods": {"data", "mining", "methods.steps", "_native"},
    "unlink": {"data"},
    "io": {"data", "models", "unlink", "_native"},
    "generate": {"data", "io", "_native"},
    "assess": {"data", "models", "mining", "io", "_native"},
    "reports": {"data", "models", "assess", "io"},
    "publication": {"data", "models", "io", "reports"},
    "nightly": {"data", "io", "methods"},
    "gate": {"data", "models", "assess"},
    "pipeline": {"data", "models", "methods", "unlink", "io", "assess", "gate", "publication", "nightly"},
    "choose": {"data", "models", "methods", "assess", "pipeline"},
    "api": {"data", "models", "methods", "io", "assess", "reports", "choose", "pipeline"},
    "cli": {
        "api",
        "data",
        "models",
        "methods",
        "unlink",
        "io",
        "generate",
        "assess",
        "reports",
        "pipeline",
        "choose",
        "nightly",
        "engines",
    },
    "engines": {"data", "models", "methods", "methods.steps", "io", "assess"},
    "app": {"", "data", "generate", "assess", "choose", "reports"},
    "__main__": {"cli"},
    "": {
        "api",
        "choose",
        "data",
        "models",
        "methods",
        "unlink",
        "io",
        "assess",
        "reports",
        "pipeline",
    },  # the public API
}
"""Which rooms a room may import from."""

ONLY_THERE = {"pyspark": "engines/spark/", "nicegui": "app/"}


def name_of(path: Path) -> str:
    """The module in a file, without the package's own name: `io.source.roles`, `io`, and nothing for the package."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(tree: ast.AST, module: str) -> Iterator[str]:
    """Every module that a file names in an import, wherever it stands; `from package import module` names both."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: imports are absolute here"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def ours(module: str, names: Iterator[str]) -> set[str]:
    """The modules of the package among the names; for a function or a class, the module it is taken from."""
    found = set()
    for name in names:
        if name == HERE or name.startswith(f"{HERE}."):
            inner = name.removeprefix(HERE).lstrip(".")
            while inner not in MODULES and not inner.startswith("_native"):
                inner = inner.rpartition(".")[0]
            found.add("_native" if inner.startswith("_native") else inner)
    return found - {module}


def room_of(module: str) -> str:
    """The room with the longest name that the module is in."""
    return max((room for room in ROOMS if f"{module}.".startswith(f"{room}." if room else "")), key=len)


IMPORTS = {name: ours(name, imported(ast.parse(path.read_text()), name)) for name, path in MODULES.items()}


def rooms(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Which rooms each room imports from."""
    found: dict[str, set[str]] = {room: set() for room in ROOMS}
    for module, names in graph.items():
        targets = {"_native" if name == "_native" else room_of(name) for name in names}
        found[room_of(module)] |= targets - {room_of(module)}
    return found


def cycles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """All sets of nodes that reach each other."""
    reach = {node: _reached(graph, node) for node in graph}
    rings = {frozenset({other for other in reach[node] if node in reach.get(other, ())}) for node in graph}
    return [set(ring) for ring in rings if ring]


def _reached(graph: Mapping[str, set[str]], start: str) -> set[str]:
    seen: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        node = waiting.pop()
        if node not in seen:
            seen.add(node)
            waiting += graph.get(node, ())
    return seen


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_what_its_line_names_and_the_line_names_nothing_else(room):
    assert rooms(IMPORTS)[room] == ROOMS[room]


def test_every_module_has_a_room_of_its_own():
    at_the_top = {name for name in MODULES if "." not in name and name}
    assert at_the_top == {room for room in ROOMS if "." not in room and room}


def test_rooms_know_each_other_in_one_direction():
    assert cycles(ROOMS) == []


def test_no_module_imports_itself_by_a_detour():
    assert cycles(IMPORTS) == []


def test_nobody_compares_the_names_of_models_and_formats():
    """What differs between them is in a `ModelSpec` or a `Layout`; a method may say which model it reaches."""
    names = {*anonset.MODELS, *anonset.io.LAYOUTS}
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                constants = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
                assert not constants & names, f"{module}, line {node.lineno}"


def test_the_check_shares_nothing_with_the_methods_but_the_nouns():
    assert ROOMS["models"] == {"data"}
    assert "models" not in ROOMS["methods"] | ROOMS["methods.steps"]
    assert not {room for room, known in ROOMS.items() if known & {"methods", "methods.steps"}} & {"assess", "reports"}


def test_nobody_imports_the_command_line_or_the_app():
    assert {room for room, known in ROOMS.items() if known & {"cli", "app"}} == {"__main__"}


@pytest.mark.parametrize(("library", "home"), ONLY_THERE.items())
def test_a_heavy_library_is_imported_in_its_room_only(library, home):
    for module, path in MODULES.items():
        names = imported(ast.parse(path.read_text()), module)
        if any(name.split(".")[0] == library for name in names):
            assert str(path.relative_to(ROOT)).startswith(home)


def test_loading_the_registries_loads_no_attackers_and_no_reports():
    code = "import sys, anonset; anonset.METHODS, anonset.MODELS; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "anonset.methods.pta" in loaded
    assert not [
        name for name in loaded if name.startswith(("anonset.assess", "anonset.reports", "anonset.cli", "plotly"))
    ]


def test_the_walk_sees_imports_in_functions_and_for_type_checkers():
    code = (
        "import typing\ndef f():\n    from anonset.io import read\nif typing.TYPE_CHECKING:\n    import anonset.cli\n"
    )
    assert ours("x", imported(ast.parse(code), "x")) == {"io", "cli"}
    assert cycles({"a": {"b"}, "b": {"a"}, "c": {"a"}}) == [{"a", "b"}]
