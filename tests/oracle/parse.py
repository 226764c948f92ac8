"""Reading lines as a textbook would: plain Python, one character at a time where it matters."""

from __future__ import annotations

WHITE = " \t\n\v\f\r"


def lines(text: str) -> list[str]:
    """The lines of a text; a line end at its end does not begin another one."""
    found = text.split("\n")
    return found[:-1] if found[-1] == "" else found


def words(line: str) -> list[str]:
    """The words of a line between white space (not Python's split(), which knows more kinds of it)."""
    for sign in WHITE:
        line = line.replace(sign, " ")
    return [word for word in line.split(" ") if word]


def spaced(text: str, comments: bool) -> list[list[str]]:
    """Rows of items separated by white space."""
    return [words(line) for line in lines(text) if not (comments and line[:1] in ("@", "#", "%"))]


def fields(text: str, separator: str) -> tuple[list[list[str]], list[int], str]:
    """Rows of fields, the line on which each begins, and what is wrong with a quote (the rows end there)."""
    rows, starts, at, line = [], [], 0, 1
    while at < len(text):
        row: list[str] = []
        starts.append(line)
        while True:
            while at < len(text) and text[at] in " \t\r" and text[at] != separator:
                at += 1
            if at < len(text) and text[at] == '"':
                field, at = "", at + 1
                while at < len(text) and not (text[at] == '"' and text[at + 1 : at + 2] != '"'):
                    at += text[at] == '"'
                    line += text[at] == "\n"
                    field, at = field + text[at], at + 1
                if at == len(text):
                    return rows, starts, "open"
                at += 1
                while at < len(text) and text[at] in " \t\r" and text[at] != separator:
                    at += 1
                if at < len(text) and text[at] not in (separator, "\n"):
                    return rows, starts, "after"
            else:
                end = at
                while end < len(text) and text[end] not in (separator, "\n"):
                    end += 1
                blanks = "".join(sign for sign in " \t\r" if sign != separator)
                field, at = text[at:end].rstrip(blanks), end
            row.append(field)
            if at == len(text) or text[at] == "\n":
                break
            at += 1
        rows.append(row)
        at, line = at + 1, line + 1
    return rows, starts, ""


def items(row: list[str]) -> tuple[list[str], int]:
    """The items of a row of fields, and how many are missing before another item."""
    while row and not row[-1]:
        row = row[:-1]
    return [field for field in row if field], row.count("")
