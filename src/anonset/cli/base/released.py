"""What a run made, on the terminal and for machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anonset.cli.base.console import facts, measured
from anonset.cli.base.found import summary
from anonset.cli.base.options import Given
from anonset.cli.base.persons import in_persons, persons_json
from anonset.data.findings import parse_accept

if TYPE_CHECKING:
    from anonset.data.findings import Findings
    from anonset.data.release import Bound, Result
    from anonset.data.targets import Targets


SECRET = {"link": ": it undoes the release, so keep it secret"}


def findings_of(result: Result, targets: Targets, running: Given) -> Findings | None:
    """What attackers found, with what was accepted; for a trial run also what would help. None where nobody listens."""
    if ("quiet" in running and "json" not in running) or result.attacker is None:
        return None
    accepted = parse_accept(targets.accept)
    found = result.attacker.findings().accepting(accepted)
    if targets.out is None and found.refused:
        return result.attacker.helped(accepted).accepting(accepted)
    return found


def page(
    result: Result,
    out: str | None,
    beside: Mapping[str, str | None] | None = None,
    findings: Findings | None = None,
) -> list[Any]:
    """The result in a few lines; `beside` says what else was written, and where."""
    loss = result.measurements.get("information_loss_ratio")
    rows: list[tuple[str, Any]] = [
        ("promise", f"{result.verdict.promise}."),
        ("measured", measured(result.verdict.measured)),
        *in_persons(result.verdict),
        ("method", result.method),
        *_accounted(result),
    ]
    if loss is not None:
        rows.append(("information loss", f"{loss:.1%}: items added and removed, of all (private)"))
    if "attribute_loss_ratio" in result.measurements:
        lost = f"{result.measurements['attribute_loss_ratio']:.1%}: differences of attribute counts, of all (private)"
        rows.append(("attribute loss", lost))
    if result.bound is not None:
        rows.append(("least possible", f"{result.bound.ratio:.1%}{sureness(result.bound)} (private)"))
    if "ncp" in result.measurements:
        rows.append(("NCP", f"{result.measurements['ncp']:.4f}: 0 is exact, 1 says nothing (private)"))
    rows += columns_lost(result.measurements)
    if "pattern_distance" in result.measurements:
        rows += [("pattern distance", _distance(result.measurements)), ("rewritten", _rewritten(result.measurements))]
    rows += summary(findings, out is not None)
    rows += [(name, path + SECRET.get(name, "")) for name, path in (beside or {}).items() if path is not None]
    if out is None:
        return [facts(rows), "", "No release was written: this was a trial run. Add --out FILE to publish it."]
    return [facts([*rows, ("release", out), ("certificate", certificate_name(out, result.release.form))])]


def columns_lost(figures: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What quantities and each column beside the items lost."""
    ends = (name.removesuffix("_false") for name in figures if name.endswith("_false"))
    names = [name for name in ends if f"{name}_ncp" in figures]
    told = (
        f"{figures['quantities_exact']:.1%} of the published items that were there have their own, "
        f"{figures['quantities_false']:.1%} of those published are another (private)"
        if "quantities_exact" in figures
        else ""
    )
    return [*([("quantities", told)] if told else []), *_each_column(figures, names)]


def _each_column(figures: Mapping[str, Any], names: list[str]) -> list[tuple[str, Any]]:
    return [
        (
            f"column {name}",
            f"NCP {figures[f'{name}_ncp']:.4f}, {figures[f'{name}_exact']:.1%} exact, "
            f"{figures[f'{name}_false']:.1%} with another value than their own (private)",
        )
        for name in names
    ]


def _accounted(result: Result) -> list[tuple[str, Any]]:
    """What came in, and what goes out."""
    from anonset.data.balance import in_a_line

    account = result.account()
    left = account["published"]["left_out"]
    out = f"{len(result.release):,}" + (f", {left:,} of the original are left out (private)" if left else "")
    read = [("read", f"{in_a_line(account['read'])} (private)")] if account["read"] else []
    return [*read, ("transactions", out)]


def _distance(figures: Mapping[str, Any]) -> str:
    """How far users' patterns moved, never without what to compare it with."""
    return (
        f"{figures['pattern_distance']:.3f} items per user ({figures['empty_distance']:.3f} if all were lost), "
        f"{figures['patterns_kept']:.1%} of the patterns kept (private)"
    )


def _rewritten(figures: Mapping[str, Any]) -> str:
    """What a method that rewrites transactions did."""
    return (
        f"{figures['transactions_changed']:,} transactions changed, {figures['items_removed']:,} items removed and "
        f"{figures['items_added']:,} added (private)"
    )


def sureness(bound: Bound) -> str:
    """How sure a bound is, where it is not certain."""
    return "" if bound.confidence == 1 else f", with {bound.confidence:.0%} confidence"


def certificate_name(out: str, form: str = "rows") -> str:
    """Where the certificate of a release lies: beside a file or a table, inside a folder of groups."""
    from anonset.data.address import Address
    from anonset.io.database.session import CERTIFICATE

    if isinstance(out, Address):
        return f"the table {out.table}{CERTIFICATE} beside it"
    return f"{out}.certificate.json" if form == "rows" else f"{out.rstrip('/')}/certificate.json"


def as_json(result: Result, out: str | None, findings: Findings | None = None) -> dict[str, Any]:
    """The result for machines: what may be published, and under `private` what may not."""
    return {
        "out": out,
        "certificate": None if result.certificate is None else result.certificate.to_dict(),
        "model": result.verdict.model,
        "method": result.method,
        "params": result.params,
        "promise": result.verdict.promise,
        "holds": result.verdict.holds,
        "measured": result.verdict.measured,
        "unit": result.verdict.unit,
        "persons": persons_json(result.verdict),
        "transactions": len(result.release),
        "notes": result.notes,
        "private": {
            "seed": result.seed,
            "measurements": result.measurements,
            "bound": None if result.bound is None else result.bound.to_dict(),
            "seconds": result.seconds,
            "account": result.account(),
            "findings": None if findings is None else findings.to_dict(),
        },
    }
