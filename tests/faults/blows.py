"""Blows: a signal, once or twice, to a process or to its whole group; and what has to come of it."""

from __future__ import annotations

import os
import random
import re
import signal
import time
from contextlib import suppress
from dataclasses import dataclass

KILL, TERM, INT, HUP = signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP

_HINT = {
    "minimize": r"(interrupted: run the same call again to go on with study .*\n)?",
    "covey run": r"covey: interrupted; all finished values are kept, go on with: covey run .*\n",
}
"""All that a command may say of an interrupt on stderr."""
_OTHERS = re.compile(
    r"compiling covey's kernels .*\n|.*: UserWarning: resource_tracker: There .*\n  warnings.*\n"
)
"""What else may be there: the first use of the model; loky, which cleans up after a process that died."""


@dataclass(frozen=True)
class Blow:
    """A signal."""

    number: signal.Signals
    times: int = 1
    group: bool = False

    def __str__(self) -> str:
        whom = "group" if self.group else "process"
        return f"{self.number.name} {'twice' if self.times == 2 else 'once'} to the {whom}"

    def strike(self, pid: int, rng: random.Random) -> None:
        """Send it, to a process that leads its group."""
        for count in range(self.times):
            if count:
                time.sleep(rng.uniform(0.01, 0.4))  # together they would be one
            with suppress(ProcessLookupError):
                (os.killpg if self.group else os.kill)(pid, self.number)


BLOWS = {
    # A terminal's signals go to a whole group. Of a SIGTERM workers die at once, with what they hold.
    "minimize": [
        *(Blow(KILL, 1, group) for group in (False, True)),
        *(Blow(INT, times, group) for times in (1, 2) for group in (False, True)),
        *(Blow(TERM, times) for times in (1, 2)),
        *(Blow(HUP, 1, group) for group in (False, True)),
    ],
    "covey run": [
        Blow(KILL),
        *(
            Blow(number, times, group)
            for number in (INT, TERM)
            for times in (1, 2)
            for group in (False, True)
        ),
    ],
}


def drawn(command: str, count: int, rng: random.Random) -> list[Blow]:
    """So many blows for a command, every kind as often as the others."""
    rounds = [rng.sample(BLOWS[command], len(BLOWS[command])) for _ in range(count)]
    return [blow for some in rounds for blow in some][:count]


@dataclass(frozen=True)
class Session:
    """What is known of a process that was struck.

    Attributes:
        command, blow: who, and by what.
        code: its exit code; None if it did not end.
        errors: all of its stderr.
        begun: whether an evaluation had begun.
        returned: values in the result that minimize returned; None if it did not.
    """

    command: str
    blow: Blow
    code: int | None
    errors: str
    begun: bool
    returned: int | None


def wrong_code(session: Session) -> str | None:
    """What is wrong with an exit code, if so."""
    return None if session.code in _codes(session) else f"{session.code} instead of {sorted(_codes(session))}"


def _codes(session: Session) -> set[int]:
    blow, dead = session.blow, -session.blow.number
    if blow.number is KILL:
        return {dead}
    if session.command == "covey run":
        # As it starts it does not answer yet, and dies.
        return {130} if session.begun else {130, dead}
    if blow.number is not INT:
        return {dead}
    if session.returned is not None:  # a second one may come too late to be heard
        return {0}
    if blow.times == 2:  # or so late that Python has shut down, and it ends the process by itself
        return {130, dead}
    return {0} if session.begun else {130}


def wrong_words(session: Session) -> str | None:
    """What should not be on stderr, if so."""
    words = _OTHERS.sub("", session.errors)
    died = session.code == -session.blow.number
    fine = re.fullmatch(_HINT[session.command], words) or (died and not words)
    return None if fine else session.errors
