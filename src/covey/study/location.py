"""The location of a study's storage: an address that is taken apart and built, never pasted together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from covey.study.address import masked

if TYPE_CHECKING:
    from sqlalchemy import URL

KINDS = ("sqlite", "postgresql")
"""The databases that have a lock which goes with its holder, so that no two processes run a study at once."""


def located(address: str | URL) -> URL:
    """The parts of an address.

    Raises:
        ValueError: if it is no address of SQLite or PostgreSQL.
        TypeError: if it is neither a string nor a ``sqlalchemy.URL``.
    """
    from sqlalchemy import URL

    if not isinstance(address, (str, URL)):
        raise TypeError(f"storage must be a string or a sqlalchemy.URL, got a {type(address).__name__}")
    url = address if isinstance(address, URL) else _parts(address)
    if url is None or not _is_usable(url):
        raise ValueError(
            f"storage must be SQLite or PostgreSQL, which have a lock that goes with its holder, "
            f"like 'sqlite:///study.db' or 'postgresql://user@host:5432/name' with a host and a port "
            f"that can be read, got {masked(address)!r}"
        )
    if not isinstance(address, URL) and _is_ambiguous(address, url):
        raise ValueError(
            f"storage has a character that can be read in two ways; "
            f"write @ as %40 and ? as %3F in names and passwords, got {masked(address)!r}"
        )
    return url


def file_address(path: Path) -> URL:
    """The address of a SQLite file, whatever characters are in its path."""
    from sqlalchemy import URL

    return URL.create("sqlite", database=str(path))


def file_of(url: URL) -> Path | None:
    """The file of a SQLite database, by its one path without symbolic links; None if it is in memory."""
    database, uri = url.database or "", url.normalized_query.get("uri", ("false",))[0].lower()
    if uri in ("true", "1", "yes", "on", "y", "t"):
        if url.normalized_query.get("mode") == ("memory",):
            return None
        database = unquote(urlsplit(database).path)
    return None if database in ("", ":memory:") else Path(database).resolve()


def _parts(address: str) -> URL | None:
    """What SQLAlchemy reads in an address; None if it makes no sense of it.

    Its own complaint may name a part of a password, and would stay in the context of an error raised here.
    """
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        return make_url(address)
    except (ArgumentError, ValueError):
        return None


def _is_usable(url: URL) -> bool:
    """Whether it names a database with a lock, and a driver that Optuna can use."""
    from sqlalchemy.exc import NoSuchModuleError

    if url.drivername.partition("+")[0] not in KINDS or not 0 < (url.port or 1) < 2**16:
        return False
    try:
        return not url.get_dialect().is_async
    except NoSuchModuleError:
        return False


def _is_ambiguous(address: str, url: URL) -> bool:
    """Whether a part of a password could be taken for a host, which a driver then complains about by name."""
    before, at, after = address.partition("@")
    return url.drivername.startswith("postgresql") and bool(at) and ("?" in before or "@" in after)
