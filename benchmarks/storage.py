"""Cost of a study: seconds that storing one trial takes, on SQLite and on PostgreSQL.

    python benchmarks/storage.py                 # half a minute; PostgreSQL where it is installed

A trial is written twice: when it starts and when its value is in. Both are timed, at the begin of a study and
after many trials, beside reading the whole study back as a resumed run does. The databases wait for the disk.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

import numpy as np
import postgres

import covey
from covey.study import Study
from covey.trial import Evaluation, Trial

SPACE = covey.Space({f"x{k}": covey.Float(0.0, 1.0) for k in range(6)})
OUT = Path(__file__).parent / "results" / "storage.json"


@contextmanager
def sqlite() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield f"sqlite:///{folder}/study.db"


@contextmanager
def postgresql() -> Iterator[str]:
    with postgres.server(durable=True) as server:
        yield server.create("covey")


DATABASES = {"sqlite": sqlite, "postgresql": postgresql}


def write(study: Study, trials: list[Trial]) -> list[tuple[float, float]]:
    """Seconds of (start, finish) for each."""
    times = []
    for trial in trials:
        began = time.perf_counter()
        study.started(trial)
        between = time.perf_counter()
        study.finished(trial, Evaluation(1.0, 1.0))
        times.append((between - began, time.perf_counter() - between))
    return times


def measure(url: str, total: int, window: int) -> list[dict[str, float]]:
    """Medians over the first and over the last trials of a study."""
    rng = np.random.default_rng(0)
    trials = [Trial(k, {f"x{j}": float(rng.uniform()) for j in range(6)}) for k in range(total)]
    study, rows = Study(url, "covey", SPACE), []
    times = write(study, trials)
    for n in (window, total):
        start, finish = zip(*times[n - window : n], strict=True)
        rows.append({"n": n, "start": statistics.median(start), "finish": statistics.median(finish)})
    study.close()
    began = time.perf_counter()
    again = Study(url, "covey", SPACE)
    assert len(again.recorded()) == total
    rows[-1]["read_all"] = time.perf_counter() - began
    again.close()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--window", type=int, default=100, help="trials that a median is taken over")
    parser.add_argument("--out", type=Path, default=OUT)
    options = parser.parse_args()
    rows = []
    for name, database in DATABASES.items():
        if name == "postgresql" and postgres.missing():
            print("no PostgreSQL here: left out")
            continue
        with database() as url:
            measured = measure(url, options.trials, options.window)
        for row in measured:
            rows.append({"database": name, **row})
            read = f", reading all {row['read_all']:.2f} s" if "read_all" in row else ""
            print(
                f"{name}, {row['n']} trials: {1000 * row['start']:.1f} ms to start one, "
                f"{1000 * row['finish']:.1f} ms to finish it{read}"
            )
    names = ("covey", "optuna", "sqlalchemy", "psycopg2-binary")
    header = {name: version(name) for name in names} | {"trials": options.trials, "window": options.window}
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(json.dumps({"header": header, "rows": rows}, indent=1) + "\n")
    print(f"written: {options.out}")


if __name__ == "__main__":
    main()
