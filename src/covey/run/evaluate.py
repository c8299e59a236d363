"""The evaluation of one configuration, in the worker: a value or a failure, never an exception."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from covey.arguments import as_result
from covey.trial import Evaluation, Failure

Objective: TypeAlias = Callable[[dict[str, Any]], float | Failure]
"""A black box: a configuration in, a number out, or a Failure."""


def evaluate(objective: Objective, params: Mapping[str, Any]) -> Evaluation:
    """Call the objective; an exception, NaN or nonsense is a failure with its traceback."""
    started = time.perf_counter()
    result: float | Failure
    try:
        value = objective(dict(params))
    except (Exception, SystemExit):
        result = Failure(traceback.format_exc().rstrip())
    else:
        result = _understood(value)
    return Evaluation(result, time.perf_counter() - started)


def _understood(value: Any) -> float | Failure:
    try:
        return as_result(value)
    except TypeError:
        return Failure(f"the objective returned {value!r:.200}, which is not a number")
    except Exception:  # a value that breaks when it is looked at
        return Failure(traceback.format_exc().rstrip())
