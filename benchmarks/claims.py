"""Claims of the paper: the numbers that docs/paper.md quotes, from results on disk.

python benchmarks/claims.py benchmarks/results/paper
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from covey.bench.paper.curves import stacked
from covey.bench.paper.protocol import COLUMNS
from covey.bench.records import find, read, there
from covey.bench.statistics import mean_and_error, means_and_errors

Records = list[dict[str, Any]]


def final(records: Records, problem: str, method: str) -> np.ndarray:
    """Best values (runs,) at the paper's number of iterations."""
    column = COLUMNS[problem]
    return stacked(records, "best", problem=problem, method=method, M=column.batch)[:, column.iterations]


def difference(first: np.ndarray, second: np.ndarray) -> float:
    """First less second in standard errors of the difference; runs with the same seed share their start."""
    mean, error = mean_and_error(first - second)
    return mean / error if error else 0.0


def speed_up(one: np.ndarray, many: np.ndarray, rounds: int) -> str:
    """Sequential iterations until its mean is as good as that of batches at the end, per batch iteration."""
    alone, together = one.mean(axis=0), many.mean(axis=0)[rounds]
    reached = np.flatnonzero(alone <= together)
    longest = len(alone) - 1
    return f"{reached[0] / rounds:.1f} x" if len(reached) else f"more than {longest / rounds:.1f} x"


def speed_ups(records: Records) -> None:
    print("\n## ATS against sequential\n")
    print("| problem | M | sequential at T | ATS at T | speed-up |\n|---|---|---|---|---|")
    for problem, column in COLUMNS.items():
        one = stacked(records, "best", problem=problem, method="sequential")
        sizes = sorted({r["M"] for r in records if r["problem"] == problem and r["method"] == "ats"})
        for M in sizes:
            many = stacked(records, "best", problem=problem, method="ats", M=M)
            mean, error = means_and_errors(one)
            ours, our_error = means_and_errors(many)
            t = column.iterations
            print(
                f"| {problem} | {M} | {mean[t]:.5g} ± {error[t]:.2g} | {ours[t]:.5g} ± {our_error[t]:.2g} "
                f"| {speed_up(one, many, t)} |"
            )


def versus(records: Records, pairs: list[tuple[str, str]]) -> None:
    print("\n## First less second, in standard errors of the paired difference (negative is better)\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---" * 1 + "|---" * len(COLUMNS) + "|")
    for first, second in pairs:
        cells = [f"{difference(final(records, p, first), final(records, p, second)):+.1f}" for p in COLUMNS]
        print(f"| {first} less {second} | " + " | ".join(cells) + " |")


def diversity(records: Records, methods: list[str]) -> None:
    print("\n## Mean distance within a batch, unit cube, over all iterations; in brackets its 5 % quantile\n")
    print("| | " + " | ".join(COLUMNS) + " |\n|---" * 1 + "|---" * len(COLUMNS) + "|")
    for method in methods:
        cells = []
        for problem, column in COLUMNS.items():
            values = stacked(records, "distance", problem=problem, method=method, M=column.batch)[:, 1:]
            cells.append(f"{values.mean():.3f} ({np.quantile(values, 0.05):.3f})")
        print(f"| {method} | " + " | ".join(cells) + " |")


def tuning(records: Records) -> None:
    print("\n## XGBoost\n")
    longest = max(r["iteration"] for r in records if r["M"] > 1)
    one = stacked(records, "best", method="sequential")
    print("| method | best log-loss after T batches | speed-up |\n|---|---|---|")
    for method in dict.fromkeys(r["method"] for r in records):
        values = stacked(records, "best", method=method)
        mean, error = means_and_errors(values)
        at = min(longest, len(mean) - 1)
        gain = "" if method == "sequential" else speed_up(one, values, longest)
        print(f"| {method} | {mean[at]:.5f} ± {error[at]:.5f} ({len(values)}) | {gain} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    _, records = read(find(folder))
    speed_ups(records)
    pairs = [("ats", "p-ts"), ("ats", "b-lcb"), ("ats", "lp"), ("j-ats", "ats"), ("h-ats", "ats")]
    versus(records, [*pairs, ("ats-b-lcb", "b-lcb"), ("ats-p-ts", "p-ts")])
    diversity(records, ["ats", "j-ats", "h-ats", "lp", "b-lcb", "ats-b-lcb", "p-ts", "ats-p-ts"])
    if path := there(folder, "xgboost"):
        tuning(read(path)[1])


if __name__ == "__main__":
    main()
