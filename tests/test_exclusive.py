"""A study is run by one process at a time, and is free again when that process is gone."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import covey
from covey.study import Study
from covey.study import lock as module

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})

HOLDER = """
    import sys, time
    import covey
    from covey.study import Study

    with Study(sys.argv[1], "covey", covey.Space({"x": covey.Float(0.0, 1.0)})).exclusive():
        print("held", flush=True)
        time.sleep(600)
"""


@pytest.fixture
def holder(database):
    """Another process that holds the study."""
    command = [sys.executable, "-c", textwrap.dedent(HOLDER), database]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def run(database, **settings):
    with ThreadPoolExecutor(2) as pool:
        settings = {"evaluations": 2, "batch_size": 2, **settings}
        return covey.minimize(lambda p: p["x"], SPACE, executor=pool, storage=database, seed=1, **settings)


def test_a_study_that_another_process_runs_is_refused_and_left_alone(database, holder, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", module.Patience(seconds=0.0))
    with pytest.raises(covey.StudyBusy, match="'covey' is being run by another process"):
        run(database)
    assert Study(database, "covey", SPACE).recorded() == []


def test_another_study_in_the_same_database_is_free(database, holder):
    assert len(run(database, name="another").trials) == 2


def test_a_killed_process_leaves_the_study_free(database, holder):
    os.kill(holder.pid, signal.SIGKILL)
    assert len(run(database).trials) == 2


def test_a_run_waits_for_a_process_that_is_about_to_end(database, holder):
    threading.Timer(0.5, holder.kill).start()
    began = time.monotonic()
    assert len(run(database).trials) == 2
    assert time.monotonic() - began >= 0.4


def test_a_finished_run_lets_the_study_go_in_the_same_process(database):
    run(database)
    assert len(run(database, evaluations=4).trials) == 4


def test_a_failed_run_lets_the_study_go(database):
    with pytest.raises(covey.TooManyFailures), ThreadPoolExecutor(1) as pool:
        covey.minimize(lambda p: 1 / 0, SPACE, executor=pool, storage=database, evaluations=3, max_failures=1)
    assert len(run(database, evaluations=4).trials) == 4


def test_durations_are_known_after_resuming(database):
    def slow(params):
        time.sleep(0.05)
        return params["x"]

    with ThreadPoolExecutor(2) as pool:
        covey.minimize(slow, SPACE, executor=pool, storage=database, batch_size=2, evaluations=2, seed=1)
        again = covey.minimize(
            slow, SPACE, executor=pool, storage=database, batch_size=2, evaluations=2, seed=1
        )
    assert all(0.05 <= seconds < 30 for seconds in again.durations.values())
