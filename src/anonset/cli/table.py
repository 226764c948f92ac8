"""Every command: its name, the module that holds it, and the line that `anonset --help` shows.

To add a command, write `cli/MODULE.py` with an `app` (a `base.commands.Application`) and add a line here.
"""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """Where a command lives and what it does, in one line."""

    module: str
    summary: str
    panel: str


COMMANDS: dict[str, Command] = {
    "anonymize": Command("anonymize", "Make a release that keeps a promise, check it, and write it.", "Publish"),
    "recode": Command("recode", "Publish by a cut through a hierarchy that was reviewed or edited.", "Publish"),
    "init": Command("init", "Write a project file for runs without a person.", "Publish"),
    "run": Command("run", "Do what a project file says: every night the same.", "Publish"),
    "ledger": Command("ledger", "Show which batches were released.", "Publish"),
    "verify": Command("verify", "Check whether a file, ours or anybody's, keeps a privacy promise.", "Publish"),
    "forget": Command("forget", "Answer a request for erasure: whose transactions, and is it still good.", "Publish"),
    "info": Command("info", "Describe transactions: counts, lengths, frequent items, current k.", "Data"),
    "risk": Command("risk", "Measure re-identification risk, in data and in a release of them.", "Data"),
    "measure": Command("measure", "Measure information loss and utility of a release.", "Data"),
    "bound": Command("bound", "Compute a lower bound on the information loss of k-anonymous releases.", "Data"),
    "report": Command("report", "Write a report on a release: promise, attacker, loss, charts.", "Data"),
    "compare": Command("compare", "Compare methods and parameters on the same data, and recommend one.", "Learn"),
    "advise": Command("advise", "Propose a model, a method and parameters, with reasons.", "Learn"),
    "query": Command("query", "Count on a release: how many transactions hold these items?", "Data"),
    "export": Command("export", "Write a release in groups as a matrix or as plain transactions.", "Data"),
    "hierarchy": Command("hierarchy", "Item hierarchies: build, lint, show.", "Data"),
    "convert": Command("convert", "Turn transactions from one format into another.", "Data"),
    "generate": Command("generate", "Make example data: quest, supermarket.", "Data"),
    "methods": Command("methods", "List the methods, or explain one of them.", "Learn"),
    "app": Command("app", "Open the local web page: from a file to a release without a command line.", "Learn"),
    "demo": Command("demo", "Show the whole way on an example supermarket.", "Learn"),
}
