"""The program that is tuned: it is run without a shell, and its output read."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from covey.cli.processes import Processes
from covey.cli.reading import only_number, reported, stamp
from covey.trial import Failure, Trial

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


@dataclass(frozen=True)
class Kept:
    """What of a program's output becomes a failure's reason.

    Attributes:
        stderr: characters of its end; a study keeps 2000 of a reason, which has more than this in it.
    """

    stderr: int = 1500


KEPT = Kept()


@dataclass(frozen=True)
class Reading:
    """Where the value is.

    Attributes:
        json: a file that the program writes, with {placeholders}; None for the number on stdout's last line.
        key: in that file; dots lead into tables.
    """

    json: str | None = None
    key: str = "value"


def text_of(value: Any) -> str:
    """A parameter as an argument or a CSV cell: every digit of a float, true and false as in TOML."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def placeholders(template: str) -> list[str]:
    """The names in {braces}, without the doubled braces that stand for themselves.

    Raises:
        ValueError: at a brace without its partner.
    """
    names = []
    for match in _BRACES.finditer(template):
        if match.group() in "{}":
            raise ValueError(
                f"{template!r} has a lone {match.group()}; write {match.group() * 2} for a brace"
            )
        if match.group(1) is not None:
            names.append(match.group(1))
    return names


def fill(template: str, values: Mapping[str, str]) -> str:
    """A template with its placeholders replaced."""

    def one(match: re.Match[str]) -> str:
        return match.group()[0] if match.group(1) is None else values[match.group(1)]

    return _BRACES.sub(one, template)


def not_runnable(name: str, folder: Path) -> str | None:
    """Why a program cannot be started from a folder, if so."""
    if os.sep not in name:
        return None if shutil.which(name) else f"program {name!r} is not on the PATH"
    path = folder / name
    if not path.is_file():
        return f"program {name!r} is not there (looked for {path})"
    return None if os.access(path, os.X_OK) else f"program {name!r} is not executable (chmod +x {path})"


@dataclass(frozen=True)
class Program:
    """An objective that runs a program.

    Attributes:
        arguments: its argument list, with {placeholders}.
        folder: where it runs.
        reading: where the value is.
        timeout: seconds until it is killed.
        number: the {id} of a trial, as the study and its tables have it.
        processes: what is under way.
    """

    arguments: tuple[str, ...]
    folder: Path
    reading: Reading
    timeout: float | None
    number: Callable[[int], int]
    processes: Processes = field(default_factory=Processes)

    def __call__(self, params: Mapping[str, Any], trial: Trial) -> float | Failure:
        values = {name: text_of(value) for name, value in params.items()}
        values["id"] = str(self.number(trial.id))
        report = None if self.reading.json is None else self.folder / fill(self.reading.json, values)
        before = None if report is None else stamp(report)  # an old report must not pass for the new one
        try:
            # An argument about a parameter that does not exist in this trial is left out.
            there = [part for part in self.arguments if set(placeholders(part)) <= set(values)]
            arguments = [fill(template, values) for template in there]
            ended = self.processes.run(arguments, self.folder, self.timeout)
        except subprocess.TimeoutExpired:
            return Failure(f"timed out after {self.timeout:g} seconds and was killed")
        except (OSError, ValueError) as error:  # ValueError: a null character in an argument
            return Failure(f"the program could not be started: {error}")
        if ended.code != 0:
            return Failure(_complaint(ended.code, ended.err))
        return only_number(ended.out) if report is None else reported(report, self.reading.key, before)


def _complaint(code: int, err: str) -> str:
    """The end of stderr, the exit code in its last line."""
    lines = err[-KEPT.stderr :].strip().splitlines() or ["nothing on stderr"]
    how = f"exit code {code}" if code >= 0 else f"killed by {_signal_name(-code)}"
    return "\n".join([*lines[:-1], f"{how}: {lines[-1].strip()}"])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
