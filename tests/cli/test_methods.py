"""`anonset methods`."""

import json
import shlex

import pytest

from anonset.methods import METHODS
from anonset.models import model_spec


def flowing(text: str) -> str:
    return " ".join(text.split())


def test_the_table_lists_every_method_with_its_model(cli):
    done = cli("methods")
    assert done.code == 0
    for spec in METHODS.values():
        line = next(line for line in done.out.splitlines() if line.startswith(f"{spec.name} "))
        assert spec.model in line


@pytest.mark.parametrize("name", METHODS)
def test_a_method_is_explained_with_paper_promise_and_all_parameters(cli, name):
    spec = METHODS[name]
    done = cli("methods", name)
    text = flowing(done.out)
    assert done.code == 0
    assert flowing(spec.summary) in text
    assert flowing(spec.paper) in text
    for param in (*model_spec(spec.model).params, *spec.params):
        assert f"--{param.name.replace('_', '-')}" in text
    assert max(len(line) for line in done.out.splitlines()) <= 80


@pytest.mark.parametrize("name", METHODS)
def test_json_is_one_object_with_parameters_and_an_example(cli, name):
    answer = json.loads(cli("methods", name, "--json").out)
    spec = METHODS[name]
    assert [param["name"] for param in answer["parameters"]] == [
        param.name for param in (*model_spec(spec.model).params, *spec.params)
    ]
    assert shlex.split(answer["example"])[:5] == ["anonset", "anonymize", "transactions.csv", "--method", name]


def test_json_without_a_name_lists_all(cli):
    assert [method["name"] for method in json.loads(cli("methods", "--json").out)["methods"]] == list(METHODS)
