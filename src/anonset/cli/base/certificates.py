"""The certificate that lies beside a release."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anonset.data.errors import DataError

BESIDE = {"certificate.json", "certificate.json.sig"}
"""What a folder of groups holds that its certificate does not speak about."""

NEEDED = {"model": str, "parameters": dict, "sensitive_items": list, "files": dict}


@dataclass(frozen=True)
class Found:
    """A certificate, where it lies, and whether it speaks about the file as it is now."""

    path: Path
    certificate: dict[str, Any]
    matches: bool

    @property
    def sentence(self) -> str:
        """Whether it matches, in words."""
        if self.matches:
            return f"{self.path.name} is about this very file (sha256 agrees)."
        return f"{self.path.name} is about another file: the sha256 differs, so it proves nothing."


def find_certificate(data: str) -> Found | None:
    """The certificate of this release, if there is one."""
    release = Path(data)
    inside = release / "certificate.json"
    path = inside if inside.is_file() else Path(f"{data.rstrip('/')}.certificate.json")
    if not path.is_file() or not release.exists():
        return None
    certificate = _load(path)
    return Found(path, certificate, _matches(release, certificate["files"]))


def _load(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError("this certificate cannot be read. Restore it or move it away.", source=str(path)) from error
    if not isinstance(content, dict) or content.get("anonset") != "certificate":
        raise DataError("this is not a certificate of anonset. Move it away.", source=str(path))
    for name, kind in NEEDED.items():
        if not isinstance(content.get(name), kind):
            raise DataError(f"this certificate lacks '{name}'. Restore it or move it away.", source=str(path))
    return content


def _matches(release: Path, files: dict[str, str]) -> bool:
    """Whether every file that the certificate names has the checksum it says, and the release is among them."""
    inside = {release.name} if release.is_file() else {path.name for path in release.iterdir()} - BESIDE
    folder = release.parent if release.is_file() else release
    return inside <= set(files) and all(_sha256(folder / name) == digest for name, digest in files.items())


def _sha256(path: Path) -> str | None:
    if not path.is_file():
        return None
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
