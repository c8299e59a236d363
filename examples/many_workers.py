"""Let workers on many machines share one study, with nobody in charge: run this on each of them.

    python examples/many_workers.py postgresql+psycopg2://user@host/database --workers 4

Needs: pip install 'covey[postgresql]' 'optuna>=4.9'. Kill a worker, even with SIGKILL: its heart stops
beating, and another worker runs its trial again. Start more workers at any time.
"""

import argparse
import os
import subprocess
import sys
import time
import warnings

import optuna
from optuna.storages import RDBStorage, RetryHeartbeatStaleTrialCallback
from optuna.study import MaxTrialsCallback
from optuna.trial import TrialState

from covey.integrations.optuna.sampler import CoveySampler

NAME = "controller"


def deviation(trial: optuna.Trial) -> float:
    """A PID controller moves a heavy door: how far the door is from where it should be, over ten seconds."""
    p, i, d = (trial.suggest_float(name, 0.01, 100, log=True) for name in "pid")
    every = trial.suggest_int("every", 1, 20)  # milliseconds between two corrections
    trial.set_user_attr("worker", os.getpid())
    time.sleep(0.2)  # a larger simulation
    position = speed = error = total = force = cost = 0.0
    for millisecond in range(10_000):
        if millisecond % every == 0:
            before, error = error, 1.0 - position
            total += error * every / 1000
            force = p * error + i * total + d * (error - before) * 1000 / every
        speed += (min(max(force, -20.0), 20.0) - 2.0 * speed) / 5.0 / 1000
        position += speed / 1000
        cost += abs(1.0 - position) / 1000
    return cost


def open_study(url: str, heartbeat: int) -> optuna.Study:
    """The study that all workers share; the first to come makes it."""
    # Optuna calls heartbeats experimental, and has had them since 2021.
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    storage = RDBStorage(
        url,
        heartbeat_interval=heartbeat,
        heartbeat_stale_trial_callback=RetryHeartbeatStaleTrialCallback(max_retry=3),
    )
    # All workers may have the same seed: the number of its trial goes into every choice of a worker.
    return optuna.create_study(
        study_name=NAME, storage=storage, sampler=CoveySampler(seed=0), load_if_exists=True
    )


def finished(study: optuna.Study) -> int:
    return len(study.get_trials(deepcopy=False, states=[TrialState.COMPLETE]))


def report(_study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
    print(f"trial {trial.number} by worker {os.getpid()}: {trial.value:.4f}", flush=True)


def work(study: optuna.Study, trials: int) -> None:
    """Be a worker, until the study has so many values; a few more if others are busy then."""
    enough = MaxTrialsCallback(trials, states=(TrialState.COMPLETE,))
    if finished(study) < trials:
        study.optimize(deviation, callbacks=[report, enough])


def main() -> None:
    parser = argparse.ArgumentParser(description="Tune a controller with many workers and no coordinator.")
    parser.add_argument("storage", help="URL of the database")
    parser.add_argument("--workers", type=int, default=4, help="on this machine; 1 is this process itself")
    parser.add_argument("--trials", type=int, default=60, help="of all workers together")
    parser.add_argument("--heartbeat", type=int, default=5, help="seconds; twice as long is dead")
    options = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = open_study(options.storage, options.heartbeat)
    if options.workers == 1:
        work(study, options.trials)
    else:
        one = [sys.executable, __file__, *sys.argv[1:], "--workers", "1"]
        workers = [subprocess.Popen(one) for _ in range(options.workers)]
        died = [worker.pid for worker in workers if worker.wait() != 0]
        if died:
            sys.exit(f"workers {died} died; run this again to go on")
        print(f"{finished(study)} trials by {options.workers} workers")
        print(f"best: {study.best_value:.4f} with {study.best_params}")


if __name__ == "__main__":
    main()
