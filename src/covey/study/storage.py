"""The storage of studies: a database that Optuna opens, and that covey can lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.errors import CoveyError, StorageLost
from covey.study.address import masked
from covey.study.location import file_of
from covey.study.outage import cause, is_busy, outlast

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from sqlalchemy import URL, Engine


@dataclass(frozen=True)
class Waits:
    """How long one attempt waits, in seconds; whoever can wait longer tries again.

    Attributes:
        file: for another process that writes the same file.
        server: for a server to take a connection.
    """

    file: float = 1.0
    server: int = 10


WAITS = Waits()


def open_storage(url: URL) -> RDBStorage:
    """The storage at an address; its tables are made if there are none.

    Raises:
        CoveyError: if it cannot be opened.
    """
    storage = _opened(url)
    if isinstance(storage, CoveyError):
        raise storage
    return storage


def _opened(url: URL) -> RDBStorage | CoveyError:
    """The storage, or what is wrong with it: an error that is raised has no other in its context."""
    from optuna.exceptions import OptunaError
    from optuna.storages import RDBStorage

    def make() -> RDBStorage:
        # Optuna reads an address as a template and keeps it. It needs no more of it than the kind.
        with quiet():
            return RDBStorage(f"{url.drivername}:///covey", engine_kwargs=_connection(url))

    shown = masked(url)
    try:
        return outlast(make, url, passing=is_busy)
    except StorageLost as error:
        return CoveyError(str(error))
    except ImportError as error:
        return CoveyError(
            f"storage {shown!r} needs a driver: {cause(error, url)}; pip install 'covey[postgresql]'"
        )
    except (OptunaError, RuntimeError, TypeError, ValueError) as error:
        return CoveyError(f"storage {shown!r} cannot be used: {cause(error, url)}")


def study_names(url: URL) -> list[str]:
    """The names of the studies in a storage; nothing is made by looking.

    Raises:
        CoveyError: if it cannot be opened.
    """
    found = _looked_up(url)
    if isinstance(found, CoveyError):
        raise found
    return found


def _looked_up(url: URL) -> list[str] | CoveyError:
    from sqlalchemy import create_engine, inspect, text
    from sqlalchemy.exc import SQLAlchemyError

    file = file_of(url) if url.get_backend_name() == "sqlite" else None
    if file is not None and not file.exists():
        return []
    try:
        engine = create_engine(f"{url.drivername}:///covey", **_connection(url))
        with engine.connect() as connection:
            made = inspect(connection).has_table("studies")
            rows = connection.execute(text("select study_name from studies")).all() if made else []
            found = [str(row[0]) for row in rows]
        engine.dispose()
        return found
    except (SQLAlchemyError, ImportError, OSError, TypeError, ValueError) as error:
        return CoveyError(f"storage {masked(url)!r} cannot be used: {cause(error, url)}")


def _connection(url: URL) -> dict[str, Any]:
    """How to connect, for ``create_engine``: the parts of the address go to the driver as they are."""
    from sqlalchemy import create_engine

    probe = create_engine(url)
    dialect, pool = probe.dialect, type(probe.pool)
    places, settings = dialect.create_connect_args(url)
    settings = {**_patience(probe), **settings}
    return {
        "creator": lambda: dialect.connect(*places, **settings),
        "poolclass": pool,
        "pool_pre_ping": True,  # a connection that a restarted server dropped is replaced, not used
    }


def _patience(engine: Engine) -> Mapping[str, Any]:
    """How long a driver waits, unless the address says so itself."""
    if engine.dialect.name == "sqlite":
        return {"timeout": WAITS.file}
    return {"connect_timeout": WAITS.server} if engine.dialect.driver.startswith("psycopg") else {}


def complaint(error: BaseException, url: URL) -> str:
    """What to say of a storage that was open and fails."""
    return f"storage {masked(url)!r} cannot be used: {cause(error, url)}"


@contextmanager
def quiet() -> Iterator[None]:
    """Keep Optuna from announcing what covey does with it."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
