"""The journal of a run: a study that may be away for a while, and what is left over if it stays away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from covey.run.interrupts import Interrupts
from covey.study import Study
from covey.study.leftovers import leave
from covey.trial import Evaluation, Trial


@dataclass(frozen=True)
class StudyJournal:
    """A run written into a study; while its storage is away, the run waits and its workers go on."""

    study: Study
    interrupts: Interrupts

    def started(self, trial: Trial) -> None:
        """A trial is about to be evaluated; raises StorageLost if that cannot be written."""
        self._write(partial(self.study.started, trial))

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """An evaluation ended; raises StorageLost if that cannot be written."""
        self._write(partial(self.study.finished, trial, evaluation))

    def _write(self, deed: partial[None]) -> None:
        self.study.patiently(deed, hurried=lambda: len(self.interrupts.heard))

    def offer(self, unwritten: Sequence[tuple[Trial, Evaluation]]) -> str:
        """Put finished evaluations into a file beside the study, and say where."""
        ours = [(replace(trial, id=self.study.key(trial.id)), evaluation) for trial, evaluation in unwritten]
        return leave(self.study, ours)
