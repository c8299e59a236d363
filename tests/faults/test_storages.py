"""Storages that are away for as long as it takes to notice: the run goes on and is complete."""

import os
import sqlite3
import subprocess
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import optuna
import postgres as postgresql  # benchmarks/postgres.py
import pytest
from optuna.storages import RDBStorage

import covey

pytestmark = pytest.mark.faults

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
MODES = pytest.mark.parametrize("asynchronous", [False, True], ids=["batches", "asynchronous"])
EVALUATIONS = 80


def complete(url, log, outage, asynchronous):
    """A run of 80 short evaluations with an outage in it; checks that each is there, once."""

    def objective(params):
        time.sleep(0.1)
        with open(log, "a") as file:
            print(params["x"], file=file, flush=True)
        return params["x"]

    def strike():
        while not log.exists() or len(log.read_text().split()) < 10:
            time.sleep(0.02)
        outage()

    striker = threading.Thread(target=strike)
    striker.start()
    result = covey.minimize(
        objective,
        SPACE,
        batch_size=4,
        evaluations=EVALUATIONS,
        asynchronous=asynchronous,
        storage=url,
        n_initial=1000,
        seed=1,
        progress=False,
    )
    striker.join()
    assert result.stopped == f"{EVALUATIONS} evaluations are finished"
    trials = recorded(url)
    evaluated = [float(line) for line in log.read_text().split()]
    assert [trial.state.name for trial in trials] == ["COMPLETE"] * EVALUATIONS
    assert sorted(trial.value for trial in trials) == sorted(evaluated)


def recorded(url):
    """All trials, read by Optuna; its connections are closed."""
    storage = RDBStorage(url)
    try:
        return optuna.load_study(study_name="covey", storage=storage).trials
    finally:
        storage.remove_session()
        storage.engine.dispose()


@MODES
def test_a_file_that_is_locked_for_a_minute(tmp_path, sqlite, asynchronous):
    def outage():
        connection = sqlite3.connect(tmp_path / "study.db", isolation_level=None, timeout=60)
        connection.execute("begin exclusive")
        time.sleep(60)
        connection.rollback()
        connection.close()

    complete(sqlite, tmp_path / "log", outage, asynchronous)


@contextmanager
def small_disk(folder):
    """A file system of its own, with room for little more than a study."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k", "covey", folder]
    if os.geteuid() or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("a small file system needs root, and a kernel that lets it")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@MODES
def test_a_disk_that_is_full_and_freed_again(tmp_path, asynchronous):
    disk = tmp_path / "disk"
    disk.mkdir()

    def outage():
        with (disk / "filler").open("wb", buffering=0) as filler:
            try:
                while True:
                    filler.write(bytes(256))
            except OSError:
                time.sleep(15)
        (disk / "filler").unlink()

    with small_disk(disk):
        complete(f"sqlite:///{disk / 'study.db'}", tmp_path / "log", outage, asynchronous)


@MODES
def test_a_file_that_may_not_be_written_for_a_while(tmp_path, sqlite, asynchronous):
    file = tmp_path / "study.db"

    def outage():
        subprocess.run(["chattr", "+i", file], check=True)
        time.sleep(15)
        subprocess.run(["chattr", "-i", file], check=True)

    probe = tmp_path / "probe"
    probe.touch()
    if subprocess.run(["chattr", "+i", probe], capture_output=True).returncode:
        pytest.skip("chattr needs root, and a file system that knows it")
    subprocess.run(["chattr", "-i", probe], check=True)
    complete(sqlite, tmp_path / "log", outage, asynchronous)


@MODES
@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
@pytest.mark.parametrize("how", ["fast", "immediate"])
def test_a_server_that_restarts(tmp_path, how, driver, asynchronous):
    if missing := postgresql.missing():
        pytest.skip(f"no PostgreSQL here: {missing}")
    with postgresql.server() as server:
        data: Path = server.folder / "data"

        def outage():
            for _ in range(3):
                server.run(postgresql.program("pg_ctl"), "-D", data, "-w", "-m", how, "restart")
                time.sleep(0.7)

        url = server.create("studies").replace("psycopg2", driver)
        complete(url, tmp_path / "log", outage, asynchronous)


@MODES
def test_a_server_that_is_away_for_a_while(tmp_path, asynchronous):
    if missing := postgresql.missing():
        pytest.skip(f"no PostgreSQL here: {missing}")
    with postgresql.server() as server:
        url = server.create("studies")

        def outage():
            server.stop()
            time.sleep(15)
            server.start()

        complete(url, tmp_path / "log", outage, asynchronous)
