"""The study: a record of trials in an Optuna storage, written before anything else is done with them.

A trial is one row in the database from the moment it is handed to a worker. Optuna's dashboard and its own
API open the study as it is: SQLite for one machine, PostgreSQL for many.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from covey.errors import StudyMismatch
from covey.space import Space
from covey.study import codec, leftovers
from covey.study.address import masked
from covey.study.codec import Recorded
from covey.study.lock import exclusive
from covey.study.storage import open_storage, quiet
from covey.trial import Evaluation, Failure, Trial

_log = logging.getLogger("covey.study")


class Study:
    """A record of trials on disk.

    Args:
        url: "sqlite:///file.db" or "postgresql://user:password@host/database".
        name: of the study in that storage.
        space: what is varied; an existing study must have the same.

    Attributes:
        address: the url as it can be shown, without its password.

    Raises:
        StudyMismatch: if a study of that name has another space or another direction.
    """

    def __init__(self, url: str, name: str, space: Space) -> None:
        self.address, self.name, self.space = masked(url), name, space
        codec.distributions(space)  # a space that cannot be stored is refused before anything is made
        self._storage = open_storage(url)
        self._study_id = self._find_or_create()
        self._keys: dict[int, int] = {}

    def _find_or_create(self) -> int:
        from optuna.exceptions import DuplicatedStudyError
        from optuna.study import StudyDirection

        try:
            with quiet():
                study_id = self._storage.create_new_study([StudyDirection.MINIMIZE], self.name)
        except DuplicatedStudyError:
            study_id = self._storage.get_study_id_from_name(self.name)
            self._check_direction(study_id)
        self._claim(study_id)
        return study_id

    def _check_direction(self, study_id: int) -> None:
        names = [direction.name.lower() for direction in self._storage.get_study_directions(study_id)]
        if names != ["minimize"]:
            raise StudyMismatch(f"study {self.name!r} has the direction {', '.join(names)}; covey minimises")

    def _claim(self, study_id: int) -> None:
        """See to it that the study in the storage is about this space."""
        theirs = self._storage.get_study_user_attrs(study_id).get(codec.SPACE)
        if theirs is None and self._storage.get_n_trials(study_id) == 0:
            # New; or its maker was killed before this line; or it was made empty with Optuna.
            self._storage.set_study_user_attr(study_id, codec.SPACE, codec.space_text(self.space))
        elif theirs is None:
            raise StudyMismatch(f"study {self.name!r} was not written by covey; choose another name")
        else:
            self._compare(theirs, self.space)

    def check_space(self, space: Space) -> None:
        """Refuse a space that is not this study's.

        Raises:
            StudyMismatch: if something differs.
        """
        self._compare(codec.space_text(self.space), space)

    def _compare(self, theirs: str, space: Space) -> None:
        if found := codec.space_differences(theirs, space):
            raise StudyMismatch(f"study {self.name!r} has another space: {'; '.join(found)}")

    def close(self) -> None:
        """Close the connections to the database."""
        self._storage.remove_session()
        self._storage.engine.dispose()

    def exclusive(self) -> AbstractContextManager[None]:
        """Be the only process that runs this study or asks for its next trials.

        Raises:
            StudyBusy: if another one is.
        """
        return exclusive(self._storage.engine, self.name)

    def recorded(self) -> list[Recorded]:
        """All trials, in the order in which they were started."""
        rows = self._storage.get_all_trials(self._study_id, deepcopy=False)
        ours = [row for row in rows if codec.is_ours(self.space, row)]
        return [codec.decode(self.space, row) for row in sorted(ours, key=lambda row: row.number)]

    @staticmethod
    def exists(url: str, name: str) -> bool:
        """Whether a storage has a study of that name; a missing SQLite file is made by looking."""
        return name in [study.study_name for study in open_storage(url).get_all_studies()]

    def adopt(self, keys: Mapping[int, int]) -> None:
        """Write of an optimizer's trials from here on.

        Args:
            keys: of those trials that have a row already, the storage's number for it by trial id.
        """
        self._keys = dict(keys)

    def key(self, trial_id: int) -> int:
        """The storage's number for an optimizer's trial."""
        return self._keys[trial_id]

    def started(self, trial: Trial) -> None:
        """Write down a trial that is about to be evaluated; one that is there already stays."""
        if trial.id not in self._keys:
            self._keys[trial.id] = self._create(trial)

    def _create(self, trial: Trial) -> int:
        """A new row of a running trial; returns its key."""
        template = codec.encode(self.space, trial)
        return self._storage.create_new_trial(self._study_id, template_trial=template)

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """Write down a value or a failure, even if somebody closed the trial meanwhile (a dashboard can)."""
        from optuna.exceptions import UpdateFinishedTrialError

        key = self._keys[trial.id]
        try:
            self._finish(key, evaluation)
        except UpdateFinishedTrialError:
            closed = self._storage.get_trial(key).state.name
            if isinstance(evaluation.result, Failure) or closed == "COMPLETE":
                _log.warning("trial %d was closed as %s by somebody else; left as it is", key, closed.lower())
                return
            self._keys[trial.id] = self._create(trial)
            _log.warning(
                "trial %d was failed by somebody else; its value is in trial %d", key, self._keys[trial.id]
            )
            self._finish(self._keys[trial.id], evaluation)

    def _finish(self, key: int, evaluation: Evaluation) -> None:
        """The state last: a trial is finished with all it has."""
        from optuna.trial import TrialState

        for name, value in codec.attributes(evaluation).items():
            self._storage.set_trial_user_attr(key, name, value)
        if isinstance(evaluation.result, Failure):
            self._storage.set_trial_state_values(key, TrialState.FAIL)
        else:
            self._storage.set_trial_state_values(key, TrialState.COMPLETE, [evaluation.result])

    def rejoin(self) -> None:
        """Hold the study again where an outage of the storage has ended that."""

    def leave(self, evaluations: Sequence[tuple[Trial, Evaluation]]) -> str:
        """Put evaluations that cannot be written into a file; says where, in words.

        Args:
            evaluations: of trials whose ids are the storage's own.
        """
        return leftovers.leave(self.name, self._folders(), evaluations)

    def take_leftovers(self) -> None:
        """Write down what an earlier run could not; a file whose values are all in the study is removed."""
        for path, evaluations in leftovers.find(self.name, self._folders()):
            rows = {row.trial.id: row for row in self.recorded()}
            others = [trial.id for trial, given in evaluations if not _fits(rows.get(trial.id), trial, given)]
            for trial, evaluation in evaluations:
                if trial.id not in others and rows[trial.id].result is None:
                    self.adopt({trial.id: trial.id})
                    self.finished(trial, evaluation)
            if others:
                _log.warning("%s is left alone: the study has other trials %s", path, others)
            else:
                path.unlink()

    def _folders(self) -> list[Path]:
        """Where leftovers may be: beside a file, else where the run is; or at home."""
        database = self._storage.engine.url.database
        beside = self._storage.engine.dialect.name == "sqlite" and database and Path(database).exists()
        return [Path(database).resolve().parent if beside and database else Path.cwd(), Path.home()]


def _fits(row: Recorded | None, trial: Trial, evaluation: Evaluation) -> bool:
    """Whether a trial of a file is in the study, and still running or with the same result."""
    if row is None or not leftovers.is_of(trial, row.trial):
        return False
    return row.result in (None, evaluation.result)
