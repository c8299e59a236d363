"""Errors of covey's own, how messages show a value, and the one way to say that a package is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INTERRUPTED = 130
"""The exit code after Ctrl-C, by a shell's convention: 128 and the number of the signal."""

MOST_SHOWN = 150
"""Characters of a value in a message: enough to find it again, and one line has room for two or three."""


def shown(value: object) -> str:
    """A value that a user gave, as a message shows it: its repr on one line, cut where it is long."""
    if isinstance(value, (str, bytes, bytearray)):
        value = value[: MOST_SHOWN + 1]  # no need to write all of a file that was given for a name
    try:
        text = " ".join(repr(value).splitlines())
    except Exception:  # whole numbers of 5,000 digits, lists in lists in lists, objects with a fault
        return f"<{type(value).__name__} that cannot be shown>"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."


class CoveyError(Exception):
    """The root of every exception that is covey's own."""


class InputError(CoveyError):
    """Wrong input of a command; the message is one line that says what is accepted."""


class SpaceExhausted(CoveyError):
    """Every configuration of a finite space has been asked for already."""


class UnknownTrial(CoveyError, KeyError):
    """A trial was told that this optimizer never asked for."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a sentence reads better bare.
        return str(self.args[0]) if self.args else ""


class AlreadyTold(CoveyError, ValueError):
    """A trial was told a second time."""


class StudyMismatch(CoveyError, ValueError):
    """A study exists under this name, and it is about something else."""


class StudyBusy(CoveyError):
    """Another process is running this study."""


class RunError(CoveyError):
    """A run that had to end before its budget was spent.

    Attributes:
        result: the ``covey.Result`` of the run, finished values included.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class TooManyFailures(RunError):
    """So many evaluations failed that going on is hopeless."""


class ExecutorLost(RunError):
    """The executor loses evaluations instead of running them; none of them counts as failed.

    Args:
        what: happened.
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"the executor cannot be used: {what}; no trial is failed by that: see to it, then make the same "
            "call again (what is finished is in the study, and in the result that this error has)"
        )


class StorageLost(RunError):
    """The storage of a study stays away; the message says why, and where finished values are."""


class Interrupted(SystemExit, KeyboardInterrupt):
    """Ctrl-C that a program does not answer ends it with code 130, as a shell expects, and in silence."""

    def __init__(self) -> None:
        super().__init__(INTERRUPTED)


class BadData(CoveyError, ValueError):
    """A file of data cannot be used."""


class BadResults(CoveyError, ValueError):
    """A file of benchmark results cannot be used, or does not fit what is asked of it."""


class PeerError(CoveyError, RuntimeError):
    """Another optimiser, in a process of its own, cannot be talked to."""


class NotInstalled(CoveyError, ImportError):
    """A package is needed that is not there; the message names the extra of covey that brings it."""


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Import other people's packages inside this: one that is missing is told with its remedy.

    Args:
        extra: of covey, which brings the package.

    Raises:
        NotInstalled: an ImportError, if an import inside fails.
    """
    try:
        yield
    except ImportError as error:
        raise NotInstalled(f"{error}; pip install 'covey[{extra}]'", name=error.name) from error
