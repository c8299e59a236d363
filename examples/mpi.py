"""Evaluate on MPI processes. Needs: pip install mpi4py, and an MPI (pip install mpich, if there is none)

    mpiexec -n 4 python -m mpi4py.futures examples/mpi.py

One process chooses and the others evaluate. Without "-m mpi4py.futures" each would run a study of its own.
"""

import argparse

import numpy as np
from mpi4py.futures import MPIPoolExecutor

import covey

SPACE = covey.Space(
    {
        "conductivity": covey.Float(10, 1000, log=True),  # of the rod, in W/(m K)
        "loss": covey.Float(5, 200, log=True),  # to the air, in W/(m2 K)
        "heater": covey.Float(1e4, 2e5, log=True),  # at its end, in W/m2
    }
)


def temperatures(conductivity: float, loss: float, heater: float) -> np.ndarray:
    """How much warmer than the air 20 points of a heated rod are, every 100 s: finite differences."""
    rod, seen, dt, dx, capacity, radius = np.zeros(20), [], 1.0, 0.02, 3.4e6, 0.01
    if conductivity * dt / capacity / dx**2 > 0.5:
        raise ArithmeticError("the time step is too long for such a good conductor")
    for step in range(600):
        padded = np.pad(rod, 1, mode="edge")
        flow = conductivity * (padded[2:] - 2 * rod + padded[:-2]) / dx**2 - 2 * loss * rod / radius
        flow[0] += heater / dx
        rod = rod + dt * flow / capacity
        if step % 100 == 99:
            seen.append(rod[::4])
    return np.array(seen)


def misfit(params: dict) -> float:
    """How far a simulation is from the thermometers: the logarithm, as it spans orders of magnitude."""
    truth = temperatures(conductivity=200, loss=25, heater=4e4)
    measured = truth + np.random.default_rng(0).normal(0, 0.1, truth.shape)
    return float(np.log10(np.sqrt(np.mean((temperatures(**params) - measured) ** 2))))


def main() -> None:
    parser = argparse.ArgumentParser(description="Find the properties of a heated rod.")
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--asynchronous", action="store_true")
    options = parser.parse_args()
    with MPIPoolExecutor() as pool:
        workers = pool.num_workers
        result = covey.minimize(misfit, SPACE, batch_size=workers, executor=pool, seed=0, **vars(options))
    failed = sum(trial.value is None for trial in result.trials)
    print(f"{len(result.trials)} evaluations by {workers} processes, {failed} failed")
    print(f"best: a misfit of {10**result.best.value:.3f} K with {result.best.params}")


if __name__ == "__main__":
    main()
