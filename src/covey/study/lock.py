"""Who may run a study? One process at a time: another would run its trials in flight a second time.

The lock goes with its holder: the operating system, or the database, lets go of it when the process dies.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from covey.errors import CoveyError, StudyBusy

if TYPE_CHECKING:
    from sqlalchemy import Engine

_PATIENCE = 10.0
"""Seconds: a database server may notice a little later that a process was killed."""
_PAUSE = 0.1


@contextmanager
def exclusive(engine: Engine, name: str, patience: float | None = None) -> Iterator[None]:
    """Hold a study of a database; SQLite and PostgreSQL have locks that die with their holder.

    Args:
        engine: of the database.
        name: of the study.
        patience: seconds to wait for another process to let go; by default 10.

    Raises:
        StudyBusy: if another process still holds it after ``patience`` seconds.
    """
    lock = _LOCKS.get(engine.dialect.name, _no_lock)
    with ExitStack() as stack:
        attempt = lock(engine, name, stack)
        deadline = time.monotonic() + (_PATIENCE if patience is None else patience)
        while not attempt():
            if time.monotonic() >= deadline:
                raise StudyBusy(
                    f"study {name!r} is being run by another process; wait for it, or choose another name"
                )
            time.sleep(_PAUSE)
        yield


def _no_lock(_engine: Engine, _name: str, _stack: ExitStack) -> Callable[[], bool]:
    return lambda: True


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
    """An advisory lock of PostgreSQL, with probes so that a lost machine is noticed within a minute."""
    from sqlalchemy import text

    connection = stack.enter_context(engine.connect().execution_options(isolation_level="AUTOCOMMIT"))
    for setting in ("tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3"):
        connection.execute(text(f"set {setting}"))
    key = int.from_bytes(_digest(name)[:8], "big", signed=True)
    stack.callback(lambda: connection.execute(text("select pg_advisory_unlock(:key)"), {"key": key}))
    return lambda: bool(
        connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": key}).scalar_one()
    )


def _digest(name: str) -> bytes:
    return hashlib.sha256(f"covey:{name}".encode()).digest()


_LOCKS: dict[str, Callable[[Engine, str, ExitStack], Callable[[], bool]]] = {
    "sqlite": _file_lock,
    "postgresql": _server_lock,
}
