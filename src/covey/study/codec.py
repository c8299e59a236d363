"""The codec of a study: spaces and trials as Optuna's distributions, trials and attributes, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.history import Entry
from covey.space import Categorical, Dimension, Float, Int, Ordinal, Space
from covey.space.describe import describe, differences, plain
from covey.space.levels import Grid
from covey.trial import Evaluation, Failure, State, Trial

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

SPACE = "covey:space"
"""The attribute of a study that has its space."""
_REASON = "covey:reason"
_ORIGIN = "covey:origin"
_SECONDS = "covey:seconds"


@dataclass(frozen=True)
class Limits:
    """What a database takes.

    Attributes:
        text: characters of a text attribute; every database behind Optuna takes 2000. The end is kept, where
            a traceback says what happened.
        decimals: of seconds; microseconds are as fine as the clock.
        seconds: of one evaluation; no machine has run for three centuries.
        name: characters of the names of studies and parameters.
        step: how far from a whole number of steps Optuna lets a value be.
        units: in the last place of the largest value, that Optuna may be off by when it counts them.
    """

    text: int = 2000
    decimals: int = 6
    seconds: float = 1e10
    name: int = 512
    step: float = 1e-8
    units: int = 4


LIMITS = Limits()


@dataclass(frozen=True)
class Recorded:
    """A trial as the study has it.

    Attributes:
        trial: its id is the storage's own number for it; "running" if nothing was recorded: it was in flight
            when the process ended.
        finished: when the result was recorded, in seconds; 0 while running.
        seconds: how long the evaluation took; 0 if nobody said.
    """

    trial: Trial
    finished: float = 0.0
    seconds: float = 0.0

    @property
    def result(self) -> float | Failure | None:
        """The value, or why there is none; None while running."""
        if self.trial.state is State.FAILED:
            return Failure(self.trial.reason or "")
        return self.trial.value


def entries(rows: Sequence[Recorded], *, asynchronous: bool) -> list[Entry]:
    """A record to replay: results as they came in, or of batches by number, whatever came in first."""
    return [
        Entry(row.trial.params, row.result, row.finished if asynchronous else number)
        for number, row in enumerate(rows)
    ]


def space_text(space: Space) -> str:
    """A space as an attribute."""
    return json.dumps(describe(space))


def space_differences(theirs: Any, space: Space) -> list[str]:
    """What differs between a space as an attribute and a space given, in words."""
    try:
        described = json.loads(theirs)
    except (TypeError, ValueError, RecursionError):
        described = None
    if not isinstance(described, dict) or not all(isinstance(one, dict) for one in described.values()):
        return [f"what is written as its space cannot be read: {theirs!r:.60}"]
    return differences(described, json.loads(space_text(space)))


def _check_name(name: Any) -> None:
    """Refuse the name of a parameter that some database cannot hold.

    Raises:
        ValueError: with what is accepted.
    """
    fits = isinstance(name, str) and 0 < len(name) <= LIMITS.name and "\0" not in name
    if not fits or any("\ud800" <= letter <= "\udfff" for letter in name):
        accepted = f"a text of 1 to {LIMITS.name} characters, without NUL and lone surrogates"
        raise ValueError(f"the name of a parameter in a study must be {accepted}, got {name!r:.60}")


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions, by parameter.

    Raises:
        ValueError: if a study cannot hold a name, or tell choices apart.
        TypeError: if it cannot hold a dimension.
    """
    for name in space.dimensions:
        _check_name(name)
    return {name: _distribution(dimension) for name, dimension in space.dimensions.items()}


def _distribution(dimension: Dimension) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dimension, Float):
        if (grid := dimension.grid) and _knows(grid):
            return FloatDistribution(grid.low, grid.last, step=grid.step)
        return FloatDistribution(dimension.low, dimension.high, log=dimension.log)
    if isinstance(dimension, Int):
        last = dimension.decode(1.0)  # Optuna warns of a bound between two steps
        return IntDistribution(dimension.low, last, log=dimension.log, step=dimension.step)
    if isinstance(dimension, Ordinal):
        return CategoricalDistribution(dimension.values)
    if isinstance(dimension, Categorical):
        written = [plain(choice) for choice in dimension.choices]
        if any(isinstance(one, int) and abs(one) >= 10**308 for one in written):
            raise ValueError(
                "a study holds whole numbers of up to 308 digits among choices, got a longer one"
            )
        if len(set(written)) < len(written):
            raise ValueError(f"a study cannot tell these choices apart: {list(dimension.choices)!r}")
        return CategoricalDistribution(written)
    raise TypeError(f"a study stores Float, Int, Ordinal and Categorical, got {dimension!r}")


def _knows(grid: Grid) -> bool:
    """Whether Optuna, which counts steps in float64, finds every value of a grid on it.

    It subtracts low, divides by the step and takes what is within 1e-8 of a whole number; and the last value
    must be a whole number of steps from low as they are written.
    """
    largest = max(abs(grid.low), abs(grid.last))
    return LIMITS.units * math.ulp(largest) < LIMITS.step * grid.step and grid.is_written(grid.count - 1)


def encode(space: Space, trial: Trial) -> FrozenTrial:
    """A running trial as Optuna has it."""
    from optuna.trial import TrialState, create_trial

    origin = {
        "strategy": trial.origin.strategy,
        "acquisition": trial.origin.acquisition,
        "jitter": trial.origin.jitter,
    }
    return create_trial(
        state=TrialState.RUNNING,
        params={name: _store(space.dimensions[name], value) for name, value in trial.params.items()},
        distributions={name: one for name, one in distributions(space).items() if name in trial.params},
        user_attrs={_ORIGIN: origin},
    )


def attributes(evaluation: Evaluation) -> dict[str, Any]:
    """What is kept of an evaluation beside its value."""
    kept: dict[str, Any] = {}
    if evaluation.seconds:
        kept[_SECONDS] = round(evaluation.seconds, LIMITS.decimals)
    if isinstance(evaluation.result, Failure):
        kept[_REASON] = evaluation.result.reason[-LIMITS.text :]
    return kept


def has_result(row: FrozenTrial, evaluation: Evaluation) -> bool:
    """Whether a finished row says the same as an evaluation."""
    if isinstance(evaluation.result, Failure):
        reason = attributes(evaluation)[_REASON]
        return row.state.name == "FAIL" and row.user_attrs.get(_REASON, "") == reason
    return row.state.name == "COMPLETE" and row.value == evaluation.result


def is_queued(row: FrozenTrial) -> bool:
    """Whether Optuna put a row in a queue, and nobody has taken it: it has no parameters yet."""
    return not row.params and row.state is not None and not row.state.is_finished()


def decode(space: Space, row: FrozenTrial) -> Recorded:
    """A trial as it was recorded.

    Raises:
        ValueError: if that cannot be read; also a TypeError, or whatever else comes of damaged data.
    """
    params = {
        name: _restore(dim, row.params[name]) for name, dim in space.dimensions.items() if name in row.params
    }
    space.encode(params)  # none is missing, and none too many
    trial = Trial(row._trial_id, params)
    if not row.state.is_finished():
        return Recorded(trial)
    value = row.value if row.state.name == "COMPLETE" else None
    if value is not None and not math.isfinite(value):
        raise ValueError(f"its value is {value!r}")
    result = Failure(_reason(row)) if value is None else float(value)
    finished = row.datetime_complete.timestamp() if row.datetime_complete else 0.0
    return Recorded(trial.with_result(result), finished, _seconds(row))


def _reason(row: FrozenTrial) -> str:
    """Why a trial failed; one that is no text, as somebody wrote over it, is left out."""
    given = row.user_attrs.get(_REASON, "")
    return given if isinstance(given, str) else ""


def _seconds(row: FrozenTrial) -> float:
    """How long a trial took; 0 if what is written there is no duration: the value counts all the same."""
    given = row.user_attrs.get(_SECONDS, 0.0)
    return float(given) if type(given) in (int, float) and 0 <= given < LIMITS.seconds else 0.0


def _store(dimension: Dimension, value: Any) -> Any:
    return plain(value) if isinstance(dimension, Categorical) else value


def _restore(dimension: Dimension, value: Any) -> Any:
    """A value of the dimension; raises ValueError if that does not hold it."""
    if isinstance(dimension, Categorical):
        return dimension.choices[[plain(choice) for choice in dimension.choices].index(value)]
    position = dimension.encode(value)
    return float(value) if dimension.levels is None else dimension.decode(position)
