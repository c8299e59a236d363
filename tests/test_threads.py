"""Work over the cores: slices that cover, errors that surface, limits that are lifted."""

import ast
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.linalg.cython_blas  # noqa: F401  (its BLAS is one of those that are counted)
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from covey.model.native import threads as parallel
from covey.model.native.threads import cores, in_slices, single_threaded_blas


def slices_of(count, smallest, available):
    """The slices that ``in_slices`` hands out, in order."""
    seen = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parallel, "cores", lambda: available)
        in_slices(seen.append, count, smallest)
    return sorted((part.start, part.stop) for part in seen)


@given(st.integers(0, 500), st.integers(1, 50), st.integers(1, 6))
@settings(deadline=None)
def test_slices_cover_the_range_exactly_once(count, smallest, available):
    covered = [k for start, stop in slices_of(count, smallest, available) for k in range(start, stop)]
    assert covered == list(range(count))


@given(st.integers(1, 500), st.integers(1, 50), st.integers(1, 6))
@settings(deadline=None)
def test_no_slice_is_shorter_than_allowed_and_no_core_has_two(count, smallest, available):
    parts = slices_of(count, smallest, available)
    assert len(parts) <= available
    assert len(parts) == 1 or min(stop - start for start, stop in parts) >= smallest


def test_every_core_gets_a_slice_when_there_is_work_for_it():
    assert slices_of(10, 1, 3) == [(0, 3), (3, 6), (6, 10)]


def test_results_are_there_when_the_call_returns(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 4)
    out = np.zeros(1000)

    def work(part):
        out[part] = np.arange(part.start, part.stop)

    in_slices(work, 1000)
    np.testing.assert_array_equal(out, np.arange(1000))


@pytest.mark.parametrize("culprit", [0, 3, 6])
def test_an_error_in_any_slice_reaches_the_caller(monkeypatch, culprit):
    monkeypatch.setattr(parallel, "cores", lambda: 3)

    def work(part):
        if part.start == culprit:
            raise RuntimeError(f"slice {culprit}")

    with pytest.raises(RuntimeError, match=f"slice {culprit}"):
        in_slices(work, 10)
    in_slices(lambda part: None, 10)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_makes_its_own_threads(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    in_slices(lambda part: None, 2)
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(20)  # threads that did not survive the fork would never answer
            in_slices(lambda part: None, 2)
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def blas_threads():
    return {info["filepath"]: info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    """BLAS at two threads, whatever the machine has, so that a limit of one is a change."""
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert set(before.values()) == {2}
        yield before


def test_blas_has_one_thread_inside_and_its_own_again_outside(two_threads):
    with single_threaded_blas():
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == two_threads


def test_limits_nest_and_the_last_to_leave_lifts_them(two_threads):
    with single_threaded_blas():
        with single_threaded_blas():
            assert set(blas_threads().values()) == {1}
        assert set(blas_threads().values()) == {1}
    assert blas_threads() == two_threads


def test_limits_are_lifted_after_an_error(two_threads):
    with pytest.raises(RuntimeError, match="inside"), single_threaded_blas():
        raise RuntimeError("inside")
    assert blas_threads() == two_threads


def affinity():
    """The cores this process may run on."""
    return len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("wish", "expected"), [("1", 1), ("0", 1), ("10000", affinity())])
def test_the_environment_lowers_the_number_of_cores_but_never_raises_it(monkeypatch, wish, expected):
    monkeypatch.setenv("OMP_NUM_THREADS", wish)
    assert cores() == expected


@pytest.mark.parametrize("wish", ["", "many", "4,2"])
def test_a_wish_that_is_not_a_number_is_ignored(monkeypatch, wish):
    monkeypatch.setenv("OMP_NUM_THREADS", wish)
    assert cores() == affinity()


def test_without_affinity_the_machines_cores_count(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert cores() == 5
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert cores() == 1


def test_another_thread_waits_for_its_turn_and_limits_are_lifted_in_the_end():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def hold():
        with single_threaded_blas():
            inside.set()
            leave.wait(10)
            seen.append(set(blas_threads().values()))

    thread = threading.Thread(target=hold)
    thread.start()
    assert inside.wait(10)
    leave.set()
    with single_threaded_blas():
        seen.append(set(blas_threads().values()))
    thread.join()
    assert seen == [{1}, {1}]
    assert blas_threads() == before


def test_the_blas_that_kernels_call_is_held_to_one_thread_however_early_it_is_asked_for():
    program = (
        "from covey.model.native.threads import single_threaded_blas\n"
        "with single_threaded_blas():\n"
        "    import covey.model.gaussian_process\n"
        "    from threadpoolctl import threadpool_info\n"
        "    print([one['num_threads'] for one in threadpool_info() if one['user_api'] == 'blas'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(ast.literal_eval(done.stdout)) == {1}
