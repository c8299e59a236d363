"""Keep workers busy when evaluations take unequal time: an asynchronous run, and the same in batches.

    python examples/asynchronous.py

The objective simulates a warehouse: order how much, when so little is left? A simulation takes 0.1 to 1 s.
"""

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

import covey

WORKERS = 4
SPACE = covey.Space({"reorder_at": covey.Int(0, 400), "quantity": covey.Int(50, 2000, log=True)})


def cost_per_day(params: dict) -> float:
    """Holding costs 0.1 a piece and day, an order 200, and every piece that a customer waits for 5 a day."""
    time.sleep(random.uniform(0.1, 1.0))  # a larger simulation, on a machine that others use too
    demand = np.random.default_rng(0).poisson(20, 2000)
    stock, on_the_way, cost = 200, [0] * 5, 0.0
    for pieces in demand:
        stock += on_the_way.pop(0) - pieces
        ordering = stock + sum(on_the_way) <= params["reorder_at"]
        on_the_way.append(params["quantity"] if ordering else 0)
        cost += 0.1 * max(stock, 0) + 5 * max(-stock, 0) + 200 * ordering
    return float(cost / len(demand))


def run(evaluations: int, **settings: object) -> covey.Result:
    settings |= {"seed": 0}
    with ThreadPoolExecutor(WORKERS) as pool:  # enough when the work is done by programs or instruments
        return covey.minimize(
            cost_per_day, SPACE, batch_size=WORKERS, evaluations=evaluations, executor=pool, **settings
        )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare an asynchronous run with batches.")
    parser.add_argument("--evaluations", type=int, default=40)
    options = parser.parse_args()
    run(6, asynchronous=False)  # the first suggestions of a process load compiled code: not to be compared
    for asynchronous in (True, False):
        result = run(options.evaluations, asynchronous=asynchronous)
        busy = sum(result.durations.values()) / (WORKERS * result.seconds)
        how = "asynchronous" if asynchronous else "in batches"
        print(f"{how:>12}: workers evaluated {busy:.0%} of the time, {result.seconds:.1f} s in all,", end=" ")
        print(f"best cost {result.best.value:.2f} a day with {result.best.params}")


if __name__ == "__main__":
    main()
