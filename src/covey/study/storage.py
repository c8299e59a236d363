"""The storage of studies: a database that Optuna opens, and that covey can lock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from covey.errors import CoveyError
from covey.study.address import masked
from covey.study.lock import LOCKS

if TYPE_CHECKING:
    from optuna.storages import RDBStorage


def open_storage(url: str) -> RDBStorage:
    """The storage at an address; its tables are made if there are none.

    Raises:
        ValueError: if it is no address of SQLite or PostgreSQL.
        CoveyError: if it cannot be opened.
    """
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import ArgumentError, DatabaseError

    check_address(url)
    try:
        with quiet():
            return RDBStorage(url)
    except ArgumentError:
        raise ValueError(_refusal(url)) from None
    except DatabaseError as error:
        raise CoveyError(f"storage {masked(url)!r} cannot be opened: {error.orig}") from None
    except ImportError as error:
        raise CoveyError(
            f"storage {masked(url)!r} needs a driver: {error}; pip install 'covey[postgresql]'"
        ) from None


def check_address(url: str) -> None:
    """Refuse a database that has no lock for a study: two processes could run it at once.

    Raises:
        ValueError: unless it is SQLite or PostgreSQL.
    """
    scheme, mark, _ = url.partition("://")
    if not mark or scheme.partition("+")[0] not in LOCKS:
        raise ValueError(_refusal(url))


def _refusal(url: str) -> str:
    return (
        f"storage must be SQLite or PostgreSQL, which have a lock that goes with its holder, "
        f"like 'sqlite:///study.db' or 'postgresql://user@host/name', got {masked(url)!r}"
    )


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
