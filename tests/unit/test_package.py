"""What the package says of itself is the same everywhere, and so are the documents that build and install it."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anonset
from tools.lowest import lowest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text()
DOCKERFILE = (ROOT / "packaging" / "Dockerfile").read_text()
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FOR_CONDA = {"duckdb": "python-duckdb"}


def test_one_version_everywhere():
    said = {
        "pyproject": PROJECT["version"],
        "citation": re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text(), re.M)[1],
        "conda": re.search(r'version: "(.*)"', RECIPE)[1],
        "docker": re.search(r"anonset==(\S+)", DOCKERFILE)[1],
        "page": re.search(r"anonset==(\S+)", (ROOT / "docs/how-to/install.md").read_text())[1],
    }
    assert set(said.values()) == {anonset.__version__}, said
    assert f"## [{anonset.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    wanted = {re.split("(>=)", one)[0]: one.partition(">=")[2] for one in PROJECT["dependencies"]}
    runs = RECIPE.split("  run:\n")[1].split("\n\n")[0]
    found = dict(re.findall(r"- (\S+) >=(\S+)", runs))
    assert found.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    assert found == {FOR_CONDA.get(name, name): bound for name, bound in wanted.items()}


def test_lower_bounds_are_tested_one_by_one():
    assert [one.split("==")[0] for one in lowest()] == [re.split("(>=)", one)[0] for one in PROJECT["dependencies"]]
    assert "tools.lowest" in next(path for path in WORKFLOWS if path.stem == "test").read_text()


def test_the_container_runs_as_nobody_in_particular_with_a_fixed_version():
    lines = [line for line in DOCKERFILE.splitlines() if line and not line.startswith("#")]
    assert re.fullmatch(r"FROM python:\d+\.\d+-slim", lines[0])
    names = [line.split()[0] for line in lines]
    assert names.index("USER") > max(place for place, name in enumerate(names) if name == "RUN")
    assert not any(line.startswith(("ADD", "ENV PASSWORD")) or "sudo" in line for line in lines)
    page = (ROOT / "docs" / "how-to" / "install.md").read_text()
    assert "\n".join(lines) in page


def test_the_package_says_that_it_is_typed():
    assert (Path(anonset.__file__).parent / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_do_no_more_than_it_must(path):
    text = path.read_text()
    assert re.search(r"^permissions:( \{\}|\n  contents: read$)", text, re.M), "say what the workflow may do"
    assert "pull_request_target" not in text
    assert not re.search(r"run:.*\$\{\{ *github\.(event|head_ref|ref_name)", text), "no outside text inside a script"
    assert "secrets." not in text, "publishing trusts the workflow, not a token"


def test_a_release_is_trusted_attested_and_listed():
    text = next(path for path in WORKFLOWS if path.stem == "release").read_text()
    publish = text.split("  publish:\n")[1]
    for needed in ("id-token: write", "environment: pypi", "gh-action-pypi-publish", "attestations: true"):
        assert needed in publish
    assert "anonset.cdx.json" in publish
    assert "cyclonedx-py" in text
    assert "SOURCE_DATE_EPOCH" in text


def test_the_command_says_all_that_a_bug_report_needs():
    command = [sys.executable, "-m", "anonset", "--version", "--verbose"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in said.splitlines()}
    assert said.startswith(f"anonset {anonset.__version__}\n")
    assert {re.split("[>=]", one)[0] for one in PROJECT["dependencies"]} | {"Python", "system", "processor"} <= names
