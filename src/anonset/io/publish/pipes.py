"""A release on standard output: made whole in memory and checked as anybody would read it before a byte leaves."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

from anonset.data.errors import InputError, OutputError, ParameterError
from anonset.data.release import Certificate, Release, Verdict
from anonset.data.targets import Targets
from anonset.io.formats.registry import format_of
from anonset.io.formats.saving import write_to
from anonset.io.publish.certificate import certify, digest
from anonset.io.publish.releases import as_published, check_again, require_publishable
from anonset.io.source.streams import memory_file

NAME = "standard output"
NO_CERTIFICATE = "Standard output has no certificate beside it. Name a file to get one."


def require_pipe(targets: Targets, form: str) -> None:
    """An error for what standard output cannot be, before any work."""
    if form != "rows":
        raise InputError("A release in groups is a folder, which standard output cannot be. Name a folder.")
    format_of(None, targets.format)
    for name in ("ledger", "sign", "mode", "link"):
        if getattr(targets, name) is not None:
            raise ParameterError(name, "be left out where the release goes to standard output", "both", "Name a file.")
    if sys.stdout is None:
        raise OutputError("Standard output is closed. Connect it, or name a file.")


def stage_pipe(
    release: Release, verdict: Verdict, *, format: str | None, keep_formulas: bool, about: Mapping[str, Any]
) -> tuple[bytes, Certificate]:
    """The bytes of a release, checked once more, and what is certain of them."""
    require_publishable(verdict)
    chosen = format_of(None, format)
    data, changes = as_published(release.transactions, chosen, keep_formulas)
    file = io.BytesIO()
    write_to(file, data, chosen)
    content = file.getvalue()
    with memory_file(content) as path:
        check_again(path, chosen, data, verdict)
    certificate = certify(
        verdict,
        {"-": digest(content)},
        transactions=len(data),
        sensitive_items=tuple(data.sensitive_names()),
        **{**about, "notes": (*about["notes"], *changes)},
    )
    return content, certificate


def deliver(content: bytes) -> None:
    """Write it all."""
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
