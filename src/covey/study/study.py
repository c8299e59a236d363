"""What survives a crash? A study in an Optuna storage, written before anything else is done.

A trial is one row in the database from the moment it is handed to a worker. Optuna's dashboard and its own
API open the study as it is: SQLite for one machine, PostgreSQL for many.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.errors import CoveyError, StudyMismatch
from covey.space import Categorical, Dimension, Float, Int, Space
from covey.study.lock import exclusive
from covey.trial import Evaluation, Failure, State, Trial

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

_log = logging.getLogger("covey.study")

_SPACE = "covey:space"
_REASON = "covey:reason"
_ORIGIN = "covey:origin"
_SECONDS = "covey:seconds"
_LONGEST = 2000
"""Of a text attribute, in characters: what every database behind Optuna takes."""


@dataclass(frozen=True)
class Recorded:
    """A trial as the study has it.

    Attributes:
        key: the storage's own number for it.
        params: the configuration.
        state: "running" if nothing was recorded: it was in flight when the process ended.
        result: the value, or why there is none; None while running.
        finished: when the result was recorded, in seconds; 0 while running.
        seconds: how long the evaluation took; 0 if nobody said.
    """

    key: int
    params: dict[str, Any]
    state: State
    result: float | Failure | None
    finished: float
    seconds: float = 0.0


class Study:
    """A campaign on disk, as a journal of trials.

    Args:
        url: "sqlite:///file.db" or "postgresql://user:password@host/database".
        name: of the study in that storage.
        space: what is varied; an existing study must have the same.

    Raises:
        StudyMismatch: if a study of that name has another space or another direction.
    """

    def __init__(self, url: str, name: str, space: Space) -> None:
        self.name, self.space = name, space
        self._storage = _open(url)
        self._distributions = {key: _distribution(dim) for key, dim in space.dimensions.items()}
        self._study_id = self._find_or_create()
        self._keys: dict[int, int] = {}

    def _find_or_create(self) -> int:
        from optuna.exceptions import DuplicatedStudyError
        from optuna.study import StudyDirection

        ours = json.dumps(describe(self.space))
        try:
            with _quiet():
                study_id = self._storage.create_new_study([StudyDirection.MINIMIZE], self.name)
            self._storage.set_study_user_attr(study_id, _SPACE, ours)
            return study_id
        except DuplicatedStudyError:
            study_id = self._storage.get_study_id_from_name(self.name)
        directions = self._storage.get_study_directions(study_id)
        if directions != [StudyDirection.MINIMIZE]:
            told = ", ".join(direction.name.lower() for direction in directions)
            raise StudyMismatch(f"study {self.name!r} has the direction {told}; covey minimises")
        attributes = self._storage.get_study_user_attrs(study_id)
        if _SPACE not in attributes and self._storage.get_n_trials(study_id) == 0:
            # Created here and killed before the next line, or made empty with Optuna.
            self._storage.set_study_user_attr(study_id, _SPACE, ours)
        elif _SPACE not in attributes:
            raise StudyMismatch(f"study {self.name!r} was not written by covey; choose another name")
        elif differences := _differences(json.loads(attributes[_SPACE]), json.loads(ours)):
            raise StudyMismatch(f"study {self.name!r} has another space: {'; '.join(differences)}")
        return study_id

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
        trials = self._storage.get_all_trials(self._study_id, deepcopy=False)
        # A trial that Optuna itself queued has no parameters yet: not one of covey's.
        ours = [trial for trial in trials if set(self.space.dimensions) <= set(trial.params)]
        return [self._read(trial) for trial in sorted(ours, key=lambda t: t.number)]

    def _read(self, trial: FrozenTrial) -> Recorded:
        params = {key: _restore(dim, trial.params[key]) for key, dim in self.space.dimensions.items()}
        finished = trial.datetime_complete.timestamp() if trial.datetime_complete else 0.0
        seconds = float(trial.user_attrs.get(_SECONDS, 0.0))
        if trial.state.name == "COMPLETE" and trial.value is not None:
            return Recorded(trial._trial_id, params, State.COMPLETE, trial.value, finished, seconds)
        if trial.state.is_finished():
            failure = Failure(trial.user_attrs.get(_REASON, ""))
            return Recorded(trial._trial_id, params, State.FAILED, failure, finished, seconds)
        return Recorded(trial._trial_id, params, State.RUNNING, None, 0.0)

    def key(self, trial_id: int) -> int:
        """The storage's number for an optimizer's trial."""
        return self._keys[trial_id]

    @staticmethod
    def exists(url: str, name: str) -> bool:
        """Whether a storage has a study of that name; a missing SQLite file is made by looking."""
        return name in [study.study_name for study in _open(url).get_all_studies()]

    def adopt(self, trial_id: int, key: int) -> None:
        """Let an optimizer's trial go by a row that is there already."""
        self._keys[trial_id] = key

    def started(self, trial: Trial) -> None:
        """Write down a trial that is about to be evaluated; one that was written before stays."""
        if trial.id not in self._keys:
            self._keys[trial.id] = self._create(trial)

    def _create(self, trial: Trial) -> int:
        """A new row of a running trial; returns its key."""
        from optuna.trial import TrialState, create_trial

        stored = {key: _store(dim, trial.params[key]) for key, dim in self.space.dimensions.items()}
        origin = {"strategy": trial.origin.strategy, "acquisition": trial.origin.acquisition}
        template = create_trial(
            state=TrialState.RUNNING,
            params=stored,
            distributions=self._distributions,
            user_attrs={_ORIGIN: {**origin, "jitter": trial.origin.jitter}},
        )
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

        if evaluation.seconds:
            self._storage.set_trial_user_attr(key, _SECONDS, round(evaluation.seconds, 6))
        if isinstance(evaluation.result, Failure):
            self._storage.set_trial_user_attr(key, _REASON, evaluation.result.reason[-_LONGEST:])
            self._storage.set_trial_state_values(key, TrialState.FAIL)
        else:
            self._storage.set_trial_state_values(key, TrialState.COMPLETE, [evaluation.result])


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Optuna from announcing what covey does with it."""
    import optuna

    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def masked(url: str) -> str:
    """A URL that can be shown: without its password."""
    return re.sub(r"(://[^:/@]*):[^@]*@", r"\1:***@", url)


def _open(url: str) -> RDBStorage:
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import ArgumentError, DatabaseError

    try:
        with _quiet():
            return RDBStorage(url)
    except ArgumentError:
        raise ValueError(
            f"storage must be like 'sqlite:///study.db' or 'postgresql://...', got {url!r}"
        ) from None
    except DatabaseError as error:
        raise CoveyError(f"storage {masked(url)!r} cannot be opened: {error.orig}") from None
    except ImportError as error:
        raise CoveyError(
            f"storage {masked(url)!r} needs a driver: {error}; pip install 'covey[postgresql]'"
        ) from None


def describe(space: Space) -> dict[str, Any]:
    """A space as plain data, in the words of study.toml."""
    return {key: _DESCRIBE[type(dim)](dim) for key, dim in space.dimensions.items()}


def _plain(choice: Any) -> Any:
    """A choice as the database takes it: itself if it is a plain value, else its repr."""
    return choice if choice is None or isinstance(choice, (str, int, float, bool)) else repr(choice)


def _number(dim: Any) -> dict[str, Any]:
    return {"type": type(dim).__name__.lower(), "low": dim.low, "high": dim.high, "log": dim.log}


def _choices(dim: Any) -> dict[str, Any]:
    return {"type": "categorical", "choices": [_plain(choice) for choice in dim.choices]}


_DESCRIBE: dict[type, Callable[[Any], dict[str, Any]]] = {Float: _number, Int: _number, Categorical: _choices}


def _distribution(dim: Dimension) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dim, Float):
        return FloatDistribution(dim.low, dim.high, log=dim.log)
    if isinstance(dim, Int):
        return IntDistribution(dim.low, dim.high, log=dim.log)
    if isinstance(dim, Categorical):
        written = [_plain(choice) for choice in dim.choices]
        if len(set(written)) < len(written):
            raise ValueError(f"a study cannot tell these choices apart: {list(dim.choices)!r}")
        return CategoricalDistribution(written)
    raise TypeError(f"a study stores Float, Int and Categorical, got {dim!r}")


def _store(dim: Dimension, value: Any) -> Any:
    return _plain(value) if isinstance(dim, Categorical) else value


def _restore(dim: Dimension, value: Any) -> Any:
    if isinstance(dim, Categorical):
        return dim.choices[[_plain(choice) for choice in dim.choices].index(value)]
    return value


def _differences(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> list[str]:
    """What differs between two described spaces, in words."""
    found = [f"{key!r} is in the study, not in the space given" for key in theirs if key not in ours]
    found += [f"{key!r} is in the space given, not in the study" for key in ours if key not in theirs]
    found += [
        f"{key!r} is {theirs[key]} in the study, {ours[key]} in the space given"
        for key in ours
        if key in theirs and theirs[key] != ours[key]
    ]
    if not found and list(theirs) != list(ours):
        found.append(f"the order is {list(theirs)} in the study, {list(ours)} in the space given")
    return found
