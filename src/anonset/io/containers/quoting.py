"""Text that survives its surroundings: quoting for CSV and JSON, and labels that a spreadsheet must not run.

Everything works on whole Arrow arrays; vocabularies are quoted once, before they are spread over transactions.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

FORMULA = r"^'*[=+\-@\t\r\n＝＋－＠]"
"""What a spreadsheet may run, and what it would look like once guarded."""

PLAIN_NUMBER = r"^'*[+\-]([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+\-]?[0-9]+)?$"


def constant(text: str) -> pa.Scalar:
    """A text to be joined with arrays of long texts."""
    return pa.scalar(text, pa.large_string())


def joined(*parts: pa.Array | pa.Scalar | str) -> pa.LargeStringArray:
    """The parts of each row, one after the other; plain texts are the same in every row."""
    texts = [constant(part) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, constant(""), null_handling="replace", null_replacement="")


def csv_field(values: pa.Array, separator: str) -> pa.LargeStringArray:
    """Values as fields of a CSV file: in quotes where something in them would end or change the field.

    The usual separators are all quoted, so that nobody who guesses the separator guesses wrong; empty text is
    quoted, which tells it from a missing value.
    """
    text = pc.cast(values, pa.large_string())
    special = re.escape("".join(sorted({separator, ",", ";", "\t", "|"})))
    risky = pc.match_substring_regex(text, rf'[{special}"\r\n\x00]|^$|^[\s#\x{{feff}}]|\s$')
    return pc.if_else(risky, csv_quoted(text), text)


def csv_quoted(text: pa.LargeStringArray) -> pa.LargeStringArray:
    """Texts in quotes, the quotes inside doubled."""
    return joined('"', pc.replace_substring(text, '"', '""'), '"')


def json_text(values: pa.Array) -> pa.LargeStringArray:
    """Values as JSON strings."""
    text = pc.replace_substring(pc.cast(values, pa.large_string()), "\\", "\\\\")
    text = pc.replace_substring(text, '"', '\\"')
    if pc.any(pc.match_substring_regex(text, r"[\x00-\x1f]")).as_py():
        for code in range(0x20):
            text = pc.replace_substring(text, chr(code), f"\\u{code:04x}")
    return joined('"', text, '"')


def guarded(labels: pa.Array) -> tuple[pa.Array, int]:
    """Labels with an apostrophe before everything that a spreadsheet would run, and how many got one.

    Two labels never become one: a label that already looks guarded gets one more apostrophe.
    """
    formula = pc.match_substring_regex(labels, FORMULA)
    risky = pc.and_not(formula, pc.match_substring_regex(labels, PLAIN_NUMBER))
    count = pc.sum(risky).as_py() or 0
    if not count:
        return labels, 0
    text = pc.if_else(risky, joined("'", pc.cast(labels, pa.large_string())), pc.cast(labels, pa.large_string()))
    return pc.cast(text, labels.type), count


def text_bytes(text: pa.LargeStringArray) -> memoryview:
    """All texts of an array, one after the other, without copying."""
    _, bounds, content = text.buffers()
    if not len(text) or content is None:
        return memoryview(b"")
    ends = memoryview(bounds).cast("q")
    return memoryview(content)[ends[text.offset] : ends[text.offset + len(text)]]
