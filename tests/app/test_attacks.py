"""Attacks on the served page, over the network as an attacker would send them."""

import os
import re
import signal
import socket
import time
from pathlib import Path

import pytest

from anonset.app.server import serve
from anonset.data.errors import ParameterError
from tests.app.conftest import serving


def test_the_page_listens_on_this_machine_only(served):
    listening = Path(f"/proc/{served.process.pid}/net/tcp")
    if not listening.exists():
        pytest.skip("needs /proc")
    rows = [line.split() for line in listening.read_text().splitlines()[1:]]
    ours = [row[1] for row in rows if row[3] == "0A" and row[1].endswith(f":{served.port:04X}")]
    assert ours == [f"0100007F:{served.port:04X}"]


def test_the_token_of_the_address_is_used_up(served):
    answer = served.ask("GET", served.address.removeprefix(served.root), Cookie=None)
    assert answer.status == 403
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    "path",
    ["/", "/work/x/data", "/look/page.css", "/favicon.ico", "/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/docs"],
)
def test_without_the_cookie_every_address_is_shut(served, path):
    assert served.ask("GET", path, Cookie=None).status == 403
    assert served.ask("GET", path, Cookie="anonset=guess").status == 403


def test_a_name_that_was_pointed_here_is_shut_out(served):
    """DNS rebinding: Host and Origin agree with each other, and name the attacker."""
    evil = f"evil.example:{served.port}"
    assert served.ask("GET", "/", Host=evil, Origin=f"http://{evil}").status == 403


def test_another_page_is_shut_out_although_the_browser_sends_the_cookie(served):
    for path in ("/", "/_nicegui_ws/socket.io/?EIO=4&transport=polling"):
        assert served.ask("GET", path, Origin="http://evil.example").status == 403
    assert served.ask("PUT", "/work/x/upload/data?file=a.csv", b"a", Origin="http://evil.example").status == 403
    assert served.ask("PUT", "/work/x/upload/data?file=a.csv", b"a", Origin=None).status == 403


def handshake(served, **headers):
    """The status line that a request for a socket gets."""
    usual = {
        "Host": f"127.0.0.1:{served.port}",
        "Origin": served.root,
        "Cookie": served.cookie,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
    }
    lines = [f"{name}: {value}" for name, value in {**usual, **headers}.items() if value is not None]
    request = "\r\n".join(["GET /_nicegui_ws/socket.io/?EIO=4&transport=websocket HTTP/1.1", *lines, "", ""])
    with socket.create_connection(("127.0.0.1", served.port), timeout=10) as connection:
        connection.sendall(request.encode())
        return int(connection.recv(4096).split()[1])


def test_a_socket_opens_only_for_our_own_page_with_its_cookie(served):
    assert handshake(served) == 101
    assert handshake(served, Cookie=None) == 403
    assert handshake(served, Cookie="anonset=guess") == 403
    assert handshake(served, Origin="http://evil.example") == 403
    assert handshake(served, Origin=None) == 403
    assert handshake(served, Host=f"evil.example:{served.port}") == 403


def new_work(served):
    return re.search(r"/work/([^/]+)/", served.ask("GET", "/").headers["location"])[1]


def test_work_that_is_not_ours_does_not_exist(served):
    answer = served.ask("GET", "/work/../../etc/passwd/data")
    assert b"root:" not in answer.body
    assert served.ask("PUT", "/work/other/upload/data?file=a.csv", b"a").status == 404
    assert served.ask("GET", "/work/other/file/0").status == 404


def test_an_upload_stays_in_its_private_folder_whatever_it_is_called(served):
    work = new_work(served)
    place = next(served.folder.glob("anonset-app-*")) / work
    for name in ("../../evil.csv", "/etc/evil.csv", "..%2F..%2Fevil.csv", ".hidden.csv", "a%00b.csv", "%0D%0Ax.csv"):
        served.ask("PUT", f"/work/{work}/upload/data?file={name}", b"transaction,item\n1,a\n1,b\n2,a\n")
    assert not list(served.folder.parent.glob("evil*"))
    found = [path for path in place.iterdir() if path.is_file()]
    assert found
    assert all(path.stat().st_mode & 0o777 == 0o600 and not path.name.startswith(".") for path in found)
    assert place.stat().st_mode & 0o777 == 0o700


def test_downloads_are_numbers_of_what_was_made_and_nothing_else(served):
    work = new_work(served)
    for wanted in ("0", "-1", "..", "%2e%2e%2fpasswd", "99"):
        assert served.ask("GET", f"/work/{work}/file/{wanted}").status in (404, 422)


def test_a_file_that_is_too_large_is_refused_with_what_to_do_and_leaves_nothing(tmp_path):
    with serving(tmp_path, "--max-upload", "1") as small:
        small.enter()
        work = new_work(small)
        answer = small.ask("PUT", f"/work/{work}/upload/data?file=a.csv", b"x" * 1_100_000)
        assert (answer.status, answer.body) == (413, b"too_large")
        # a request that claims to be short, or says nothing of its length
        with socket.create_connection(("127.0.0.1", small.port), timeout=10) as connection:
            head = (
                f"PUT /work/{work}/upload/data?file=b.csv HTTP/1.1\r\nHost: 127.0.0.1:{small.port}\r\n"
                f"Origin: {small.root}\r\nCookie: {small.cookie}\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            connection.sendall(head.encode())
            for _ in range(11):
                connection.sendall(b"%x\r\n" % 100_000 + b"x" * 100_000 + b"\r\n")
            connection.sendall(b"0\r\n\r\n")
            assert connection.recv(4096).split()[1] == b"413"
        assert not list(tmp_path.rglob("*.csv"))


def test_the_server_ends_with_its_workers_and_leaves_nothing(tmp_path):
    with serving(tmp_path) as one:
        one.enter()
        work = new_work(one)
        one.ask("PUT", f"/work/{work}/upload/data?file=a.csv", b"transaction,item\n1,a\n1,b\n2,a\n")
        worker = wait_for_worker(one.process.pid)
        assert next(tmp_path.glob("anonset-app-*")).stat().st_mode & 0o777 == 0o700
        assert one.stop() == 0
    assert list(tmp_path.iterdir()) == []
    assert gone(worker)


def test_a_killed_server_takes_its_workers_along_and_the_next_start_removes_the_rest(tmp_path):
    with serving(tmp_path) as one:
        one.enter()
        work = new_work(one)
        one.ask("PUT", f"/work/{work}/upload/data?file=a.csv", b"transaction,item\n1,a\n1,b\n2,a\n")
        worker = wait_for_worker(one.process.pid)
        one.stop(signal.SIGKILL)
    assert [path.name for path in tmp_path.rglob("a.csv")] == ["a.csv"]
    assert gone(worker)
    with serving(tmp_path) as _:
        assert not list(tmp_path.rglob("a.csv"))


def wait_for_worker(server):
    """The process id of the server's first worker."""
    psutil = pytest.importorskip("psutil")
    for _ in range(100):
        found = [child for child in psutil.Process(server).children() if "anonset.app.worker" in child.cmdline()]
        if found:
            return found[0].pid
        time.sleep(0.1)
    raise AssertionError("no worker was started")


def gone(pid):
    """Whether a process has ended within five seconds."""
    import psutil

    for _ in range(50):
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.1)
    return False


def refused(tmp_path, **options):
    """What is said of options with which nothing is served."""
    with pytest.raises(ParameterError) as caught:
        serve(browser=False, say=lambda sentence: pytest.fail(f"served: {sentence}"), **options)
    return str(caught.value)


def test_other_machines_need_a_password_and_one_address(tmp_path):
    secret, short = tmp_path / "password", tmp_path / "short"
    secret.write_text("correct horse battery\n")
    short.write_text("1234")
    assert "'host' must come with a password file" in refused(tmp_path, host="127.0.0.1")
    assert "'password_file' must come with a host" in refused(tmp_path, password_file=str(secret))
    assert "at least 12" in refused(tmp_path, host="127.0.0.1", password_file=str(short))
    assert "1234" not in refused(tmp_path, host="127.0.0.1", password_file=str(short))
    assert "text file" in refused(tmp_path, host="127.0.0.1", password_file=str(tmp_path / "none"))
    for host in ("0.0.0.0", "::", "no.such.name.invalid"):
        assert "'host' must be" in refused(tmp_path, host=host, password_file=str(secret))


def test_a_port_that_is_taken_is_said(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert "'port' must be free" in refused(tmp_path, port=taken.getsockname()[1])


def test_with_a_password_there_is_no_token(tmp_path):
    secret = tmp_path / "password"
    secret.write_text("correct horse battery\n")
    with serving(tmp_path / "tmp", "--host", "127.0.0.1", "--password-file", str(secret)) as one:
        assert "token" not in "".join(one.lines)
        assert "unencrypted" in "".join(one.lines)
        assert one.ask("GET", "/").status == 403
        assert one.ask("POST", "/enter", b"password=correct+horse+batter").status == 403
        entered = one.ask("POST", "/enter", b"password=correct+horse+battery")
        assert entered.status == 303
        cookie = entered.headers["set-cookie"].split(";")[0]
        assert one.ask("GET", "/", Cookie=cookie).status == 303
        assert one.ask("GET", "/", Cookie=cookie, Host=f"localhost:{one.port}").status == 403  # not what it is called


def test_nothing_of_the_framework_is_left_beside_the_page(served):
    assert not (served.folder / ".nicegui").exists()
    assert [path.name for path in served.folder.iterdir() if not path.name.startswith("anonset-app-")] == []
    assert os.getpid() != served.process.pid
