"""Everything that a run is to write, and how: said once, planned before the work."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from anonset.data.address import Address

if TYPE_CHECKING:
    from pathlib import Path

    Place = str | os.PathLike[str] | None


@dataclass(frozen=True)
class Targets:
    """Where a run writes its release and all that goes with it. The names are those of the command line.

    Attributes
    ----------
    out, format
        The release: a file, or a folder where the model publishes groups. Its name says the format unless given. Or a
        table: `postgresql://host/database/schema.table`, `shop.db/release` (SQLite, DuckDB). `-` is standard output.
    report, public_report
        A report (`.html` or `.json`). A private one compares with the original and says PRIVATE in its name; a public
        one holds nothing computed from the original.
    dossier, purpose, responsible
        One page to file and sign (`.html`), the full report behind it; what the release is for and who answers for it
        stand on it. It is private and says so in its name.
    write_cut
        What each item is published as, for methods that cut through a hierarchy.
    write_patterns
        Which patterns each user has and is to have, for methods that rewrite them. Private.
    link
        Which original transaction, and whose, is behind each published one. Private, and its name will say so.
    sign
        An SSH key: the certificate gets a detached signature (`….certificate.json.sig`) by `ssh-keygen`.
    force
        Replace what is there.
    shared_folder
        The folder of the outputs, named once more, where others can write in it and that is wanted all the same.
    keep_formulas
        Write labels that a spreadsheet would run as a formula as they are.
    accept
        What is published although the outcome stands against it: `singling-out`, `linkability`, `inference`, `loss`.
    mode
        Who may read the release and its certificate, as a number (0o644); nobody else (0o600) where it is None.
    ledger
        A private file that knows what was released: only transactions that never were are, as a batch of their own.
    log
        Where the run is logged; here only so that no output takes its place.
    write_config, config
        Where to write a project file, and its text.
    also_reads
        Other files that the run reads and must not overwrite, by name.

    Examples
    --------
    >>> Targets(out="release.csv", force=True).given()
    {'out': 'release.csv', 'force': True}
    """

    out: Place = None
    format: str | None = None
    report: Place = None
    public_report: bool = False
    dossier: Place = None
    purpose: str = ""
    responsible: str = ""
    write_cut: Place = None
    write_patterns: Place = None
    link: Place = None
    sign: Place = None
    force: bool = False
    shared_folder: Place = None
    keep_formulas: bool = False
    accept: str | tuple[str, ...] = ()
    mode: int | None = None
    ledger: Place = None
    log: Place = None
    write_config: Place = None
    config: str = ""
    also_reads: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "out", Address.of(self.out) or self.out)  # shows no password

    @property
    def table(self) -> Address | None:
        """The table that the release is to be, if it is to be one."""
        return self.out if isinstance(self.out, Address) else None

    @property
    def piped(self) -> bool:
        """Whether the release goes to standard output."""
        return self.out is not None and str(self.out) == "-"

    @property
    def in_files(self) -> bool:
        """Whether the release is to be a file or a folder."""
        return self.out is not None and self.table is None and not self.piped

    def given(self) -> dict[str, Any]:
        """What differs from the defaults."""
        return {one.name: value for one in fields(self) if (value := getattr(self, one.name)) not in (one.default, {})}

    @property
    def anything(self) -> str | os.PathLike[str] | Path | None:
        """One of the files to be written, for messages; None where there is none."""
        beside = (self.write_cut, self.write_patterns, self.link, self.write_config)
        places = (self.out, self.report, self.dossier, *beside)
        return next((place for place in places if place is not None), None)
