"""What becomes of how often an item occurs in its transaction, once the transactions are read."""

from __future__ import annotations

from dataclasses import replace

from anonset.data.errors import ParameterError, setting, unknown
from anonset.data.quantities import BINS, COUNT_AS, DROP, KEEP, binned
from anonset.data.transactions import Transactions
from anonset.io.source.options import ReadOptions


def settle_counts(data: Transactions, options: ReadOptions) -> Transactions:
    """The transactions with counts to be published as the options say; where nobody asks for them, they are not.

    Examples
    --------
    >>> data = Transactions.from_codes([0, 1], [0], ["milk"], counts=[2])
    >>> settle_counts(data, ReadOptions(count_as="drop")).notes
    ('item counts are left out, as asked',)
    """
    if options.count_as is not None and options.count_as not in COUNT_AS:
        raise unknown("count_as", options.count_as, COUNT_AS)
    if options.count_as is None and options.count is None:
        return data
    if data.counts is None:
        if options.count_as is None:
            return data
        advice = f"Name it: {setting('count')}."
        raise ParameterError("count_as", "come with a column of counts", "none", advice)
    if options.count_as == DROP:
        return replace(data, counts=None, count_as=None, notes=(*data.notes, "item counts are left out, as asked"))
    counts = binned(data.counts) if options.count_as == BINS else data.counts
    return replace(data, counts=counts, count_as=options.count_as or KEEP)
