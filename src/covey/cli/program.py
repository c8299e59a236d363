"""The program that is tuned: it is run without a shell, and its output read."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from covey.trial import Failure, Trial

_BRACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+|nan\b|inf\b|infinity\b)(?:e[-+]?[0-9]+)?(?!\.?\w)", re.I
)
_GROUPED = re.compile(r"(?<![\w.,])[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?(?![\w,])")
"""One number with its thousands apart, or several: nobody can tell."""


@dataclass(frozen=True)
class Kept:
    """What of a program's output becomes a failure's reason.

    Attributes:
        stderr: characters of its end; a study keeps 2000 of a reason, which has more than this in it.
        line: characters of the last line on stdout that has no number.
    """

    stderr: int = 1500
    line: int = 200


KEPT = Kept()


@dataclass(frozen=True)
class Reading:
    """Where the value is.

    Attributes:
        json: a file that the program writes, with {placeholders}; None for the last number on stdout.
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


@dataclass
class Processes:
    """Programs under way, each in a session of its own, so that all of its children can be killed with it."""

    _running: set[subprocess.Popen[str]] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: bool = False

    def run(self, arguments: list[str], folder: Path, timeout: float | None) -> tuple[int, str, str]:
        """Exit code, stdout and stderr; raises subprocess.TimeoutExpired after killing what runs too long."""
        with self._lock:
            if self._stopped:
                raise InterruptedError("the run is stopping")
            process = subprocess.Popen(
                arguments,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
            self._running.add(process)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            _kill(process)
            with process:  # closes its pipes, which a child that got away may hold open
                raise
        finally:
            with self._lock:
                self._running.discard(process)
        return process.returncode, out, err

    def stop(self) -> None:
        """Kill all, and start no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)


def _kill(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (AttributeError, ProcessLookupError, PermissionError):  # no groups on Windows, or all gone
        process.kill()


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
        if report is not None:
            report.unlink(missing_ok=True)  # an old report must not pass for the new one
        try:
            arguments = [fill(template, values) for template in self.arguments]
            code, out, err = self.processes.run(arguments, self.folder, self.timeout)
        except subprocess.TimeoutExpired:
            return Failure(f"timed out after {self.timeout:g} seconds and was killed")
        except OSError as error:
            return Failure(f"the program could not be started: {error}")
        if code != 0:
            return Failure(_complaint(code, err))
        return last_number(out) if report is None else reported(report, self.reading.key)


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


def last_number(out: str) -> float | Failure:
    """The last number of a text; nan and inf are numbers here."""
    lines = [line for line in out.splitlines() if line.strip()]
    for line in reversed(lines):
        if not (found := list(_NUMBER.finditer(line))):
            continue
        for grouped in _GROUPED.finditer(line):
            if grouped.start() <= found[-1].start() < grouped.end():
                return Failure(
                    f"{grouped.group()!r} on stdout is one number or several: print no commas in it"
                )
        return float(found[-1].group())
    return Failure(
        f"no number on stdout, which ended with {lines[-1][: KEPT.line]!r}" if lines else "nothing on stdout"
    )


def reported(path: Path, key: str) -> float | Failure:
    """The number under a key of a JSON file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        for part in key.split("."):
            value = value[part]
    except FileNotFoundError:
        return Failure(f"the program wrote no {path.name}")
    except (OSError, ValueError) as error:  # unreadable, or not JSON
        return Failure(f"{path.name} cannot be read: {error}")
    except (KeyError, IndexError, TypeError):
        value = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    return Failure(f"{path.name} has no number under {key!r}")
