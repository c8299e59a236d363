"""Evaluate on a Dask cluster, here one of two local processes. Needs: pip install distributed

    python examples/dask_cluster.py

On a real cluster, connect with Client("tcp://scheduler:8786") instead of starting a LocalCluster.
"""

import argparse

import numpy as np
from distributed import Client, LocalCluster

import covey

SPACE = covey.Space(
    {
        "reproduction": covey.Float(1.0, 5.0),  # how many people an infected person infects at first
        "days_infectious": covey.Float(2, 20, log=True),
        "first_cases": covey.Float(1, 1000, log=True),
        "share_reported": covey.Float(0.01, 1.0, log=True),
    }
)


def epidemic(
    reproduction: float, days_infectious: float, first_cases: float, share_reported: float
) -> np.ndarray:
    """Reported cases on each of 90 days in a town of 100,000: an SIR model in steps of a tenth of a day."""
    susceptible, infected, reported = 1e5 - first_cases, first_cases, np.zeros(90)
    for step in range(900):
        infections = 0.1 / days_infectious * reproduction * infected * susceptible / 1e5
        susceptible -= infections
        infected += infections - 0.1 * infected / days_infectious
        reported[step // 10] += share_reported * infections
    return reported


def misfit(params: dict) -> float:
    """How far the model is from what was observed; square roots make large and small counts comparable."""
    truth = epidemic(reproduction=2.1, days_infectious=6, first_cases=20, share_reported=0.3)
    observed = np.random.default_rng(1).poisson(truth)
    return float(np.sqrt(np.mean((np.sqrt(epidemic(**params)) - np.sqrt(observed)) ** 2)))


def main() -> None:
    parser = argparse.ArgumentParser(description="Calibrate a model of an epidemic on a Dask cluster.")
    parser.add_argument("--evaluations", type=int, default=60)
    options = parser.parse_args()
    with (
        LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        executor = client.get_executor(pure=False)  # pure: the same call would not be made twice
        settings = {"batch_size": 4, "seed": 0}
        result = covey.minimize(misfit, SPACE, executor=executor, **settings, **vars(options))
        workers = len(client.scheduler_info()["workers"])
    print(f"{len(result.trials)} evaluations on {workers} Dask workers")
    print(f"best: a misfit of {result.best.value:.3f} with {result.best.params}")


if __name__ == "__main__":
    main()
