"""Findings in words."""

from __future__ import annotations

from anonset.data.findings import Finding


def sentence(found: Finding) -> str:
    """A finding in one plain sentence."""
    success = f"is right in {share(found.after)}"
    if found.before is not None:
        success += f" of cases after, {share(found.before)} before"
    else:
        success += " of cases"
    at_most = " at most" if found.upper_bound else ""
    certain = f"; {found.certain:,} of {found.attacked:,} are found out for certain" if found.certain else ""
    return f"Somebody who knows {found.knows}, {success}{at_most}{certain}."


def share(value: float) -> str:
    """A share as people write it.

    Examples
    --------
    >>> share(0.123), share(0.0001), share(0), share(1.0), share(0.9999)
    ('12.3 %', 'under 0.05 %', '0 %', '100 %', '99.99 %')
    """
    if value in (0, 1):
        return f"{100 * value:.0f} %"
    if value < 0.0005:
        return "under 0.05 %"
    return f"{100 * value:.1f} %" if value < 0.995 else f"{100 * min(value, 0.9999):.2f} %"
