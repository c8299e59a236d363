"""A run that is killed with SIGKILL again and again ends with all of its evaluations, none twice."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from contextlib import suppress

import optuna
import pytest

SCRIPT = """
    import os, sys, time
    import covey

    def note(word, x):
        line = f"{word} {x!r}\\n".encode()
        file = os.open(sys.argv[2], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(file, line)
        os.fsync(file)
        os.close(file)

    def main():
        def objective(params):
            note("begin", params["x"])
            time.sleep(0.03 + 0.04 * params["x"])
            note("end", params["x"])
            return 2.0 * params["x"]

        covey.minimize(
            objective, covey.Space({"x": covey.Float(0.0, 1.0)}), batch_size=4, evaluations=int(sys.argv[3]),
            asynchronous=sys.argv[4] == "True", storage=sys.argv[1], seed=3, n_initial=1000,
        )

    if __name__ == "__main__":
        main()
"""


class Ordeal:
    """The script, its database and its log."""

    def __init__(self, folder, storage, evaluations, asynchronous):
        self.script, self.log, self.storage = folder / "script.py", folder / "log.txt", storage
        self.evaluations = evaluations
        self.script.write_text(textwrap.dedent(SCRIPT))
        self.arguments = [storage, str(self.log), str(evaluations), str(asynchronous)]

    def lines(self):
        return self.log.read_text().splitlines() if self.log.exists() else []

    def start(self):
        command = [sys.executable, str(self.script), *self.arguments]
        return subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def recorded(self):
        """Values of finished trials by point."""
        try:
            study = optuna.load_study(study_name="covey", storage=self.storage)
        except KeyError:  # killed before there was a study
            return {}
        return {t.params["x"]: t.value for t in study.trials if t.state.name == "COMPLETE"}

    def run_and_kill(self, rng, lines):
        """Kill it, workers and all, at some moment after so many lines; whether it was still running."""
        process, before = self.start(), len(self.lines())
        if rng.random() < 0.25:
            time.sleep(rng.uniform(0.0, 1.5))  # perhaps while it starts, or opens the database
        else:
            wanted, deadline = before + rng.randint(*lines), time.monotonic() + 60
            while len(self.lines()) < wanted and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.001)
            time.sleep(rng.uniform(0.0, 0.05))
        alive = process.poll() is None
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        return alive

    def run_to_the_end(self):
        process = self.start()
        _, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors


def endure(ordeal, kills, lines, seed):
    """Kill it so many times, then let it end; checks all along that what is recorded stays as it is."""
    rng, recorded, milestones = random.Random(seed), {}, []
    for _ in range(kills):
        assert ordeal.run_and_kill(rng, lines), "it ended before it could be killed: give it more evaluations"
        now = ordeal.recorded()
        assert recorded.items() <= now.items(), "a recorded trial was lost or changed"
        recorded = now
        milestones.append((set(now), len(ordeal.lines())))
    ordeal.run_to_the_end()
    return milestones


def check(ordeal, milestones):
    study = optuna.load_study(study_name="covey", storage=ordeal.storage)
    finished, lines = ordeal.recorded(), ordeal.lines()
    assert [t.state.name for t in study.trials] == ["COMPLETE"] * ordeal.evaluations
    assert len(finished) == ordeal.evaluations
    assert all(value == 2.0 * x for x, value in finished.items())
    for known, position in milestones:
        again = {float(line.split()[1]) for line in lines[position:]}
        assert not known & again, "a recorded trial was evaluated again"
    ended = Counter(float(line.split()[1]) for line in lines if line.startswith("end"))
    assert set(ended) >= set(finished)


def test_three_kills_lose_nothing_and_repeat_nothing(tmp_path, sqlite):
    ordeal = Ordeal(tmp_path, sqlite, evaluations=48, asynchronous=False)
    milestones = endure(ordeal, kills=3, lines=(4, 10), seed=1)
    check(ordeal, milestones)
    assert any(known for known, _ in milestones), "no kill came after a value: the test tested nothing"


@pytest.mark.slow
@pytest.mark.parametrize("asynchronous", [False, True])
def test_twenty_kills_lose_nothing_and_repeat_nothing(tmp_path, database, asynchronous):
    ordeal = Ordeal(tmp_path, database, evaluations=300, asynchronous=asynchronous)
    check(ordeal, endure(ordeal, kills=20, lines=(1, 24), seed=2))
