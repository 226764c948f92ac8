"""Each folder may know only certain others; the checker above all must not know the methods it judges."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import anonset

ROOT = Path(anonset.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

# Rooms of the package, by the first part of the module name below anonset.
ALLOWED_IN_MODELS = {"data", "models"}
DATA_TYPES = {"data"}
STEPS = {"assess"}
ONLY_THERE = {"pyspark": "engines/spark.py", "nicegui": "app/"}


def imported(path: Path) -> Iterator[str]:
    """Every module that a file names in an import, also inside functions; relative ones made absolute."""
    package = ["anonset", *path.relative_to(ROOT).parts[:-1]]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def rooms(path: Path) -> set[str]:
    """The rooms of anonset that a file imports from."""
    return {name.split(".")[1] for name in imported(path) if name.startswith("anonset.")}


def room_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def known(names: set[str]) -> set[str]:
    """Without the imported functions and classes of the package's top level."""
    return {name for name in names if (ROOT / name).is_dir() or (ROOT / f"{name}.py").exists() or name == "_native"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_imports_only_from_rooms_it_may_know(path):
    seen, room, name = known(rooms(path)), room_of(path), str(path.relative_to(ROOT))
    if room == "models":
        assert seen <= ALLOWED_IN_MODELS
    if room in DATA_TYPES:
        assert seen <= DATA_TYPES | {"_native"}, "the data types know only each other"
    if room in STEPS:
        assert "methods" not in seen
    if room not in {"cli", "app", "__main__"}:
        assert not seen & {"cli", "app"}
    for library, home in ONLY_THERE.items():
        if any(module.split(".")[0] == library for module in imported(path)):
            assert name.startswith(home)


def test_the_walk_sees_the_imports_it_must_judge():
    assert "data" in rooms(ROOT / "models" / "k_anonymity.py")
    assert "methods" in rooms(ROOT / "pipeline.py")
