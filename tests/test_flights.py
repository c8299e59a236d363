"""Executors that die: no trial is failed by that, and the study resumes to its full budget."""

import os
import signal
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor

import optuna
import pytest

import covey
from covey.run import minimize as module
from covey.run.workers import LocalProcesses

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
OPTIONS = {"batch_size": 4, "evaluations": 24, "seed": 1, "n_initial": 100, "progress": False}


def cancelled():
    future = Future()
    future.cancel()
    future.set_running_or_notify_cancel()
    return future


def ended(error):
    future = Future()
    future.set_exception(error)
    return future


def late(error):
    future = Future()
    threading.Timer(0.02, future.set_exception, [error]).start()
    return future


def garbage():
    future = Future()
    future.set_result(None)
    return future


def refused(error):
    raise error


DEATHS = {
    "futures are cancelled": cancelled,
    "futures end with an error of the network": lambda: ended(ConnectionError("no route")),
    "futures end so after a while": lambda: late(ConnectionError("no route")),
    "futures end without an evaluation": garbage,
    "nothing can be submitted": lambda: refused(RuntimeError("after shutdown")),
    "the pool is broken": lambda: ended(BrokenExecutor("no power")),
    "the pool is broken when work comes": lambda: refused(BrokenExecutor("no power")),
}


class Mortal(Executor):
    """Threads that do so many evaluations, and then die in one of many ways."""

    def __init__(self, death, after):
        self.death, self.left = death, after
        self.threads = ThreadPoolExecutor(4)

    def submit(self, function, /, *args):
        self.left -= 1
        return self.threads.submit(function, *args) if self.left >= 0 else self.death()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["batches", "asynchronous"])
@pytest.mark.parametrize("death", DEATHS)
def test_a_study_whose_executor_died_resumes_to_its_full_budget(sqlite, death, asynchronous):
    options = {**OPTIONS, "asynchronous": asynchronous, "storage": sqlite}
    mortal = Mortal(DEATHS[death], after=10)
    with pytest.raises(covey.ExecutorLost, match="make the same call again") as caught:
        covey.minimize(lambda p: p["x"], SPACE, executor=mortal, **options)
    mortal.threads.shutdown()
    assert sum(trial.value is not None for trial in caught.value.result.trials) == 10
    states = [trial.state.name for trial in optuna.load_study(study_name="covey", storage=sqlite).trials]
    assert states.count("COMPLETE") == 10
    assert set(states) <= {"COMPLETE", "RUNNING"}
    with ThreadPoolExecutor(4) as threads:
        covey.minimize(lambda p: p["x"], SPACE, executor=threads, **options)
    states = [trial.state.name for trial in optuna.load_study(study_name="covey", storage=sqlite).trials]
    assert states == ["COMPLETE"] * 24


def test_an_executor_that_loses_a_few_is_forgiven():
    class Forgetful(Mortal):
        """Loses every third evaluation."""

        def submit(self, function, /, *args):
            self.left += 1
            return self.threads.submit(function, *args) if self.left % 3 else self.death()

    forgetful = Forgetful(cancelled, after=0)
    result = covey.minimize(lambda p: p["x"], SPACE, executor=forgetful, **OPTIONS)
    forgetful.threads.shutdown()
    assert [trial.state for trial in result.trials] == ["complete"] * 24
    assert forgetful.left == 36 - 1  # one lost for every two that came back


def test_a_worker_that_is_killed_before_its_objective_began_runs_it_later(monkeypatch):
    class Sniper(LocalProcesses):
        """Kills the first processes as soon as they are there, which is long before they are ready."""

        kills = 3

        def submit(self, fn, /, *args):
            future = super().submit(fn, *args)
            for worker in self._workers if Sniper.kills else ():
                for process in list((worker._pool._processes or {}).values()) if worker._pool else ():
                    if Sniper.kills:
                        Sniper.kills -= 1
                        os.kill(process.pid, signal.SIGKILL)
            return future

    monkeypatch.setattr(module, "LocalProcesses", Sniper)
    result = covey.minimize(lambda p: p["x"], SPACE, **{**OPTIONS, "batch_size": 2, "evaluations": 6})
    assert Sniper.kills == 0
    assert [trial.state for trial in result.trials] == ["complete"] * 6


def test_what_is_finished_when_an_executor_dies_is_kept(sqlite):
    class HalfDead(Executor):
        """One thread that works, and nothing beside it."""

        def __init__(self):
            self.thread, self.busy = ThreadPoolExecutor(1), False

        def submit(self, function, /, *args):
            if self.busy:
                raise ConnectionError("no route")
            self.busy = True
            return self.thread.submit(lambda: time.sleep(0.2) or function(*args))

    half = HalfDead()
    with pytest.raises(covey.ExecutorLost, match="no route") as caught:
        covey.minimize(lambda p: p["x"], SPACE, executor=half, storage=sqlite, **OPTIONS)
    half.thread.shutdown()
    assert sum(trial.value is not None for trial in caught.value.result.trials) == 1
