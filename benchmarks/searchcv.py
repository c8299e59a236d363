"""CoveySearchCV beside scikit-learn's own searches: same budget, scikit-learn's own data.

    python benchmarks/searchcv.py                # six minutes on one core

RandomizedSearchCV and CoveySearchCV cross-validate the same number of candidates. HalvingRandomSearchCV
begins with as many as it can for its fits to add up to the same number of training samples. Each searches on
two thirds of a data set. The parameters it chose are scored three times: on the folds that it searched, which
says how well it searched; on other folds of the same data, and on the last third, which say what it is worth.
Repetition r has seed r: split, search and folds.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from scipy.stats import loguniform, randint, uniform
from sklearn import datasets
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import ElasticNet
from sklearn.model_selection import (
    HalvingRandomSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    train_test_split,
)
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from covey.bench.statistics import mean_and_error
from covey.integrations.sklearn import CoveySearchCV

OUT = Path(__file__).parent / "results" / "searchcv.json"
FACTOR = 3
"""Of successive halving: a third of the candidates goes on, with three times the samples."""
LEAST = 20
"""Samples that halving may begin with."""
MEASURED = ("searched", "validation", "test", "seconds")


@dataclass(frozen=True)
class Problem:
    """A model on a data set, its parameters and what scikit-learn maximises."""

    data: str
    model: Any
    parameters: dict[str, Any]
    scoring: str

    @property
    def folds(self) -> Callable[..., Any]:
        return KFold if self.scoring.endswith("error") else StratifiedKFold


PROBLEMS = {
    "svm-breast-cancer": Problem(
        "breast_cancer",
        make_pipeline(StandardScaler(), SVC()),
        {
            "svc__C": loguniform(1e-3, 1e3),
            "svc__gamma": loguniform(1e-5, 1),
            "svc__kernel": ["linear", "poly", "rbf"],
        },
        "accuracy",
    ),
    "boosting-breast-cancer": Problem(
        "breast_cancer",
        HistGradientBoostingClassifier(early_stopping=False, random_state=0),
        {
            "max_iter": randint(8, 49),
            "learning_rate": loguniform(0.01, 1),
            "max_leaf_nodes": randint(2, 33),
            "min_samples_leaf": randint(2, 65),
            "l2_regularization": loguniform(1e-4, 1e3),
            "max_features": uniform(0.1, 0.9),
        },
        "neg_log_loss",
    ),
    "mlp-wine": Problem(
        "wine",
        make_pipeline(StandardScaler(), MLPClassifier(max_iter=40, random_state=0)),
        {
            "mlpclassifier__learning_rate_init": loguniform(1e-4, 1),
            "mlpclassifier__alpha": loguniform(1e-6, 10),
            "mlpclassifier__hidden_layer_sizes": [(4,), (8,), (16,), (32,), (64,), (16, 16), (32, 32)],
            "mlpclassifier__activation": ["relu", "tanh", "logistic"],
        },
        "neg_log_loss",
    ),
    "elastic-diabetes": Problem(
        "diabetes",
        make_pipeline(StandardScaler(), PolynomialFeatures(include_bias=False), ElasticNet(random_state=0)),
        {
            "elasticnet__alpha": loguniform(1e-3, 100),
            "elasticnet__l1_ratio": uniform(0, 1),
            "polynomialfeatures__degree": [1, 2],
        },
        "neg_root_mean_squared_error",
    ),
    "forest-diabetes": Problem(
        "diabetes",
        RandomForestRegressor(random_state=0),
        {
            "n_estimators": randint(8, 33),
            "max_depth": randint(1, 17),
            "max_features": uniform(0.1, 0.9),
            "min_samples_leaf": randint(1, 65),
        },
        "neg_root_mean_squared_error",
    ),
}


def halving_plan(budget: int, samples: int) -> tuple[int, int]:
    """(candidates, smallest number of samples) of halving whose fits cost ``budget`` full ones at most."""

    def cost(candidates: int) -> float:
        rounds = 1 + math.floor(math.log(candidates, FACTOR) + 1e-9)
        return sum(
            math.ceil(candidates / FACTOR**k) * (samples // FACTOR ** (rounds - 1 - k)) / samples
            for k in range(rounds)
        )

    def first(candidates: int) -> int:
        return samples // FACTOR ** math.floor(math.log(candidates, FACTOR) + 1e-9)

    fitting = [n for n in range(2, 20 * budget) if cost(n) <= budget and first(n) >= LEAST]
    return max(fitting), first(max(fitting))


def random_search(problem: Problem, budget: int, _samples: int, **common: Any) -> Any:
    return RandomizedSearchCV(problem.model, problem.parameters, n_iter=budget, **common)


def halving_search(problem: Problem, budget: int, samples: int, **common: Any) -> Any:
    candidates, least = halving_plan(budget, samples)
    return HalvingRandomSearchCV(
        problem.model,
        problem.parameters,
        n_candidates=candidates,
        min_resources=least,
        factor=FACTOR,
        **common,
    )


def covey_search(problem: Problem, budget: int, _samples: int, **common: Any) -> Any:
    return CoveySearchCV(problem.model, problem.parameters, n_iter=budget, **common)


SEARCHES = {
    "RandomizedSearchCV": random_search,
    "HalvingRandomSearchCV": halving_search,
    "CoveySearchCV": covey_search,
}


def repetition(name: str, search: str, seed: int, budget: int, folds: int) -> dict[str, Any]:
    """One search: the scores of the parameters it chose, and its processor time."""
    problem = PROBLEMS[name]
    x, y = getattr(datasets, f"load_{problem.data}")(return_X_y=True)
    stratify = y if problem.folds is StratifiedKFold else None
    x, test_x, y, test_y = train_test_split(x, y, test_size=1 / 3, random_state=seed, stratify=stratify)
    searched = problem.folds(folds, shuffle=True, random_state=seed)
    judged = problem.folds(folds, shuffle=True, random_state=seed + 1000)
    settings = {"scoring": problem.scoring, "cv": searched, "random_state": seed}
    began = time.process_time()
    found = SEARCHES[search](problem, budget, len(y), **settings).fit(x, y)
    seconds = time.process_time() - began
    chosen = clone(problem.model).set_params(**found.best_params_)
    scores = {
        name: cross_val_score(chosen, x, y, cv=cv, scoring=problem.scoring).mean()
        for name, cv in (("searched", searched), ("validation", judged))
    }
    return {
        "problem": name,
        "search": search,
        "seed": seed,
        **{name: float(score) for name, score in scores.items()},
        "test": float(found.score(test_x, test_y)),
        "seconds": seconds,
    }


def summary(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Mean and standard error over the repetitions, by problem and search."""
    found = []
    for problem in dict.fromkeys(row["problem"] for row in rows):
        for search in SEARCHES:
            own = [row for row in rows if (row["problem"], row["search"]) == (problem, search)]
            cell: dict[str, Any] = {"problem": problem, "search": search, "repetitions": len(own)}
            for what in MEASURED:
                values = [row[what] for row in own]
                mean, error = mean_and_error(values)
                cell[what] = {"mean": mean, "standard_error": error if len(values) > 1 else None}
            found.append(cell)
    return found


def shown(number: dict[str, float]) -> str:
    return f"{number['mean']:.4f} ± {number['standard_error'] or math.nan:.4f}"


def table(cells: list[dict[str, Any]]) -> str:
    lines = [
        "| problem | search | searched folds | other folds | test data | processor seconds |",
        "|---|---|---|---|---|---|",
    ]
    for cell in cells:
        metric = PROBLEMS[cell["problem"]].scoring
        lines.append(
            f"| {cell['problem']}, {metric} | {cell['search']} | "
            + " | ".join(shown(cell[what]) for what in MEASURED[:-1])
            + f" | {cell['seconds']['mean']:.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--candidates", type=int, default=30, help="that each search may cross-validate")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # models that do not converge
        for problem in options.problems:
            for seed in range(options.repetitions):
                for search in SEARCHES:
                    rows.append(repetition(problem, search, seed, options.candidates, options.folds))
            print(f"{problem}: done", flush=True)
    cells = summary(rows)
    names = ("covey", "scikit-learn", "numpy", "scipy")
    header = {name: version(name) for name in names}
    header |= {
        "candidates": options.candidates,
        "folds": options.folds,
        "repetitions": options.repetitions,
        "metrics": {name: PROBLEMS[name].scoring for name in options.problems},
    }
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps({"header": header, "summary": cells, "rows": rows}, indent=1) + "\n")
    print(table(cells))
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
