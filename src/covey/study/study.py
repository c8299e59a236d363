"""The study: a record of trials in an Optuna storage, written before anything else is done with them.

A trial is one row in the database from the moment it is handed to a worker. Optuna's dashboard and its own
API open the study as it is: SQLite for one machine, PostgreSQL for many.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from covey.arguments import check_study
from covey.errors import StudyMismatch, shown
from covey.space import Space
from covey.study import codec
from covey.study.address import masked
from covey.study.codec import Recorded
from covey.study.damage import DAMAGE, read_trials, trial_ids
from covey.study.location import file_of, located
from covey.study.lock import FileLock, Held, Lock, NoLock, ServerLock, exclusive
from covey.study.outage import is_busy, may_pass, outlast
from covey.study.storage import open_storage, quiet, study_names
from covey.trial import Evaluation, Failure, Trial

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial
    from sqlalchemy import URL

_log = logging.getLogger("covey.study")
_Result = TypeVar("_Result")
_named: set[tuple[str, str, int]] = set()
"""Damaged trials that this process has spoken of."""


class Study:
    """A record of trials on disk.

    Args:
        url: "sqlite:///file.db" or "postgresql://user:password@host/database", or a ``sqlalchemy.URL``.
        name: of the study in that storage.
        space: what is varied; an existing study must have the same.

    Attributes:
        address: the url as it can be shown, without its password.

    Raises:
        StudyMismatch: if a study of that name has another space or another direction.
        ValueError: if it is no address of SQLite or PostgreSQL.
        CoveyError: if the storage cannot be opened.
    """

    def __init__(self, url: str | URL, name: str, space: Space) -> None:
        from sqlalchemy import URL

        check_study("storage", "" if isinstance(url, URL) else url, name)
        if not isinstance(space, Space):
            raise TypeError(f"space must be a covey.Space, got {shown(space)}")
        self._url, self.name, self.space = located(url), name, space
        self.address = masked(url)
        codec.distributions(space)  # a space that cannot be stored is refused before anything is made
        self._keys: dict[int, int] = {}
        self._uncertain: set[int] = set()
        self._held: Held | None = None
        self._passing: Callable[[Exception], bool] = is_busy
        self._hurried: Callable[[], int] = lambda: 0
        self._storage = open_storage(self._url)
        self._study_id = self._outlast(self._find_or_create)

    def __repr__(self) -> str:
        return f"Study({self.address!r}, {self.name!r})"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a Study cannot be pickled, as it has connections and a password; open it anew instead"
        )

    def _find_or_create(self) -> int:
        """The storage's number of the study; one that exists is only read, as a copy may be read-only."""
        from optuna.exceptions import DuplicatedStudyError
        from optuna.study import StudyDirection

        study_id = self._find()
        if study_id is None:
            try:
                with quiet():
                    study_id = self._storage.create_new_study([StudyDirection.MINIMIZE], self.name)
            except DuplicatedStudyError:  # another process was faster
                study_id = self._storage.get_study_id_from_name(self.name)
        self._check_direction(study_id)
        self._claim(study_id)
        return study_id

    def _find(self) -> int | None:
        try:
            return self._storage.get_study_id_from_name(self.name)
        except KeyError:
            return None

    def _check_direction(self, study_id: int) -> None:
        with self._legible():
            names = [direction.name.lower() for direction in self._storage.get_study_directions(study_id)]
        if names != ["minimize"]:
            raise StudyMismatch(f"study {self.name!r} has the direction {', '.join(names)}; covey minimises")

    def _claim(self, study_id: int) -> None:
        """See to it that the study in the storage is about this space."""
        with self._legible():
            theirs = self._storage.get_study_user_attrs(study_id).get(codec.SPACE)
        if theirs is None and not trial_ids(self._storage, study_id):
            # New; or its maker was killed before this line; or it was made empty with Optuna.
            self._storage.set_study_user_attr(study_id, codec.SPACE, codec.space_text(self.space))
        elif theirs is None:
            raise StudyMismatch(f"study {self.name!r} was not written by covey; choose another name")
        else:
            self._compare(theirs, self.space)

    @contextmanager
    def _legible(self) -> Iterator[None]:
        """Say which study it is whose own record, not that of a trial, makes no sense."""
        try:
            yield
        except DAMAGE as error:
            words = f"{type(error).__name__}: {error}"
            raise StudyMismatch(f"study {self.name!r} is damaged and cannot be read: {words:.200}") from None

    def check_space(self, space: Space) -> None:
        """Refuse a space that is not this study's.

        Raises:
            StudyMismatch: if something differs.
        """
        self._compare(codec.space_text(self.space), space)

    def _compare(self, theirs: Any, space: Space) -> None:
        if found := codec.space_differences(theirs, space):
            raise StudyMismatch(f"study {self.name!r} has another space: {'; '.join(found)}")

    def close(self) -> None:
        """Close the connections to the database."""
        self._storage.remove_session()
        self._storage.engine.dispose()

    @contextmanager
    def exclusive(self) -> Iterator[Held]:
        """Be the only process that runs this study, asks for its next trials, or tells it values.

        Raises:
            StudyBusy: if another one is.
        """
        try:
            with exclusive(self._lock(), self.name) as self._held:
                yield self._held
        finally:
            self._held = None

    @property
    def file(self) -> Path | None:
        """The file that the study is in; None if a server or the memory has it."""
        return file_of(self._url) if self._url.get_backend_name() == "sqlite" else None

    def _lock(self) -> Lock:
        if self._url.get_backend_name() == "postgresql":
            return ServerLock(self._storage.engine, self.name)
        return NoLock() if self.file is None else FileLock(self.file, self.name)

    def recorded(self) -> list[Recorded]:
        """All trials that can be read, in the order of their start; a warning names the others.

        Raises:
            StorageLost: if the storage is away, and stays away if it is waited for.
        """
        rows = [row for row in self._outlast(self._rows) if not codec.is_queued(row)]
        found = [(row.number, one) for row in rows if (one := self._read(row)) is not None]
        return [one for _, one in sorted(found, key=lambda pair: pair[0])]

    def _rows(self) -> list[FrozenTrial]:
        return read_trials(self._storage, self._study_id, self._leave_out)

    def _read(self, row: FrozenTrial) -> Recorded | None:
        """A trial; None if it is damaged."""
        try:
            operator.index(row.number)
            return codec.decode(self.space, row)
        except DAMAGE as error:
            self._leave_out(row._trial_id, error)
            return None

    def _leave_out(self, key: int, error: Exception) -> None:
        """Name a damaged trial, once in a process."""
        trial = (self.address, self.name, key)
        if trial not in _named:
            _named.add(trial)
            words = f"{type(error).__name__}: {error}"
            _log.warning("trial %d of study %r is damaged and left out: %.200s", key, self.name, words)

    @staticmethod
    def names(url: str | URL) -> list[str]:
        """The names of the studies in a storage; nothing is made by looking."""
        return study_names(located(url))

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
        """Write down a trial that is about to be evaluated; one that is there already stays.

        After an error, which may have come before or after the write, the same call again is safe.

        Raises:
            StorageLost: if the storage is away, and stays away if it is waited for.
        """
        if trial.id not in self._keys:
            self._keys[trial.id] = self._outlast(partial(self._create, trial))

    def _create(self, trial: Trial) -> int:
        """A row of a running trial, new unless an earlier attempt at it got through; returns its key."""
        template = codec.encode(self.space, trial)
        key = self._orphan(template.params) if trial.id in self._uncertain else None
        self._uncertain.add(trial.id)
        if key is None:
            with self._legible():  # Optuna compares the distributions with those of an earlier trial
                key = self._storage.create_new_trial(self._study_id, template_trial=template)
        self._uncertain.discard(trial.id)
        return key

    def _orphan(self, params: Mapping[str, Any]) -> int | None:
        """The key of a running trial with these parameters that is not known to be anybody's."""
        from optuna.trial import TrialState

        known = set(self._keys.values())
        rows = [row for row in self._rows() if row.state == TrialState.RUNNING]
        return next(
            (row._trial_id for row in rows if row.params == params and row._trial_id not in known), None
        )

    def finished(self, trial: Trial, evaluation: Evaluation) -> None:
        """Write down a value or a failure, even if somebody closed the trial meanwhile (a dashboard can).

        After an error, which may have come before or after the write, the same call again is safe.

        Raises:
            StorageLost: if the storage is away, and stays away if it is waited for.
        """
        self._outlast(partial(self._write, trial, evaluation))

    def _write(self, trial: Trial, evaluation: Evaluation) -> None:
        from optuna.exceptions import UpdateFinishedTrialError

        key = self._keys[trial.id]
        try:
            self._finish(key, evaluation)
        except UpdateFinishedTrialError:
            closed = self._storage.get_trial(key)
            if codec.has_result(closed, evaluation):
                return
            state = closed.state.name
            if isinstance(evaluation.result, Failure) or state == "COMPLETE":
                _log.warning("trial %d was closed as %s by somebody else; left as it is", key, state.lower())
                return
            self._keys[trial.id] = self._create(trial)
            _log.warning(
                "trial %d was failed by somebody else; its value is in trial %d", key, self._keys[trial.id]
            )
            self._finish(self._keys[trial.id], evaluation)

    def _finish(self, key: int, evaluation: Evaluation) -> None:
        """The state last: a trial is finished with all it has."""
        from optuna.exceptions import StorageInternalError
        from optuna.trial import TrialState

        for name, value in codec.attributes(evaluation).items():
            self._storage.set_trial_user_attr(key, name, value)
        values = None if isinstance(evaluation.result, Failure) else [evaluation.result]
        state = TrialState.FAIL if values is None else TrialState.COMPLETE
        if not self._storage.set_trial_state_values(key, state, values):
            # Optuna keeps a violated constraint to itself.
            raise StorageInternalError(f"the database refused the result of trial {key}")

    @contextmanager
    def enduring(self, hurried: Callable[[], int]) -> Iterator[None]:
        """Outlast every outage of the storage inside, as a run does that would lose its values otherwise.

        Elsewhere only a storage that is busy is waited for: somebody is there who can do it again.

        Args:
            hurried: how often somebody has asked for an end; see ``covey.study.outage``.
        """
        self._passing, self._hurried = may_pass, hurried
        try:
            yield
        finally:
            self._passing, self._hurried = is_busy, lambda: 0

    def _outlast(self, work: Callable[[], _Result]) -> _Result:
        return outlast(work, self._url, passing=self._passing, rejoin=self._rejoin, hurried=self._hurried)

    def _rejoin(self) -> None:
        """Hold the study again if it was held: a server that restarts forgets who does."""
        if self._held is not None:
            self._held.renew()
