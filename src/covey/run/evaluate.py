"""The evaluation of one configuration, in the worker: a value or a failure, never an exception."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, TypeAlias

from covey.arguments import as_result
from covey.errors import shown
from covey.trial import Evaluation, Failure, Trial

Objective: TypeAlias = (
    Callable[[dict[str, Any]], float | Failure] | Callable[[dict[str, Any], Trial], float | Failure]
)
"""A black box: a configuration in, perhaps its trial too; a number out, or a Failure."""


def takes_trial(objective: Any) -> bool:
    """Whether an objective gets its trial beside the parameters: where it cannot be called without.

    A second argument that has a default stays the user's own.

    Raises:
        TypeError: if it can be called neither with ``(params)`` nor with ``(params, trial)``.
    """
    if not callable(objective):
        raise TypeError(f"objective must be a function of a dict of parameters, got {shown(objective)}")
    try:
        accepted = signature(objective)
    except (TypeError, ValueError):  # some functions that are written in C do not tell
        return False
    for arguments in (("params",), ("params", "trial")):
        try:
            accepted.bind(*arguments)
        except TypeError:
            continue
        return "trial" in arguments
    raise TypeError(
        f"objective must take (params) or (params, trial), got {shown(objective)}, which takes {accepted}"
    )


def evaluate(objective: Callable[..., Any], params: Mapping[str, Any], *trial: Trial) -> Evaluation:
    """Call the objective; an exception, NaN or nonsense is a failure with its traceback.

    This is where a value is checked, and the only place on its way to the optimizer.

    Args:
        objective: what to call.
        params: of which it gets a dict of its own.
        *trial: its trial, for an objective that takes it.
    """
    started = time.perf_counter()
    result: float | Failure
    try:
        value = objective(dict(params), *trial)
    except (Exception, SystemExit):
        result = Failure(traceback.format_exc().rstrip())
    else:
        result = _understood(value)
    return Evaluation(result, time.perf_counter() - started)


def _understood(value: Any) -> float | Failure:
    try:
        return as_result(value)
    except TypeError:
        return Failure(f"the objective returned {shown(value)}, which is not a number")
    except Exception:  # a value that breaks when it is looked at
        return Failure(traceback.format_exc().rstrip())
