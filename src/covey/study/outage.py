"""Outages of a storage: what it cannot do at the moment is tried again until it can.

A locked file, a full disk, a server that restarts: none of them is a reason to throw a result away.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from covey.errors import StorageLost, StudyBusy
from covey.study.address import masked_words

_log = logging.getLogger("covey.study")
_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Endurance:
    """How long a storage may be away.

    Attributes:
        seconds: in all; a server is updated, a disk cleared, a lock given back within minutes.
        hurried: seconds from the moment somebody wants an end: enough for a lock that is about to go.
        first: seconds before the second attempt.
        longest: seconds between two attempts; they double up to this.
    """

    seconds: float = 300.0
    hurried: float = 5.0
    first: float = 0.1
    longest: float = 5.0


ENDURANCE = Endurance()


def outlast(
    work: Callable[[], _Result],
    address: str,
    *,
    rejoin: Callable[[], None] = lambda: None,
    hurried: Callable[[], int] = lambda: 0,
) -> _Result:
    """What ``work`` on a storage gives, tried again while the storage is away; said once.

    Args:
        work: does no harm when it is done twice: an answer may get lost after the deed.
        address: of the storage, as it can be shown.
        rejoin: makes good what an outage has taken, such as a lock, ahead of another attempt.
        hurried: how often somebody has asked for an end; at the second time there is no further attempt.

    Raises:
        StorageLost: if the storage does not come back in time, or cannot be used at all.
    """
    began = time.monotonic()
    pause, wanted_end, said = ENDURANCE.first, None, False
    while True:
        try:
            if said:
                rejoin()
            done = work()
        except StudyBusy as error:
            raise StorageLost(f"storage {address!r} was away, and meanwhile {error}") from None
        except Exception as error:
            cause, passing = _cause(error)
            if cause is None:
                raise
            now = time.monotonic()
            wanted_end = wanted_end or (now if hurried() else None)
            late = now - began > ENDURANCE.seconds or (wanted_end and now - wanted_end > ENDURANCE.hurried)
            if not passing or late or hurried() > 1:
                raise StorageLost(f"storage {address!r} cannot be used: {cause}") from None
            if not said:
                said = True
                words = "storage %s is away (%s): what is finished is kept; trying again for %d minutes"
                _log.warning(words, address, cause, ENDURANCE.seconds // 60)
        else:
            if said:
                _log.warning("storage %s is back after %.0f seconds", address, time.monotonic() - began)
            return done
        _sleep(pause, hurried)
        pause = min(2 * pause, ENDURANCE.longest)


def _sleep(seconds: float, hurried: Callable[[], int]) -> None:
    """A pause that ends early when somebody is in more of a hurry than before."""
    until, before = time.monotonic() + seconds, hurried()
    while time.monotonic() < until and hurried() == before:
        time.sleep(ENDURANCE.first)


def _cause(error: Exception) -> tuple[str | None, bool]:
    """What a database complains about, in one line; and whether that may pass. None if it is no database."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy import exc

    inner = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ else error
    if not isinstance(inner, (exc.SQLAlchemyError, OSError, StorageInternalError)):
        return None, False
    lasting = (exc.DataError, exc.IntegrityError, exc.NotSupportedError, exc.ProgrammingError)
    words = str(inner.orig if isinstance(inner, exc.DBAPIError) else inner)
    return masked_words(words) or type(inner).__name__, not isinstance(inner, lasting)
