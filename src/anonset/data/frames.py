"""What comes out as a data frame: in the form in which it came in, for pandas, Polars, Arrow and their friends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from anonset.data.errors import InputError

if TYPE_CHECKING:
    from anonset.data.transactions import Transactions

Tabled = Callable[[str | None], pa.Table]
"""Gives the table in a layout (`long`, `lists`, `wide`), or in that of the source where none is named."""


class Framed:
    """Gives itself as a table. `layout` is `long`, `lists` or `wide`; by default that of the source."""

    tabled: Tabled | None
    source: Transactions | None

    def to_arrow(self, layout: str | None = None) -> pa.Table:
        """The release as an Arrow table with the source's column names and types.

        Transactions are numbered anew and their order is a new one, so nothing leads back to a row of the source.

        Examples
        --------
        >>> import anonset
        >>> table = pa.table({"receipt": [7, 7, 8, 8], "product": ["wine", "bread", "wine", "bread"]})
        >>> anonset.anonymize(table, k=2, seed=1).to_arrow().to_pydict()
        {'receipt': [1, 1, 2, 2], 'product': ['bread', 'wine', 'bread', 'wine']}
        """
        if self.tabled is None:
            raise InputError("This result has no table: it was put together by hand. Use release.transactions.")
        return self.tabled(layout)

    def to_pandas(self, layout: str | None = None) -> Any:
        """The release as a pandas frame; what was the index comes back as the index where it is published."""
        table = self.to_arrow(layout)
        arrived = None if self.source is None else self.source.arrived
        names = [name for name in (arrived.index if arrived else ()) if name in table.column_names]
        frame = table.to_pandas()
        if not names:
            return frame
        shown = [None if name.startswith("__index_level_") else name for name in names]
        return frame.set_index(names).rename_axis(shown)

    def to_polars(self, layout: str | None = None) -> Any:
        """The release as a Polars frame."""
        import polars as pl

        return pl.from_arrow(self.to_arrow(layout))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The Arrow PyCapsule interface: `polars.DataFrame(result)`, `pyarrow.table(result)`, DuckDB, …."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)
