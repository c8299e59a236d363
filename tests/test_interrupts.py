"""Signals while a run goes on: noted, and answered where nothing is half done."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import optuna
import pytest

import covey
from covey.errors import Interrupted
from covey.run.interrupts import Interrupts

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
OPTIONS = {"seed": 1, "n_initial": 1000, "progress": False}


def press():
    os.kill(os.getpid(), signal.SIGINT)


def session(*deeds):
    """Do things inside of Interrupts."""
    with Interrupts() as interrupts:
        for deed in deeds:
            deed()
    return interrupts


def complain():
    raise ValueError("why")


def test_a_signal_is_noted_and_nothing_is_raised():
    with Interrupts() as interrupts:
        press()
        assert interrupts.heard == [signal.SIGINT]
        assert not interrupts.urgent
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_ends_the_program_with_130_and_can_be_caught_as_ctrl_c():
    with pytest.raises(KeyboardInterrupt) as caught:
        session(press, press)
    assert isinstance(caught.value, SystemExit)
    assert caught.value.code == 130


def test_an_interactive_session_goes_on(monkeypatch):
    monkeypatch.setattr("sys.ps1", ">>> ", raising=False)
    with pytest.raises(KeyboardInterrupt) as caught:
        session(press, press)
    assert not isinstance(caught.value, SystemExit)


def test_an_error_of_the_run_tells_more_than_the_signal():
    with pytest.raises(ValueError, match="why"):
        session(press, press, complain)


def allowed(count):
    with Interrupts() as interrupts:
        for _ in range(count - 1):
            press()
        with interrupts.raised_after(count):
            press()
            pytest.fail("nothing was raised")


@pytest.mark.parametrize("count", [1, 2])
def test_where_it_is_allowed_so_many_signals_raise(count):
    with pytest.raises(Interrupted):
        allowed(count)


def test_handlers_of_the_user_and_ignored_signals_are_left_alone():
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("mine")), signal.getsignal(signal.SIGHUP)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGTERM)
            os.kill(os.getpid(), signal.SIGHUP)
        assert (heard, interrupts.heard) == (["mine"], [])
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_another_thread_than_the_main_one_changes_no_handler():
    with ThreadPoolExecutor(1) as thread:

        def enter():
            with Interrupts():
                return signal.getsignal(signal.SIGINT)

        assert thread.submit(enter).result() is signal.default_int_handler


def test_ctrl_c_in_each_write_loses_nothing_that_was_returned(sqlite, monkeypatch):
    """A signal in the middle of the very transaction that stores a value."""
    from optuna.storages import RDBStorage

    write = RDBStorage.set_trial_state_values
    returned = []

    def interrupted(self, *args):
        press()
        time.sleep(0.05)
        return write(self, *args)

    def objective(params):
        returned.append(params["x"])
        return params["x"]

    monkeypatch.setattr(RDBStorage, "set_trial_state_values", interrupted)
    for expected in range(1, 4):
        with ThreadPoolExecutor(1) as threads:
            result = covey.minimize(
                objective, SPACE, evaluations=10, executor=threads, storage=sqlite, **OPTIONS
            )
        assert result.stopped == "interrupted"
        stored = optuna.load_study(study_name="covey", storage=sqlite).trials
        assert [trial.value for trial in stored if trial.state.is_finished()] == returned
        assert len(returned) == expected


def test_a_second_ctrl_c_does_not_wait_for_a_choice(monkeypatch):
    thinking, enough = threading.Event(), threading.Event()

    def think(self, n, *, fixed=None):
        thinking.set()
        assert enough.wait(60)

    def impatient():
        if thinking.wait(60):
            press()
            time.sleep(0.3)
            press()

    monkeypatch.setattr(covey.Optimizer, "ask", think)
    threading.Thread(target=impatient).start()
    with pytest.raises(Interrupted), ThreadPoolExecutor(1) as threads:
        covey.minimize(lambda p: p["x"], SPACE, evaluations=10, executor=threads, **OPTIONS)
    enough.set()


def test_a_second_ctrl_c_ends_a_callback_that_does_not_end():
    def stuck(trial, best):
        press()
        time.sleep(0.1)
        press()
        time.sleep(60)

    began = time.monotonic()
    with pytest.raises(Interrupted), ThreadPoolExecutor(1) as threads:
        covey.minimize(
            lambda p: p["x"], SPACE, evaluations=10, executor=threads, callbacks=[stuck], **OPTIONS
        )
    assert time.monotonic() - began < 50
