"""What several test modules share: a real PostgreSQL server, started for the session if it is installed."""

import signal
import uuid

import postgres as postgresql  # benchmarks/postgres.py
import pytest

# A shell's background job ignores Ctrl-C, and so would every process that a test starts and interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_server():
    pytest.importorskip("psycopg2", reason="psycopg2 is not installed: pip install 'covey[postgresql]'")
    if missing := postgresql.missing():
        pytest.skip(f"no PostgreSQL here: {missing} neither in PATH nor in /usr/lib/postgresql/*/bin")
    with postgresql.server(durable=False) as server:
        yield server


@pytest.fixture
def postgres(postgres_server):
    """The URL of a fresh, empty PostgreSQL database."""
    return postgres_server.create(f"covey_{uuid.uuid4().hex[:12]}")


@pytest.fixture
def sqlite(tmp_path):
    """The URL of a SQLite file that does not exist yet."""
    return f"sqlite:///{tmp_path / 'study.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def database(request):
    """A fresh database of each kind."""
    return request.getfixturevalue(request.param)
