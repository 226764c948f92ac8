"""`anonset app`: the local web page, from an upload to a verified release."""

from __future__ import annotations

import sys

from anonset.cli.base import debug
from anonset.cli.base.commands import Application
from anonset.cli.base.groups import run_options
from anonset.cli.base.options import Choice, Given, takes
from anonset.data.spec import Param

app = Application()

PANEL = "Page"
PORT = Param("port", "int", "The port. Default: any free one.", 0, minimum=0, maximum=65535, example=8080)
BROWSER = Param("browser", "bool", "Open the page in the browser.", True)
HOST = Param("host", "text", "Let other machines reach the page under this address of this one.")
PASSWORD = Param("password_file", "text", "The password that other machines must give: the text of this file.")
UPLOAD = Param("max_upload", "int", "The largest file that can be uploaded, in MB.", 1000, minimum=1, maximum=1_000_000)


@app.command(epilog="Example: anonset app")
@takes(
    serving=[
        *(Choice(param, PANEL) for param in (PORT, BROWSER, UPLOAD)),
        Choice(HOST, PANEL, metavar="ADDRESS"),
        Choice(PASSWORD, PANEL, metavar="FILE"),
    ],
    running=[choice for choice in run_options() if choice.param.name == "debug"],
)
def app_(serving: Given, running: Given) -> None:
    """Open the local web page: six steps from a file to a verified release, without a command line.

    The page is open on this machine only, under an address that works once. Uploads lie in a private folder that is
    deleted when the page is closed. With --host and --password-file other machines can reach it, unencrypted.
    """
    from contextlib import suppress

    from anonset.data.extras import load

    load("nicegui", "app", "The page")
    server = load("anonset.app.server", "app", "The page")
    with suppress(KeyboardInterrupt):  # a signal is how it ends
        server.serve(
            host=serving.get("host"),
            port=serving.get("port", 0),
            password_file=serving.get("password_file"),
            browser=serving.get("browser", True),
            most_megabytes=serving.get("max_upload", 1000),
            debugging=debug.wanted(),
            say=_say,
        )
    _say("\nThe page is closed, and what was uploaded is deleted.")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)
