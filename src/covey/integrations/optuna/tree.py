"""Tree of a study's parameters, as it shows itself: which of them an objective asks for, and when.

An objective is a program; nobody tells beforehand which parameters it asks for. But its finished trials show
it: one that is there in exactly those trials where another has certain values depends on that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

from optuna.distributions import BaseDistribution, CategoricalDistribution, IntDistribution

if TYPE_CHECKING:
    from optuna.trial import FrozenTrial

When: TypeAlias = Mapping[str, frozenset[float]]
"""Parents, and Optuna's numbers of their values with which a parameter is there."""


@dataclass(frozen=True)
class Limits:
    """What is taken for a parent.

    Attributes:
        levels: of a whole number that others may depend on; a number of layers has a few.
        parents: that a parameter may depend on at once.
    """

    levels: int = 32
    parents: int = 2


LIMITS = Limits()


@dataclass(frozen=True)
class Tree:
    """What finished trials show of a study's parameters.

    Attributes:
        distributions: of the parameters that can be modelled, by name.
        when: of those that are not always there, when they are.
        unclear: parameters that come and go without a reason that shows.
    """

    distributions: Mapping[str, BaseDistribution] = field(default_factory=dict)
    when: Mapping[str, When] = field(default_factory=dict)
    unclear: tuple[str, ...] = ()


def learn_tree(trials: Sequence[FrozenTrial]) -> Tree:
    """The tree that complete trials show."""
    seen: dict[str, BaseDistribution | None] = {}
    for trial in trials:
        for name, distribution in trial.distributions.items():
            known = seen.setdefault(name, distribution)
            seen[name] = distribution if known == distribution else None  # another range: not modelled
    steady = {name: distribution for name, distribution in seen.items() if distribution is not None}
    there = {name: [name in trial.params for trial in trials] for name in steady}
    often = sorted(steady, key=lambda name: -sum(there[name]))  # a parent is there whenever its children are
    modelled: dict[str, BaseDistribution] = {}
    when: dict[str, When] = {}
    unclear: list[str] = []
    for name in often:
        if all(there[name]):
            modelled[name] = steady[name]
        elif (found := _condition(name, trials, _parents(modelled))) is not None:
            modelled[name], when[name] = steady[name], found
        else:
            unclear.append(name)
    return Tree({name: modelled[name] for name in steady if name in modelled}, when, tuple(unclear))


def _parents(modelled: Mapping[str, BaseDistribution]) -> dict[str, BaseDistribution]:
    """Parameters that others may depend on: choices, and whole numbers of which there are few."""
    return {name: one for name, one in modelled.items() if _has_levels(one)}


def _has_levels(distribution: BaseDistribution) -> bool:
    if isinstance(distribution, IntDistribution):
        return distribution.high - distribution.low < LIMITS.levels * distribution.step
    return isinstance(distribution, CategoricalDistribution)


def _condition(
    name: str, trials: Sequence[FrozenTrial], parents: Mapping[str, BaseDistribution]
) -> When | None:
    """With which values of as few others as possible a parameter is there, and never elsewhere."""
    with_it = [trial for trial in trials if name in trial.params]
    values = {
        parent: frozenset(_number(trial, parent) for trial in with_it)
        for parent in parents
        if all(parent in trial.params for trial in with_it)
    }
    for count in range(1, LIMITS.parents + 1):
        for some in combinations(values, count):
            found = {parent: values[parent] for parent in some}
            if not any(_fits(trial, found) for trial in trials if name not in trial.params):
                return found
    return None


def _fits(trial: FrozenTrial, when: When) -> bool:
    return all(parent in trial.params and _number(trial, parent) in values for parent, values in when.items())


def _number(trial: FrozenTrial, name: str) -> float:
    return float(trial.distributions[name].to_internal_repr(trial.params[name]))


def restricted(when: Mapping[str, When], names: Iterable[str]) -> dict[str, When]:
    """The conditions of some parameters, as far as these depend on one another."""
    known = set(names)
    return {name: one for name, one in when.items() if name in known and set(one) <= known}
