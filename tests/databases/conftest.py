"""Databases to read from and write to: files, and a PostgreSQL server on loopback that the tests start themselves."""

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

pytest.importorskip("adbc_driver_sqlite", reason="needs the extra 'db'")

PASSWORD = "hunter2/secret"
KINDS = ("postgresql", "sqlite", "duckdb")


class Server:
    """A running server: its address with a password, and a way to ask it anything."""

    def __init__(self, address):
        self.address = address
        self.count = 0

    def run(self, *statements, database="postgres"):
        import adbc_driver_postgresql.dbapi as driver

        with (
            driver.connect(self.address.format(database=database), autocommit=True) as link,
            link.cursor() as cursor,
        ):
            for statement in statements:
                cursor.execute(statement)
            return cursor.fetchall() if statements[-1].lower().startswith(("select", "show")) else None

    def new(self):
        """The name of a new, empty database."""
        self.count += 1
        self.run(f"CREATE DATABASE shop{self.count}")
        return f"shop{self.count}"


@pytest.fixture(scope="session")
def server():
    """A server of its own in a temporary folder, run by a user without rights, which asks for a password."""
    pytest.importorskip("adbc_driver_postgresql", reason="needs the extra 'db'")
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or [shutil.which("initdb")]
    if found[-1] is None:
        pytest.skip("needs a PostgreSQL server (Debian: apt install postgresql)")
    programs = Path(found[-1]).parent
    place = Path(tempfile.mkdtemp(prefix="anonset-postgresql-", dir="/tmp"))
    who = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
    if who:
        shutil.chown(place, **{name: value for name, value in who.items() if name != "extra_groups"})

    def start(*command):
        done = subprocess.run(
            [str(programs / command[0]), *command[1:]], cwd=place, capture_output=True, text=True, check=False, **who
        )
        assert done.returncode == 0, done.stderr

    word = place / "password"
    word.write_text(PASSWORD)
    word.chmod(0o644)
    port = _free_port()
    data = str(place / "data")
    start("initdb", "-D", data, "-U", "tester", "-A", "scram-sha-256", f"--pwfile={word}", "-N", "-E", "UTF8")
    settings = f"-c listen_addresses=127.0.0.1 -p {port} -k {place} -c fsync=off -c max_connections=40"
    start("pg_ctl", "-D", data, "-w", "-l", str(place / "log"), "-o", settings, "start")
    try:
        yield Server(f"postgresql://tester:{PASSWORD.replace('/', '%2F')}@127.0.0.1:{port}/{{database}}")
    finally:
        start("pg_ctl", "-D", data, "-w", "-m", "immediate", "stop")
        shutil.rmtree(place, ignore_errors=True)


def _free_port():
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Database:
    """An empty database of one kind: its address, and a way to run statements in it."""

    def __init__(self, kind, address, run):
        self.kind, self.address, self.run = kind, address, run

    def at(self, table):
        return f"{self.address}/{table}"


@pytest.fixture(params=KINDS)
def database(request, tmp_path):
    """An empty database, of each kind in turn."""
    return make(request.param, request, tmp_path)


def make(kind, request, folder):
    if kind == "postgresql":
        server = request.getfixturevalue("server")
        name = server.new()
        return Database(kind, server.address.format(database=name), lambda *all: server.run(*all, database=name))
    path = folder / {"sqlite": "shop.db", "duckdb": "shop.duckdb"}[kind]

    def run(*statements):
        with closing(sqlite3.connect(path) if kind == "sqlite" else duckdb.connect(str(path))) as link:
            for statement in statements:
                answer = link.execute(statement)
            rows = answer.fetchall()
            link.commit() if kind == "sqlite" else None
            return rows

    run("CREATE TABLE nothing_yet (a int)", "DROP TABLE nothing_yet")
    return Database(kind, str(path), run)
