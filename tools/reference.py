"""The pages docs/reference/{formats,certificate,config,exit-codes}.md: tables that derive from the code, and prose.

python -m tools.reference            # writes them
python -m tools.reference --check    # an error where one is not what it would be
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from anonset.cli.base import project
from anonset.data import errors
from anonset.data.release import Certificate
from anonset.io.containers.container import TEXT
from anonset.io.containers.registry import CONTAINERS
from anonset.io.formats.registry import LAYOUTS
from anonset.io.source.streams import COMPRESSIONS

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
MADE = "<!-- Made by `python -m tools.reference`; do not edit. -->"
PARTS = {
    "ids": "transaction ids",
    "users": "users",
    "sensitive": "marks of sensitive items",
    "degrees": "degrees",
    "counts": "counts",
    "attributes": "attributes of items",
    "columns": "columns beside the items",
}
EXIT = (
    (0, "done; `verify`: the promise holds", "go on"),
    (1, "the output could not be written, or a defect", "try again, then look at the message"),
    (2, "the command, a parameter or the data is not what it must be", "mend it: trying again does not help"),
    (3, "the promise does not hold, or cannot be kept", "do what the message says: another parameter, other data"),
    (4, "the promise holds, and the outcome is not acceptable", "use what the message names, or `--accept` it"),
    (130, "stopped by Ctrl-C; nothing was changed", ""),
    (141, "the reader of the pipe went away", ""),
    (143, "stopped by SIGTERM; nothing was changed", ""),
)
ERRORS = {
    "ParameterError": "a parameter is not what it must be",
    "InputError": "the data or the call is not what it must be",
    "DataError": "the content of a file or a frame, with the line where it can",
    "ExistsError": "an output is there already",
    "InfeasibleError": "no release can keep the promise",
    "GuaranteeError": "a release does not keep its promise",
    "OutcomeError": "the promise holds and protects too little, or leaves too little",
    "WaitingError": "there is too little that is new for a batch; nothing is wrong",
    "OutputError": "writing failed; what was there before still is",
    "CancelledError": "somebody asked to stop",
}
FIELDS = {
    "model": "The privacy model.",
    "parameters": "Its parameters; σ, k, p and m as absolute numbers, fixed on the original.",
    "promise": "The promise in one sentence. `verify` compares it with that of model and parameters.",
    "method": "The method that made the release.",
    "method_parameters": "Its other parameters. Never the seed.",
    "measured": "The strongest parameters that hold in the published files.",
    "sensitive_items": "The items that the owner named as sensitive and that are published.",
    "transactions": "How many transactions are published.",
    "files": "The sha256 of each file that the certificate speaks about.",
    "version": "The version of anonset that wrote it.",
    "notes": "What every reader of the files should know.",
    "unit": "What the promise counts: `transaction`, or `user` where the owner checked it in persons.",
    "persons": "The promise in persons, which only the owner can check, or null.",
    "columns": "How to read the columns beside the items.",
    "remaining": "What the model is not meant to prevent and this release does not prevent.",
    "accepted": "What stood against publishing and was accepted by the owner.",
}


def table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    names = list(head)
    lines = [names, ["---"] * len(names), *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def formats() -> str:
    """Layouts, containers, endings, compressions."""
    layouts = [
        (
            f"`{name}`",
            one.help,
            ", ".join(f"`.{ending}`" for ending in one.endings) or ", ".join(f"`{kind}`" for kind in one.containers),
            ", ".join(text for part, text in PARTS.items() if getattr(one, part)) or "–",
        )
        for name, one in LAYOUTS.items()
    ]
    kinds = [
        (
            f"`{name}`",
            ", ".join(f"`.{ending}`{' (read only)' if ending in one.only_read else ''}" for ending in one.endings),
            f"`{one.usual}`",
        )
        for name, one in CONTAINERS.items()
        if name != TEXT
    ]
    packed = ", ".join(f"`.{ending}` ({name})" for ending, name in COMPRESSIONS.items())
    return f"""# Formats

{MADE}

A format is a *layout* in a *container*, perhaps compressed: `fimi`, `long.csv`, `lists.parquet`, `long.csv.gz`. It
is detected from the name and the content; `--format` (`format=`) overrides that. [How to read and write
them](../how-to/formats.md) shows examples.

## Layouts

{table(("layout", "what it is", "endings, or containers", "holds beside items"), layouts)}

A part that a layout cannot hold is an error that names a layout that can.

## Containers

{table(("container", "endings", "layout unless the columns say otherwise"), kinds)}

Text may be compressed: {packed}. `-` is standard input or output. A folder or a pattern is read as one source.
Tables of databases are on [a page of their own](../how-to/databases.md).

## A release in groups

Privacy degree publishes a folder: `transactions.csv` (`group,transaction,item`), `sensitive.csv`
(`group,item,count`) and `certificate.json`; the two tables in any container.
"""


def certificate() -> str:
    """The fields of a certificate."""
    assert list(FIELDS) == [one.name for one in fields(Certificate)], "FIELDS must say every field of a certificate"
    return f"""# The certificate

{MADE}

`release.csv.certificate.json` lies beside a release; in a folder of groups it is `certificate.json`; beside a table
of a database it is a table, too. It is public: it holds no seed, no figure computed from the original, and nothing
about a person.

{table(("field", "what it says"), ((f"`{name}`", text) for name, text in FIELDS.items()))}

`"anonset": "certificate"` says what the file is. [`anonset verify`](cli.md#anonset-verify) reads the release
without the certificate's help and compares every field with what it finds. One difference is exit code 3. A
signature lies beside it as `….certificate.json.sig` ([how to sign](../how-to/sign-a-release.md)).

What a certificate does not prove: that the sensitive items were all named, that the original was what the owner
says, or anything about persons beyond the sentence of the owner. [Trust](../explanation/trust.md) says more.
"""


def config() -> str:
    """The tables of a project file."""
    known = project.options()
    parts = []
    for name in project.ORDER:
        rows = [(f"`{one}`", _help(param)) for one, param in known.items() if project.table_of(param) == name]
        parts.append(f"## `[{name}]`\n\n{table(('name', 'meaning'), rows)}")
    return f"""# The project file

{MADE}

`anonset init` writes `anonset.toml`; `anonset run` does what it says; `anonset run --check` only validates it.
[Every night](../how-to/every-night.md) shows how to use it. The names are those of the options of [`anonset
anonymize`](cli.md#anonset-anonymize), with `_` in place of `-`. Relative paths start in the folder of the file. An
option on the command line goes before the file. `${{NAME}}` stands for what the environment holds, so no password
is written down; `{{date}}` in an output becomes the day.

```toml
[source]
data = "sales.csv"

[privacy]
k = 10

[targets]
out = "release-{{date}}.csv"
ledger = "sales.ledger"

[run]
log = "night.log"
```

{chr(10).join(f"{part}{chr(10)}" for part in parts)}"""


def _help(param: object) -> str:
    return " ".join(str(getattr(param, "help", "") or "").split())


def exit_codes() -> str:
    """Exit codes, and the errors of Python behind them."""
    rows = [(f"`{name}`", getattr(errors, name).exit_code, text) for name, text in ERRORS.items()]
    return f"""# Exit codes and errors

{MADE}

{table(("code", "meaning", "what to do"), EXIT)}

Every error is one sentence: the parameter, what it must be, what it got, and what to do. Under `--json` it is JSON
on standard output: `{{"error": {{"code", "kind", "message", "parameter", "hint"}}}}`.

In Python the same sentences are exceptions, all of them kinds of `anonset.AnonsetError`:

{table(("exception", "exit code", "meaning"), rows)}
"""


PAGES = {"formats": formats, "certificate": certificate, "config": config, "exit-codes": exit_codes}


def main() -> None:
    """Write the pages, or compare them with what they would be."""
    different = []
    for name, make in PAGES.items():
        page, text = FOLDER / f"{name}.md", make().rstrip() + "\n"
        if "--check" not in sys.argv[1:]:
            page.write_text(text, encoding="utf-8")
        elif not page.exists() or page.read_text(encoding="utf-8") != text:
            different.append(name)
    if different:
        sys.exit(f"These pages are not what they would be: {', '.join(different)}. Run: python -m tools.reference")


if __name__ == "__main__":
    main()
