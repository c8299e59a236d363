"""The lock of a study: one process runs it at a time; another would run its trials in flight a second time.

The lock goes with its holder: the operating system, or the database, lets go of it when the process dies.
"""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from covey.errors import CoveyError, StudyBusy

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine


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


class Lock(Protocol):
    """A study that one process has for itself, from ``attempt`` to ``release``."""

    def attempt(self) -> bool:
        """Take it, if nobody has it."""

    def is_held(self) -> bool:
        """Whether it is still held: the memory of a server does not outlive a restart."""

    def release(self) -> None:
        """Let go of it; never raises."""


@dataclass(frozen=True)
class Held:
    """A study that this process has for itself.

    Attributes:
        name: of the study.
        lock: that is held.
    """

    name: str
    lock: Lock

    def is_held(self) -> bool:
        """Whether no other process can have it."""
        return self.lock.is_held()

    def renew(self) -> None:
        """Wait for the lock; one that is still held stays so.

        Raises:
            StudyBusy: if another process still has it when the patience is at its end.
        """
        deadline = time.monotonic() + PATIENCE.seconds
        while not (self.lock.is_held() or self.lock.attempt()):
            if time.monotonic() >= deadline:
                hint = "wait for it, or choose another name"
                raise StudyBusy(f"study {self.name!r} is being run by another process; {hint}")
            time.sleep(PATIENCE.pause)

    def release(self) -> None:
        """Let go of it; never raises."""
        self.lock.release()


@contextmanager
def exclusive(lock: Lock, name: str) -> Iterator[Held]:
    """Hold a study.

    Raises:
        StudyBusy: if another process still has it when the patience is at its end.
    """
    held = Held(name, lock)
    try:
        held.renew()
        yield held
    finally:
        held.release()


class NoLock:
    """The lock of a database in memory, which no other process sees."""

    def attempt(self) -> bool:
        return True

    def is_held(self) -> bool:
        return True

    def release(self) -> None:
        pass


class FileLock:
    """A lock on an empty database beside the user's, which itself stays free for others to read and write.

    Args:
        database: the file, by its path without symbolic links: however a path is written, it is one lock.
            Hard links to one file are files of their own here.
        name: of the study.
    """

    def __init__(self, database: Path, name: str) -> None:
        self._file = database.with_name(f".{database.name}.{_digest(name).hex()[:8]}.lock")
        self._name = name
        self._connection: sqlite3.Connection | None = None

    def attempt(self) -> bool:
        if self._file.is_symlink():  # whoever made it would have another file locked
            raise CoveyError(f"study {self._name!r} cannot be locked: {self._file} is a symbolic link")
        connection, busy = None, False
        try:
            connection = sqlite3.connect(self._file, timeout=0, check_same_thread=False)
            connection.execute("begin exclusive")
        except sqlite3.Error as error:
            busy = getattr(error, "sqlite_errorname", None) == "SQLITE_BUSY"
            if connection is not None:
                connection.close()
            if not busy:
                raise CoveyError(
                    f"study {self._name!r} cannot be locked with {self._file}: {error}"
                ) from None
        self._connection = None if busy else connection
        return not busy

    def is_held(self) -> bool:
        return self._connection is not None

    def release(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None


class ServerLock:
    """An advisory lock of PostgreSQL, which lives as long as its connection.

    Args:
        engine: of the database.
        name: of the study.
    """

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._key = int.from_bytes(_digest(name)[:8], "big", signed=True)
        self._connection: Connection | None = None
        self._session: dict[str, Any] | None = None

    def attempt(self) -> bool:
        self._drop()
        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            self._end_former(connection)
            for setting, value in asdict(PROBES).items():
                connection.exec_driver_sql(f"set tcp_keepalives_{setting} = {value}")
            if taken := bool(_ask(connection, "select pg_try_advisory_lock(:key)", key=self._key)):
                self._session = self._identity(connection)
                self._connection = connection
            return taken
        finally:
            if self._connection is None:
                _close(connection)

    def is_held(self) -> bool:
        from sqlalchemy.exc import SQLAlchemyError

        if self._connection is None:
            return False
        try:
            _ask(self._connection, "select 1")
        except SQLAlchemyError:
            self._drop()
        return self._connection is not None

    def release(self) -> None:
        from sqlalchemy.exc import SQLAlchemyError

        try:  # a server takes a moment to notice that a connection is closed
            if self._connection is not None:
                _ask(self._connection, "select pg_advisory_unlock(:key)", key=self._key)
        except SQLAlchemyError:
            pass
        self._drop()
        self._session = None

    def _end_former(self, connection: Connection) -> None:
        """End the session of a connection that was lost: a server that does not know of it keeps the lock."""
        if self._session is not None:
            former = "from pg_stat_activity where pid = :pid and backend_start = :start"
            _ask(connection, f"select pg_terminate_backend(pid) {former}", **self._session)

    @staticmethod
    def _identity(connection: Connection) -> dict[str, Any]:
        """What tells a session from all others, also later ones with its number."""
        start = _ask(connection, "select backend_start from pg_stat_activity where pid = pg_backend_pid()")
        return {"pid": _ask(connection, "select pg_backend_pid()"), "start": start}

    def _drop(self) -> None:
        """Close the connection, and with it the lock."""
        connection, self._connection = self._connection, None
        if connection is not None:
            _close(connection)


def _ask(connection: Connection, query: str, **values: Any) -> Any:
    from sqlalchemy import text

    return connection.execute(text(query), values).scalar()


def _close(connection: Connection) -> None:
    """Close a connection to the server, instead of keeping it for later; a dead one too."""
    connection.invalidate()
    connection.close()


def _digest(name: str) -> bytes:
    return hashlib.sha256(f"covey:{name}".encode()).digest()
