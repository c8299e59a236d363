"""PostgreSQL server of our own in a temporary folder, for benchmarks and tests."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def program(name: str) -> str | None:
    """Where a PostgreSQL program is."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


def missing() -> list[str]:
    """The programs that are needed and not here."""
    return [name for name in ("initdb", "pg_ctl") if program(name) is None]


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A running server; PostgreSQL refuses to run as root, so there it runs as the user postgres."""

    def __init__(self, folder: Path, durable: bool) -> None:
        self.folder, self.port, self.durable = folder, _free_port(), durable
        self.owner = "postgres" if os.geteuid() == 0 else getpass.getuser()

    def run(self, *command: str | Path | None) -> None:
        user = self.owner if os.geteuid() == 0 else None
        with (self.folder / "programs.log").open("ab") as log:  # not a pipe: the server would keep it open
            subprocess.run(
                command, check=True, user=user, cwd=self.folder, stdout=log, stderr=log, timeout=120
            )

    def make(self) -> None:
        """An empty database cluster."""
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        data = self.folder / "data"
        self.run(program("initdb"), "-D", data, "-A", "trust", "-U", self.owner, "-E", "UTF8", "--no-sync")

    def start(self) -> None:
        data, where = self.folder / "data", f"-p {self.port} -k {self.folder} -h 127.0.0.1"
        options = where if self.durable else f"{where} -F"
        self.run(
            program("pg_ctl"), "-D", data, "-w", "-l", self.folder / "server.log", "-o", options, "start"
        )

    def stop(self) -> None:
        self.run(program("pg_ctl"), "-D", self.folder / "data", "-m", "immediate", "stop")

    def url(self, database: str) -> str:
        """As SQLAlchemy takes it, with the driver named: 2.1 takes another one by default than 2.0."""
        return f"postgresql+psycopg2://{self.owner}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str) -> str:
        """A new, empty database; returns its URL."""
        import psycopg2

        connection = psycopg2.connect(self.url("postgres").replace("+psycopg2", ""))
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f'create database "{database}"')
        connection.close()
        return self.url(database)


@contextmanager
def server(durable: bool = True) -> Iterator[Server]:
    """A server that is gone afterwards.

    Args:
        durable: wait for the disk at each commit, as a real server does; tests do without.
    """
    folder = Path(tempfile.mkdtemp(prefix="covey-pg-"))  # short: a socket's path has a limit
    running = Server(folder, durable)
    try:
        running.make()
        running.start()
        try:
            yield running
        finally:
            running.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
