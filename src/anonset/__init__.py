"""anonset: publish transaction data so that nobody in it can be singled out.

>>> import anonset
>>> result = anonset.anonymize([["wine", "bread"], ["wine"], ["wine", "bread"], ["wine"]], k=2, seed=1)
>>> result.verdict.measured["k"]
2

Names are loaded when first used, so that importing the package (and starting the command line) stays fast.
"""

from __future__ import annotations

from importlib import import_module

from anonset.data.version import VERSION as __version__

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would take longer than all the rest here

_HOMES = {
    "AnonsetError": "data.errors",
    "CancelledError": "data.errors",
    "Certificate": "data.release",
    "Cut": "data.hierarchy",
    "DataError": "data.errors",
    "ExistsError": "data.errors",
    "GuaranteeError": "data.errors",
    "Hierarchy": "data.hierarchy",
    "InfeasibleError": "data.errors",
    "InputError": "data.errors",
    "Job": "data.job",
    "Keep": "unlink",
    "Advice": "choose.advise",
    "Anonymizer": "api.estimator",
    "Comparison": "api.choosing",
    "Findings": "data.findings",
    "METHODS": "methods",
    "MODELS": "models",
    "OutputError": "data.errors",
    "ParameterError": "data.errors",
    "Release": "data.release",
    "Result": "data.release",
    "Targets": "data.targets",
    "Transactions": "data.transactions",
    "Verdict": "data.release",
    "WaitingError": "data.errors",
    "advise": "api.choosing",
    "anonymize": "pipeline",
    "check": "pipeline",
    "compare": "api.choosing",
    "convert": "io",
    "expected": "assess.expected",
    "hierarchy": "api.trees",
    "measure": "api.looking",
    "model": "models",
    "profile": "api.looking",
    "publish": "pipeline",
    "query": "assess.query",
    "read": "io",
    "read_cut": "data.hierarchy",
    "read_hierarchy": "data.hierarchy",
    "read_release": "io",
    "recode": "pipeline",
    "report": "api.reporting",
    "risk": "api.looking",
    "sampled": "assess.expected",
    "verify": "pipeline",
    "write": "io",
    "write_report": "reports",
}

if TYPE_CHECKING:
    from typing import Any

    from anonset.api.choosing import Comparison, advise, compare
    from anonset.api.estimator import Anonymizer
    from anonset.api.looking import measure, profile, risk
    from anonset.api.reporting import report
    from anonset.api.trees import hierarchy
    from anonset.assess.expected import expected, sampled
    from anonset.assess.query import query
    from anonset.choose.advise import Advice
    from anonset.data.errors import (
        AnonsetError,
        CancelledError,
        DataError,
        ExistsError,
        GuaranteeError,
        InfeasibleError,
        InputError,
        OutputError,
        ParameterError,
        WaitingError,
    )
    from anonset.data.findings import Findings
    from anonset.data.hierarchy import Cut, Hierarchy, read_cut, read_hierarchy
    from anonset.data.job import Job
    from anonset.data.release import Certificate, Release, Result, Verdict
    from anonset.data.targets import Targets
    from anonset.data.transactions import Transactions
    from anonset.io import convert, read, read_release, write
    from anonset.methods import METHODS
    from anonset.models import MODELS, model
    from anonset.pipeline import anonymize, check, publish, recode, verify
    from anonset.reports import write_report
    from anonset.unlink import Keep

__all__ = [
    "METHODS",
    "MODELS",
    "Advice",
    "AnonsetError",
    "Anonymizer",
    "CancelledError",
    "Certificate",
    "Comparison",
    "Cut",
    "DataError",
    "ExistsError",
    "Findings",
    "GuaranteeError",
    "Hierarchy",
    "InfeasibleError",
    "InputError",
    "Job",
    "Keep",
    "OutputError",
    "ParameterError",
    "Release",
    "Result",
    "Targets",
    "Transactions",
    "Verdict",
    "WaitingError",
    "__version__",
    "advise",
    "anonymize",
    "check",
    "compare",
    "convert",
    "expected",
    "hierarchy",
    "measure",
    "model",
    "profile",
    "publish",
    "query",
    "read",
    "read_cut",
    "read_hierarchy",
    "read_release",
    "recode",
    "report",
    "risk",
    "sampled",
    "verify",
    "write",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'anonset' has no attribute {name!r}")
    return getattr(import_module(f"anonset.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
