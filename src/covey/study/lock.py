"""The lock of a study: one process runs it at a time; another would run its trials in flight a second time.

The lock goes with its holder: the operating system, or the database, lets go of it when the process dies.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from covey.errors import CoveyError, StudyBusy

if TYPE_CHECKING:
    from sqlalchemy import Engine


@dataclass(frozen=True)
class Patience:
    """How long to wait for another process to let go.

    Attributes:
        seconds: in all; a database server may notice a little later that a process was killed.
        pause: seconds between two attempts; short beside the start of a run.
    """

    seconds: float = 10.0
    pause: float = 0.1


@dataclass(frozen=True)
class Probes:
    """How PostgreSQL finds out that the machine of a holder is lost: in all, it takes a minute.

    Attributes:
        idle: seconds of silence before the first probe.
        interval: seconds between probes.
        count: probes without an answer that end the connection.
    """

    idle: int = 30
    interval: int = 10
    count: int = 3


PATIENCE = Patience()
PROBES = Probes()


@contextmanager
def exclusive(engine: Engine, name: str) -> Iterator[None]:
    """Hold a study of a database; SQLite and PostgreSQL have locks that die with their holder.

    Raises:
        StudyBusy: if another process still holds it when the patience is at its end.
    """
    with ExitStack() as stack:
        attempt = LOCKS[engine.dialect.name](engine, name, stack)
        deadline = time.monotonic() + PATIENCE.seconds
        while not attempt():
            if time.monotonic() >= deadline:
                raise StudyBusy(
                    f"study {name!r} is being run by another process; wait for it, or choose another name"
                )
            time.sleep(PATIENCE.pause)
        yield


def _file_lock(engine: Engine, name: str, stack: ExitStack) -> Callable[[], bool]:
    """A lock on an empty database beside the user's, which itself stays free for others to read and write."""
    database = engine.url.database
    if not database or database.startswith(("file:", ":memory:")):
        return lambda: True
    path = Path(database)
    connection = sqlite3.connect(path.with_name(f".{path.name}.{_digest(name).hex()[:8]}.lock"), timeout=0)
    stack.callback(connection.close)

    def attempt() -> bool:
        try:
            connection.execute("begin exclusive")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY":
                raise CoveyError(f"study {name!r} cannot be locked beside {database}: {error}") from None
            return False
        return True

    return attempt


def _server_lock(engine: Engine, name: str, stack: ExitStack) -> Callable[[], bool]:
    """An advisory lock of PostgreSQL, with probes so that a lost machine is noticed."""
    from sqlalchemy import text

    connection = stack.enter_context(engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
    for setting, value in asdict(PROBES).items():
        connection.execute(text(f"set tcp_keepalives_{setting} = {value}"))
    key = int.from_bytes(_digest(name)[:8], "big", signed=True)
    stack.callback(lambda: connection.execute(text("select pg_advisory_unlock(:key)"), {"key": key}))
    return lambda: bool(
        connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": key}).scalar_one()
    )


def _digest(name: str) -> bytes:
    return hashlib.sha256(f"covey:{name}".encode()).digest()


LOCKS: dict[str, Callable[[Engine, str, ExitStack], Callable[[], bool]]] = {
    "sqlite": _file_lock,
    "postgresql": _server_lock,
}
"""How a study is held, by the kind of database; another kind has no lock that dies with its holder."""
