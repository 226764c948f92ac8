"""The groups of options that commands take, read off the specs of models, methods, formats and generators."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from typing import Annotated, Any, get_type_hints

import typer

from anonset.cli.base.debug import set_debug
from anonset.cli.base.options import Choice, Given, flag
from anonset.data.errors import InputError
from anonset.data.spec import UNIT, Param


def located(text: str | None) -> str | None:
    """What a name of data means: an address of a database shows no password from here on."""
    if text is not None and ("://" in text or "/" in text):
        from anonset.data.address import Address

        return Address.of(text) or text
    return text


_DATA: Any = typer.Argument(
    help="A file, a folder, a pattern such as 'sales-*.parquet', - for standard input, or a database: "
    "postgresql://host/database, shop.db, shop.db/table.",
    metavar="DATA",
    show_default=False,
    callback=located,
)
Source = Annotated[str, _DATA]
OF_COLUMNS = "NAME=FILE"
"""How options are shown that give columns a file each."""
SourceOrQuery = Annotated[str | None, _DATA]
"""DATA may be left out where `--query` names the files; see `require_source`."""

READING, WRITING, RUNNING, PRIVACY = "Reading", "Writing", "Running", "Privacy"

SEED = Param(
    "seed",
    "int",
    "The same seed gives the same result. Keep it private. Default: random.",
    minimum=0,
    maximum=2**63 - 1,
)
THREADS = Param("threads", "int", "How many threads to use. Default: all cores.", minimum=1, maximum=4096)
QUIET = Param("quiet", "bool", "Show no progress, and no result unless --json is given.")
JSON = Param("json", "bool", "Print the result as one JSON object.")
DEBUG = Param("debug", "bool", "Show a traceback if something breaks.")
FORCE = Param("force", "bool", "Replace files that are there already.")
SHARED = Param("shared_folder", "text", "Write into this folder although others can write there, too.")
SIGN = Param("sign", "text", "Sign the certificate with this SSH key: adds ….certificate.json.sig.")
KEEP_FORMULAS = Param("keep_formulas", "bool", "In CSV, leave labels as they are that a spreadsheet would run.")


LINK = Param("link", "text", "The owner's private link: says which transaction became which, and whose it is.")
DOSSIER = Param(
    "dossier",
    "text",
    "Write one page to file and sign (.html), with the report behind it. It is private, and its name will say so.",
)
PURPOSE = Param("purpose", "text", "What the release is for; stands in the dossier.")
RESPONSIBLE = Param("responsible", "text", "Who answers for the data; stands in the dossier.")


def run_options(*more: Param) -> list[Choice]:
    """`--quiet`, `--json`, `--debug`, and where a command computes, `--seed` and `--threads`."""
    switches = [Choice(param, RUNNING, switch=True) for param in (QUIET, JSON)]
    debug = Choice(DEBUG, RUNNING, switch=True, callback=set_debug)
    return [*(Choice(param, RUNNING) for param in more), *switches, debug]


def read_options(*but: str) -> list[Choice]:
    """The options of reading, but for these. `--format` is the output's, so the input's is called `--input-format`."""
    from anonset.io.source.options import ReadOptions

    hints = get_type_hints(ReadOptions)
    choices = []
    for field in (one for one in fields(ReadOptions) if one.name not in but):
        kind: Any = "bool" if hints[field.name] in (bool, bool | None) else "text"
        choice = Choice(Param(field.name, kind, field.metadata["help"]), READING, switch=hints[field.name] is bool)
        if field.name.endswith("file") or field.name == "users":
            choice = replace(choice, metavar="FILE")
        if field.name == "attribute_hierarchy":
            choice = replace(choice, metavar=OF_COLUMNS)
        if field.name == "format":
            choice = _input_format(choice)
        choices.append(choice)
    return choices


def _input_format(choice: Choice) -> Choice:
    param = replace(choice.param, name="input_format")
    return replace(choice, param=param, metavar="FORMAT", complete=_layouts)


def _layouts() -> Iterable[str]:
    from anonset.io.formats.registry import LAYOUTS

    return LAYOUTS


def require_source(data: str | None, reading: Given) -> str | None:
    """DATA, which may be absent only where a query says what to read."""
    if data is None and "query" not in reading:
        raise InputError("DATA is missing. Name a file, a folder, a pattern, or - for standard input; or give --query.")
    return data


def as_read_options(reading: Given) -> dict[str, Any]:
    """The given options of reading under the names that `anonset.read` knows."""
    return {"format" if name == "input_format" else name: value for name, value in reading.items()}


def output_format() -> Choice:
    """`--format`: how the output is written."""
    from anonset.io.formats.registry import LAYOUTS

    layouts = ", ".join(LAYOUTS)
    param = Param("format", "text", f"The format of the output where its name does not say it: {layouts}, long.csv, …")
    return Choice(param, WRITING, metavar="FORMAT", complete=lambda: LAYOUTS)


def dossier_options() -> list[Choice]:
    """Where to write a dossier, and what it cannot know by itself."""
    texts = (Choice(param, WRITING, metavar="TEXT") for param in (PURPOSE, RESPONSIBLE))
    return [Choice(DOSSIER, WRITING, metavar="FILE"), *texts]


def replace_options() -> list[Choice]:
    """`--force`, `--shared-folder`: where a command may write although something speaks against it."""
    return [Choice(FORCE, WRITING, switch=True), Choice(SHARED, WRITING, metavar="DIR")]


def planning(writing: Given) -> dict[str, Any]:
    """`--force` and `--shared-folder` as `require_plan` and `staging` take them."""
    return {"force": "force" in writing, "shared": writing.get("shared_folder")}


def write_options() -> list[Choice]:
    """`--out`, `--format`, `--sign`, `--force`, `--shared-folder`."""
    out = Param(
        "out",
        "text",
        "Where to write. The name says the format: out.dat, out.csv.gz, out.parquet, …; or a table: "
        "postgresql://host/database/schema.table, shop.db/release; or - for standard output.",
    )
    return [
        Choice(out, WRITING, flags=("--out", "-o"), metavar="FILE"),
        output_format(),
        Choice(SIGN, WRITING, metavar="KEY"),
        *replace_options(),
    ]


def model_options(varied: bool = False) -> list[Choice]:
    """`--model` and the parameters of all models; with the options that vary a promise, where no method offers them."""
    from anonset.models import MODELS

    model = Param("model", "text", f"What to promise: {', '.join(MODELS)}.")
    owners = {name: (*spec.params, *(spec.options if varied else ())) for name, spec in MODELS.items()}
    return [
        Choice(model, PRIVACY, metavar="NAME", complete=lambda: MODELS, parsed=False),
        *union(owners, dict.fromkeys(owners, PRIVACY), PRIVACY),
        Choice(UNIT, PRIVACY, parsed=False),
    ]


def method_options() -> list[Choice]:
    """`--method` and the parameters of all methods, each method's own in a panel of its own."""
    from anonset.methods import METHODS

    method = Param("method", "text", f"How to reach it: {', '.join(METHODS)}. See 'anonset methods'.")
    owners = {name: spec.params for name, spec in METHODS.items()}
    return [
        Choice(method, PRIVACY, metavar="NAME", complete=lambda: METHODS, parsed=False),
        *union(owners, {name: f"Method {name}" for name in owners}, "Several methods"),
    ]


def param_options(params: Sequence[Param], panel: str) -> list[Choice]:
    """An option for each parameter."""
    return [Choice(param, panel, parsed=False) for param in params]


def union(owners: dict[str, tuple[Param, ...]], panels: dict[str, str], shared: str) -> list[Choice]:
    """One option for each name; where only some of several owners take it, the help says which."""
    takers: dict[str, list[str]] = {}
    for owner, params in owners.items():
        for param in params:
            takers.setdefault(param.name, []).append(owner)
    choices = []
    for name, names in takers.items():
        same = {owner: next(param for param in owners[owner] if param.name == name) for owner in names}
        param = _common([*same.values()])
        if len({one.type for one in same.values()}) > 1:  # one letter, several meanings: p is a count and a share
            said = (f"{owner} ({one.range}): {one.help}" for owner, one in same.items())
            param = replace(param, help=" ".join(said))
        elif len(owners) > 1 and (len(names) > 1 or panels[names[0]] == shared):
            param = replace(param, help=f"{param.help} For {', '.join(names)}.")
        choices.append(Choice(param, panels[names[0]] if len(names) == 1 else shared, parsed=False))
    return choices


def _common(params: list[Param]) -> Param:
    """What several parameters of one name have in common: a range or default that differs is left out."""
    shared = {name: getattr(params[0], name) for name in ("default", "minimum", "maximum", "above", "choices")}
    unequal = [name for name, value in shared.items() if any(getattr(param, name) != value for param in params)]
    unsaid: dict[str, Any] = {name: () if name == "choices" else None for name in unequal}
    return replace(params[0], **unsaid)


def _where_it_belongs(name: str) -> str:
    from anonset.methods import METHODS
    from anonset.models import MODELS

    for option, registry in (("--model", MODELS), ("--method", METHODS)):
        owners = [owner for owner, spec in registry.items() if any(param.name == name for param in spec.params)]
        if owners:
            return f"Leave it out or choose {option} {' or '.join(owners)}."
    return "Leave it out."


def require_fitting(given: Given, params: tuple[Param, ...], what: str) -> None:
    """Refuse options that belong to another method or model than the chosen one."""
    known = [param.name for param in params]
    for name in given:
        if name not in known:
            takes = ", ".join(map(flag, known)) or "none"
            raise InputError(f"{flag(name)} does not belong to {what}, which takes {takes}. {_where_it_belongs(name)}")
