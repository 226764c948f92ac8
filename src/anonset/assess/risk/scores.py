"""Everybody's own risk as a file: one line for each transaction, for the eyes of the data's owner only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv

from anonset.data.errors import ParameterError
from anonset.data.transactions import Floats, Transactions
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.plan import Output, require_plan

PRIVATE = "PRIVATE"


def scores_path(path: str | os.PathLike[str]) -> Path:
    """Where the scores will be: the name says that they are private."""
    target = Path(path)
    if target.suffix != ".csv":
        raise ParameterError("scores", "end in .csv", target.name, "Try scores.csv.")
    if PRIVATE not in target.stem:
        target = target.with_name(f"{target.stem}.{PRIVATE}{target.suffix}")
    return target


def write_scores(
    data: Transactions,
    scores: Mapping[str, Floats],
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    shared_folder: SharedFolder = None,
) -> Path:
    """Write a column for each name: the chance of each transaction, empty where it was not attacked or not drawn.

    The first column is the transaction's id, or its number from 1 where it has none.
    """
    target = scores_path(path)
    require_plan([Output("scores", target)], force=force, shared=shared_folder)
    first = np.arange(1, len(data) + 1) if data.ids is None else data.ids
    columns = {name: pa.array(values, mask=np.isnan(values)) for name, values in scores.items()}
    with staging(force=force, shared=shared_folder) as stage, plain_errors(target):
        csv.write_csv(pa.table({"transaction": first, **columns}), stage.file(target))
        stage.publish()
    return target
