"""The guard alone, around an application that notes whether a request reached it."""

import asyncio
import time

import pytest

from anonset.app.guard import VISITOR, Door, Guard

HOST, ORIGIN = "127.0.0.1:8080", "http://127.0.0.1:8080"


class Inside:
    """An application behind the guard; it answers with a page."""

    def __init__(self, kind=b"text/html; charset=utf-8", body=b"<script>1</script><script src=x></script>"):
        self.reached, self.kind, self.body = [], kind, body

    async def __call__(self, scope, receive, send):
        self.reached.append(scope)
        if scope["type"] == "http":
            headers = [(b"content-type", self.kind), (b"content-length", str(len(self.body)).encode())]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": self.body[:5], "more_body": True})
            await send({"type": "http.response.body", "body": self.body[5:]})
        elif scope["type"] == "websocket":
            await send({"type": "websocket.accept"})


def call(
    guard, path="/", *, type="http", method="GET", query="", host=HOST, origin=None, cookie=None, body=b"", **more
):
    """What the guard sends in answer to a request; `host` and `origin` may be lists."""
    listed = [(b"host", one.encode()) for one in ([host] if isinstance(host, str) else host or [])]
    listed += [(b"origin", one.encode()) for one in ([origin] if isinstance(origin, str) else origin or [])]
    listed += [] if cookie is None else [(b"cookie", f"anonset={cookie}".encode())]
    scope = {"type": type, "method": method, "path": path, "query_string": query.encode(), "headers": listed, **more}
    sent = []

    async def receive():
        return {"type": "http.request", "body": body}

    async def send(message):
        sent.append(message)

    asyncio.run(guard(scope, receive, send))
    return sent


def guarded(inside=None, **door):
    inside = inside or Inside()
    return Guard(inside, Door(**door), {HOST, "localhost:8080"}, {ORIGIN, "http://localhost:8080"}), inside


def header(sent, name):
    found = [value for key, value in sent[0]["headers"] if key == name.encode()]
    return found[0].decode() if found else None


def entered(guard):
    sent = call(guard, "/enter", query=f"token={guard.door.token}")
    assert sent[0]["status"] == 303
    return header(sent, "set-cookie").split(";")[0].removeprefix("anonset=")


def test_the_token_opens_the_door_once():
    guard, inside = guarded(token="secret")
    first = call(guard, "/enter", query="token=secret")
    assert (first[0]["status"], header(first, "location")) == (303, "/")
    cookie = header(first, "set-cookie")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert call(guard, "/enter", query="token=secret")[0]["status"] == 403
    assert not inside.reached


@pytest.mark.parametrize("query", ["", "token=", "token=wrong", "token=secre", "token=secret2", "Token=secret"])
def test_no_other_token_opens_the_door(query):
    guard, inside = guarded(token="secret")
    assert call(guard, "/enter", query=query)[0]["status"] == 403
    assert not inside.reached
    assert guard.door.token == "secret"


def test_the_cookie_leads_inside_and_says_who_it_is_without_being_it():
    guard, inside = guarded()
    cookie = entered(guard)
    assert call(guard, cookie=cookie)[0]["status"] == 200
    assert inside.reached[0][VISITOR] not in cookie
    assert cookie not in inside.reached[0][VISITOR]


@pytest.mark.parametrize("cookie", [None, "", "wrong", "\xff", "a; anonset=b"])
def test_without_the_cookie_nothing_gets_in(cookie):
    guard, inside = guarded()
    entered(guard)
    assert call(guard, cookie=cookie)[0]["status"] == 403
    assert call(guard, cookie=cookie, type="websocket", origin=ORIGIN) == [{"type": "websocket.close", "code": 1008}]
    assert not inside.reached


@pytest.mark.parametrize(
    "host",
    [
        None,
        "evil.example",
        "evil.example:8080",
        "127.0.0.1",
        "127.0.0.1:8081",
        "127.0.0.1.evil.example:8080",
        "",
        "0.0.0.0:8080",
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_request_for_another_host_is_refused_although_it_has_the_cookie(host, kind):
    guard, inside = guarded()
    cookie = entered(guard)
    sent = call(guard, host=host, cookie=cookie, type=kind, origin=ORIGIN)
    assert sent[0].get("status", sent[0]["type"]) in (403, "websocket.close")
    assert not inside.reached


def test_two_hosts_are_no_host():
    guard, inside = guarded()
    assert call(guard, host=[HOST, "evil.example"], cookie=entered(guard))[0]["status"] == 403
    assert not inside.reached


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8081", "https://127.0.0.1:8080", ""]
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_a_request_from_another_page_is_refused_although_it_has_the_cookie(origin, kind):
    guard, inside = guarded()
    sent = call(guard, cookie=entered(guard), origin=[origin], type=kind)
    assert sent[0].get("status", sent[0]["type"]) in (403, "websocket.close")
    assert not inside.reached


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_what_may_change_something_must_say_where_it_comes_from(method):
    guard, inside = guarded()
    cookie = entered(guard)
    assert call(guard, cookie=cookie, method=method)[0]["status"] == 403
    assert not inside.reached
    assert call(guard, cookie=cookie, method=method, origin=ORIGIN)[0]["status"] == 200


def test_a_socket_must_say_where_it_comes_from():
    guard, inside = guarded()
    cookie = entered(guard)
    assert call(guard, cookie=cookie, type="websocket")[0]["type"] == "websocket.close"
    assert not inside.reached
    assert call(guard, cookie=cookie, type="websocket", origin=ORIGIN)[0]["type"] == "websocket.accept"


def test_a_kind_of_request_that_nobody_knows_is_refused():
    guard, inside = guarded()
    assert call(guard, type="webtransport", cookie=entered(guard))[0]["status"] == 403
    assert not inside.reached


def test_a_page_runs_only_scripts_with_its_own_nonce():
    guard, _ = guarded()
    cookie = entered(guard)
    first, second = (call(guard, cookie=cookie) for _ in range(2))
    policies = [header(sent, "content-security-policy") for sent in (first, second)]
    assert policies[0] != policies[1]
    nonce = policies[0].split("'nonce-")[1].split("'")[0]
    page = first[1]["body"]
    assert page == f'<script nonce="{nonce}">1</script><script nonce="{nonce}" src=x></script>'.encode()
    assert int(header(first, "content-length")) == len(page)
    scripts = next(part for part in policies[0].split("; ") if part.startswith("script-src"))
    assert "unsafe-inline" not in scripts
    assert "default-src 'none'" in policies[0]
    assert "frame-ancestors 'none'" in policies[0]


def test_what_is_no_page_passes_unchanged_and_is_not_kept():
    guard, inside = guarded(Inside(b"application/octet-stream"))
    sent = call(guard, cookie=entered(guard))
    assert b"".join(part["body"] for part in sent[1:]) == inside.body
    assert header(sent, "cache-control") == "no-store"
    assert header(sent, "x-content-type-options") == "nosniff"
    assert header(sent, "referrer-policy") == "no-referrer"


def test_a_password_opens_the_door_and_a_wrong_one_costs_time(monkeypatch):
    guard, inside = guarded(token=None, password="correct horse battery")
    assert b"password" in call(guard, "/enter")[1]["body"]
    begun = time.monotonic()
    assert call(guard, "/enter", method="POST", origin=ORIGIN, body=b"password=wrong")[0]["status"] == 403
    assert time.monotonic() - begun >= 0.9
    sent = call(guard, "/enter", method="POST", origin=ORIGIN, body=b"password=correct+horse+battery")
    assert sent[0]["status"] == 303
    assert call(guard, "/enter", method="POST", body=b"password=correct+horse+battery")[0]["status"] == 403  # no Origin
    assert call(guard, "/enter", query="token=None")[0]["status"] == 403
    assert not inside.reached


def test_the_end_and_the_beginning_of_the_server_pass():
    guard, inside = guarded()
    call(guard, type="lifespan")
    assert inside.reached[0]["type"] == "lifespan"
