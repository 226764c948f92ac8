"""Who may speak to the page: a guard around the whole application, in front of every HTTP request and every socket.

A page on this machine can be called by every page in the same browser, and by every program. So a request passes only
with (1) a Host from the list, which stops names that are pointed at this machine, (2) an Origin from the list where it
names one, and always for sockets and for what changes something, (3) the cookie of somebody who came in by the door.
Everything else is answered with 403, and nothing of it reaches the application.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

ENTER = "/enter"
VISITOR = "anonset.visitor"
"""Where a request's scope says who came: different for everybody who came in by the door."""
CHANGES_NOTHING = {"GET", "HEAD"}
LONGEST_FORM = 4096
PAUSE = 1.0  # seconds after a wrong password

FORM = """<!doctype html><html lang="en"><meta charset="utf-8"><title>anonset</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><body>
<form method="post" action="/enter"><h1>anonset</h1><p><label>Password <input type="password" name="password" autofocus>
</label> <button>Open</button></p></form></body></html>"""


@dataclass
class Door:
    """The ways in: a token that works once, and where there is one, a password."""

    token: str | None = field(default_factory=lambda: secrets.token_urlsafe(32))
    password: str | None = None
    visitors: set[str] = field(default_factory=set)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)

    def by_token(self, given: str) -> str | None:
        """The cookie for whoever brings the token, which is used up by that; None for a wrong one."""
        if self.token is None or not _same(given, self.token):
            return None
        self.token = None
        return self._admit()

    async def by_password(self, given: str) -> str | None:
        """The cookie for whoever knows the password; one try at a time, and a pause after a wrong one."""
        if self.password is None:
            return None
        async with self.busy:
            if _same(given, self.password):
                return self._admit()
            await asyncio.sleep(PAUSE)
        return None

    def visitor(self, cookie: str | None) -> str | None:
        """Whose cookie it is, as a name that is not the cookie itself; None where it is nobody's."""
        known = cookie is not None and any(_same(cookie, one) for one in self.visitors)
        return hashlib.sha256(str(cookie).encode()).hexdigest()[:16] if known else None

    def _admit(self) -> str:
        cookie = secrets.token_urlsafe(32)
        self.visitors.add(cookie)
        return cookie


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(), known.encode())


class Guard:
    """The application behind the guard. `hosts` are `name:port`, `origins` are `scheme://name:port`."""

    def __init__(self, app: App, door: Door, hosts: set[str], origins: set[str], cookie: str = "anonset") -> None:
        self.app, self.door, self.hosts, self.origins, self.cookie = app, door, hosts, origins, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with 403."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        if scope["type"] not in ("http", "websocket") or not self._addressed_to_us(scope):
            return await _refuse(scope, send)
        if scope["type"] == "http" and scope["path"] == ENTER:
            return await self._at_the_door(scope, receive, send)
        visitor = self.door.visitor(self._cookie_of(scope))
        if visitor is None:
            return await _refuse(scope, send)
        scope[VISITOR] = visitor
        return await self.app(scope, receive, _with_headers(scope, send))

    def _addressed_to_us(self, scope: Scope) -> bool:
        """Whether the request names one Host, one of ours, and comes from one of our own pages where it must."""
        hosts, origins = _all(scope, b"host"), _all(scope, b"origin")
        must_say = scope["type"] == "websocket" or scope["method"] not in CHANGES_NOTHING
        if len(hosts) != 1 or hosts[0] not in self.hosts or len(origins) > 1:
            return False
        return origins[0] in self.origins if origins else not must_say

    def _cookie_of(self, scope: Scope) -> str | None:
        try:
            morsel = SimpleCookie("; ".join(_all(scope, b"cookie"))).get(self.cookie)
        except CookieError:
            return None
        return None if morsel is None else morsel.value

    async def _at_the_door(self, scope: Scope, receive: Receive, send: Send) -> None:
        cookie = None
        if scope["method"] == "POST":
            given = parse_qs((await _body(receive)).decode("latin-1")).get("password", [""])[0]
            cookie = await self.door.by_password(given)
        elif scope["method"] == "GET":
            given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
            cookie = self.door.by_token(given)
            if cookie is None and not given and self.door.password is not None:
                return await _answer(send, 200, FORM, [(b"content-security-policy", _policy("", "self"))])
        if cookie is None:
            return await _refuse(scope, send)
        pass_on = f"{self.cookie}={cookie}; Path=/; HttpOnly; SameSite=Strict".encode()
        return await _answer(send, 303, "", [(b"location", b"/"), (b"set-cookie", pass_on)])


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def _body(receive: Receive) -> bytes:
    """The body of a small form; nothing where it is longer than such a form can be."""
    found = b""
    while len(found) <= LONGEST_FORM:
        message = await receive()
        found += bytes(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body"):
            return found
    return b""


async def _refuse(scope: Scope, send: Send) -> None:
    """403; a socket that is closed before it was accepted is answered with that, too."""
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008})
    text = "403: this address is not open to you. Use the address that 'anonset app' printed; it works once."
    return await _answer(send, 403, text, [(b"content-type", b"text/plain; charset=utf-8")])


async def _answer(send: Send, status: int, text: str, headers: list[tuple[bytes, bytes]]) -> None:
    body = text.encode()
    kind = [] if any(name == b"content-type" for name, _ in headers) else [(b"content-type", b"text/html")]
    length = [(b"content-length", str(len(body)).encode())]
    await send(
        {"type": "http.response.start", "status": status, "headers": [*headers, *kind, *length, *_always(PRIVATE)]}
    )
    await send({"type": "http.response.body", "body": body})


PRIVATE = b"no-store"


def _always(cache: bytes | None) -> list[tuple[bytes, bytes]]:
    """Headers of every answer: no other page may frame it, read it, or learn its address."""
    kept = [] if cache is None else [(b"cache-control", cache)]
    return [
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        *kept,
    ]


def _policy(nonce: str, connect: str) -> bytes:
    """What the browser may run and load: our own files, and the scripts of the page by its nonce.

    The page's framework compiles its templates in the browser, which needs `unsafe-eval`, and styles elements.
    Scripts and handlers that stand in markup, as an escaped label that is not would bring them, never run.
    """
    scripts = f"'self' 'nonce-{nonce}' 'unsafe-eval'" if nonce else "'none'"
    return (
        f"default-src 'none'; script-src {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        f"font-src 'self'; connect-src '{connect}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ).encode()


def _with_headers(scope: Scope, send: Send) -> Send:
    """`send` that adds our headers, and to a page its policy with a nonce in every script element.

    The nonce goes into the frame around the content, which holds nobody's data: that stands in one script as text
    without `<`.
    """
    waiting: list[Message] = []

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = dict(message["headers"]).get(b"content-type", b"")
            if kind.startswith(b"text/html"):
                waiting.append(message)
                return
            own = scope["path"].startswith(("/_nicegui/", "/look/"))
            message = {**message, "headers": [*message["headers"], *_always(None if own else PRIVATE)]}
        elif message["type"] == "http.response.body" and waiting:
            waiting.append(message)
            if message.get("more_body"):
                return
            nonce = secrets.token_urlsafe(16)
            page = b"".join(part["body"] for part in waiting[1:]).replace(
                b"<script", f'<script nonce="{nonce}"'.encode()
            )
            headers = [one for one in waiting[0]["headers"] if one[0] not in (b"content-length", b"cache-control")]
            own_headers = [
                (b"content-length", str(len(page)).encode()),
                (b"content-security-policy", _policy(nonce, "self")),
                *_always(PRIVATE),
            ]
            await send({**waiting[0], "headers": [*headers, *own_headers]})
            message = {"type": "http.response.body", "body": page}
        await send(message)

    return sending
