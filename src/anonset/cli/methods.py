"""`anonset methods [NAME]`: which methods there are, and what one of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from anonset.cli.base.commands import Application
from anonset.cli.base.console import facts, show, show_json, table
from anonset.cli.base.groups import run_options
from anonset.cli.base.options import Given, flag, takes

if TYPE_CHECKING:
    from anonset.data.spec import MethodSpec, Param

app = Application()


def _names() -> list[str]:
    from anonset.methods import METHODS

    return list(METHODS)


Name = Annotated[
    str | None,
    typer.Argument(help="The method to explain.", metavar="[NAME]", autocompletion=_names, show_default=False),
]


@app.command()
@takes(running=run_options())
def methods(running: Given, name: Name = None) -> None:
    """List the methods, or explain one: what it does, what it promises, its parameters, its paper, an example."""
    from anonset.methods import METHODS, method_spec

    if name is None:
        everything = {"methods": [_facts_of(spec) for spec in METHODS.values()]}
        return show_json(everything) if "json" in running else show(*_overview())
    spec = method_spec(name)
    return show_json(_facts_of(spec)) if "json" in running else show(*_page(spec))


def _overview() -> list[Any]:
    from anonset.methods import METHODS
    from anonset.models import MODELS

    rows = [(spec.name, spec.model, spec.title, spec.seeded) for spec in METHODS.values()]
    promises = [(name, f"{spec.promise(_letters(spec.params))}.") for name, spec in MODELS.items()]
    return [
        table(("method", "model", "title", "seeded"), rows),
        "",
        "What the models promise:",
        facts(promises),
        "",
        "'anonset methods NAME' explains one. Seeded methods draw random numbers: --seed repeats them.",
    ]


def _letters(params: tuple[Param, ...]) -> dict[str, str]:
    return {param.name: param.name if len(param.name) == 1 else f"<{param.name}>" for param in params}


def _page(spec: MethodSpec) -> list[Any]:
    from anonset.models import model_spec

    model = model_spec(spec.model)
    about = [
        ("model", spec.model),
        ("promise", f"{model.promise(_letters(model.params))}."),
        ("needs", ", ".join(spec.needs)),
        ("seeded", spec.seeded),
        ("paper", spec.paper),
        ("example", example(spec)),
    ]
    rows = [(_spelling(param), _range(param), _default(param), param.help) for param in (*model.params, *spec.params)]
    return [
        f"{spec.name}: {spec.title}",
        "",
        spec.summary,
        "",
        facts(pair for pair in about if pair[1] not in ("", None)),
        "",
        table(("option", "range", "default", "meaning"), rows),
    ]


def _spelling(param: Param) -> str:
    return f"{param.short}, {flag(param.name)}" if param.short else flag(param.name)


def _range(param: Param) -> str:
    return "file" if param.type == "hierarchy" else param.range


def _default(param: Param) -> str:
    if param.required:
        return "required"
    return {None: "chosen", True: "yes", False: "no"}.get(param.default, str(param.default))


def example(spec: MethodSpec) -> str:
    """A command that runs this method."""
    from anonset.models import model_spec

    required = [param for param in (*model_spec(spec.model).params, *spec.params) if param.required]
    given = " ".join(f"{param.short or flag(param.name)} {_value(param)}" for param in required)
    extra = " --sensitive-file sensitive.txt" if "sensitive" in spec.needs else ""
    return f"anonset anonymize transactions.csv --method {spec.name} {given}{extra} -o release.csv"


def _value(param: Param) -> str:
    if param.name == "k":
        return "10"  # its spec's example is the smallest value, which suits tests, not people
    return f"{flag(param.name)[2:].upper()}.csv" if param.type == "hierarchy" else str(param.example)


def _facts_of(spec: MethodSpec) -> dict[str, Any]:
    from anonset.models import model_spec

    model = model_spec(spec.model)
    return {
        "name": spec.name,
        "title": spec.title,
        "model": spec.model,
        "promise": model.promise(_letters(model.params)),
        "summary": spec.summary,
        "paper": spec.paper,
        "seeded": spec.seeded,
        "needs": list(spec.needs),
        "parameters": [_param(param) for param in (*model.params, *spec.params)],
        "example": example(spec),
    }


def _param(param: Param) -> dict[str, Any]:
    return {
        "name": param.name,
        "type": param.type,
        "help": param.help,
        "default": param.default,
        "required": param.required,
        "range": param.range,
        "short": param.short,
    }
