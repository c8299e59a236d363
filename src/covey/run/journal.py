"""The journal of a run: its study, and a file for what the study's storage will not take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from covey.study import Study
from covey.study.leftovers import leave
from covey.trial import Evaluation, Trial


@dataclass(frozen=True)
class StudyJournal:
    """A run written into a study; while its storage is away, the run waits and its workers go on."""

    study: Study

    def started(self, trial: Trial) -> None:
        """A trial is about to be evaluated; raises StorageLost if that cannot be written."""
        self.study.started(trial)

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """An evaluation ended; raises StorageLost if that cannot be written."""
        self.study.finished(trial, evaluation)

    def offer(self, unwritten: Sequence[tuple[Trial, Evaluation]]) -> str:
        """Put finished evaluations into a file beside the study, and say where."""
        ours = [(replace(trial, id=self.study.key(trial.id)), evaluation) for trial, evaluation in unwritten]
        return leave(self.study, ours)
