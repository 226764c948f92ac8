"""Where the release goes: a folder of this machine, HDFS, or an object store; whole or not at all.

A folder of this machine is staged and renamed like any release. In HDFS a hidden folder is renamed, which is one step
there as well. An object store cannot rename: each run writes a new versioned folder, and the certificate comes last; a
folder without a certificate is not a release.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from anonset.data.errors import ExistsError, InputError, argument
from anonset.data.release import Certificate, Verdict
from anonset.io.publish.atomic import Staging, plain_errors, staging
from anonset.io.publish.certificate import certify, sha256, write_certificate
from anonset.io.publish.plan import Output, require_plan
from anonset.io.publish.releases import certificate_path
from anonset.io.publish.signature import require_key, signature_path, signed

CERTIFICATE = "certificate.json"
RENAMING = ("hdfs", "viewfs")


@dataclass(frozen=True)
class Said:
    """What the certificate says besides the verdict."""

    method: str
    params: Mapping[str, Any]
    transactions: int
    sensitive: tuple[str, ...]
    grouped: bool
    remaining: tuple[str, ...] = ()
    accepted: tuple[str, ...] = ()


class Stage(Protocol):
    """A release in the making: where Spark writes it, and a place for what only the owner may see."""

    path: str
    private: str
    out: str

    def publish(self, verdict: Verdict, said: Said) -> Certificate:
        """Put the release in place, with its certificate."""


@dataclass(frozen=True)
class Place:
    """The target of a run."""

    out: str
    force: bool
    sign: Any

    @classmethod
    def of(cls, out: str, *, force: bool, sign: Any, inputs: Mapping[str, Any], grouped: bool) -> Place:
        """The place of this name, planned before the work."""
        here = _own(out)
        if here is None:
            if sign is not None:
                raise InputError(f"{argument('sign')} is for folders of this machine. Sign the certificate afterwards.")
            return cls(out, force, None)
        known = {name: _own(str(value)) for name, value in inputs.items() if isinstance(value, (str, os.PathLike))}
        require_plan(_outputs(here, grouped), {name: path for name, path in known.items() if path}, force=force)
        if sign is not None:
            require_key(sign)
        return cls(out, force, sign)

    @contextmanager
    def staging(self, grouped: bool) -> Iterator[Stage]:
        """A stage that leaves nothing behind unless it was published."""
        here = _own(self.out)
        if here is None:
            with _remote(self.out) as stage:
                yield stage
            return
        with plain_errors(here), staging(force=self.force) as stage:
            yield _Local(stage, here, self.sign, grouped)


def _own(out: str) -> Path | None:
    """The path of a folder of this machine; None for places elsewhere."""
    if out.startswith("file:"):
        return Path("/" + out.removeprefix("file:").lstrip("/"))
    return None if "://" in out else Path(out)


def _outputs(target: Path, grouped: bool) -> list[Output]:
    beside = certificate_path(target)
    folder = Output("out", target, folder=True)
    return [folder] if grouped else [folder, Output("certificate", beside), Output("signature", signature_path(beside))]


class _Local:
    """A hidden folder beside the target, which is renamed."""

    def __init__(self, stage: Staging, target: Path, sign: Any, grouped: bool) -> None:
        self.out = str(target)
        self._stage, self._target, self._sign = stage, target, sign
        self._folder = stage.folder(target, _is_release)
        self._grouped = grouped
        private = self._folder.with_name(f"private-{secrets.token_hex(4)}")
        private.mkdir(mode=0o700)
        self.path, self.private = self._folder.absolute().as_uri(), private.absolute().as_uri()
        self._private = private

    def publish(self, verdict: Verdict, said: Said) -> Certificate:
        """Tidy the files, certify them, rename."""
        shutil.rmtree(self._private)
        tidy(self._folder)
        files = {path.name: sha256(path) for path in sorted(self._folder.iterdir())}
        certificate = _certificate(verdict, said, files)
        path = self._folder / CERTIFICATE if self._grouped else self._beside()
        write_certificate(path, certificate)
        path.chmod(0o600)
        if self._sign is not None:
            signature = signed(path.read_bytes(), self._sign)
            beside = signature_path(path) if self._grouped else self._stage.file(signature_path(self._certificate))
            beside.write_bytes(signature)
        self._stage.publish()
        return certificate

    @property
    def _certificate(self) -> Path:
        return certificate_path(self._target)

    def _beside(self) -> Path:
        for old in (self._certificate, signature_path(self._certificate)):
            if self._stage.force:
                self._stage.withdraw(old)
        return self._stage.file(self._certificate)


def _is_release(folder: Path) -> bool:
    """Whether a folder holds nothing but what a certificate names, so that replacing it loses nothing else."""
    for place in (folder / CERTIFICATE, certificate_path(folder)):
        with suppress(OSError, ValueError, TypeError, KeyError):
            named = set(json.loads(place.read_text())["files"]) | {CERTIFICATE, f"{CERTIFICATE}.sig"}
            return all(str(path.relative_to(folder)) in named for path in folder.rglob("*") if not path.is_dir())
    return False


def tidy(folder: Path) -> None:
    """Leave the data files only, under plain numbers, for the owner's eyes only.

    The tables of a release in groups move up: `transactions/part-….parquet` becomes `transactions.parquet`, or
    `transactions.00000.parquet` and so on where there are several.
    """
    for path in folder.rglob("*"):
        if path.is_file() and path.name.startswith((".", "_")):
            path.unlink()
    for parent in sorted({path.parent for path in folder.rglob("part-*")}):
        parts = sorted(parent.glob("part-*"))
        for number, path in enumerate(parts):
            ending = ".jsonl" if path.suffix == ".json" else path.suffix
            if parent == folder:
                moved = folder / f"part-{number:05d}{ending}"
            else:
                moved = folder / f"{parent.name}{f'.{number:05d}' * (len(parts) > 1)}{ending}"
            path.rename(moved).chmod(0o600)
        if parent != folder:
            parent.rmdir()


def _certificate(verdict: Verdict, said: Said, files: Mapping[str, str]) -> Certificate:
    about = certify(
        verdict,
        {},
        transactions=said.transactions,
        sensitive_items=said.sensitive,
        method=said.method,
        params=said.params,
        remaining=said.remaining,
        accepted=said.accepted,
    )
    return replace(about, files=dict(files))


@contextmanager
def _remote(out: str) -> Iterator[Stage]:
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(out.rstrip("/"))
    stage = _Remote(system, path, out.rstrip("/"))
    try:
        yield stage
    finally:
        stage.discard()


class _Remote:
    """A folder elsewhere: hidden and renamed in HDFS, under a new version in object stores."""

    def __init__(self, system: Any, path: str, uri: str) -> None:
        from pyarrow import fs

        self._system = system
        self._renames = uri.partition("://")[0] in RENAMING
        token = secrets.token_hex(8)
        parent, _, name = path.rpartition("/")
        base = uri.rpartition("/")[0]
        if self._renames:
            if system.get_file_info(path).type != fs.FileType.NotFound:
                raise ExistsError(f"{uri} is there already. Choose another name or remove it first.")
            hidden = f".{name}.{token}.part"
            self._folder, self.path = f"{parent}/{hidden}", f"{base}/{hidden}"
            self._target, self.out = path, uri
        else:
            self._folder = self._target = f"{path}/version-{token}"
            self.path = self.out = f"{uri}/version-{token}"
        self._private = f"{parent}/.{name}.{token}.private"
        self.private = f"{base}/.{name}.{token}.private"
        self._published = False

    def publish(self, verdict: Verdict, said: Said) -> Certificate:
        """The certificate after the files, and the name last where there is a rename."""
        from pyarrow import fs

        found = self._system.get_file_info(fs.FileSelector(self._folder, recursive=True))
        names = sorted(info.path for info in found if info.base_name.startswith("part-"))
        files = {name.removeprefix(f"{self._folder}/"): _digest(self._system, name) for name in names}
        certificate = _certificate(verdict, said, files)
        text = json.dumps(certificate.to_dict(), indent=2, ensure_ascii=False) + "\n"
        with self._system.open_output_stream(f"{self._folder}/{CERTIFICATE}") as stream:
            stream.write(text.encode())
        if self._renames:
            self._system.move(self._folder, self._target)
        self._published = True
        return certificate

    def discard(self) -> None:
        """Remove the private snapshot, and the files unless they were published."""
        for folder in (self._private, *([] if self._published else [self._folder])):
            with suppress(OSError):
                self._system.delete_dir(folder)


def _digest(system: Any, path: str) -> str:
    found = hashlib.sha256()
    with system.open_input_stream(path) as stream:
        while block := stream.read(1 << 20):
            found.update(block)
    return found.hexdigest()
