"""Minimise Hartmann6 with four threads that share a CoveySampler.

    python example.py

Needs: pip install optunahub covey. Inside a clone of a registry, its own copy of the package is loaded.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import optuna

import optunahub

REGISTRY = Path(__file__).parents[2]
WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
SCALES = np.array(
    [
        [10, 3, 17, 3.5, 1.7, 8],
        [0.05, 10, 17, 0.1, 8, 14],
        [3, 3.5, 1.7, 10, 17, 8],
        [17, 8, 0.05, 10, 0.1, 14],
    ]
)
CENTRES = 1e-4 * np.array(
    [
        [1312, 1696, 5569, 124, 8283, 5886],
        [2329, 4135, 8307, 3736, 1004, 9991],
        [2348, 1451, 3522, 2883, 3047, 6650],
        [4047, 8828, 8732, 5743, 1091, 381],
    ]
)


def hartmann6(trial: optuna.Trial) -> float:
    """Six variables, several valleys; the lowest value is -3.3224."""
    x = np.array([trial.suggest_float(f"x{k}", 0, 1) for k in range(6)])
    return -float(WEIGHTS @ np.exp(-(SCALES * (x - CENTRES) ** 2).sum(axis=1)))


if __name__ == "__main__":
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    module = optunahub.load_local_module("samplers/covey", registry_root=str(REGISTRY))
    study = optuna.create_study(sampler=module.CoveySampler(seed=0))
    study.optimize(hartmann6, n_trials=40, n_jobs=4)
    print(f"best of {len(study.trials)} trials: {study.best_value:.4f} with {study.best_params}")
