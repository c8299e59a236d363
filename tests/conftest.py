"""What several test modules share: a real PostgreSQL server, started for the session if it is installed."""

import getpass
import os
import shutil
import socket
import subprocess
import tempfile
import uuid
from pathlib import Path

import pytest


def _program(name):
    """Where a PostgreSQL program is, or None."""
    places = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class _Cluster:
    """A server of our own in a temporary folder; PostgreSQL refuses to run as root."""

    def __init__(self, folder):
        self.folder, self.port = folder, _free_port()
        self.owner = "postgres" if os.geteuid() == 0 else getpass.getuser()

    def run(self, *command):
        user = self.owner if os.geteuid() == 0 else None
        with (self.folder / "programs.log").open("ab") as log:  # not a pipe: the server would keep it open
            subprocess.run(
                command, check=True, user=user, cwd=self.folder, stdout=log, stderr=log, timeout=120
            )

    def start(self):
        if os.geteuid() == 0:
            shutil.chown(self.folder, "postgres")
        data, options = self.folder / "data", f"-p {self.port} -k {self.folder} -h 127.0.0.1 -F"
        self.run(_program("initdb"), "-D", data, "-A", "trust", "-U", self.owner, "-E", "UTF8", "--no-sync")
        self.run(
            _program("pg_ctl"), "-D", data, "-w", "-l", self.folder / "server.log", "-o", options, "start"
        )

    def stop(self):
        self.run(_program("pg_ctl"), "-D", self.folder / "data", "-m", "immediate", "stop")

    def url(self, database):
        return f"postgresql://{self.owner}@127.0.0.1:{self.port}/{database}"

    def sqlalchemy_url(self, database):
        """With the driver named: SQLAlchemy 2.1 takes another one by default than 2.0."""
        return self.url(database).replace("postgresql:", "postgresql+psycopg2:")

    def create(self, database):
        import psycopg2

        connection = psycopg2.connect(self.url("postgres"))
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute(f'create database "{database}"')
        connection.close()


@pytest.fixture(scope="session")
def postgres_server():
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed: pip install 'covey[postgresql]'")
    missing = [name for name in ("initdb", "pg_ctl") if _program(name) is None]
    if missing:
        pytest.skip(f"no PostgreSQL here: {missing} neither in PATH nor in /usr/lib/postgresql/*/bin")
    folder = Path(tempfile.mkdtemp(prefix="covey-pg-"))  # short: a socket's path has a limit
    cluster = _Cluster(folder)
    try:
        cluster.start()
        yield cluster
        cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres(postgres_server):
    """The URL of a fresh, empty PostgreSQL database."""
    database = f"covey_{uuid.uuid4().hex[:12]}"
    postgres_server.create(database)
    return postgres_server.sqlalchemy_url(database)


@pytest.fixture
def sqlite(tmp_path):
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request):
    """A fresh database of each kind."""
    return request.getfixturevalue(request.param)
