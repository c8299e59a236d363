"""Suite for development: every kind of problem that users have, and groups that are held out.

A problem is made for a seed. Its minimiser moves with the seed where the function allows it, so that nothing
can profit from looking at the centre first; noise has the same seed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from covey.bench.problems.bbob import BBOB
from covey.bench.problems.functions import problem
from covey.bench.problems.interface import Benchmark, Problem
from covey.bench.problems.mixed import mixed
from covey.bench.problems.plateaus import cornered, stepped, terraced
from covey.bench.problems.variants import noisy, raised, shifted
from covey.bench.tuning.development import task
from covey.bench.tuning.held_out import OTHERS
from covey.bench.tuning.tasks import Task

Maker: TypeAlias = Callable[[int], Benchmark]
"""Seed -> the problem."""


def _moved(name: str, seed: int) -> Problem:
    """Shifted if it may be, or else as it is."""
    original = problem(name)
    return shifted(original, seed) if original.translatable else original


def _fixed(name: str, _seed: int) -> Task:
    """A tuning task: its data are what they are."""
    return task(name)


def _each(make: Callable[[str, int], Benchmark], *names: str) -> dict[str, Maker]:
    return {name: partial(make, name) for name in names}


KINDS: dict[str, dict[str, Maker]] = {
    "paper": _each(_moved, "branin", "cosines", "hartmann6", "eggholder", "rosenbrock4"),
    "classical": _each(
        _moved, "ackley5", "rastrigin4", "styblinski-tang5", "michalewicz5", "levy10", "ackley20"
    ),
    # the median of the values is more than a thousand times those next to the minimum
    "ill-scaled": _each(_moved, "goldstein-price", "zakharov6", "rosenbrock8", "powell8"),
    # eggholder has its minimum there too, and cosines next to a corner
    "edge": {"levy6-edge": lambda seed: cornered(problem("levy6"), seed)},
    "steps": {
        "levy4-steps": lambda seed: stepped(_moved("levy4", seed), 12),
        "ackley4-terraces": lambda seed: terraced(_moved("ackley4", seed), 1.0),
    },
    "mixed": {
        "hartmann6-int3": lambda seed: mixed(
            _moved("hartmann6", seed), integers={"x1": 6, "x3": 10, "x5": 20}
        ),
        "levy4-or-dixon-price4-int2": lambda seed: mixed(
            _moved("levy4", seed), raised(_moved("dixon-price4", seed), 1.0), integers={"x1": 8, "x2": 16}
        ),
    },
    # 2%, 10% and 50% of the standard deviation of the values
    "noise": {
        "hartmann3-noise-low": lambda seed: noisy(_moved("hartmann3", seed), 0.02, seed),
        "styblinski-tang4-noise-medium": lambda seed: noisy(_moved("styblinski-tang4", seed), 6.0, seed),
        "branin-noise-high": lambda seed: noisy(problem("branin"), 25.0, seed),
    },
    "tuning": _each(_fixed, "boosting-breast-cancer", "svm-digits", "mlp-wine"),
}
"""Problems by name, by what is hard about them."""

SUITE: dict[str, Maker] = {name: maker for kind in KINDS.values() for name, maker in kind.items()}
"""All of them."""


HELD_OUT: dict[str, Mapping[str, Maker]] = {
    **BBOB,
    "dim30": _each(
        _moved, "ackley30", "griewank30", "levy30", "rastrigin30", "rosenbrock30", "styblinski-tang30"
    ),
    # 5%, 20%, 50% and 100% of the standard deviation of the values
    "noise-others": {
        "levy5-noise-5": lambda seed: noisy(_moved("levy5", seed), 1.6, seed),
        "hartmann6-noise-20": lambda seed: noisy(_moved("hartmann6", seed), 0.08, seed),
        "griewank4-noise-50": lambda seed: noisy(_moved("griewank4", seed), 27.0, seed),
        "rastrigin3-noise-100": lambda seed: noisy(_moved("rastrigin3", seed), 17.0, seed),
    },
    "tuning-others": _each(_fixed, "forest-diabetes", "elastic-diabetes", "linear-breast-cancer"),
    "tuning-more": _each(_fixed, *(other.name for other in OTHERS)),
}
"""Problems that nothing was developed on, by the name of their group."""

GROUPS: dict[str, Mapping[str, Maker]] = {**KINDS, **HELD_OUT}
"""Problems by name, of the suite by kind and those that are held out."""

_EVERY: dict[str, Maker] = {name: maker for group in GROUPS.values() for name, maker in group.items()}


def members(names: Sequence[str]) -> list[str]:
    """Problems, those of a group in place of its name."""
    return [member for name in names for member in GROUPS.get(name, (name,))]


def instance(name: str, seed: int) -> Benchmark:
    """The problem of that name for a seed; raises ValueError if there is none."""
    if name not in _EVERY:
        groups = ", ".join(GROUPS)
        raise ValueError(f"problem must be one of {list(SUITE)} or of the groups {groups}, got {name!r}")
    return _EVERY[name](seed)
