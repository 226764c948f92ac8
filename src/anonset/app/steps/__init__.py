"""The six steps, one file each, in their order; each shows what the work knows so far and starts tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from anonset.app.steps import compare, data, describe, protect, publish, risk
from anonset.app.steps.page import Page
from anonset.app.work import Work

STEPS: dict[str, Callable[[Page], None]] = {
    "data": data.show,
    "describe": describe.show,
    "risk": risk.show,
    "protect": protect.show,
    "compare": compare.show,
    "publish": publish.show,
}

UPLOADS: dict[str, Callable[[Work, Path], Awaitable[None]]] = {
    "data": data.uploaded,
    "hierarchy": describe.uploaded,
}
"""What is done with an uploaded file."""

__all__ = ["STEPS", "UPLOADS", "Page"]
