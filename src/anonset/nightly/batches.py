"""A release of what was never released before: the new transactions of a source, as a batch of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anonset.data.address import Address
from anonset.data.errors import InfeasibleError, ParameterError, WaitingError, setting
from anonset.data.release import Result
from anonset.data.spec import MethodSpec, Model
from anonset.data.targets import Targets
from anonset.data.transactions import Transactions
from anonset.io.publish.atomic import Staging
from anonset.methods.recode import by_cut

if TYPE_CHECKING:  # most runs keep no ledger, and drivers of databases are slow to load
    from anonset.nightly.ledger import Ledger

Make = Callable[[Transactions, MethodSpec | None], Result]
"""Makes a result of transactions, by the method that was asked for or by another one."""


@dataclass
class Batch:
    """The batch of one run; it is the journal of its staging."""

    ledger: Ledger
    target: Path | Address
    stage: Staging
    hashes: list[bytes]
    cut: Mapping[str, str | None] | None
    number: int | None = None

    def begin(self) -> None:
        """Right before the release is put in place."""
        from anonset.nightly.ledger import fingerprint

        table = self.stage.companion
        sha256 = table.digest if table is not None else fingerprint(self.stage.staged(Path(self.target)))
        assert sha256
        self.number = self.ledger.write_down(self.target, sha256, self.hashes, self.cut)

    def done(self) -> None:
        """The release is in place."""
        assert self.number is not None
        self.ledger.confirm(self.number)

    def undo(self) -> None:
        """It is not, and everything is as before."""
        if self.number is not None:
            self.ledger.forget(self.number)


def require_batches(targets: Targets, model: Model, spec: MethodSpec, values: Mapping[str, Any]) -> None:
    """Refuse what cannot be released in batches, before the work."""
    if targets.ledger is None:
        return
    if targets.out is None:
        raise ParameterError("ledger", "come with an output", "none", f"Name a file for the release: {setting('out')}.")
    if not model.spec.batches:
        why = "Its promise is about all transactions of a user together, which batches tear apart."
        raise ParameterError("ledger", f"be left out for {model.name}", "one", why)
    if spec.cuts and values.get("hierarchy") is None:
        advice = f"Batches are joined by one hierarchy: {setting('hierarchy')}."
        raise ParameterError("ledger", "come with a hierarchy for methods that cut through one", "none", advice)


@contextmanager
def ledger_of(targets: Targets) -> Iterator[Ledger | None]:
    """The ledger of a run, open and locked, if it has one."""
    if targets.ledger is None:
        yield None
        return
    from anonset.nightly.ledger import opened

    with opened(targets.ledger) as ledger:
        yield ledger


def make_batch(
    source: Transactions, ledger: Ledger, targets: Targets, model: Model, cuts: bool, stage: Staging, make: Make
) -> Result:
    """The result of the new transactions, whose publication the ledger will note; a `WaitingError` for too few."""
    hashes, rows = ledger.hashes(source), ledger.fresh(source)
    least = _least(model)
    if len(rows) < least:
        raise _waiting(len(rows), f"{least:,} are needed")
    cut = ledger.cut() if cuts else None
    try:
        result = make(source.take(rows), None if cut is None else by_cut(cut, model))
    except InfeasibleError as error:
        if cut is None:
            raise
        raise _waiting(len(rows), "the cut of the earlier batches does not keep the promise for them alone") from error
    published = rows[result.row_origin[result.row_origin >= 0]]
    mapping = None if result.cut is None else result.cut.mapping()
    target = targets.table or Path(str(targets.out))
    stage.journal = Batch(ledger, target, stage, [hashes[row] for row in published], mapping)
    earlier, left = len(source) - len(rows), len(rows) - len(published)
    stage.notes.append(f"{len(published):,} transactions were new, {earlier:,} were released earlier, {left:,} wait.")
    return result


def _least(model: Model) -> int:
    """How many transactions a batch must have before the promise can hold for it."""
    wanted = [model.params.get(name) for name in ("k", model.spec.headline)]
    return max([1, *(int(value) for value in wanted if isinstance(value, int) and value > 1)])


def _waiting(count: int, why: str) -> WaitingError:
    if count == 0:
        return WaitingError("No transaction is new. Nothing was published.", 0)
    return WaitingError(f"{count:,} new transactions wait for the next run: {why}. Nothing was published.", count)
