"""Checks of what floats and ints have in common: bounds, the scale, and the step."""

from __future__ import annotations

from typing import Any

from covey.errors import shown
from covey.space.dimensions import is_finite
from covey.space.levels import width, written


def check_bounds(owner: str, low: Any, high: Any, log: Any) -> None:
    """Refuse bounds that are no numbers, and a logarithm of what has none."""
    for name, value in (("low", low), ("high", high)):
        if not is_finite(value):
            raise ValueError(f"{owner}: {name} must be a finite number, got {shown(value)}")
    if not isinstance(log, bool):
        raise ValueError(f"{owner}: log must be True or False, got {shown(log)}")
    if log and low <= 0:
        raise ValueError(f"{owner}: log=True needs low above 0, got low={shown(low)}")


def check_step(owner: str, low: float, high: float, step: Any, log: bool) -> None:
    """Refuse a step that does not fit into the range, or into a logarithmic scale."""
    span = width(low, high)
    if not is_finite(step) or step <= 0 or written(step) > span:
        accepted = f"a number above 0 and at most {float(span):.12g}, the width of the range"
        raise ValueError(f"{owner}: step must be {accepted}, got {shown(step)}")
    if log:
        raise ValueError(f"{owner}: step does not go with log=True, leave one out, got step={shown(step)}")
