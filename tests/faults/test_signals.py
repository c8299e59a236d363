"""Signals at random moments: no finished value is lost, none evaluated again, and nothing is left behind."""

import os
import random

import pytest
from blows import KILL, Blow, drawn
from ordeal import Ordeal
from subjects import Subject

pytestmark = pytest.mark.faults

SEED = os.environ.get("COVEY_FAULT_SEED", "0")
SIGNALS = int(os.environ.get("COVEY_FAULT_SIGNALS", "40"))
"""For each configuration."""

COMMANDS = ["minimize", "covey run"]


def endure(subject, count, request):
    rng = random.Random(f"{SEED} {request.node.name}")
    ordeal = Ordeal(subject, rng)
    ordeal.endure(drawn(subject.command, count, rng))
    print(ordeal.report())
    assert not ordeal.faults, f"COVEY_FAULT_SEED={SEED} COVEY_FAULT_SIGNALS={SIGNALS}\n{ordeal.report()}"


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_signal_loses_a_value(request, tmp_path, database, command, asynchronous):
    endure(Subject(command, tmp_path, database, asynchronous), SIGNALS, request)


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_signal_loses_a_value_while_the_model_is_asked(request, tmp_path, sqlite, command, asynchronous):
    endure(Subject(command, tmp_path, sqlite, asynchronous, n_initial=5), max(SIGNALS // 4, 1), request)


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_that_a_killed_run_started_outlives_it(tmp_path, sqlite, command):
    subject = Subject(command, tmp_path, sqlite, asynchronous=False, seconds=600.0)
    ordeal = Ordeal(subject, random.Random(SEED))
    ordeal.take(Blow(KILL), lines=4)
    assert not ordeal.faults, ordeal.report()
