"""Sensitivity degrees behind each item of a line: `milk:0.3`."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from anonset.data.transactions import Floats, Ints

BAD_DEGREE = "An item has no degree of sensitivity between 0 and 1 behind its last colon."
_DEGREE = r"^(?s:(?P<name>.*)):(?P<degree>(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?)$"


def split_degrees(labels: pa.StringArray, codes: Ints) -> tuple[pa.StringArray, Floats, Ints]:
    """Names, the degree of each old label (no number where there is none between 0 and 1), and codes into the names.

    Examples
    --------
    >>> names, degree, codes = split_degrees(pa.array(["a:b:0.5", "a:b:1", "c"]), np.array([1, 0, 2], dtype=np.int32))
    >>> names.to_pylist(), degree.tolist(), codes.tolist()
    (['a:b', ''], [0.5, 1.0, nan], [0, 0, 1])
    """
    parts = pc.extract_regex(labels, _DEGREE)
    found = parts.is_valid().to_numpy(zero_copy_only=False)
    number = np.asarray(pc.cast(pc.if_else(pa.array(found), parts.field("degree"), "0"), pa.float64()))
    number = np.where(found & (number >= 0) & (number <= 1), number, np.nan)
    names = pc.dictionary_encode(pc.if_else(pa.array(found), parts.field("name"), ""))
    place = names.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return names.dictionary, number, place[codes]
