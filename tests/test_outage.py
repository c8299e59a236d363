"""A storage that is away: finished values wait, and the run goes on when it is back."""

import json
import os
import signal
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import optuna
import pytest

import covey
from covey.study import Study, leftovers, outage
from covey.study.outage import Endurance

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
OPTIONS = {"batch_size": 3, "evaluations": 12, "seed": 1, "n_initial": 1000, "progress": False}


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home and a place to be of our own: leftovers go there."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def brief(monkeypatch):
    monkeypatch.setattr(outage, "ENDURANCE", replace(Endurance(), seconds=1.0, hurried=0.1))


def path_of(url):
    return Path(url.removeprefix("sqlite:///"))


@contextmanager
def locked(url):
    """Another connection that has the file to itself."""
    connection = sqlite3.connect(path_of(url), isolation_level=None, timeout=30, check_same_thread=False)
    connection.execute("begin exclusive")
    try:
        yield
    finally:
        connection.rollback()
        connection.close()


class Attack:
    """An objective whose so-manieth call has the file locked, until it is released."""

    def __init__(self, url, at):
        self.url, self.at, self.calls, self.release = url, at, [], threading.Event()
        self.held, self._guard = threading.Event(), threading.Lock()

    def __call__(self, params):
        with self._guard:
            self.calls.append(params["x"])
            if len(self.calls) == self.at:
                threading.Thread(target=self._hold).start()
                self.held.wait(30)
        return params["x"]

    def _hold(self):
        with locked(self.url):
            self.held.set()
            self.release.wait(60)

    def after(self, seconds, deed):
        """Do something so long after the file was locked."""

        def wait_and_do():
            if self.held.wait(60):
                time.sleep(seconds)
                deed()

        threading.Thread(target=wait_and_do).start()


@pytest.mark.parametrize("asynchronous", [False, True], ids=["batches", "asynchronous"])
def test_a_locked_file_is_waited_for_and_nothing_is_evaluated_twice(sqlite, asynchronous, caplog):
    attack = Attack(sqlite, at=6)
    attack.after(2.5, attack.release.set)
    with ThreadPoolExecutor(3) as threads:
        covey.minimize(attack, SPACE, executor=threads, storage=sqlite, asynchronous=asynchronous, **OPTIONS)
    trials = optuna.load_study(study_name="covey", storage=sqlite).trials
    assert sorted(trial.value for trial in trials) == sorted(attack.calls)
    assert len(attack.calls) == 12
    said = [record.getMessage() for record in caplog.records if record.name == "covey.study"]
    if said:  # Optuna itself waits a little for a new trial
        away, back = said
        assert "is away (database is locked)" in away
        assert "is back after" in back


def test_a_storage_that_stays_away_is_one_error_and_its_values_are_in_a_file(sqlite, home, brief):
    attack = Attack(sqlite, at=6)
    with ThreadPoolExecutor(3) as threads:
        with pytest.raises(covey.StorageLost, match="database is locked") as caught:
            covey.minimize(attack, SPACE, executor=threads, storage=sqlite, **OPTIONS)
        (file,) = home.glob("*-unwritten-1.json")
        assert str(file) in str(caught.value)
        left = [row["value"] for row in json.loads(file.read_text())["trials"]]
        assert left
        assert set(left) <= set(attack.calls)
        attack.release.set()
        before = list(attack.calls)
        covey.minimize(attack, SPACE, executor=threads, storage=sqlite, **OPTIONS)
    assert not set(before) & set(attack.calls[len(before) :])
    assert len(attack.calls) == 12
    assert not file.exists()
    trials = optuna.load_study(study_name="covey", storage=sqlite).trials
    assert sorted(trial.value for trial in trials) == sorted(attack.calls)


def test_ctrl_c_while_the_storage_is_away_does_not_wait_for_it(sqlite, home, monkeypatch):
    monkeypatch.setattr(outage, "ENDURANCE", replace(Endurance(), seconds=600.0, hurried=0.5))
    attack = Attack(sqlite, at=6)
    attack.after(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    with ThreadPoolExecutor(3) as threads, pytest.raises(covey.StorageLost, match=r"unwritten-1\.json"):
        covey.minimize(attack, SPACE, executor=threads, storage=sqlite, **OPTIONS)
    attack.release.set()


def test_a_study_that_somebody_deletes_gives_its_values_into_a_file(database, home, brief):
    def objective(params):
        if not objective.calls:
            optuna.delete_study(study_name="covey", storage=database)
        objective.calls.append(params["x"])
        return params["x"]

    objective.calls = []
    with ThreadPoolExecutor(1) as threads, pytest.raises(covey.StorageLost, match=r"unwritten-1\.json"):
        covey.minimize(objective, SPACE, executor=threads, storage=database, evaluations=3, seed=1)
    (file,) = home.glob("*-unwritten-1.json")
    assert [row["value"] for row in json.loads(file.read_text())["trials"]] == objective.calls


# Leftovers


@pytest.fixture
def half_done(sqlite, home):
    """A study with one complete and one running trial; rows of both."""
    study = Study(sqlite, "covey", SPACE)
    optimizer = covey.Optimizer(SPACE, seed=1)
    first, second = optimizer.ask(2)
    study.started(first)
    study.started(second)
    study.finished(first, covey.trial.Evaluation(first.params["x"], 0.1))
    yield study, [row.trial for row in study.recorded()]
    study.close()


def values(study):
    return [row.result for row in study.recorded()]


def test_leftovers_are_taken_once_and_their_file_removed(half_done, home):
    study, (_, running) = half_done
    said = leftovers.leave(study, [(running, covey.trial.Evaluation(0.75, 2.0))])
    assert "1 finished values are in" in said
    leftovers.take(study)
    assert values(study)[1] == 0.75
    assert study.recorded()[1].seconds == 2.0
    assert not list(home.glob("*unwritten*"))
    leftovers.take(study)


def test_leftovers_of_failures_keep_their_reason(half_done):
    study, (_, running) = half_done
    leftovers.leave(study, [(running, covey.trial.Evaluation(covey.Failure("it blew up"), 2.0))])
    leftovers.take(study)
    assert values(study)[1] == covey.Failure("it blew up")


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: rows[0].update(id=99),
        lambda rows: rows[0]["params"].update(x=0.123),
        lambda rows: rows[0].pop("value"),
        lambda rows: rows[0].update(value="nonsense"),
        lambda rows: rows.append("nonsense"),
    ],
    ids=["another trial", "another point", "no value", "no number", "no trial"],
)
def test_leftovers_that_make_no_sense_are_named_and_left_alone(half_done, home, change, caplog):
    study, (_, running) = half_done
    leftovers.leave(study, [(running, covey.trial.Evaluation(0.75, 2.0))])
    (file,) = home.glob("*unwritten*")
    document = json.loads(file.read_text())
    change(document["trials"])
    file.write_text(json.dumps(document))
    leftovers.take(study)
    assert file.exists()
    assert str(file) in caplog.text
    assert values(study)[1] is None


def test_a_value_that_is_known_by_now_is_not_written_over(half_done, home, caplog):
    study, (first, _) = half_done
    leftovers.leave(study, [(first, covey.trial.Evaluation(0.75, 2.0))])
    leftovers.take(study)
    assert values(study)[0] == first.params["x"]
    assert "is left alone" in caplog.text


def test_where_no_file_can_be_written_the_values_are_in_the_message(half_done, home, monkeypatch):
    study, (_, running) = half_done
    monkeypatch.setattr(leftovers, "_folders", lambda study: [home / "nowhere"])
    assert f"trial {running.id}: 0.75" in leftovers.leave(
        study, [(running, covey.trial.Evaluation(0.75, 2.0))]
    )
