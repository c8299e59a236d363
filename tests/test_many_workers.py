"""Workers that share a study in a real PostgreSQL, with nobody in charge, and one of which is killed."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState

ROOT = Path(__file__).parent.parent
SCRIPT = [sys.executable, ROOT / "examples" / "many_workers.py"]
PARAMS = {"p", "i", "d", "every"}


def start(url, **options):
    """The script, as on one of many machines, with one computing thread."""
    settings = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    return subprocess.Popen(
        [*SCRIPT, url, *settings],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def end(process):
    """What a process said, after it has ended well."""
    output = process.communicate(timeout=120)[0]
    assert process.returncode == 0, output
    return output


def load(url):
    return optuna.load_study(study_name="controller", storage=url)


def points(trials):
    return [tuple(sorted(trial.params.items())) for trial in trials]


@pytest.mark.integration
def test_workers_with_the_same_seed_share_a_study_and_repeat_nothing(postgres):
    output = end(start(postgres, workers=3, trials=12))
    trials = load(postgres).trials
    assert {trial.state for trial in trials} == {TrialState.COMPLETE}
    assert 12 <= len(trials) < 12 + 3
    assert f"{len(trials)} trials by 3 workers" in output
    assert len(set(points(trials))) == len(trials)
    assert len({trial.user_attrs["worker"] for trial in trials}) > 1
    # What a worker suggests is known to all before it is evaluated, to the last bit.
    suggested = [trial for trial in trials if "covey:suggested" in trial.system_attrs]
    assert len(suggested) >= 6
    assert all(trial.system_attrs["covey:suggested"] == trial.params for trial in suggested)
    # There is nothing left to do for another worker.
    assert end(start(postgres, workers=1, trials=12)) == ""
    assert len(load(postgres).trials) == len(trials)


def running(url, worker):
    """The trial that a worker is evaluating, with all its parameters; None if there is none just now."""
    trials = load(url).get_trials(states=[TrialState.RUNNING])
    mine = [trial for trial in trials if trial.user_attrs.get("worker") == worker]
    return mine[0] if mine and set(mine[0].params) == PARAMS else None


def kill_while_evaluating(url, process):
    """SIGKILL a worker in the middle of a trial, which stays running; returns that trial."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if running(url, process.pid):
            process.send_signal(signal.SIGSTOP)  # what it does now, it does when it dies
            if found := running(url, process.pid):
                process.kill()
                process.communicate()
                return found
            process.send_signal(signal.SIGCONT)
    raise AssertionError("the worker never evaluated anything")


def retries_of(number, trials):
    return [trial for trial in trials if number in trial.system_attrs.get("retry_history", [])]


@pytest.mark.integration
def test_a_trial_whose_worker_is_killed_is_run_again_by_another(postgres):
    optuna.create_study(study_name="controller", storage=postgres)
    victim = start(postgres, workers=1, trials=1000, heartbeat=1)
    stale = kill_while_evaluating(postgres, victim)
    time.sleep(3)  # two heartbeats and more: nobody else was there to hear that they stopped
    assert load(postgres).trials[stale.number].state == TrialState.RUNNING

    others = [start(postgres, workers=1, trials=12, heartbeat=1) for _ in range(2)]
    said = "".join(end(other) for other in others)
    trials = load(postgres).trials
    assert trials[stale.number].state == TrialState.FAIL
    (retry,) = retries_of(stale.number, trials)
    assert retry.state == TrialState.COMPLETE
    assert retry.params == stale.params
    assert retry.user_attrs["worker"] in {other.pid for other in others}
    assert re.search(rf"^trial {retry.number} by worker", said, re.MULTILINE)
    assert not [trial for trial in trials if trial.state == TrialState.RUNNING]
    done = [trial for trial in trials if trial.state == TrialState.COMPLETE]
    assert 12 <= len(done) <= 13
    assert len(set(points(done))) == len(done)


GUIDE = (ROOT / "docs" / "many-machines.md").read_text()


def test_the_guides_code_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(block.replace("n_trials=20", "n_trials=8"), {"__name__": "__main__"})
    study = optuna.load_study(study_name="shared", storage="sqlite:///study.db")
    assert len(set(points(study.trials))) == 8


def test_what_the_guide_links_to_is_there():
    for link in re.findall(r"\]\(([^)]+)\)", GUIDE):
        assert (ROOT / "docs" / link).exists(), link


@pytest.mark.slow
def test_workers_that_are_killed_at_random_lose_no_trial(postgres):
    optuna.create_study(study_name="controller", storage=postgres)
    for _ in range(5):
        victims = [start(postgres, workers=1, trials=1000, heartbeat=1) for _ in range(2)]
        for victim in victims:
            kill_while_evaluating(postgres, victim)
    time.sleep(3)
    for other in [start(postgres, workers=1, trials=40, heartbeat=1) for _ in range(2)]:
        end(other)
    trials = load(postgres).trials
    failed = [trial for trial in trials if trial.state == TrialState.FAIL]
    assert len(failed) == 10
    for trial in failed:
        last = max(retries_of(trial.number, trials), key=lambda retry: retry.number)
        assert (last.state, last.params) == (TrialState.COMPLETE, trial.params)
    assert {trial.state for trial in trials} == {TrialState.COMPLETE, TrialState.FAIL}
