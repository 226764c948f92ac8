"""Privacy models: one file each, its statement and its check.

The registry is a plain dict, from the most general model to the most particular one: `choose.advise` asks the last one
first whether it is the right one, and `assess.audit` asks all of them what a release keeps.
"""

from __future__ import annotations

from typing import Any

from anonset.data.errors import unknown
from anonset.data.spec import UNIT, Model, ModelSpec, Unit, parse_params
from anonset.models import k_anonymity, km_anonymity, kp_anonymity, multi_pattern, privacy_degree

MODELS: dict[str, ModelSpec] = {
    spec.name: spec
    for spec in (k_anonymity.SPEC, km_anonymity.SPEC, privacy_degree.SPEC, kp_anonymity.SPEC, multi_pattern.SPEC)
}
USUAL = k_anonymity.SPEC.name
"""The model where nothing else is said."""


def model_spec(name: str) -> ModelSpec:
    """The model of this name."""
    if name not in MODELS:
        raise unknown("model", name, MODELS)
    return MODELS[name]


def model(name: str, **params: Any) -> Model:
    """A model with its parameters set, ready to check releases or to be aimed at.

    Examples
    --------
    >>> model("k-anonymity", k=3).promise
    'every published set of quasi-identifier items is shared by at least 3 transactions'
    """
    spec = model_spec(name)
    unit: Unit = UNIT.parse(params.pop("unit", None)) or "transaction"
    return Model(spec, spec.promised(parse_params((*spec.params, *spec.options), params, spec.name)), unit)
