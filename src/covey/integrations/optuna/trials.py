"""Trials in an Optuna storage: where each is evaluated, what came out, and whose retry it is.

Optuna stores a parameter when the objective asks for it. A suggestion is therefore published as a whole, in
an attribute of its trial, from which other workers know where it runs before its objective has begun.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from covey.integrations.optuna.space import Axes
from covey.trial import Failure

if TYPE_CHECKING:
    from optuna.study import Study

_SUGGESTED = "covey:suggested"
_ENQUEUED = "fixed_params"
_RETRIES = "retry_history"
"""The last two are Optuna's own attributes: of ``enqueue_trial`` and of its callback that retries."""


def publish(study: Study, trial: FrozenTrial, numbers: Mapping[str, float]) -> None:
    """Let every worker know where a trial will be evaluated."""
    study._storage.set_trial_system_attr(trial._trial_id, _SUGGESTED, dict(numbers))


def place(trial: FrozenTrial, axes: Axes) -> dict[str, float] | None:
    """Where a trial is evaluated, as Optuna's number of each parameter that exists there.

    What the objective got counts most, then what the user enqueued, then what was suggested. A parameter
    under a condition that a complete trial did not ask for does not exist there.

    Returns:
        None if that is not known, or is outside of the search space.
    """
    given = {**_mapping(trial, _ENQUEUED), **trial.params}
    suggested, complete = _mapping(trial, _SUGGESTED), trial.state == TrialState.COMPLETE
    found = {}
    for name, distribution in axes.search_space.items():
        if name not in given and complete and name in axes.when:
            continue
        number = _number(distribution, given[name]) if name in given else _real(suggested.get(name))
        if number is not None and distribution._contains(number):
            found[name] = number
        elif name in given or name not in axes.when:
            return None
    return axes.existing(found)


def _mapping(trial: FrozenTrial, attribute: str) -> Mapping[str, Any]:
    """An attribute that is a mapping; anybody can write anything there, which is then ignored."""
    value = trial.system_attrs.get(attribute)
    return value if isinstance(value, Mapping) else {}


def _real(value: Any) -> float | None:
    """A finite number, or None."""
    number = float(value) if type(value) is float or _is_whole(value) else None
    return number if number is not None and math.isfinite(number) else None


def _is_whole(value: Any) -> bool:
    """Whether it is an int that a float64 can be; JSON has longer ones."""
    return type(value) is int and abs(value) < 2**63


def _number(distribution: BaseDistribution, value: Any) -> float | None:
    """Optuna's number for a value; None if the distribution cannot hold it."""
    try:
        number = float(distribution.to_internal_repr(value))
    except (ValueError, TypeError, ArithmeticError):
        return None
    return _real(number)


def result(trial: FrozenTrial) -> float | Failure:
    """What came out of a finished trial: a value, or a failure.

    A pruned trial counts with the last value that it reported: it was not promising, and that is how much.
    """
    if trial.state == TrialState.FAIL:
        return Failure("failed")
    value = trial.value
    if value is None and trial.last_step is not None:
        value = trial.intermediate_values[trial.last_step]
    return Failure("pruned before any value was reported") if value is None else value


def retried(trial: FrozenTrial) -> list[int]:
    """The numbers of the trials that this one repeats, as their workers died: earlier ones."""
    numbers = trial.system_attrs.get(_RETRIES)
    known = numbers if isinstance(numbers, (list, tuple)) else []
    return [number for number in known if _is_whole(number) and 0 <= number < trial.number]
