"""The project file `anonset.toml`: the options of `anonset anonymize` in four tables, read and written.

Which options there are, and in which table each belongs, comes from the command itself: an option of the panel
"Reading" is in `[source]`, of "Writing" in `[targets]`, of "Running" in `[run]`, and all others in `[privacy]`.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from anonset.cli.base.groups import OF_COLUMNS
from anonset.data.errors import DataError, InputError, unknown

NAME = "anonset.toml"
TABLES = {"Reading": "source", "Writing": "targets", "Running": "run"}
OTHERS = "privacy"
ORDER = ("source", OTHERS, "targets", "run")
NOT_KEPT = {"help", "debug", "check", "write_config", "file"}
PATHS = {"FILE", "DIR", "KEY", "DATA"}
_ENVIRONMENT = re.compile(r"\$\{(\w+)\}")
_PASSWORD = re.compile(
    r"(?P<before>://[^/@\s:]*):(?P<login>[^@\s]+)(?=@)|(?P<sign>[?&])(?:ssl)?password=(?P<option>[^&\s]*)"
)

_current: Path | None = None
_given: dict[str, Any] = {}


def current() -> Path | None:
    """The project file of this run, if it has one."""
    return _current


def remember(path: Path | None, values: Mapping[str, Any]) -> None:
    """What this run does, for `--write-config`."""
    global _current, _given
    _current, _given = path, dict(values)


def fill(data: str | None, *groups: Mapping[str, Any]) -> None:
    """What this command line does, where no project file said it already."""
    if _current is None:
        given = {name: value for group in groups for name, value in group.items()}
        remember(None, {"data": data, **given} if data is not None else given)


def add(name: str, value: Any) -> None:
    """An option that was only decided while the command ran."""
    _given[name] = value


def options() -> dict[str, Any]:
    """Every option that a project file can hold, by name."""
    from anonset.cli.base.commands import load

    return {param.name: param for param in load("anonymize").params if param.name not in NOT_KEPT}


def table_of(param: Any) -> str:
    """The table of a project file that an option belongs in."""
    if param.name == "data":
        return "source"
    return TABLES.get(getattr(param, "rich_help_panel", None) or "", OTHERS)


def paths(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """The values that are paths, from here and from the project file's folder, and the SQL, which names some."""
    named = {name: [values[name]] for name, param in options().items() if values.get(name) and _is_path(param)}
    pairs = str(values.get("attribute_hierarchy") or "").split(",")
    named["attribute_hierarchy"] = [file for pair in pairs if (file := pair.partition("=")[2].strip())]
    both = {name: [*places, *(_beside(place, path) for place in places)] for name, places in named.items()}
    return {**both, "query": values.get("query")}


# --- reading ---------------------------------------------------------------------------------------------------


def read_project(path: Path) -> dict[str, Any]:
    """The options in a project file, as the command line would bring them; an error for whatever is not one."""
    known, found = options(), {}
    for table, entries in _content(path).items():
        if table not in ORDER or not isinstance(entries, dict):
            raise DataError(str(unknown("a table of a project file", table, ORDER)), source=str(path))
        for key, value in entries.items():
            name = key.replace("-", "_")
            _require_place(known, name, table, path)
            found[name] = _value(known[name], value, table, path)
    return found


def raw(path: Path) -> dict[str, Any]:
    """The options of a project file as they stand there: without what the environment holds."""
    return {key.replace("-", "_"): value for entries in _content(path).values() for key, value in entries.items()}


def _content(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"There is no project file {path}. 'anonset init' writes one.") from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        reason = str(error) if isinstance(error, tomllib.TOMLDecodeError) else "it is not UTF-8"
        raise DataError(f"This is not a TOML file: {reason}.", source=str(path)) from None
    except RecursionError:
        raise DataError("This is not a TOML file: it is too deeply nested.", source=str(path)) from None
    except OSError as error:
        raise DataError(f"It cannot be read: {error.strerror}.", source=str(path)) from None


def _require_place(known: Mapping[str, Any], name: str, table: str, path: Path) -> None:
    if name not in known:
        names = [one for one, param in known.items() if table_of(param) == table]
        raise DataError(str(unknown(f"an option in [{table}]", name, names)), source=str(path))
    if (right := table_of(known[name])) != table:
        raise DataError(f"'{name}' belongs in the table [{right}], not in [{table}].", source=str(path))


def _value(param: Any, value: Any, table: str, path: Path) -> Any:
    """A value as the command line would bring it: texts, with what the environment holds in place of `${NAME}`."""
    if isinstance(value, bool) or getattr(param, "is_flag", False):
        if not isinstance(value, bool) or not getattr(param, "is_flag", False):
            right = "true or false" if getattr(param, "is_flag", False) else "a text or a number"
            raise DataError(f"'{param.name}' must be {right}.", source=str(path))
        return value
    several = value if isinstance(value, list) else [value]
    if not all(isinstance(one, (str, int, float)) and not isinstance(one, bool) for one in several):
        raise DataError(f"'{param.name}' must be a text, a number or a list of them.", source=str(path))
    texts = [_expanded(one, param, table, path) for one in several]
    if getattr(param, "multiple", False):
        return texts
    if len(texts) > 1 and any("," in text for text in texts):
        raise DataError(f"A list under '{param.name}' must hold no commas inside a name. Use a file.", source=str(path))
    return ",".join(texts)


def _expanded(value: Any, param: Any, table: str, path: Path) -> str:
    text = str(value)
    if any(not _is_kept(found) for found in _PASSWORD.finditer(text)):
        raise DataError(
            f"'{param.name}' must hold no password. Take it from the environment: ${{NAME}}, or PGPASSWORD.",
            source=str(path),
        )

    def variable(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise DataError(
                f"'{param.name}' needs the environment variable {found[1]}, which is not set.", source=str(path)
            )
        return os.environ[found[1]]

    text = _ENVIRONMENT.sub(variable, text)
    if table == "targets":
        text = text.replace("{date}", date.today().isoformat())  # the day where the job runs
    if param.metavar == OF_COLUMNS:
        pairs = (pair.partition("=") for pair in text.split(","))
        return ",".join(f"{column}{mark}{_beside(file.strip(), path)}" for column, mark, file in pairs)
    return _beside(text, path) if _is_path(param) else text


def _is_path(param: Any) -> bool:
    return str(param.metavar).strip("[]") in PATHS


def _beside(text: str, path: Path) -> str:
    """A relative path is meant from the project file's folder."""
    if text == "-" or "://" in text or Path(text).is_absolute() or path.parent == Path():
        return text
    return str(path.parent / text)


# --- writing ---------------------------------------------------------------------------------------------------


def as_text(values: Mapping[str, Any] | None = None) -> str:
    """A project file with these options, or with those of this run."""
    given, known = _given if values is None else values, options()
    lines = ["# Made by anonset. 'anonset run' does what it says, 'anonset run --check' only validates it.", ""]
    for table in ORDER:
        entries = [(name, given[name]) for name, param in known.items() if name in given and table_of(param) == table]
        if entries:
            lines += [f"[{table}]", *(line(name, value) for name, value in entries), ""]
    return "\n".join(lines)


def line(name: str, value: Any) -> str:
    """An option as it stands in a project file."""
    return f"{name} = {_toml(_without_password(value))}"


def _without_password(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return _PASSWORD.sub(lambda found: found[0] if _is_kept(found) else found["before"] or found["sign"], value)


def _is_kept(found: re.Match[str]) -> bool:
    """Whether what stands in the place of a password only says where it is."""
    return _ENVIRONMENT.fullmatch(found["login"] or found["option"] or "") is not None


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Iterable) and not isinstance(value, str):
        return f"[{', '.join(map(_toml, value))}]"
    text = str(value)
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", text):
        return text
    marks = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return '"' + "".join(marks.get(c, c if c.isprintable() else f"\\U{ord(c):08X}") for c in text) + '"'
