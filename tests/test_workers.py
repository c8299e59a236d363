"""Local worker processes that die one at a time, and executors that are borrowed."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor, ThreadPoolExecutor, wait
from contextlib import closing
from multiprocessing import get_context

import pytest

import covey
from covey.errors import CoveyError
from covey.run.workers import Borrowed, LocalProcesses


@pytest.fixture(scope="module")
def local():
    workers = LocalProcesses(2)
    yield workers
    workers.shutdown(cancel_futures=True)


def test_a_closure_runs_in_another_process_with_one_thread(local):
    secret = 41
    answer, pid, threads = local.submit(
        lambda k: (secret + k, os.getpid(), os.environ["OPENBLAS_NUM_THREADS"]), 1
    ).result(60)
    assert answer == 42
    assert pid != os.getpid()
    assert threads == "1"


def test_an_exception_comes_back_and_the_worker_lives_on(local):
    pids = {local.submit(os.getpid).result(60) for _ in range(2)}
    with pytest.raises(ZeroDivisionError):
        local.submit(lambda: 1 / 0).result(60)
    assert pids & {local.submit(os.getpid).result(60) for _ in range(2)}


def test_a_process_that_dies_takes_only_its_own_evaluation_along(local):
    slow = local.submit(lambda: time.sleep(1) or "done")
    deadly = local.submit(lambda: os._exit(9))
    assert isinstance(deadly.exception(60), BrokenExecutor)
    assert slow.result(60) == "done"
    assert local.submit(abs, -3).result(60) == 3


def test_a_process_that_died_while_idle_is_replaced(local):
    pids = {f.result(60) for f in [local.submit(lambda: time.sleep(0.3) or os.getpid()) for _ in range(2)]}
    for pid in pids:
        os.kill(pid, 9)
    time.sleep(1)
    futures = [local.submit(lambda: time.sleep(0.3) or os.getpid()) for _ in range(2)]
    assert not pids & {future.result(60) for future in futures}


def test_kill_ends_one_evaluation_and_leaves_the_other(local):
    other = local.submit(lambda: time.sleep(1) or "done")
    future = local.submit(time.sleep, 60)
    local.kill(future)
    assert future.exception(30) is not None
    assert other.result(60) == "done"


def test_an_evaluation_begins_when_its_process_is_ready():
    workers = LocalProcesses(1)
    try:
        submitted = time.monotonic()
        future = workers.submit(time.sleep, 0.5)
        assert workers.began(future) is None
        while workers.began(future) is None and not future.done():
            time.sleep(0.01)
        assert submitted < workers.began(future) <= time.monotonic()
        future.result(60)
        assert workers.has_begun(future)
    finally:
        workers.shutdown(cancel_futures=True)


def test_work_is_shared_out_evenly(local):
    futures = [local.submit(lambda: time.sleep(0.3) or os.getpid()) for _ in range(4)]
    wait(futures)
    pids = [future.result() for future in futures]
    assert sorted(pids.count(pid) for pid in set(pids)) == [2, 2]


def test_shutting_down_ends_the_processes():
    workers = LocalProcesses(1)
    pid = workers.submit(os.getpid).result(60)
    workers.shutdown()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_borrowed_executor_cannot_always_be_rebuilt():
    with ThreadPoolExecutor(1) as threads, pytest.raises(CoveyError, match="cannot be rebuilt"):
        Borrowed(threads).recover(BrokenExecutor("it broke"))


def test_a_broken_process_pool_is_replaced_by_one_made_alike():
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        borrowed = Borrowed(pool)
        with pytest.raises(BrokenExecutor) as caught:
            borrowed.submit(os._exit, 9).result(60)
        borrowed.recover(caught.value)
        assert borrowed.submit(abs, -3).result(60) == 3
        borrowed.close()
        with pytest.raises(RuntimeError, match="after shutdown"):
            borrowed.submit(abs, -3)


def test_a_borrowed_executor_stays_open():
    with ThreadPoolExecutor(1) as threads:
        Borrowed(threads).close()
        assert threads.submit(abs, -3).result(60) == 3


def test_a_borrowed_evaluation_that_has_not_begun_is_taken_back():
    with ThreadPoolExecutor(1) as threads:
        borrowed = Borrowed(threads)
        first = borrowed.submit(time.sleep, 0.3)
        second = borrowed.submit(time.sleep, 30)
        borrowed.kill(second)
        assert second.cancelled()
        assert first.result(60) is None


def test_asking_when_an_evaluation_began_is_safe_while_it_ends(local):
    import sys

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        local.submit(abs, -1).result(60)
        deadline = time.monotonic() + 2
        while time.monotonic() < deadline:
            future = local.submit(abs, -1)
            while not future.done():
                local.began(future)
            local.began(future)
    finally:
        sys.setswitchinterval(before)


def test_local_workers_end_when_their_parent_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent(
            """
            import os, sys, time
            import covey

            def slow(params):
                with open(sys.argv[1], "a") as file:
                    print(os.getpid(), file=file)
                time.sleep(60)

            if __name__ == "__main__":
                space = covey.Space({"x": covey.Float(0, 1)})
                covey.minimize(slow, space, batch_size=2, evaluations=2, progress=False)
            """
        )
    )
    log = tmp_path / "pids.txt"
    parent = subprocess.Popen([sys.executable, str(script), str(log)])
    workers = until(lambda: len(log.read_text().split()) == 2 if log.exists() else False, 60) and [
        int(pid) for pid in log.read_text().split()
    ]
    parent.kill()
    parent.wait()
    assert until(lambda: not any(alive(pid) for pid in workers), 20)


def until(true, seconds):
    deadline = time.monotonic() + seconds
    while not (reached := true()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return reached


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{pid}/stat") as stat:  # an orphan that nobody waits for is dead too
        return stat.read().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("pool", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_a_lambda_runs_on_the_pools_of_the_standard_library(pool):
    factor = 2.0
    space = covey.Space({"x": covey.Float(0, 1)})
    context = {"mp_context": get_context("spawn")} if pool is ProcessPoolExecutor else {}
    with pool(2, **context) as executor:
        result = covey.minimize(
            lambda p: factor * p["x"], space, batch_size=2, evaluations=2, executor=executor, seed=1
        )
    assert [t.value for t in result.trials] == [2.0 * t.params["x"] for t in result.trials]


class Refusing(ProcessPoolExecutor):
    """A process pool that cannot take work, for the reason given."""

    def __init__(self, reason):
        super().__init__(1)
        self.reason = reason

    def submit(self, fn, /, *args, **kwargs):
        raise self.reason


def test_a_pool_that_finds_its_own_pipes_closed_is_a_broken_one():
    with (
        Refusing(OSError("handle is closed")) as pool,
        closing(Borrowed(pool)) as borrowed,
        pytest.raises(BrokenExecutor, match="handle is closed"),
    ):
        borrowed.submit(abs, -1)


def test_an_error_of_the_system_is_not_taken_for_a_broken_pool():
    with (
        Refusing(OSError(24, "Too many open files")) as pool,
        closing(Borrowed(pool)) as borrowed,
        pytest.raises(OSError, match="Too many open"),
    ):
        borrowed.submit(abs, -1)
