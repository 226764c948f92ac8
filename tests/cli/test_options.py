"""Options derive from the specs, once."""

import inspect
from dataclasses import replace

import pytest

from anonset.cli.base.groups import method_options, model_options, read_options, union
from anonset.cli.base.options import Choice, Given, described, takes
from anonset.data.spec import Param
from anonset.io.source.options import ReadOptions
from anonset.methods import METHODS
from anonset.models import MODELS

NUMBER = Param("max_size", "int", "How large.", 5, minimum=1, short="-s")
SWITCH = Param("go", "bool", "Whether to go.")


def test_only_given_options_arrive_each_group_as_one_dictionary():
    seen = {}

    @takes(one=[Choice(NUMBER, "A")], two=[Choice(SWITCH, "B", switch=True)])
    def command(data: str, one: Given, two: Given) -> None:
        seen.update(data=data, one=one, two=two)

    assert list(inspect.signature(command).parameters) == ["data", "max_size", "go"]
    command(data="x", max_size=None, go=False)
    assert seen == {"data": "x", "one": {}, "two": {}}
    command(data="x", max_size="7", go=True)
    assert seen == {"data": "x", "one": {"max_size": 7}, "two": {"go": True}}


def test_names_become_kebab_case_with_the_specs_short_name():
    assert Choice(NUMBER, "A").names == ("--max-size", "-s")
    assert Choice(SWITCH, "A").names == ("--go/--no-go",)
    assert Choice(SWITCH, "A", switch=True).names == ("--go",)


def test_two_options_of_one_name_are_a_mistake_of_ours():
    with pytest.raises(TypeError, match="--max-size"):

        @takes(one=[Choice(NUMBER, "A")], two=[Choice(NUMBER, "B")])
        def command(one: Given, two: Given) -> None: ...


def test_help_says_range_and_default():
    assert described(NUMBER) == "How large. (≥ 1; default: 5)"


def test_every_parameter_of_every_spec_is_an_option_once():
    for choices, registry in ((model_options(), MODELS), (method_options(), METHODS)):
        names = [choice.param.name for choice in choices][1:]
        both = {"unit"} if registry is MODELS else set()  # of every promise, not of one model
        assert sorted(names) == sorted({param.name for spec in registry.values() for param in spec.params} | both)


def test_a_parameter_of_several_methods_is_one_option_that_names_them():
    own = Param("own", "int", "Its own.")
    choices = union({"a": (NUMBER, own), "b": (NUMBER,)}, {"a": "Method a", "b": "Method b"}, "Several")
    assert [(choice.panel, choice.param.help) for choice in choices] == [
        ("Several", "How large. For a, b."),
        ("Method a", "Its own."),
    ]


def test_what_differs_between_methods_is_not_said_for_all():
    other = replace(NUMBER, default=9)
    [choice] = union({"a": (NUMBER,), "b": (other,)}, {"a": "Method a", "b": "Method b"}, "Several")
    assert described(choice.param) == "How large. For a, b. (≥ 1)"


def test_every_option_of_reading_is_there_and_format_means_the_output():
    names = {choice.param.name for choice in read_options()}
    assert names == {*ReadOptions.__dataclass_fields__} - {"format"} | {"input_format"}
