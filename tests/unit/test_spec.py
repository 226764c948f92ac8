import pytest

import anonset
from anonset import ParameterError
from anonset.data.spec import Param, parse_params

K = Param("k", "int", "Group size.", required=True, minimum=2, maximum=9, example=3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1, "'k' must be at least 2. Got 1."),
        (10, "'k' must be at most 9. Got 10."),
        ("many", "'k' must be a whole number. Got 'many'."),
        (2.5, "'k' must be a whole number. Got 2.5."),
        (True, "'k' must be a whole number."),
        (None, "'k' must be given. Got nothing."),
    ],
)
def test_a_bad_value_names_the_parameter_what_it_must_be_and_what_it_got(value, message):
    with pytest.raises(ParameterError) as error:
        K.parse(value)
    assert message in str(error.value)


@pytest.mark.parametrize(("value", "parsed"), [(3, 3), ("4", 4), (5.0, 5)])
def test_a_good_value_becomes_its_type(value, parsed):
    assert K.parse(value) == parsed


def test_a_count_is_a_whole_number_or_a_fraction():
    support = Param("support", "count", "σ")
    assert support.parse("0.02") == 0.02
    assert support.parse(20) == 20
    for wrong in (0, -1, 1.5):
        with pytest.raises(ParameterError, match="a count"):
            support.parse(wrong)


def test_booleans_and_choices_take_words():
    assert Param("revote", "bool", "?").parse("no") is False
    order = Param("item_order", "choice", "?", choices=("frequency", "given"))
    with pytest.raises(ParameterError, match="Did you mean frequency"):
        order.parse("frequencies")


def test_an_unknown_parameter_suggests_the_nearest():
    with pytest.raises(ParameterError, match="Did you mean segments"):
        parse_params((Param("segments", "int", "?"),), {"segment": 3}, "pta")


@pytest.mark.parametrize("spec", [*anonset.MODELS.values(), *anonset.METHODS.values()], ids=lambda spec: spec.name)
def test_every_registered_spec_is_complete(spec):
    assert spec.paper
    assert spec.title
    for param in spec.params:
        assert len(param.help) > 20, f"{spec.name}: {param.name} needs a sentence"
        if param.required:
            assert param.parse(param.example) is not None
    if spec.name in anonset.METHODS:
        assert spec.model in anonset.MODELS
        assert len(spec.summary) > 40
    else:
        assert anonset.METHODS[spec.default_method].model == spec.name
        assert spec.promise({param.name: param.example for param in spec.params})
