"""The server of the page: one address on this machine, one private folder, nothing left when it ends."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from anonset.app.folder import private_folder
from anonset.app.guard import ENTER, Door, Guard
from anonset.data.errors import ParameterError

HERE = "127.0.0.1"
ALSO_HERE = ("localhost",)
SHORTEST_PASSWORD = 12


def serve(
    *,
    host: str | None = None,
    port: int = 0,
    password_file: str | None = None,
    browser: bool = True,
    most_megabytes: int = 1000,
    debugging: bool = False,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until the process is asked to stop; then nothing of it is left."""
    password = _password(host, password_file)
    door = Door(token=None if password else Door().token, password=password)
    with private_folder() as folder, _listening(host or HERE, port) as listener:
        name, port = _shown(host or HERE), listener.getsockname()[1]
        page = _application(folder, most_megabytes, debugging)
        names = {name, *(ALSO_HERE if host is None else ())}
        hosts = {f"{one}:{port}" for one in names}
        guard = Guard(page, door, hosts, {f"http://{one}" for one in hosts}, cookie=f"anonset_{port}")
        _only_our_pages({f"http://{one}" for one in hosts})
        address = f"http://{name}:{port}{ENTER}" + (f"?token={door.token}" if door.token else "")
        _announce(address, host, say)
        if browser and host is None:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        _run(guard, listener)


def _announce(address: str, host: str | None, say: Callable[[str], None]) -> None:
    say(f"The page is open at {address}")
    if host is None:
        say("The address works once, in one browser, on this machine only.")
    else:
        say("WARNING: others can reach this page, and what it shows and takes travels unencrypted.")
    say("Stop it with Ctrl-C: all that was uploaded is deleted then.")


def _password(host: str | None, file: str | None) -> str | None:
    """The password in the file, which there must be where others can reach the page, and only there."""
    if (host is None) != (file is None):
        name, must = ("password_file", "come with a host") if host is None else ("host", "come with a password file")
        raise ParameterError(name, must, "it alone", "Without both the page is open on this machine only.")
    if file is None:
        return None
    try:
        password = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError):
        raise ParameterError("password_file", "be a text file that can be read", repr(file)) from None
    if len(password) < SHORTEST_PASSWORD or not password.isascii() or not password.isprintable():
        must = f"hold a password of at least {SHORTEST_PASSWORD} ASCII characters"
        raise ParameterError("password_file", must, "another one")
    return password


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket on one address of this machine, never on all of them: the guard must know what the page is called."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if ip_address(found[4][0]).is_unspecified:
            advice = "Name one address, so that requests for other names are refused."
            raise ParameterError("host", "be one address of this machine", host, advice)
        listener = socket.socket(found[0], socket.SOCK_STREAM)
    except OSError:
        raise ParameterError("host", "be a name or an address of this machine", repr(host)) from None
    with listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(found[4])
        except OSError as error:
            advice = "Choose another one, or leave it out."
            raise ParameterError("port", "be free on this machine", f"{port} ({error.strerror})", advice) from None
        listener.listen(128)
        yield listener


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _application(folder: Path, most_megabytes: int, debugging: bool) -> Any:
    """The pages as an application of its own; everything that its framework keeps lies in the private folder."""
    tempfile.tempdir = str(folder)
    if not debugging:
        for name in ("nicegui", "asyncio"):  # what they log of an error may quote the data
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    os.environ["NICEGUI_STORAGE_PATH"] = str(folder / "framework")
    from anonset.app.pages import Site

    return Site(folder, most_megabytes).application()


def _only_our_pages(origins: set[str]) -> None:
    from nicegui import core

    core.sio.eio.cors_allowed_origins = sorted(origins)


def _run(guard: Guard, listener: socket.socket) -> None:
    """Serve until a signal comes; then answer nobody any more, and end in order."""
    import uvicorn

    class Server(uvicorn.Server):
        """Ends at the first signal, without waiting for tabs that are open."""

        def capture_signals(self) -> Any:
            return nullcontext()

        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                asyncio.get_running_loop().add_signal_handler(number, self._end)

        def _end(self) -> None:
            self.should_exit = True

    settings = uvicorn.Config(
        guard,
        loop="asyncio",
        timeout_graceful_shutdown=0,
        log_level="critical",
        access_log=False,
        server_header=False,
    )
    Server(settings).run(sockets=[listener])
