"""Every registered method on every data set: a verified release, or a refusal that helps. Never anything else."""

import pytest

from anonset import METHODS, MODELS, InfeasibleError, InputError, Result
from anonset.data.unit import users_repeat
from tests.contract.contract import attempt, check_refusal, keep_contract, params_of, settings
from tests.contract.data import DATA_SETS, EVERYTHING, ORDINARY, bring

every_method = pytest.mark.parametrize("method", METHODS)
every_data_set = pytest.mark.parametrize("name", DATA_SETS)


@every_data_set
@every_method
def test_with_what_it_needs_and_its_defaults(method, name):
    """Only the required parameters, only the columns that the method asks for."""
    spec = METHODS[method]
    data = bring(DATA_SETS[name](), spec.needs)
    answer = keep_contract(method, data, settings(spec, data, optional=False))
    assert name not in ORDINARY or isinstance(answer, Result), f"{method} refuses ordinary data: {answer}"


@every_data_set
@every_method
def test_with_every_parameter_and_every_column(method, name):
    """All parameters at their examples, a stronger guarantee, and columns that the method may not even use."""
    spec = METHODS[method]
    data = bring(DATA_SETS[name](), EVERYTHING)
    answer = keep_contract(method, data, settings(spec, data, optional=True, strength=5))
    assert name not in ORDINARY or isinstance(answer, Result), f"{method} refuses ordinary data: {answer}"


@every_data_set
@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if "user" in spec.units])
def test_in_persons(method, name):
    """Users repeat, and persons are counted: the promise holds for them, too, or there are too few of them."""
    spec = METHODS[method]
    data = bring(DATA_SETS[name](), (*spec.needs, "users"))
    answer = keep_contract(method, data, {**settings(spec, data, optional=False), "unit": "user"})
    if name in ORDINARY:
        assert isinstance(answer, Result | InfeasibleError), f"{method} refuses ordinary data: {answer}"
    if isinstance(answer, Result) and users_repeat(data):
        assert answer.verdict.persons is not None, "persons were not counted"


@pytest.mark.parametrize("method", [name for name, spec in METHODS.items() if "user" in spec.units])
def test_ordinary_data_can_be_protected_in_persons(method):
    spec = METHODS[method]
    data = bring(ORDINARY["quest"](), (*spec.needs, "users"))
    assert isinstance(keep_contract(method, data, {**gentle(spec, data), "unit": "user"}), Result)


def gentle(spec, data):
    """The weakest promise: the smallest p of one in p, the largest share."""
    values = settings(spec, data, optional=False)
    for param in params_of(spec):
        if param.name == "p":
            values["p"] = param.minimum if param.type == "int" else param.maximum
    return values


@pytest.mark.parametrize(
    ("method", "param", "choice"),
    [
        (spec.name, param.name, choice)
        for spec in METHODS.values()
        for param in params_of(spec)
        for choice in (param.choices or ((True, False) if param.type == "bool" else ()))
    ],
)
def test_every_choice_of_a_parameter_keeps_the_contract(method, param, choice):
    data = bring(ORDINARY["quest"](), EVERYTHING)
    values = {**settings(METHODS[method], data, optional=False), param: choice}
    answer = keep_contract(method, data, values)
    assert isinstance(answer, Result), f"{method} refuses {param}={choice}: {answer}"


@every_method
def test_more_than_the_data_can_give_is_refused(method):
    """A k or p beyond the number of transactions is infeasible, and the refusal names it."""
    spec = METHODS[method]
    whole = [param.name for param in MODELS[spec.model].params if param.name in {"k", "p"} and param.type == "int"]
    data = bring(ORDINARY["quest"](), spec.needs)
    for name in whole:
        values = {**settings(spec, data, optional=False), name: len(data) + 1}
        answer = attempt(method, data, values)
        assert isinstance(answer, InfeasibleError | InputError)
        check_refusal(answer, spec, data)
        assert f"'{name}'" in str(answer)


@pytest.mark.parametrize(("method", "need"), [(name, need) for name in METHODS for need in METHODS[name].needs])
def test_data_that_lack_what_a_method_needs_are_refused(method, need):
    spec = METHODS[method]
    lacking = tuple(other for other in spec.needs if other != need)
    data = bring(ORDINARY["quest"](), lacking)
    answer = attempt(method, data, settings(spec, data, optional=False))
    assert isinstance(answer, InputError)
    assert f"'{need.removesuffix('s')}" in str(answer)  # 'users' of the data are the column 'user' of a table
