"""Arguments that users give: each check returns the value to use or says what is accepted."""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from covey.errors import shown
from covey.space.designs import INITIAL
from covey.space.dimensions import is_finite
from covey.trial import Evaluation, Failure, Trial


@dataclass(frozen=True)
class Limits:
    """The largest values that make sense; what is beyond is a slip, or would never come to an end.

    Attributes:
        batch: points of one ask, and evaluations at once: each takes a moment to choose.
        count: evaluations of a run; a model of a few thousand takes minutes to learn.
        seconds: of a run: ten years. Clocks and waits of a computer end beyond.
        timeout: seconds of one evaluation: twenty days. A wait for a program ends before 25.
        name: characters of a study's name, which is as many as databases keep.
        address: characters of a storage's address, which may have a path in it.
    """

    batch: int = 10_000
    count: int = 10**9
    seconds: float = 10 * 365 * 86_400.0
    timeout: float = 20 * 86_400.0
    name: int = 512
    address: int = 5000


LIMITS = Limits()

_NOT_NUMBERS = (str, bytes, bytearray, bool, np.bool_, complex, np.complexfloating)
"""Things that float() would take."""


def is_whole(value: object, least: int, most: int | None = None) -> bool:
    """Whether a value is a whole number, not a bool, from ``least`` to ``most``."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return False
    return bool(value >= least and (most is None or value <= most))


def is_duration(value: Any, most: float) -> bool:
    """Whether a value is a positive number of seconds, up to ``most``."""
    return is_finite(value) and bool(0 < value <= most)


def is_name(value: object) -> bool:
    """Whether a study can have this name: text on one line that is not blank and not too long."""
    fits = isinstance(value, str) and bool(value.strip()) and len(value) <= LIMITS.name
    return fits and str(value).isprintable()


NAME = f"a non-empty string of up to {LIMITS.name} printable characters"
"""What ``is_name`` accepts, in words."""


def check_study(owner: str, url: Any, name: Any) -> None:
    """The address and the name of a study; an address is never shown whole here, it may have a password."""
    accepted = "a string like 'sqlite:///study.db' or 'postgresql://user@host/name'"
    if not isinstance(url, str):
        raise TypeError(f"{owner} must be {accepted}, got {type(url).__name__}")
    if len(url) > LIMITS.address:
        raise ValueError(f"{owner} must be {accepted}, got one of {len(url)} characters")
    if not is_name(name):
        raise TypeError(f"name must be {NAME}, got {shown(name)}")


def check_noise(noise: Any) -> float | Literal["learn"]:
    """A standard deviation, or "learn"."""
    if isinstance(noise, str) and noise == "learn":
        return "learn"
    if not is_finite(noise) or noise < 0:
        raise ValueError(f"noise must be 'learn' or a standard deviation from 0, got {shown(noise)}")
    return float(noise)


def check_count(n_initial: Any, dimensions: int) -> int:
    """The number of initial points; by default one per dimension and one more, within 5 to 20."""
    if n_initial is None:
        return min(max(dimensions + 1, 5), 20)
    if not is_whole(n_initial, 0):
        raise ValueError(f"n_initial must be a whole number from 0 or None, got {shown(n_initial)}")
    return int(n_initial)


def check_initial(initial: Any) -> str:
    """The name of an initial design."""
    if not isinstance(initial, str) or initial not in INITIAL:
        raise ValueError(f"initial must be one of {sorted(INITIAL)}, got {shown(initial)}")
    return initial


def check_seed(seed: Any) -> int:
    """A seed; drawn when None."""
    if seed is None:
        return secrets.randbits(32)
    if not is_whole(seed, 0):
        raise ValueError(f"seed must be a whole number from 0 or None, got {shown(seed)}")
    return int(seed)


def _is_trial(given: Any) -> bool:
    if isinstance(given, Trial):
        return isinstance(given.params, dict) and _is_trial(given.id)
    return is_whole(given, -LIMITS.count, LIMITS.count)


def as_results(trial: Any, value: Any) -> tuple[list[Trial | int], list[float | Failure]]:
    """Trials and as many results, of one trial and a value or of several and their values."""
    if _is_trial(trial):
        return [trial], [as_result(value)]
    if not isinstance(trial, (list, tuple)) or not all(_is_trial(one) for one in trial):
        raise TypeError(f"tell: give a covey.Trial, its id, or a list of them, got {shown(trial)}")
    flat = isinstance(value, np.ndarray) and value.ndim == 0
    if flat or isinstance(value, (str, bytes, Mapping, Set)) or not hasattr(value, "__len__"):
        raise TypeError(f"tell: several trials need a list of values, got {shown(value)}")
    if len(trial) != len(value):
        raise ValueError(f"tell: {len(trial)} trials need as many values, got {len(value)}")
    return list(trial), [as_result(one) for one in value]


def as_result(value: Any) -> float | Failure:
    """A finite float, or a Failure for a value that is NaN or infinite."""
    if isinstance(value, Evaluation):  # checked where it was made
        return value.result
    if isinstance(value, Failure):
        return value
    if value is None or isinstance(value, _NOT_NUMBERS):
        raise TypeError(f"a value must be a number or a covey.Failure, got {shown(value)}")
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.item()
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        raise TypeError(f"a value must be a number or a covey.Failure, got {shown(value)}") from None
    return number if math.isfinite(number) else Failure(f"the value was {number}")
