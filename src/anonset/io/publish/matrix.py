"""A matrix of transactions by items in a file that other tools read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv

from anonset.data.errors import ParameterError
from anonset.io.containers.quoting import guarded
from anonset.io.publish.atomic import plain_errors, staging
from anonset.io.publish.folders import SharedFolder
from anonset.io.publish.plan import Output, release_inputs, require_plan


def write_matrix(
    matrix: Any,
    labels: pa.StringArray,
    path: str | os.PathLike[str],
    *,
    source: Any = None,
    force: bool = False,
    shared_folder: SharedFolder = None,
) -> None:
    """Write a sparse matrix and the names of its columns.

    `.npz`: what `scipy.sparse.load_npz` reads, with the names beside it as the array `labels`. `.csv`: a line
    `transaction,item,share` for each entry; transactions are numbered from 1. `source` is what it was made from and
    must stay as it is.
    """
    path = Path(path)
    if path.suffix not in (".npz", ".csv"):
        raise ParameterError("out", "end in .npz or .csv for a matrix", f"'{path.name}'")
    require_plan([Output("out", path)], release_inputs(source), force=force, shared=shared_folder)
    with plain_errors(path), staging(force=force, shared=shared_folder) as stage:
        with stage.file(path).open("wb") as file:
            _write_npz(matrix, labels, file) if path.suffix == ".npz" else _write_csv(matrix, labels, file)
        stage.publish()


def _write_npz(matrix: Any, labels: pa.StringArray, file: Any) -> None:
    rows = matrix.tocsr()
    np.savez_compressed(
        file,
        format=np.array(b"csr"),
        _is_array=True,
        shape=rows.shape,
        indptr=rows.indptr,
        indices=rows.indices,
        data=rows.data,
        labels=np.array(labels.to_pylist()),
    )


def _write_csv(matrix: Any, labels: pa.StringArray, file: Any) -> None:
    cells = matrix.tocsr().tocoo()
    names, _ = guarded(labels)
    table = pa.table(
        {
            "transaction": pa.array(cells.row + 1),
            "item": names.take(pa.array(cells.col)),
            "share": pa.array(cells.data),
        }
    )
    pyarrow.csv.write_csv(table, file)
