"""Fields for parameters, made from their descriptions: what a method registered tomorrow needs is here already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nicegui import ui

from anonset.app.pieces import choice, element, field
from anonset.app.words import Words
from anonset.data.errors import ParameterError
from anonset.data.spec import MethodSpec, ModelSpec, Param

Changed = Callable[[str, Any], None]
NOT_ASKED = {"hierarchy"}
"""Types of parameters that another step asks for."""


def form(params: Iterable[Param], values: dict[str, Any], words: Words, changed: Changed | None = None) -> None:
    """A field for each parameter. What is typed goes into `values`; what is left empty is not in it."""
    with ui.element("div").classes("form"):
        for param in params:
            if param.type not in NOT_ASKED:
                _field(param, values, words, changed)


def _field(param: Param, values: dict[str, Any], words: Words, changed: Changed | None) -> None:
    label = words.or_else(f"param.{param.name}.name", param.name.replace("_", " "))
    hint = " ".join((words.or_else(f"param.{param.name}", param.help), _facts(param, words)))

    def take(value: Any) -> None:
        text = str(value).strip()
        if text:
            values[param.name] = text
        else:
            values.pop(param.name, None)
        told(problem(param, text, words))
        if changed is not None:
            changed(param.name, value)

    now = str(values.get(param.name, ""))
    with ui.element("div"):
        if param.type in ("bool", "choice"):
            names = param.choices or ("yes", "no")
            usual = [("", words("protect.usual", value=_shown(param.default)))] if not param.required else []
            choice(label, [*usual, *((name, name) for name in names)], now, take, hint)
        else:
            field(label, now, take, hint=hint)
        said = element("p", problem(param, now, words), "note bad").props('role="alert"')
        said.set_visibility(bool(said._text))

    def told(text: str) -> None:
        said._text = text
        said.set_visibility(bool(text))
        said.update()


def problem(param: Param, text: str, words: Words) -> str:
    """What is wrong with a value; nothing where it is right or left out."""
    if not text:
        return ""
    try:
        param.parse(text)
    except ParameterError as error:
        return str(error)
    return ""


def _facts(param: Param, words: Words) -> str:
    """The range of a parameter, and what it is where nothing is typed."""
    bounded = any(one is not None for one in (param.minimum, param.maximum, param.above))
    if param.required:
        usual = words("protect.required")
    else:
        usual = "" if param.choices or param.type == "bool" else words("protect.usual", value=_shown(param.default))
    facts = [param.range if bounded else "", usual]
    return f"({'; '.join(filter(None, facts))})" if any(facts) else ""


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


def missing(params: Iterable[Param], values: Mapping[str, Any]) -> list[str]:
    """The parameters that must be given and are not."""
    return [param.name for param in params if param.required and not values.get(param.name)]


def own(model: ModelSpec, method: MethodSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    """Of these values those that the model and the method take."""
    names = {param.name for param in (*model.params, *method.params)}
    return {name: value for name, value in values.items() if name in names}
