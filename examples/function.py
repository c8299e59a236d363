"""Tune a Python function, here the cross-validation of a model, in local processes, saved in SQLite.

python examples/function.py                            # run it twice: the second has nothing left to do
python examples/function.py --evaluations 60           # and this goes on to 60
"""

import argparse

import numpy as np

import covey

SPACE = covey.Space(
    {
        "east_west_km": covey.Float(1, 1000, log=True),  # how far a sensor tells about its surroundings
        "north_south_km": covey.Float(1, 1000, log=True),
        "noise": covey.Float(1e-3, 1e3, log=True),
        "trend_degree": covey.Int(0, 4),
        "kernel": covey.Categorical(["gaussian", "exponential"]),
    }
)


def error(params: dict) -> float:
    """Interpolate 150 thermometers in a square of 100 km by kriging; the error of leaving one out."""
    rng = np.random.default_rng(7)
    km = rng.uniform(0, 100, (150, 2))
    waves = 3 * np.sin(km[:, 0] / 25) * np.cos(km[:, 1] / 6)
    celsius = 15 - 0.05 * km[:, 0] + waves + rng.normal(0, 0.2, 150)

    scaled = km / [params["east_west_km"], params["north_south_km"]]
    distance = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    trend = np.vander(km[:, 0] / 100, params["trend_degree"] + 1)
    covariance = np.exp(-distance if params["kernel"] == "exponential" else -(distance**2))
    inverse = np.linalg.inv(covariance + 1e3 * trend @ trend.T + params["noise"] * np.eye(150))
    residuals = inverse @ celsius / np.diag(inverse)
    return float(np.sqrt(np.mean(residuals**2)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune a model of a sensor network.")
    parser.add_argument("--evaluations", type=int, default=40, help="in all, earlier runs included")
    parser.add_argument("--storage", default="sqlite:///function.db", help="where the study is kept")
    options = parser.parse_args()
    fresh: list[covey.Trial] = []
    result = covey.minimize(
        error,
        SPACE,
        batch_size=4,
        evaluations=options.evaluations,
        storage=options.storage,
        callbacks=[lambda trial, _best: fresh.append(trial)],
        seed=0,
    )
    print(f"{len(result.trials)} evaluations in the study, {len(fresh)} of them in this run")
    print(f"best: an error of {result.best.value:.3f} degrees with {result.best.params}")


if __name__ == "__main__":
    main()
