"""Optuna as a peer: GPSampler or TPESampler by ask and tell; trials asked for are running.

    python optuna_samplers.py gp | tpe

Both samplers see running trials: GPSampler by qLogEI, TPESampler by its constant liar.
"""

from __future__ import annotations

import json
import sys

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)
from optuna.samplers import BaseSampler, GPSampler, TPESampler
from protocol import Dimension, Params, Setup, serve


def distribution(dimension: Dimension) -> BaseDistribution:
    if dimension["type"] == "categorical":
        return CategoricalDistribution(dimension["choices"])
    kind = FloatDistribution if dimension["type"] == "float" else IntDistribution
    return kind(dimension["low"], dimension["high"], log=dimension["log"])


def sampler(how: str, setup: Setup) -> BaseSampler:
    """With its defaults, but that the initial design stands for its random start."""
    if how == "tpe":
        return TPESampler(constant_liar=True, n_startup_trials=setup.initial, seed=setup.seed)
    return GPSampler(n_startup_trials=setup.initial, seed=setup.seed)


class Study:
    """A study in memory."""

    def __init__(self, setup: Setup, how: str) -> None:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study = optuna.create_study(sampler=sampler(how, setup))
        self.space = {d["name"]: distribution(d) for d in setup.space}
        self.running: dict[str, optuna.Trial] = {}

    def ask(self, n: int) -> list[Params]:
        trials = [self.study.ask(self.space) for _ in range(n)]
        self.running |= {key(trial.params): trial for trial in trials}
        return [trial.params for trial in trials]

    def tell(self, params: list[Params], values: list[float]) -> None:
        for one, value in zip(params, values, strict=True):
            trial = self.running.pop(key(one), None)
            if trial is not None:
                self.study.tell(trial, value)
            else:
                done = optuna.trial.create_trial(params=one, distributions=self.space, value=value)
                self.study.add_trial(done)


def key(params: Params) -> str:
    return json.dumps(params, sort_keys=True)


if __name__ == "__main__":
    serve("optuna", lambda setup: Study(setup, sys.argv[1]))
