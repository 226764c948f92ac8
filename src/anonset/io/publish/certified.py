"""The certificate that lies beside a release, and everything in which the release differs from it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonset.data.address import Address
from anonset.data.errors import DataError, InputError

if TYPE_CHECKING:
    from anonset.data.release import Release, Verdict
    from anonset.data.spec import Model
    from anonset.data.transactions import Ints

BESIDE = {"certificate.json", "certificate.json.sig"}
"""What a folder of groups holds that its certificate does not speak about."""

NEEDED = {
    "model": str,
    "parameters": dict,
    "promise": str,
    "measured": dict,
    "sensitive_items": list,
    "transactions": int,
    "files": dict,
}


@dataclass(frozen=True)
class Found:
    """A certificate, where it lies, its text and signature, and in what the files differ from those it speaks about.

    `name` is what people call the place; `table` that the release is a table, which is compared when it is read.
    """

    place: str
    name: str
    certificate: dict[str, Any]
    text: bytes = b""
    signature: bytes | None = None
    changed: tuple[str, ...] = ()
    table: bool = False


def find_certificate(data: str) -> Found | None:
    """The certificate of this release, if there is one."""
    address = Address.of(data)
    if address is not None:
        return _of_table(address)
    release = Path(data)
    inside = release / "certificate.json"
    path = inside if inside.is_file() else Path(f"{data.rstrip('/')}.certificate.json")
    if not path.is_file() or not release.exists():
        return None
    from anonset.io.publish.signature import signature_path

    text = _content(path)
    certificate = _parsed(text, str(path))
    beside = signature_path(path)
    signature = _content(beside) if beside.is_file() else None
    return Found(str(path), path.name, certificate, text, signature, tuple(_changed(release, certificate["files"])))


def _of_table(address: Address) -> Found | None:
    """The certificate in the table beside a table."""
    from anonset.io.database.staged import certificate_of, certificate_table

    found = None if address.table is None else certificate_of(address)
    if found is None:
        return None
    text, signature = found
    name = certificate_table(address)
    place = str(address.of_table(name))
    certificate = _parsed(text.encode(), place)
    return Found(place, name, certificate, text.encode(), None if signature is None else signature.encode(), table=True)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        raise DataError("this certificate cannot be read. Restore it or move it away.", source=str(path)) from None


def _parsed(text: bytes, place: str) -> dict[str, Any]:
    try:
        content = json.loads(text.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, InputError) else "this certificate cannot be read"
        raise DataError(f"{reason}. Restore it or move it away.", source=place) from None
    if not isinstance(content, dict) or content.get("anonset") != "certificate":
        raise DataError("this is not a certificate of anonset. Move it away.", source=place)
    for name, kind in NEEDED.items():
        if not isinstance(content.get(name), kind) or isinstance(content[name], bool):
            raise DataError(f"this certificate lacks '{name}'. Restore it or move it away.", source=place)
    if not all(isinstance(name, str) for name in (*content["sensitive_items"], *content["files"].values())):
        raise DataError("this certificate names no texts. Restore it or move it away.", source=place)
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object that says nothing twice: of two values every reader might take another."""
    if len(dict(pairs)) < len(pairs):
        raise InputError("this certificate says something twice")
    return dict(pairs)


def _changed(release: Path, files: dict[str, str]) -> Iterator[str]:
    """Files whose checksum is not what the certificate says, and files that it does not name."""
    inside = {release.name} if release.is_file() else {path.name for path in release.iterdir()} - BESIDE
    folder = release.parent if release.is_file() else release
    for name in sorted(inside - set(files)):
        yield f"it says no sha256 of {name}"
    for name, digest in files.items():
        if Path(name).name != name or _sha256(folder / name) != digest:
            yield f"the sha256 of {name} differs"


def _sha256(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def differences(found: Found, release: Release, users: Ints | None = None) -> tuple[str, ...]:
    """Everything in which the certificate differs from what is found; `release` is read without its help.

    Its promise is checked anew, whatever else is asked for; with `users` (private) also what it says of persons.
    """
    from anonset.models import model

    said = found.certificate
    target = model(said["model"], **said["parameters"])
    persons = users is not None and said.get("unit") == "user"
    different = [*found.changed, *_table_changed(found, release)]
    if said["transactions"] != len(release):
        different.append(f"it says {said['transactions']:,} transactions, and there are {len(release):,}")
    try:
        release = as_certified(release, said["sensitive_items"])
    except InputError:
        return (*different, "it names other sensitive items than the file has")
    try:
        verdict = target.counting("user").check(release, users) if persons else target.check(release)
    except InputError:
        return (*different, "with the sensitive items that it names, nothing of its promise can be measured")
    if said["promise"] != verdict.promise:
        different.append("its promise is not that of its model and parameters")
    if not verdict.holds:
        different.append(f"its promise does not hold: {verdict.promise}")
    different += _measured(said["measured"], verdict)
    different += _of_persons(said, target)
    if verdict.persons is not None and isinstance(said.get("persons"), dict):
        different += _measured(said["persons"].get("measured") or {}, verdict.persons, " in persons")
    return tuple(different)


def _of_persons(said: dict[str, Any], target: Model) -> Iterator[str]:
    """What anybody sees to be wrong in what a certificate says of persons, also without knowing the users."""
    persons = said.get("persons")
    if (persons is not None) != (said.get("unit", "transaction") == "user"):
        yield "it counts one thing and promises another"
    if persons is None:
        return
    if not isinstance(persons, dict) or persons.get("promise") != target.counting("user").promise:
        yield "its promise in persons is not that of its model and parameters"
    elif persons.get("holds") is not True:
        yield "it says that its promise in persons does not hold"


def _table_changed(found: Found, release: Release) -> Iterator[str]:
    """What a table holds, compared with the sha256 that its certificate says."""
    from anonset.io.publish.tables import digest

    if found.table and digest(release.transactions) not in found.certificate["files"].values():
        yield "the sha256 of the table differs"


def as_certified(release: Release, names: list[str]) -> Release:
    """The release with the sensitive items of its certificate; an `InputError` where it has others."""
    from dataclasses import replace

    data = release.transactions
    if data.sensitive is not None and data.sensitive.any():
        if sorted(data.sensitive_names()) != sorted(names):
            raise InputError("The certificate names other sensitive items than the file.")
        return release
    return replace(release, transactions=data.with_sensitive(names)) if names else release


def _measured(said: dict[str, Any], verdict: Verdict, where: str = "") -> Iterator[str]:
    for name, value in said.items():
        here = verdict.measured.get(name)
        if not _equal(value, here):
            there = "which is not measured" if name not in verdict.measured else f"and {here} was found"
            yield f"it says that it measured {name} = {value}{where}, {there}"


def _equal(one: Any, other: Any) -> bool:
    """Whether two figures are equal, but for the last digits of fractions."""
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, (int, float)):
        return bool(one == other)
    return isinstance(other, (int, float)) and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
