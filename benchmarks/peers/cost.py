"""Cost of a proposal beside others: median seconds of a batch, all in one run on the same core.

    make peers
    python benchmarks/peers/cost.py                          # everything: two hours or more
    python benchmarks/peers/cost.py --observations 50 --batches 5 --repetitions 1

Each optimiser is told n - 10 random values of Hartmann6 (d = 6), proposes 10 points and is told those, as in
benchmarks/cost.py; timed is the batch of M that it proposes next, with the tell before it. They take turns
within each (n, M), so that whatever else the machine does concerns them alike. BoTorch's fully
Bayesian model, at its defaults, is timed once: its fit alone, then with a batch of 1 and one of 10.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.problems.functions import PROBLEMS
from covey.bench.records import versions
from covey.bench.versus.conversation import Conversation, Params
from covey.bench.versus.peers import Peer
from covey.bench.versus.players import Player, check, player
from covey.run.workers import SINGLE_THREADED
from covey.space.designs import random

PROBLEM = PROBLEMS["hartmann6"]
CLONE = Path(__file__).parent.parent.parent
METHODS = ("auto", "optuna-gp", "hebo", "botorch-qlogei")
SAAS = Peer(("botorch_greedy.py", "saas"), "torch")
SAAS_BATCHES = (0, 1, 10)
FURTHER = 10
"""Points proposed and told before the batch that is timed."""


def points(n: int, seed: int) -> list[Params]:
    rows = random(PROBLEM.space, n, np.random.default_rng(seed))
    return [PROBLEM.space.decode(row) for row in rows]


def told(who: Player, chosen: list[Params]) -> float:
    return who.tell(chosen, [PROBLEM(point) for point in chosen]).seconds


def proposal_seconds(method: str, n: int, M: int, seed: int) -> tuple[float, str]:
    """Of one batch of M at n observations, and the version of what proposed it."""
    first = n - FURTHER
    with closing(player(method, CLONE, PROBLEM.space, seed, first)) as who:
        told(who, points(first, seed))
        further = list(who.ask(FURTHER).params)
        seconds = told(who, further)
        reply = who.ask(M)
        if reply.error or len(reply.params) != M:
            raise SystemExit(f"{method} proposed nothing at n = {n}, M = {M}: {reply.error}")
        return seconds + reply.seconds, who.version


def saas_seconds(n: int, M: int) -> float:
    """Of a batch of M from the fully Bayesian model; of its fit alone where M is 0."""
    with closing(Conversation(SAAS.command(CLONE), PROBLEM.space, 0, n)) as who:
        told(who, points(n, 0))
        reply = who.ask(M)
        if reply.error:
            raise SystemExit(f"the fully Bayesian model proposed nothing: {reply.error}")
        return reply.seconds


def measure_saas(n: int, rows: list[dict[str, Any]], first: str) -> dict[str, Any]:
    """Seconds by the size of the batch, each printed beside the first method's at the same n."""
    found = {M: saas_seconds(n, M) for M in SAAS_BATCHES}
    own = {row["M"]: row[first] for row in rows if row["n"] == n}
    print(f"\nSaasFullyBayesianSingleTaskGP at n = {n}: fit {found[0]:.0f} s")
    for M in sorted(own.keys() & found.keys()):
        print(
            f"M = {M}: {found[M]:.0f} s ({found[M] / own[M]:.0f} x; the fit alone {found[0] / own[M]:.0f} x)"
        )
    return {"n": n, "seconds": {str(M): seconds for M, seconds in found.items()}}


def measure(n: int, M: int, methods: list[str], repetitions: int, seen: dict[str, str]) -> dict[str, Any]:
    """Medians over repetitions; versions go into ``seen``."""
    times: dict[str, list[float]] = {method: [] for method in methods}
    for seed in range(repetitions):
        for method in methods:
            seconds, seen[method] = proposal_seconds(method, n, M, seed)
            times[method].append(seconds)
    return {"n": n, "M": M, **{method: float(np.median(times[method])) for method in methods}}


def line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def row_text(row: dict[str, Any], methods: list[str]) -> str:
    """Seconds, and for the others in brackets how many times the first one's."""
    first, *others = methods
    cells = [f"{row[name]:.2f} s ({row[name] / row[first]:.1f} x)" for name in others]
    return line([str(row["n"]), str(row["M"]), f"{row[first]:.3f} s", *cells])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--observations", type=int, nargs="+", default=[25, 50, 100, 200, 500])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 5, 10, 20])
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), help="compared with the first")
    parser.add_argument("--saas", type=int, default=100, help="n of the fully Bayesian model; 0: none")
    parser.add_argument("--out", type=Path, default=CLONE / "benchmarks" / "results" / "peers-cost.json")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    for method in options.methods:
        check(method, CLONE)
    # A busy machine shows in the load; what is timed is the wall clock.
    header: dict[str, Any] = {"repetitions": options.repetitions, "load": os.getloadavg(), **versions()}
    header |= {"machine": platform.machine(), "methods": {}}
    measure(25, 1, ["auto"], 1, {})  # compiles
    print(line(["n", "M", *options.methods]), line(["---"] * (2 + len(options.methods))), sep="\n")
    rows = []
    for n in options.observations:
        for M in options.batches:
            rows.append(measure(n, M, options.methods, options.repetitions, header["methods"]))
            print(row_text(rows[-1], options.methods), flush=True)
    if options.saas:
        header["saas"] = measure_saas(options.saas, rows, options.methods[0])
    options.out.write_text(json.dumps({"header": header, "rows": rows}, indent=1) + "\n")
    print(f"\nwritten: {options.out}")


if __name__ == "__main__":
    if os.environ.get("OMP_NUM_THREADS") == "1":
        main()
    else:  # libraries read it once, when they are imported
        sys.exit(subprocess.run([sys.executable, *sys.argv], env=os.environ | SINGLE_THREADED).returncode)
