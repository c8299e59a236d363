"""The codec of a study: spaces and trials as Optuna's distributions, trials and attributes, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from covey.history import Entry
from covey.space import Categorical, Dimension, Float, Int, Space
from covey.space.describe import describe, differences, plain
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
    """

    text: int = 2000
    decimals: int = 6


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


def space_differences(theirs: str, space: Space) -> list[str]:
    """What differs between a space as an attribute and a space given, in words."""
    return differences(json.loads(theirs), json.loads(space_text(space)))


def distributions(space: Space) -> dict[str, BaseDistribution]:
    """Optuna's distributions, by parameter."""
    return {name: _distribution(dimension) for name, dimension in space.dimensions.items()}


def _distribution(dimension: Dimension) -> BaseDistribution:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(dimension, Float):
        return FloatDistribution(dimension.low, dimension.high, log=dimension.log)
    if isinstance(dimension, Int):
        return IntDistribution(dimension.low, dimension.high, log=dimension.log)
    if isinstance(dimension, Categorical):
        written = [plain(choice) for choice in dimension.choices]
        if len(set(written)) < len(written):
            raise ValueError(f"a study cannot tell these choices apart: {list(dimension.choices)!r}")
        return CategoricalDistribution(written)
    raise TypeError(f"a study stores Float, Int and Categorical, got {dimension!r}")


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
        params={name: _store(dim, trial.params[name]) for name, dim in space.dimensions.items()},
        distributions=distributions(space),
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


def is_ours(space: Space, row: FrozenTrial) -> bool:
    """Whether a row has all parameters; one that Optuna itself queued has none yet."""
    return set(space.dimensions) <= set(row.params)


def decode(space: Space, row: FrozenTrial) -> Recorded:
    """A trial as it was recorded."""
    params = {name: _restore(dim, row.params[name]) for name, dim in space.dimensions.items()}
    trial = Trial(row._trial_id, params)
    if not row.state.is_finished():
        return Recorded(trial)
    value = row.value if row.state.name == "COMPLETE" else None
    result = Failure(row.user_attrs.get(_REASON, "")) if value is None else value
    finished = row.datetime_complete.timestamp() if row.datetime_complete else 0.0
    return Recorded(trial.with_result(result), finished, float(row.user_attrs.get(_SECONDS, 0.0)))


def _store(dimension: Dimension, value: Any) -> Any:
    return plain(value) if isinstance(dimension, Categorical) else value


def _restore(dimension: Dimension, value: Any) -> Any:
    if isinstance(dimension, Categorical):
        return dimension.choices[[plain(choice) for choice in dimension.choices].index(value)]
    return value
