"""Keep a study in PostgreSQL: stop it with Ctrl-C, run it again and it goes on; Optuna reads it too.

    python examples/postgresql.py postgresql+psycopg2://user@host/database

Needs: pip install 'covey[postgresql]'. The same works with a file: sqlite:///reactor.db
"""

import argparse
import time

import numpy as np
import optuna

import covey

NAME = "reactor"
SPACE = covey.Space(
    {
        "kelvin": covey.Float(300, 500),
        "minutes": covey.Float(1, 100, log=True),
        "catalyst": covey.Categorical(["none", "nickel", "platinum"]),
    }
)
# Energy barriers of the two steps, in J/mol, and the price.
CATALYSTS = {"none": (82e3, 96e3, 0), "nickel": (74e3, 92e3, 2), "platinum": (68e3, 90e3, 6)}


def cost(params: dict) -> float:
    """A batch reactor, A to B to C: what is not B in the end is lost; heat, time and catalyst cost, too."""
    time.sleep(0.2)  # a larger simulation
    *barriers, price = CATALYSTS[params["catalyst"]]
    first, second = 1e9 * np.exp(-np.array(barriers) / 8.314 / params["kelvin"])
    seconds = 60 * params["minutes"]
    b = first / (second - first) * (np.exp(-first * seconds) - np.exp(-second * seconds))
    return float(100 * (1 - b) + 0.05 * (params["kelvin"] - 300) + 0.2 * params["minutes"] + price)


def report(trial: covey.Trial, best: covey.Trial | None) -> None:
    print(f"trial {trial.id}: cost {trial.value}, best {best and best.value}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Optimise a chemical reactor; the study is in a database.")
    parser.add_argument("storage", help="URL of the database")
    parser.add_argument("--evaluations", type=int, default=40, help="in all, earlier runs included")
    options = parser.parse_args()
    settings = {"batch_size": 2, "seed": 0, "callbacks": [report], "progress": False}
    result = covey.minimize(
        cost, SPACE, evaluations=options.evaluations, storage=options.storage, name=NAME, **settings
    )
    print(f"stopped: {result.stopped}")
    study = optuna.load_study(study_name=NAME, storage=options.storage)  # so does any tool that knows Optuna
    finished = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    print(f"Optuna reads {len(finished)} finished trials")
    if finished:
        print(f"best: a cost of {study.best_value:.2f} with {study.best_params}")


if __name__ == "__main__":
    main()
