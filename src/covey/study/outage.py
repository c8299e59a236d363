"""Outages of a storage: what it cannot do at the moment is tried again until it can.

A locked file, a full disk, a server that restarts: none of them is a reason to throw a result away.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from covey.errors import StorageLost, StudyBusy
from covey.study.address import masked, scrubbed

if TYPE_CHECKING:
    from sqlalchemy import URL

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


def is_busy(error: Exception) -> bool:
    """Whether a database is there and says that it will have time in a moment."""
    words = str(_said(error))
    return re.search(r"locked|starting up|shutting down|recovery mode|too many clients", words) is not None


def may_pass(error: Exception) -> bool:
    """Whether waiting can help: it does not against a table that is gone or data that do not fit."""
    from sqlalchemy import exc

    lasting = (exc.DataError, exc.IntegrityError, exc.NotSupportedError, exc.ProgrammingError, KeyError)
    return not isinstance(error.__cause__ or error, lasting)


def _said(error: BaseException) -> BaseException:
    """What the database itself said."""
    while error.__cause__ is not None:  # Optuna's words about a failed write say nothing of why
        error = error.__cause__
    return getattr(error, "orig", None) or error


def cause(error: BaseException, url: URL) -> str:
    """What a database complains about, in one line and without secrets."""
    lines = str(_said(error)).strip().splitlines()
    return scrubbed(lines[0] if lines else type(error).__name__, url)


def outlast(
    work: Callable[[], _Result],
    url: URL,
    *,
    passing: Callable[[Exception], bool] = may_pass,
    rejoin: Callable[[], None] = lambda: None,
    hurried: Callable[[], int] = lambda: 0,
) -> _Result:
    """What ``work`` on a storage gives, tried again while the storage is away; that is said once.

    Args:
        work: does no harm when it is done twice: an answer may get lost after the deed.
        url: of the storage.
        passing: which errors are waited for.
        rejoin: makes good what an outage has taken, such as a lock, ahead of every attempt: a server may
            have been away when nobody looked.
        hurried: how often somebody has asked for an end; at the second time there is no further attempt.

    Raises:
        StorageLost: if the storage does not come back in time, or cannot be used at all.
    """
    outage = _Outage(url)
    while True:
        try:
            rejoin()
            done = work()
        except StudyBusy as error:
            raise StorageLost(f"storage {masked(url)!r} was away: {error}") from None
        except Exception as error:
            if not _is_about_a_storage(error):
                raise
            lasting, problem = not passing(error), cause(error, url)
        else:
            outage.end()
            return done
        # Raised here, an error has no other in its context: those of drivers may name a password.
        if lasting or outage.is_too_long(hurried()):
            raise StorageLost(f"storage {masked(url)!r} cannot be used: {problem}")
        outage.sit_out(problem, hurried)


class _Outage:
    """One outage, from the first attempt that failed."""

    def __init__(self, url: URL) -> None:
        self.attempts = 0
        self._url, self._began, self._pause = url, time.monotonic(), ENDURANCE.first
        self._hurried_since: float | None = None

    def is_too_long(self, hurry: int) -> bool:
        """Whether there is to be no other attempt."""
        now = time.monotonic()
        if hurry and self._hurried_since is None:
            self._hurried_since = now
        late = self._hurried_since is not None and now - self._hurried_since >= ENDURANCE.hurried
        return hurry > 1 or late or now - self._began >= ENDURANCE.seconds

    def sit_out(self, problem: str, hurried: Callable[[], int]) -> None:
        """Pause ahead of the next attempt, unless somebody is in more of a hurry than at first."""
        self.attempts += 1
        if self.attempts == 1:
            words = "storage %s is away (%s): finished values are kept, trying again for %.0f minutes"
            _log.warning(words, masked(self._url), problem, ENDURANCE.seconds / 60)
        until, before = time.monotonic() + self._pause, hurried()
        while time.monotonic() < until and hurried() == before:
            time.sleep(ENDURANCE.first)
        self._pause = min(2 * self._pause, ENDURANCE.longest)

    def end(self) -> None:
        """The storage is there; if it was away, say so."""
        if self.attempts:
            gone = time.monotonic() - self._began
            _log.warning("storage %s is back after %.0f seconds", masked(self._url), gone)


def _is_about_a_storage(error: Exception) -> bool:
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    # A KeyError is Optuna's word for a row that somebody has deleted.
    return isinstance(error, (SQLAlchemyError, StorageInternalError, OSError, KeyError))
