"""The ordeal: a run that is struck by signals again and again has all its values in the end, none twice."""

from __future__ import annotations

import os
import random
import subprocess
import time
import uuid
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from blows import INT, KILL, Blow, Session, wrong_code, wrong_words
from observed import MARK, rows, survivors
from subjects import Subject, value


@dataclass(frozen=True)
class Patience:
    """How long things may take, in seconds; far more than they need, as a machine may be busy.

    Attributes:
        start: until a process has something to say.
        end: until a process that was struck is gone.
        others: until all that it started are gone too.
        whole: for the rest of a study.
    """

    start: float = 120.0
    end: float = 60.0
    others: float = 20.0
    whole: float = 300.0


PATIENCE = Patience()
ENDLESS = 10**6
"""Evaluations of a run that does not end by itself."""


@dataclass(frozen=True)
class Fault:
    """A promise that was broken."""

    kind: str
    blow: str
    words: str


@dataclass
class Ordeal:
    """A subject, and all that it has been through.

    Attributes:
        subject, rng: who, and what decides about blows and moments.
        blows: how many of each kind it took.
        faults: what went wrong.
    """

    subject: Subject
    rng: random.Random
    blows: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    _mark: str = field(default_factory=lambda: uuid.uuid4().hex)

    def endure(self, blows: Iterable[Blow], lines: int | None = None) -> None:
        """Take blows one after the other, then run to the end."""
        for blow in blows:
            self.take(blow, lines)
        self.finish()

    def take(self, blow: Blow, lines: int | None = None) -> None:
        """Start, be struck after so many lines of the log or at any moment, and look at what is left."""
        before, since = self._recorded(), len(self._lines())
        process, errors = self._start(ENDLESS)
        try:
            self._wait_for_a_moment(process, blow, since, lines)
            if process.poll() is not None:
                self._fault("ended by itself", blow, f"{process.returncode}: {errors.read_text()}")
            ended = set(self._points("end", since))  # finished by any standard
            blow.strike(process.pid, self.rng)
            with suppress(subprocess.TimeoutExpired):
                process.wait(PATIENCE.end)
        finally:
            code = process.poll()
            process.kill()
            process.wait()
        self.blows[str(blow)] += 1
        if left := survivors(self._mark, PATIENCE.others):
            self._fault("left processes", blow, str(left))
        self._compare(blow, before, since, ended)
        returned = [int(line.split()[1]) for line in self._lines()[since:] if line.startswith("returned")]
        self._judge(
            Session(
                self.subject.command,
                blow,
                code,
                errors.read_text(),
                bool(self._points("begin", since)),
                returned[0] if returned else None,
            )
        )

    def _compare(self, blow: Blow, before: dict[float, float], since: int, ended: set[float]) -> None:
        """Compare the study with what it had, and with what was finished."""
        now = self._recorded()
        if gone := before.items() - now.items():
            self._fault("lost records", blow, str(gone))
        if again := set(self._points("begin", since)) & set(before):
            self._fault("repeated", blow, str(again))
        if blow.number is not KILL and (lost := ended - set(now)):
            self._fault("lost values", blow, str(lost))
        if odd := {x: found for x, found in now.items() if found != value(x)}:
            self._fault("wrong values", blow, str(odd))
        if failed := [x for x, state, _ in rows(self.subject.storage) if state == "FAIL"]:
            self._fault("failed trials", blow, str(failed))

    def _judge(self, session: Session) -> None:
        if "Traceback" in session.errors:
            self._fault("traceback", session.blow, session.errors)
        elif words := wrong_words(session):
            self._fault("odd words", session.blow, words)
        if words := wrong_code(session):
            self._fault("exit code", session.blow, f"{words}: {session.errors}")
        if session.returned not in (None, len(self._recorded())):
            self._fault("wrong result", session.blow, f"{session.returned} of {len(self._recorded())} values")

    def finish(self) -> None:
        """Run to the end, undisturbed: all that was begun is finished, and eight more."""
        wanted, before, since = len(rows(self.subject.storage)) + 8, self._recorded(), len(self._lines())
        process, errors = self._start(wanted)
        try:
            code = process.wait(PATIENCE.whole)
        finally:
            process.kill()
        if code != 0:
            self._fault("exit code", "the end", f"{code}: {errors.read_text()}")
        if left := survivors(self._mark, PATIENCE.others):
            self._fault("left processes", "the end", str(left))
        if set(self._points("begin", since)) & set(before):
            self._fault("repeated", "the end", "")
        states = Counter(state for _, state, _ in rows(self.subject.storage))
        if states != {"COMPLETE": wanted} or len(self._recorded()) != wanted:
            self._fault("rows", "the end", f"{dict(states)}, {len(self._recorded())} points, not {wanted}")
        if not set(self._recorded()) <= set(self._points("end")):
            self._fault("wrong values", "the end", "a value that nobody has evaluated")

    def report(self) -> str:
        """A line for each kind of blow: how many, and what went wrong; then every fault in full."""
        lines = [f"{self.subject.command}, {'asynchronous' if self.subject.asynchronous else 'batches'}:"]
        for blow in sorted({*self.blows, *(fault.blow for fault in self.faults)}):
            kinds = Counter(fault.kind for fault in self.faults if fault.blow == blow)
            wrong = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            lines.append(f"{self.blows[blow]:5} {blow}: {wrong or 'nothing wrong'}")
        return "\n".join([*lines, *(f"{fault.kind}, {fault.blow}: {fault.words}" for fault in self.faults)])

    def _fault(self, kind: str, blow: Blow | str, words: str) -> None:
        self.faults.append(Fault(kind, str(blow), words))

    def _start(self, evaluations: int):
        """Start the subject as the leader of a group; the process, and the file of its stderr."""
        folder = self.subject.folder
        errors, places = folder / f"stderr-{sum(self.blows.values())}.txt", folder / "tmp"
        places.mkdir(exist_ok=True)
        environment = {**os.environ, MARK: self._mark, "TMPDIR": str(places)}
        with errors.open("w") as file:
            process = subprocess.Popen(
                self.subject.arguments(evaluations),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=file,
                cwd=folder,
                env=environment,
                start_new_session=True,
            )
        return process, errors

    def _wait_for_a_moment(self, process, blow: Blow, since: int, lines: int | None) -> None:
        """Sleep until some moment after so many lines; or until any that a subject can answer."""
        early = lines is None and self.rng.random() < 0.25  # perhaps while it opens the study
        if self.subject.command == "minimize" or blow.number is INT or not early:
            self._wait_for_lines(process, since + 1)  # as Python starts, covey has no say in Ctrl-C
        if early:
            time.sleep(self.rng.uniform(0.0, 1.5))
        else:
            self._wait_for_lines(process, since + (lines or self.rng.randint(2, 25)))
            time.sleep(self.rng.uniform(0.0, 0.05))

    def _wait_for_lines(self, process, count: int) -> None:
        deadline = time.monotonic() + PATIENCE.start
        while len(self._lines()) < count and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.002)

    def _lines(self) -> list[str]:
        return self.subject.log.read_text().splitlines() if self.subject.log.exists() else []

    def _points(self, word: str, since: int = 0) -> list[float]:
        lines = (line.split() for line in self._lines()[since:])
        return [float(what) for found, what in lines if found == word]

    def _recorded(self) -> dict[float, float]:
        found = rows(self.subject.storage)
        return {x: result for x, state, result in found if state == "COMPLETE" and result is not None}
