"""covey.minimize on real executors: budgets, order, concurrency, failures, interruptions."""

import json
import math
import operator
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import covey

SPACE = covey.Space({"x": covey.Float(-1.0, 1.0), "k": covey.Int(0, 9)})
CHEAP = {"n_initial": 10_000, "seed": 0, "progress": False}
"""All points from the initial design: choosing costs nothing."""


def bowl(params):
    return params["x"] ** 2 + params["k"]


def parity(params):
    """Fails for odd k."""
    if params["k"] % 2:
        raise RuntimeError(f"k = {params['k']} is odd")
    return params["x"]


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def points(result):
    return [trial.params for trial in result.trials]


def run(objective=bowl, space=SPACE, **options):
    return covey.minimize(objective, space, **{**CHEAP, **options})


# Executors


def test_a_lambda_and_a_closure_work_on_the_default_executor():
    shift = 3.0
    result = covey.minimize(lambda p: p["x"] + shift, SPACE, evaluations=2, **CHEAP)
    assert [t.value for t in result.trials] == [t.params["x"] + 3.0 for t in result.trials]
    assert result.best.value == min(t.value for t in result.trials)


def test_local_workers_use_one_blas_thread_each():
    result = run(lambda p: float(os.environ["OMP_NUM_THREADS"]), evaluations=1)
    assert result.best.value == 1.0, result.trials[0].reason
    assert os.environ.get("OMP_NUM_THREADS") != "1" or result.best.value == 1.0


def test_evaluations_on_the_default_executor_run_in_other_processes():
    result = run(lambda p: float(os.getpid()), batch_size=2, evaluations=4)
    pids = {t.value for t in result.trials}
    assert float(os.getpid()) not in pids
    assert len(pids) == 2


def test_threads_evaluate_and_the_executor_stays_open(threads):
    result = run(executor=threads, batch_size=4, iterations=3)
    assert len(result.trials) == 12
    assert [t.value for t in result.trials] == [bowl(t.params) for t in result.trials]
    assert threads.submit(int, 3).result() == 3


def test_a_spawned_process_pool_evaluates_and_stays_open():
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        result = run(operator.itemgetter("x"), executor=pool, batch_size=2, evaluations=4)
        assert [t.value for t in result.trials] == [t.params["x"] for t in result.trials]
        assert pool.submit(int, 3).result() == 3


def test_a_function_that_cannot_travel_is_an_error_that_says_so():
    lock = threading.Lock()
    with (
        ProcessPoolExecutor(1, get_context("spawn")) as pool,
        pytest.raises(covey.ExecutorLost, match="pickle") as caught,
    ):
        run(lambda p: float(lock.locked()), executor=pool, evaluations=2)
    assert {t.state for t in caught.value.result.trials} == {"running"}


@pytest.mark.parametrize("local", [False, True])
def test_an_objective_may_take_its_trial(threads, local):
    def objective(params, trial):
        return float(trial.id) if trial.params == params and trial.state == "running" else -1.0

    result = run(objective, executor=None if local else threads, batch_size=2, evaluations=4)
    assert [t.value for t in result.trials] == [0.0, 1.0, 2.0, 3.0]


def test_an_objective_that_changes_its_trial_changes_nothing_else(threads):
    def objective(params, trial):
        params.clear()
        trial.params.clear()
        return 1.0

    result = run(objective, executor=threads, evaluations=2)
    assert all(set(t.params) == {"x", "k"} for t in result.trials)


# Order and reproducibility

MODEL = {"strategy": covey.strategy("j-ats", s=2), "n_initial": 3, "noise": 0.0, "seed": 5}


def uneven(seed):
    """The bowl, with durations that have nothing to do with the order of starting."""
    import random

    rng, lock = random.Random(seed), threading.Lock()

    def objective(params):
        with lock:
            pause = rng.uniform(0.0, 0.03)
        time.sleep(pause)
        return bowl(params)

    return objective


def test_batches_are_the_same_points_whatever_the_durations(threads):
    runs = [run(uneven(k), executor=threads, batch_size=3, iterations=4, **MODEL) for k in range(2)]
    assert points(runs[0]) == points(runs[1])
    assert runs[0].trials[-1].origin.strategy == "j-ats"


def test_batches_are_the_points_of_asking_and_telling_by_hand(threads):
    result = run(uneven(0), executor=threads, batch_size=3, iterations=4, **MODEL)
    optimizer = covey.Optimizer(SPACE, **MODEL)
    for _ in range(4):
        trials = optimizer.ask(3)
        optimizer.tell(trials, [bowl(t.params) for t in trials])
    assert points(result) == points(optimizer)
    assert [t.value for t in result.trials] == [t.value for t in optimizer.trials]


def test_failures_are_told_as_by_hand(threads):
    result = run(parity, executor=threads, batch_size=3, iterations=3, **MODEL)
    optimizer = covey.Optimizer(SPACE, **MODEL)
    for _ in range(3):
        for trial in optimizer.ask(3):
            odd = trial.params["k"] % 2
            optimizer.tell(trial, covey.Failure() if odd else trial.params["x"])
    assert points(result) == points(optimizer)


def test_another_seed_gives_other_points(threads):
    runs = [run(executor=threads, evaluations=2, batch_size=2, **{**MODEL, "seed": k}) for k in (1, 2)]
    assert points(runs[0]) != points(runs[1])


def test_a_batch_begins_when_the_one_before_has_ended(threads):
    events, lock = [], threading.Lock()

    def objective(params):
        with lock:
            events.append("begin")
        time.sleep(0.01 * (1 + params["k"] % 3))
        with lock:
            events.append("end")
        return params["x"]

    run(objective, executor=threads, batch_size=4, iterations=3)
    for k in range(3):
        assert events[8 * k : 8 * k + 8].count("end") == 4


# Asynchronous


class Gauge:
    """An objective that records how many run at once."""

    def __init__(self):
        self.lock, self.now, self.most, self.begun, self.ended = threading.Lock(), 0, 0, 0, 0

    def __call__(self, params):
        with self.lock:
            self.now, self.begun = self.now + 1, self.begun + 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now, self.ended = self.now - 1, self.ended + 1
        return params["x"]


def test_an_asynchronous_run_keeps_batch_size_in_flight_and_finishes_the_budget():
    gauge = Gauge()
    with ThreadPoolExecutor(16) as executor:
        result = run(gauge, executor=executor, batch_size=5, evaluations=33, asynchronous=True)
    assert gauge.most == 5
    assert gauge.begun == gauge.ended == len(result.trials) == 33
    assert {t.state for t in result.trials} == {"complete"}


def test_a_slow_evaluation_does_not_hold_up_the_others(threads):
    lock, others, enough = threading.Lock(), [0], threading.Event()
    slow = []

    def objective(params):
        with lock:
            first = not slow
            slow.append(params)
        if first:
            return float(enough.wait(30))  # 1.0 if the others went on meanwhile
        with lock:
            others[0] += 1
            if others[0] >= 12:
                enough.set()
        return 2.0

    result = run(objective, executor=threads, batch_size=3, evaluations=15, asynchronous=True)
    assert result.best.value == 1.0
    assert len(result.trials) == 15


def test_an_asynchronous_run_with_a_model_spends_its_budget_exactly(threads):
    result = run(uneven(3), executor=threads, batch_size=3, evaluations=11, asynchronous=True, **MODEL)
    assert len(result.trials) == 11
    assert {t.state for t in result.trials} == {"complete"}
    assert len({(t.params["x"], t.params["k"]) for t in result.trials}) == 11


@pytest.mark.parametrize("asynchronous", [False, True])
def test_more_workers_than_evaluations_is_no_harm(threads, asynchronous):
    result = run(executor=threads, batch_size=8, evaluations=3, asynchronous=asynchronous)
    assert len(result.trials) == 3


# Budgets


def test_evaluations_need_not_fill_the_last_batch(threads):
    result = run(executor=threads, batch_size=4, evaluations=6)
    assert len(result.trials) == 6
    assert "6 evaluations" in result.stopped


def test_iterations_are_batches(threads):
    assert len(run(executor=threads, batch_size=3, iterations=2).trials) == 6


@pytest.mark.parametrize(("evaluations", "expected"), [(2, 2), (100, 6)])
def test_of_evaluations_and_iterations_the_first_spent_ends_the_run(threads, evaluations, expected):
    result = run(executor=threads, batch_size=3, iterations=2, evaluations=evaluations)
    assert len(result.trials) == expected


@pytest.mark.parametrize("asynchronous", [False, True])
def test_seconds_end_a_run_and_what_runs_is_awaited(threads, asynchronous):
    def objective(params):
        time.sleep(0.05)
        return params["x"]

    run(objective, executor=threads, evaluations=1)  # imports what the first ask needs
    result = run(objective, executor=threads, batch_size=2, seconds=0.5, asynchronous=asynchronous)
    assert {t.state for t in result.trials} == {"complete"}
    assert 2 <= len(result.trials) < 200
    assert 0.5 <= result.seconds < 60
    assert "0.5 seconds" in result.stopped


def test_a_target_ends_the_run(threads):
    def objective(params):
        return float(params["k"])

    result = run(objective, executor=threads, target=4.0, evaluations=500)
    assert result.best.value <= 4.0
    assert all(t.value > 4.0 for t in result.trials[:-1])
    assert "target" in result.stopped


def test_a_negative_target_is_not_reached_by_zero(threads):
    values = iter([0.0, -1.0, -2.0, -3.0])
    result = run(lambda p: next(values), executor=threads, target=-2.0, evaluations=4)
    assert result.best.value == -2.0


def test_a_finite_space_used_up_ends_the_run(threads):
    space = covey.Space({"k": covey.Int(0, 4), "c": covey.Categorical(["a", "b"])})
    for asynchronous in (False, True):
        result = run(
            lambda p: p["k"], space, executor=threads, batch_size=3, evaluations=50, asynchronous=asynchronous
        )
        assert sorted((t.params["k"], t.params["c"]) for t in result.trials) == [
            (k, c) for k in range(5) for c in "ab"
        ]
        assert "every configuration" in result.stopped


# Callbacks


def test_callbacks_hear_each_trial_and_the_best(threads):
    heard = []
    result = run(
        executor=threads,
        batch_size=2,
        evaluations=6,
        callbacks=[lambda trial, best: heard.append((trial, best))],
    )
    assert sorted(trial.id for trial, _ in heard) == list(range(6))
    assert all(trial.value == bowl(trial.params) for trial, _ in heard)
    values = [trial.value for trial, _ in heard]
    assert [best.value for _, best in heard] == [min(values[: k + 1]) for k in range(6)]
    assert heard[-1][1].id == result.best.id


def test_callbacks_hear_failures_with_no_best_yet(threads):
    heard = []
    run(
        lambda p: math.nan,
        executor=threads,
        evaluations=1,
        callbacks=[lambda t, b: heard.append((t.state, b))],
    )
    assert heard == [("failed", None)]


def test_a_callback_that_returns_true_ends_the_run(threads):
    result = run(executor=threads, evaluations=100, callbacks=[lambda trial, best: trial.id == 2])
    assert len(result.trials) == 3
    assert "callback" in result.stopped


def test_a_truth_of_one_callback_does_not_silence_the_next(threads):
    heard = []
    callbacks = [lambda trial, best: True, lambda trial, best: heard.append(trial.id)]
    run(executor=threads, evaluations=100, callbacks=callbacks)
    assert heard == [0]


def test_a_stopped_asynchronous_run_lists_only_trials_that_were_started(threads):
    begun = []

    def objective(params):
        begun.append(params)
        time.sleep(0.002)
        return bowl(params)

    result = run(
        objective,
        executor=threads,
        batch_size=4,
        evaluations=200,
        asynchronous=True,
        callbacks=[lambda trial, best: trial.id >= 8],
        **MODEL,
    )
    assert len(result.trials) == len(begun)
    assert {t.state for t in result.trials} == {"complete"}


# Known points


def test_points_with_known_values_are_not_evaluated_and_not_in_the_budget(threads):
    seen = []

    def objective(params):
        seen.append(params)
        return 5.0

    x0 = [{"x": 0.125, "k": 3}, {"x": 0.5, "k": 4}]
    result = run(objective, executor=threads, evaluations=3, x0=x0, y0=[1.5, 2.5])
    assert len(seen) == 3
    assert all(params not in x0 for params in seen)
    assert [(t.params, t.value) for t in result.trials[:2]] == [(x0[0], 1.5), (x0[1], 2.5)]
    assert len(result.trials) == 5
    assert result.best.value == 1.5


def test_points_without_values_are_evaluated_first(threads):
    seen = []

    def objective(params):
        seen.append(params)
        return bowl(params)

    x0 = [{"x": 0.125, "k": 3}, {"x": 0.5, "k": 4}]
    result = run(objective, executor=threads, evaluations=3, x0=x0)
    assert seen[:2] == x0
    assert len(result.trials) == len(seen) == 3


def test_a_known_value_below_the_target_evaluates_nothing(threads):
    result = run(executor=threads, target=2.0, evaluations=5, x0=[{"x": 0.0, "k": 1}], y0=[1.0])
    assert len(result.trials) == 1


def test_known_failures_do_not_count_as_failed_evaluations(threads):
    x0 = [{"x": 0.0, "k": 1}]
    result = run(executor=threads, evaluations=2, x0=x0, y0=[math.nan], max_failures=1)
    assert [t.state for t in result.trials] == ["failed", "complete", "complete"]


# Failures


def test_an_exception_is_a_failure_with_its_traceback_and_the_run_goes_on(threads):
    result = run(parity, executor=threads, batch_size=4, evaluations=20)
    failed = [t for t in result.trials if t.state == "failed"]
    assert len(result.trials) == 20
    assert {t.id for t in failed} == {t.id for t in result.trials if t.params["k"] % 2}
    for trial in failed:
        assert f"RuntimeError: k = {trial.params['k']} is odd" in trial.reason
        assert "in parity" in trial.reason
        assert trial.value is None


@pytest.mark.parametrize("value", [math.nan, math.inf, None, "0.5", [1.0, 2.0], {}, 1j, True])
def test_nonsense_is_a_failure_that_shows_it(threads, value):
    result = run(lambda p: value, executor=threads, evaluations=1)
    assert result.trials[0].state == "failed"
    assert str(value) in result.trials[0].reason
    assert result.best is None


def test_sys_exit_in_a_thread_is_a_failure(threads):
    result = run(lambda p: sys.exit(3), executor=threads, evaluations=2)
    assert all("SystemExit: 3" in t.reason for t in result.trials)


def test_sys_exit_in_a_local_process_is_a_failure():
    result = run(lambda p: sys.exit(3) if p["k"] < 5 else 1.0, evaluations=4)
    failed = [t for t in result.trials if t.state == "failed"]
    assert [t.params["k"] < 5 for t in result.trials] == [t.state == "failed" for t in result.trials]
    assert failed
    assert all("SystemExit: 3" in t.reason for t in failed)


NUMBERS = covey.Space({"k": covey.Int(0, 19)})
"""Twenty configurations, each evaluated once: so it is known which fail."""


def mishap(die, fail):
    """An objective that kills its process for k % 10 == die and raises for k % 10 == fail."""

    def objective(params):
        if params["k"] % 10 == die:
            os._exit(9)
        if params["k"] % 10 == fail:
            raise ValueError(f"bad luck with {params['k']}")
        return float(params["k"])

    return objective


@pytest.mark.parametrize("asynchronous", [False, True])
def test_one_worker_in_ten_dies_and_one_objective_in_ten_raises(asynchronous):
    result = run(mishap(3, 7), NUMBERS, batch_size=3, evaluations=20, asynchronous=asynchronous)
    assert sorted(t.params["k"] for t in result.trials) == list(range(20))
    reasons = {t.params["k"]: t.reason for t in result.trials if t.state == "failed"}
    assert sorted(reasons) == [3, 7, 13, 17]
    assert all("worker died" in reasons[k] for k in (3, 13))
    assert all(f"ValueError: bad luck with {k}" in reasons[k] for k in (7, 17))
    assert all(t.value == t.params["k"] for t in result.trials if t.state == "complete")


@pytest.fixture
def importable(tmp_path, monkeypatch):
    """Writes a module that spawned processes can import too."""

    def write(source):
        (tmp_path / "its_objective.py").write_text(textwrap.dedent(source))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "its_objective", raising=False)
        import its_objective

        return its_objective.objective

    return write


CRASHING = """
    import os, time

    def begun():
        with open({log!r}) as file:
            return file.read().split()

    def objective(params):
        with open({log!r}, "a") as file:
            print(params["k"], file=file, flush=True)
        if params["k"] == 2:
            while len(begun()) < 3:
                time.sleep(0.05)
            os._exit(9)
        if params["k"] < 2 and begun().count(str(params["k"])) == 1:
            time.sleep(20)  # still in flight when the pool breaks
        return float(params["k"])
"""


def test_a_broken_process_pool_finds_the_culprit_and_runs_the_others_again(importable, tmp_path):
    log = tmp_path / "log.txt"
    objective = importable(CRASHING.format(log=str(log)))
    space, x0 = covey.Space({"k": covey.Int(0, 5)}), [{"k": k} for k in range(6)]
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        result = run(objective, space, executor=pool, batch_size=3, evaluations=6, x0=x0)
    assert [t.value for t in result.trials] == [0.0, 1.0, None, 3.0, 4.0, 5.0]
    assert "worker died" in result.trials[2].reason
    assert set(log.read_text().split()) == set("012345")


DEADLY = """
    import os

    def objective(params):
        if params["k"] in (1, 4, 6):
            os._exit(9)
        return float(params["k"])
"""


class Doomed(Executor):
    """An executor that breaks at once; the futures of what it was given besides end as they are told to."""

    def __init__(self, end):
        self.end, self.given = end, 0

    def submit(self, function, /, *args):
        future, self.given = Future(), self.given + 1
        if self.given == 1:
            future.set_exception(BrokenExecutor("no power"))
        else:
            self.end(future)
        return future


@pytest.mark.parametrize(
    "end", [lambda future: None, lambda future: future.cancel()], ids=["goes on", "cancelled"]
)
def test_an_executor_that_breaks_is_said_at_once_whatever_it_does_with_the_rest(end):
    with pytest.raises(covey.CoveyError, match="cannot be rebuilt: no power"):
        run(executor=Doomed(end), batch_size=3, evaluations=3)


def test_a_process_pool_that_breaks_while_work_is_handed_out_is_rebuilt(importable, sqlite):
    objective, space = importable(DEADLY), covey.Space({"k": covey.Int(0, 8)})
    options = {"batch_size": 4, "evaluations": 9, "asynchronous": True, "storage": sqlite}
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        list(pool.map(abs, range(20)))  # the workers are there: a crash is quicker than the next submission
        result = run(objective, space, executor=pool, **options)
    assert {t.params["k"] for t in result.trials if t.state == "failed"} == {1, 4, 6}
    assert {t.value for t in result.trials if t.state == "complete"} == {0.0, 2.0, 3.0, 5.0, 7.0, 8.0}


# Timeouts


def test_a_timeout_kills_the_local_worker_and_the_run_goes_on(tmp_path):
    mark = tmp_path / "survived"

    def objective(params):
        if params["k"] == 2:
            time.sleep(10)
            mark.touch()
        return float(params["k"])

    space = covey.Space({"k": covey.Int(0, 3)})
    result = run(objective, space, batch_size=2, evaluations=4, timeout=0.5)
    failed = {t.params["k"]: t.reason for t in result.trials if t.state == "failed"}
    assert list(failed) == [2]
    assert "timed out after 0.5 seconds" in failed[2]
    assert len(result.trials) == 4
    assert not mark.exists()


def test_the_start_of_a_process_is_not_part_of_the_timeout():
    result = run(lambda p: p["x"], batch_size=2, evaluations=2, timeout=0.2)
    assert [t.state for t in result.trials] == ["complete"] * 2, result.trials[0].reason


def test_a_timeout_in_a_thread_fails_the_trial_and_its_late_value_is_ignored():
    release = threading.Event()

    def objective(params):
        if params["k"] == 1:
            release.wait(30)
        return float(params["k"])

    space = covey.Space({"k": covey.Int(0, 3)})
    with ThreadPoolExecutor(2) as executor:
        result = run(objective, space, executor=executor, batch_size=1, evaluations=4, timeout=0.5)
        release.set()
    assert {t.params["k"]: t.value for t in result.trials} == {0: 0.0, 1: None, 2: 2.0, 3: 3.0}


# Too many failures


def test_too_many_failures_are_an_error_that_carries_the_result(threads):
    with pytest.raises(covey.TooManyFailures, match="is odd") as caught:
        run(parity, executor=threads, evaluations=1000, max_failures=3)
    trials = caught.value.result.trials
    assert sum(t.state == "failed" for t in trials) == 3
    assert len(trials) < 30
    assert "3 evaluations failed" in str(caught.value)
    assert all(t.value == t.params["x"] for t in trials if t.state == "complete")


def test_fewer_failures_than_the_limit_are_no_error(threads):
    result = run(parity, NUMBERS_AND_X, executor=threads, evaluations=10, max_failures=6)
    assert sum(t.state == "failed" for t in result.trials) == 5


NUMBERS_AND_X = covey.Space({"k": covey.Int(0, 9), "x": covey.Categorical([0.5])})


# Interruption

INTERRUPTED = """
    import json, sys, time
    import covey

    def main():
        def objective(params):
            with open(sys.argv[1], "a") as file:
                print("begin", file=file, flush=True)
            time.sleep(0.05 if params["k"] < 8 else 60)
            return float(params["k"])

        result = covey.minimize(
            objective, covey.Space({"k": covey.Int(0, 9)}), batch_size=2, evaluations=10, asynchronous=True,
            x0=[{"k": k} for k in range(10)], storage=sys.argv[2] or None, seed=1,
        )
        trials = [[t.params["k"], t.value, t.state] for t in result.trials]
        print("RESULT", json.dumps([result.stopped, trials]))

    if __name__ == "__main__":
        main()
"""


def interrupted(tmp_path, storage, whole_group):
    """Run the script, press Ctrl-C when only the slow evaluations are left; output and errors."""
    script, log = tmp_path / "script.py", tmp_path / "log.txt"
    script.write_text(textwrap.dedent(INTERRUPTED))
    command = [sys.executable, str(script), str(log), storage]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        deadline = time.monotonic() + 60
        while not (log.exists() and log.read_text().count("begin") == 10) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0, err
    return out, err


@pytest.mark.parametrize("whole_group", [False, True])
def test_ctrl_c_keeps_what_is_finished_and_says_how_to_resume(tmp_path, sqlite, whole_group):
    out, err = interrupted(tmp_path, sqlite, whole_group)
    stopped, trials = json.loads(out.split("RESULT", 1)[1])
    assert stopped == "interrupted"
    assert {k: value for k, value, _ in trials} == {**{k: float(k) for k in range(8)}, 8: None, 9: None}
    assert {state for k, _, state in trials if k >= 8} == {"running"}
    assert "again" in err
    assert sqlite in err
    assert "Traceback" not in err, err


def test_ctrl_c_without_storage_promises_nothing(tmp_path):
    out, err = interrupted(tmp_path, "", whole_group=False)
    stopped, trials = json.loads(out.split("RESULT", 1)[1])
    assert stopped == "interrupted"
    assert sum(value is not None for _, value, _ in trials) == 8
    assert "again" not in out
    assert "Traceback" not in err, err


# Wrong arguments


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({}, ValueError, "budget"),
        ({"evaluations": 0}, ValueError, "evaluations must be a whole number"),
        ({"evaluations": 2.5}, ValueError, "evaluations must be a whole number"),
        ({"iterations": -1}, ValueError, "iterations must be a whole number"),
        ({"evaluations": 1, "batch_size": 0}, ValueError, "batch_size must be a whole number"),
        ({"evaluations": 1, "batch_size": None}, ValueError, "batch_size must be a whole number"),
        ({"evaluations": 1, "batch_size": True}, ValueError, "batch_size must be a whole number"),
        ({"evaluations": 1, "max_failures": 0}, ValueError, "max_failures must be a whole number"),
        ({"seconds": 0}, ValueError, "seconds must be a positive"),
        ({"seconds": math.nan}, ValueError, "seconds must be a positive"),
        ({"seconds": "5"}, ValueError, "seconds must be a positive"),
        ({"evaluations": 1, "timeout": -1.0}, ValueError, "timeout must be a positive"),
        ({"evaluations": 1, "x0": [{"x": 0.0, "k": 1}], "y0": [1.0, 2.0]}, ValueError, "y0"),
        ({"evaluations": 1, "x0": [{"x": 0.0}]}, ValueError, "k"),
        ({"evaluations": 1, "x0": [{"x": 7.0, "k": 1}]}, ValueError, "x"),
        ({"evaluations": 1, "x0": [{"x": 0.0, "k": 1}], "y0": ["a"]}, TypeError, "number"),
        ({"evaluations": 1, "strategy": "nonsense"}, ValueError, "nonsense"),
        ({"evaluations": 1, "nonsense": 3}, TypeError, "no setting 'nonsense'; .*'n_initial'"),
        ({"evaluations": 1, "x0": {"x": 0.0, "k": 1}}, ValueError, "x0 must be a list"),
        ({"evaluations": 1, "storage": "nonsense"}, ValueError, "sqlite:///"),
    ],
)
def test_wrong_arguments_raise_at_once_and_evaluate_nothing(threads, options, error, words):
    calls = []
    with pytest.raises(error, match=words):
        run(calls.append, executor=threads, **options)
    assert not calls


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "low"}, "target"),
        ({"target": math.nan}, "target"),
        ({"executor": 4}, "executor"),
        ({"callbacks": print}, "callbacks"),
        ({"callbacks": [3]}, "callback"),
        ({"storage": 3}, "storage"),
        ({"storage": "sqlite://", "name": 3}, "name"),
    ],
)
def test_arguments_of_another_kind_raise_at_once_and_evaluate_nothing(threads, options, words):
    calls = []
    with pytest.raises((TypeError, ValueError), match=words):
        run(lambda p: calls.append(p) or 1.0, **{"executor": threads, "evaluations": 2, **options})
    assert not calls


def test_an_objective_that_takes_neither_raises_at_once(threads):
    with pytest.raises(TypeError, match=r"\(params\) or \(params, trial\)"):
        run(lambda: 1.0, executor=threads, evaluations=1)


def test_the_objective_must_be_callable_and_the_space_a_space(threads):
    with pytest.raises(TypeError, match="objective"):
        run(3.0, evaluations=1)
    with pytest.raises(TypeError, match=r"covey\.Space"):
        run(bowl, {"x": (0, 1)}, evaluations=1)


def test_wrong_points_to_begin_with_leave_no_study_behind(threads, tmp_path):
    file = tmp_path / "study.db"
    with pytest.raises(ValueError, match="y0"):
        run(executor=threads, evaluations=1, storage=f"sqlite:///{file}", x0=[{"x": 0.0, "k": 1}], y0=[])
    assert not file.exists()


# What comes out


def test_progress_without_a_terminal_prints_nothing(threads, capfd, monkeypatch):
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    run(executor=threads, evaluations=3, progress=True)
    assert capfd.readouterr() == ("", "")


def test_the_result_accounts_for_its_time(threads):
    def objective(params):
        time.sleep(0.05)
        return 1.0

    result = run(objective, executor=threads, evaluations=3)
    assert sorted(result.durations) == [0, 1, 2]
    assert all(0.04 < seconds < 5 for seconds in result.durations.values())
    assert 0.15 <= result.seconds < 20
    assert 0 <= result.seconds_choosing < result.seconds


def test_the_data_frame_has_a_row_for_each_trial(threads):
    frame = run(parity, NUMBERS_AND_X, executor=threads, evaluations=10).to_dataframe()
    assert list(frame["id"]) == list(range(10))
    assert {"id", "state", "value", "params_k", "params_x", "seconds", "strategy", "reason"} <= set(
        frame.columns
    )
    odd = frame[frame["params_k"] % 2 == 1]
    assert set(odd["state"]) == {"failed"}
    assert odd["value"].isna().all()
    assert odd["reason"].str.contains("is odd").all()
    even = frame[frame["params_k"] % 2 == 0]
    assert set(even["state"]) == {"complete"}
    assert set(even["value"]) == {0.5}


def test_a_run_in_which_all_fail_has_no_best(threads):
    result = run(lambda p: None, executor=threads, evaluations=3)
    assert result.best is None
    assert len(result.to_dataframe()) == 3
