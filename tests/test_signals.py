"""A run that is struck by a few signals ends with all of its evaluations, none twice; see also faults."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress

import pytest
from blows import INT, KILL, TERM, Blow  # tests/faults
from observed import rows
from ordeal import Ordeal
from subjects import Subject

STRUCK_AT_BIRTH = """
    import os
    import signal
    from covey.run.workers import LocalProcesses

    if __name__ == "__main__":
        pool = LocalProcesses(1)
        future = pool.submit(abs, -7)
        for pid in pool._workers[0]._pool._processes:
            os.kill(pid, signal.SIGINT)
        print(future.result(60))
        pool.shutdown()
"""

PROGRAMS = """
    import subprocess
    import sys
    import covey

    def main():
        def objective(params):
            with subprocess.Popen(["sleep", "600"]) as program:
                with open(sys.argv[2], "a") as file:
                    print("begin", file=file, flush=True)
            return float(program.returncode) if program.returncode >= 0 else covey.Failure("killed")

        space = covey.Space({"x": covey.Float(0.0, 1.0)})
        covey.minimize(objective, space, batch_size=2, evaluations=4, storage=sys.argv[1], seed=1)

    if __name__ == "__main__":
        main()
"""


@pytest.mark.parametrize(
    ("command", "blows"),
    [
        ("minimize", [Blow(KILL, group=True), Blow(INT, group=True), Blow(TERM)]),
        ("covey run", [Blow(INT), Blow(TERM, group=True)]),
    ],
)
def test_a_few_signals_lose_nothing_and_repeat_nothing(tmp_path, sqlite, command, blows):
    ordeal = Ordeal(Subject(command, tmp_path, sqlite, asynchronous=False), random.Random(1))
    ordeal.endure(blows, lines=10)
    assert not ordeal.faults, ordeal.report()


def test_a_second_ctrl_c_waits_for_no_evaluation_and_leaves_no_worker(tmp_path, sqlite):
    subject = Subject("minimize", tmp_path, sqlite, asynchronous=True, seconds=600.0)
    ordeal = Ordeal(subject, random.Random(2))
    ordeal.take(Blow(INT, times=2, group=True), lines=5)
    assert not ordeal.faults, ordeal.report()


def test_the_first_worker_does_not_hear_ctrl_c_while_it_starts(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(STRUCK_AT_BIRTH))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("7\n", "")


def test_a_program_of_an_objective_that_ctrl_c_ends_is_no_failure(tmp_path, sqlite):
    script, log = tmp_path / "script.py", tmp_path / "log.txt"
    script.write_text(textwrap.dedent(PROGRAMS))
    process = subprocess.Popen([sys.executable, script, sqlite, log], start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while not (log.exists() and log.read_text().count("begin") == 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert process.wait(60) == 0
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert [state for _, state, _ in rows(sqlite)] == ["RUNNING", "RUNNING"]
