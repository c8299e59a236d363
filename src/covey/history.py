"""The history of an optimization: the ledger of its trials, and what was told of them in which order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from covey.arrays import Array
from covey.errors import AlreadyTold, UnknownTrial, shown
from covey.space import Space
from covey.trial import Failure, Origin, State, Trial


class History:
    """All trials of an optimizer, each with its row of the cube.

    Nothing is ever taken back: trials are added, and a running one becomes complete or failed.

    Args:
        space: what is varied.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._trials: list[Trial] = []
        self._rows: list[Array] = []
        self._told: list[int] = []
        self._values: dict[int, float] = {}

    def __len__(self) -> int:
        return len(self._trials)

    def __getitem__(self, index: int) -> Trial:
        return self._trials[index]

    def copy(self) -> History:
        """The same ledger, which can be written on without this one."""
        other = History(self.space)
        other._trials, other._rows, other._told = list(self._trials), list(self._rows), list(self._told)
        other._values = dict(self._values)
        return other

    @property
    def trials(self) -> list[Trial]:
        """All trials, in the order of asking; copies, so that nobody can change the ledger."""
        return [trial.copy() for trial in self._trials]

    @property
    def told(self) -> int:
        """How many trials were told."""
        return len(self._told)

    @property
    def values(self) -> Mapping[int, float]:
        """Values by trial, in the order of telling."""
        return self._values

    @property
    def rows(self) -> Array:
        """Rows of all trials (k, d), in the order of asking."""
        return self._stacked(range(len(self._rows)))

    @property
    def measured(self) -> Array:
        """Rows that have a value (n, d), in the order of telling."""
        return self._stacked(self._values)

    @property
    def failed(self) -> Array:
        """Rows that failed (f, d), in the order of telling."""
        return self._stacked(k for k in self._told if k not in self._values)

    @property
    def pending(self) -> Array:
        """Rows asked for and not yet told (k, d), in the order of asking."""
        return self._stacked(t.id for t in self._trials if t.state is State.RUNNING)

    def _stacked(self, indices: Iterable[int]) -> Array:
        """Rows (k, d) as one array, also when there are none."""
        return np.array([self._rows[k] for k in indices]).reshape(-1, len(self.space))

    def extend(self, rows: Sequence[Array], origins: Sequence[Origin]) -> list[Trial]:
        """New trials at rows (d,) that were chosen; gives copies of them."""
        first = len(self._trials)
        trials = [
            Trial(first + k, self.space.decode(row), origin=origin)
            for k, (row, origin) in enumerate(zip(rows, origins, strict=True))
        ]
        self._rows += rows
        self._trials += trials
        return [trial.copy() for trial in trials]

    def include(self, params: Mapping[str, Any]) -> Trial:
        """A new trial at the user's own parameters, which are kept to the last bit."""
        row = self.space.encode(params)
        (trial,) = self.extend([row], [Origin("given")])
        # A row may come back as its neighbour in floating point; what was given is what is evaluated.
        exact = {
            name: float(params[name]) if self.space.dimensions[name].levels is None else value
            for name, value in trial.params.items()
        }
        self._trials[-1] = replace(trial, params=exact)
        return self._trials[-1].copy()

    def known(self, trial: Trial | int) -> int:
        """The id of a trial that waits for its value.

        Raises:
            UnknownTrial: if it is not here.
            AlreadyTold: if it has a value or has failed.
        """
        index = trial.id if isinstance(trial, Trial) else trial
        if not 0 <= index < len(self._trials):
            raise UnknownTrial(f"tell: trial {index} was not asked for here")
        own = self._trials[index]
        if isinstance(trial, Trial) and not _same(trial.params, own.params):
            raise UnknownTrial(
                f"tell: trial {index} was asked for here as {shown(own.params)}, got {shown(trial.params)}; "
                f"tell({index}, ...) if these were changed on the way"
            )
        if own.state is not State.RUNNING:
            raise AlreadyTold(f"tell: trial {index} was told already, it is {own.state}")
        return int(index)

    def record(self, index: int, result: float | Failure) -> None:
        """Write down what came of a running trial."""
        self._trials[index] = self._trials[index].with_result(result)
        self._told.append(index)
        if not isinstance(result, Failure):
            self._values[index] = result


def _same(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    try:
        return bool(one == other)
    except Exception:  # arrays have no one answer
        return False


def best_of(trials: Iterable[Trial]) -> Trial | None:
    """The trial with the lowest value, the first of equals; None where there is no value."""
    done = [trial for trial in trials if trial.value is not None]
    return min(done, key=lambda trial: (trial.value, trial.id), default=None)


@dataclass(frozen=True)
class Entry:
    """A trial of an earlier session.

    Attributes:
        params: its configuration.
        result: what came of it; None if it was in flight.
        order: its place among those that were told, as a time or a number.
    """

    params: Mapping[str, Any]
    result: float | Failure | None
    order: float


class Learner(Protocol):
    """What a history can be replayed to: a ``covey.Optimizer``."""

    def include(self, params: Mapping[str, Any]) -> Trial:
        """Take a configuration as a trial."""

    def tell(self, trial: int, value: float | Failure, /) -> None:
        """Hear what came of a trial."""


def replay(learner: Learner, entries: Sequence[Entry]) -> list[Trial]:
    """Let an optimizer go through a record: all trials in the order of asking, then results in theirs.

    Same settings and same order: the optimizer that suggests what the one of the earlier session would have.

    Returns:
        The optimizer's trials, one for each entry.
    """
    trials = [learner.include(entry.params) for entry in entries]
    told = [
        (entry.order, trial.id, entry.result)
        for entry, trial in zip(entries, trials, strict=True)
        if entry.result is not None
    ]
    for _, index, result in sorted(told, key=lambda item: item[:2]):
        learner.tell(index, result)
    return trials
