"""One parameter of a method, a model or a generator: its type, its range, and how its values are read."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from anonset.data.errors import ParameterError, setting, unknown

LARGEST = 2**31 - 1
"""Of whole numbers without a maximum of their own: kernels count in 32 bits, and nothing has so many members."""


@dataclass(frozen=True)
class Param:
    """One parameter: its name, type, range, default, and a sentence that explains it to a non-expert.

    `default=None` with `required=False` means "chosen from the data"; `help` says how.
    `off` says that the word "off" stands for None; `with_sensitive` is the value where nothing is given and the data
    name sensitive items. `example` is a value that works on any small data set; the contract tests use it. `former`
    maps values of earlier versions to choices; they are still taken, with a warning.
    """

    name: str
    type: Literal["int", "float", "bool", "text", "choice", "count", "hierarchy"]
    help: str
    default: Any = None
    required: bool = False
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None  # a minimum that is itself too small
    choices: tuple[str, ...] = ()
    short: str | None = None
    example: Any = None
    former: Mapping[str, str] = field(default_factory=dict, hash=False)
    off: bool = False
    with_sensitive: Any = None

    def parse(self, value: Any) -> Any:
        """`value` as this parameter's type; a `ParameterError` where it is not or is out of range."""
        if value is None:
            if self.required:
                advice = f"{self.help} Try {setting(self.name, self.example)}."
                raise ParameterError(self.name, "be given", "nothing", advice)
            return self.default
        if self.off and value == "off":
            return None
        return _PARSERS[self.type](self, value)

    def _in_range(self, value: float) -> None:
        low, high = self.minimum, self.maximum
        if self.above is not None and value <= self.above:
            raise ParameterError(self.name, f"be above {_plain(self.above)}", value, "Choose a larger value.")
        if low is not None and value < low:
            raise ParameterError(self.name, f"be at least {_plain(low)}", value, "Choose a larger value.")
        if high is not None and value > high:
            raise ParameterError(self.name, f"be at most {_plain(high)}", value, "Choose a smaller value.")

    @property
    def range(self) -> str:
        """The allowed values in words, for tables and help."""
        if self.choices:
            return " | ".join(self.choices)
        if self.type == "bool":
            return "yes | no"
        if self.above is not None and self.maximum is not None:
            return f"above {_plain(self.above)}, up to {_plain(self.maximum)}"
        if self.minimum is not None and self.maximum is not None:
            return f"{_plain(self.minimum)} … {_plain(self.maximum)}"
        if self.minimum is not None:
            return f"≥ {_plain(self.minimum)}"
        return self.type


def _plain(number: float) -> str:
    return f"{int(number):,}" if float(number).is_integer() else f"{number:g}"


def _parse_int(param: Param, value: Any) -> int:
    try:
        number = int(value) if not isinstance(value, float) or value.is_integer() else None
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or isinstance(value, bool):
        raise ParameterError(param.name, "be a whole number", repr(value), f"Try {setting(param.name, param.example)}.")
    param._in_range(number)
    if param.maximum is None and number > LARGEST:
        raise ParameterError(param.name, f"be at most {LARGEST:,}", number, "Choose a smaller value.")
    return number


def _parse_float(param: Param, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number) or isinstance(value, bool):
        raise ParameterError(param.name, "be a number", repr(value), f"Try {setting(param.name, param.example)}.")
    param._in_range(number)
    return number


def _parse_count(param: Param, value: Any) -> int | float:
    """A count (a whole number ≥ 1) or a fraction (below 1)."""
    number = _parse_float(param, value)
    if number <= 0 or (number >= 1 and not number.is_integer()):
        raise ParameterError(param.name, "be a count (1, 2, …) or a fraction between 0 and 1", value)
    if number > LARGEST:
        raise ParameterError(param.name, f"be at most {LARGEST:,}", value, "Choose a smaller value.")
    return number if number < 1 else int(number)


def as_count(value: float, total: int) -> int:
    """A count as it is, and a fraction as a number of `total`: rounded up, and never less than one.

    Examples
    --------
    >>> as_count(0.02, 59602), as_count(0.1, 30), as_count(7, 30)
    (1193, 3, 7)
    """
    if value >= 1:
        return int(value)
    # 0.1 · 30 is a little more than 3 in binary; that must not ask for a fourth.
    return max(1, math.ceil(value * total - 1e-9))


def _parse_bool(param: Param, value: Any) -> bool:
    words = {
        "yes": True,
        "true": True,
        "on": True,
        "1": True,
        "no": False,
        "false": False,
        "off": False,
        "0": False,
    }
    known = words.get(str(value).lower())
    if known is None:
        raise ParameterError(param.name, "be yes or no", repr(value))
    return known


def _parse_choice(param: Param, value: Any) -> str:
    if (now := param.former.get(str(value))) is not None:
        note = f"'{param.name}' takes {param.range}. {value} means {now} and will be refused in the next version."
        warnings.warn(note, FutureWarning, stacklevel=2)
        return now
    if value not in param.choices:
        raise unknown(param.name, str(value), param.choices)
    return str(value)


def _parse_hierarchy(param: Param, value: Any) -> Any:
    """A path (of which certificates show only the name) or a `Hierarchy`; tables become one."""
    if isinstance(value, (str, os.PathLike)):
        return Path(value)
    from anonset.data.hierarchy.reading import as_hierarchy

    return as_hierarchy(value)


_PARSERS: dict[str, Callable[[Param, Any], Any]] = {
    "int": _parse_int,
    "float": _parse_float,
    "count": _parse_count,
    "bool": _parse_bool,
    "choice": _parse_choice,
    "text": lambda param, value: str(value),
    "hierarchy": _parse_hierarchy,
}


def parse_params(
    params: tuple[Param, ...], given: Mapping[str, Any], what: str, parsed: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values of `params`, parsed, defaults filled in; unknown names are an error that suggests the nearest.

    `parsed` are values that need no parsing any more, for names that are not given.
    """
    known = {param.name: param for param in params}
    for name in given:
        if name not in known:
            raise unknown(f"a parameter of {what}", name, known)
    kept = {name: value for name, value in (parsed or {}).items() if name in known and given.get(name) is None}
    return {name: kept[name] if name in kept else param.parse(given.get(name)) for name, param in known.items()}
