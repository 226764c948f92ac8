"""The certificate beside a release: what is promised about which files. Nothing in it speaks about a person."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from anonset.data.address import Address
from anonset.data.errors import AnonsetError
from anonset.data.release import Certificate, Verdict
from anonset.data.version import VERSION
from anonset.models.wording import who_checks

PRIVATE = {"seed", "threads"}
"""Parameters that never appear in a certificate: a seed undoes the shuffling, threads say nothing."""


def certify(
    verdict: Verdict,
    files: Mapping[str, Path | str],
    *,
    transactions: int,
    sensitive_items: tuple[str, ...] = (),
    columns: Mapping[str, str] | None = None,
    method: str = "",
    params: Mapping[str, Any] | None = None,
    notes: tuple[str, ...] = (),
    remaining: tuple[str, ...] = (),
    accepted: tuple[str, ...] = (),
) -> Certificate:
    """The certificate of a verdict on these files: their public names, and where they are now, or their sha256."""
    own = {name: value for name, value in (params or {}).items() if name not in {*PRIVATE, *verdict.params}}
    return Certificate(
        model=verdict.model,
        parameters=plain(verdict.params),
        promise=verdict.promise,
        method=method,
        method_parameters=plain(own),
        measured=plain(verdict.measured),
        sensitive_items=sensitive_items,
        transactions=transactions,
        files={name: place if isinstance(place, str) else sha256(place) for name, place in files.items()},
        version=VERSION,
        notes=notes,
        unit=verdict.unit,
        columns=dict(columns or {}),
        persons=None if verdict.persons is None else _in_persons(verdict, verdict.persons),
        remaining=remaining,
        accepted=accepted,
    )


def _in_persons(verdict: Verdict, persons: Verdict) -> dict[str, Any]:
    """The part of a promise that only the owner can check, who knows the users."""
    return {
        "promise": persons.promise,
        "holds": persons.holds,
        "measured": plain(persons.measured),
        "checked": who_checks(verdict),
    }


def write_certificate(path: Path, certificate: Certificate) -> None:
    """The certificate as JSON."""
    path.write_text(certificate_text(certificate), encoding="utf-8")


def certificate_text(certificate: Certificate) -> str:
    """The certificate as it stands in its file."""
    return json.dumps(certificate.to_dict(), indent=2, ensure_ascii=False) + "\n"


def columns_said(path: Any) -> dict[str, str]:
    """What the certificate beside a file says of its columns: options to read it with. What it keeps quiet about is not
    read, and what is not read breaks every promise."""
    if not isinstance(path, (str, os.PathLike)):
        return {}
    try:
        content = json.loads(_beside(os.fspath(path)))
        said = content.get("columns") or {}
        known = ("transaction", "item", "count", "attribute", "attribute_sensitive")
        return {name: said[name] for name in known if isinstance(said.get(name), str)}
    except (AnonsetError, OSError, ValueError, AttributeError, RecursionError):
        return {}


def _beside(path: str) -> str:
    """The text of the certificate beside a file or a table."""
    address = Address.of(path)
    if address is None:
        return Path(f"{path}.certificate.json").read_text(encoding="utf-8")
    from anonset.io.database.staged import certificate_of  # most commands never speak to a database

    found = None if address.table is None else certificate_of(address)
    return "{}" if found is None else found[0]


def sha256(path: Path) -> str:
    """The fingerprint of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest(content: bytes) -> str:
    """The fingerprint of some bytes."""
    return hashlib.sha256(content).hexdigest()


def plain(value: Any) -> Any:
    """`value` in what JSON knows. Of a path only the name is public; of other objects only what they are."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(inner) for inner in value]
    if isinstance(value, os.PathLike):
        return PurePath(value).name
    return type(value).__name__.lower()
