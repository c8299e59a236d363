"""Programs end with covey, however it ends, and nothing that they started is left."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from covey.cli import output, processes, roll
from covey.cli.output import LIMITS, Limits
from covey.cli.processes import Processes
from covey.cli.reading import only_number
from covey.cli.warden import end_session
from covey.trial import Failure

pytestmark = pytest.mark.skipif(os.name != "posix", reason="there are no sessions on Windows")


@pytest.fixture
def programs(tmp_path):
    started = Processes(tmp_path / ".roll.lock")
    yield started
    started.close()


def shell(programs, script, timeout=60.0, folder="."):
    return programs.run(["sh", "-c", script], Path(folder), timeout)


def alive(pid):
    """Whether a process runs; one that is dead and not yet reaped does not."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return bool(said.stdout.strip()) and not said.stdout.strip().startswith("Z")


def until(truth, seconds=30):
    deadline = time.monotonic() + seconds
    while not truth():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


@pytest.mark.parametrize("code", [0, 1, 3, 127, 255])
def test_exit_codes_are_the_programs_own(programs, code):
    ended = shell(programs, f"echo out; echo err >&2; exit {code}")
    assert (ended.code, ended.out, ended.err) == (code, "out\n", "err\n")


@pytest.mark.parametrize("name", ["KILL", "TERM", "INT", "HUP", "SEGV", "ABRT", "PIPE", "USR1"])
def test_signals_are_the_programs_own(programs, tmp_path, name):
    ended = shell(programs, f"echo dying >&2; kill -{name} $$; sleep 60", folder=tmp_path)
    assert (ended.code, ended.err) == (-getattr(signal, f"SIG{name}"), "dying\n")
    assert not list(tmp_path.glob("core*"))


@pytest.mark.parametrize(
    ("name", "why"), [("./none", "No such file"), ("no-such-program", "No such file"), ("./text", "format")]
)
def test_a_program_that_cannot_be_started_says_so(tmp_path, programs, name, why):
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    ended = programs.run([name], tmp_path, None)
    assert ended.code == 127
    assert ended.err.startswith("the program could not be started: ")
    assert why in ended.err
    assert name in ended.err


def test_without_an_interpreter_programs_run_directly(programs, monkeypatch):
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(FileNotFoundError):
        programs.run(["./none"], Path(), None)
    assert shell(programs, "echo 5; exit 4").code == 4
    with pytest.raises(subprocess.TimeoutExpired):
        shell(programs, "sleep 120", timeout=0.2)


def test_a_program_finds_the_world_as_it_would_without_a_warden(tmp_path, monkeypatch):
    (tmp_path / "look.py").write_text(
        "import os, signal, sys\n"
        "print([str(signal.getsignal(s)) for s in signal.valid_signals()], sys.argv, os.getcwd())\n"
        "print(sorted(os.environ), sys.stdin.read(), os.getpgrp() == os.getpid(), os.listdir('/dev/fd'))\n"
    )
    arguments = [sys.executable, "look.py", "-I", "--", "a b", "*", "", "\udcff"]
    programs = Processes()  # without a roll, which is one more open file
    watched = programs.run(arguments, tmp_path, 60)
    with monkeypatch.context() as patch:
        patch.setattr(processes, "_has_wardens", lambda: False)
        assert programs.run(arguments, tmp_path, 60) == watched
    assert watched.code == 0
    programs.close()


def test_a_broken_pipe_ends_a_program_as_ever(programs):
    ended = shell(programs, "(yes; echo $? >&2) | head -n 1")
    assert (ended.out, ended.err) == ("y\n", f"{128 + signal.SIGPIPE}\n")


def test_what_a_program_leaves_in_its_session_ends_with_it(programs):
    ended = shell(programs, "sleep 120 & echo $!; timeout 120 sleep 120 & echo $!; exit 0", timeout=None)
    assert ended.code == 0
    until(lambda: not any(alive(pid) for pid in ended.out.split()))


def test_a_process_that_left_does_not_hold_up_its_program(programs, monkeypatch):
    monkeypatch.setattr(output, "LIMITS", Limits(grace=0.2))
    leave = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(120)"
    ended = shell(programs, f"'{sys.executable}' -c '{leave}' & sleep 0.5; exit 0", timeout=None)
    os.kill(int(ended.out), signal.SIGKILL)  # it was not followed
    assert ended.code == 0


def test_a_script_that_signals_its_group_spares_the_warden(programs):
    assert shell(programs, "sleep 120 & trap '' TERM; kill 0; wait; echo 5").out == "5\n"


def test_a_warden_that_is_killed_leaves_nothing(programs):
    ended = shell(programs, "sleep 120 & echo $! $$; kill -9 $PPID; wait")
    assert ended.code == -signal.SIGKILL
    assert len(ended.out.split()) == 2
    until(lambda: not any(alive(pid) for pid in ended.out.split()))


def test_stop_ends_what_is_under_way_and_starts_no_more(programs, tmp_path):
    run = threading.Thread(target=shell, args=(programs, f"echo $$ > {tmp_path}/pid; sleep 120"))
    run.start()
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    programs.stop()
    run.join(30)
    assert not alive((tmp_path / "pid").read_text().strip())
    with pytest.raises(InterruptedError):
        shell(programs, "echo 1")


def test_of_long_output_the_end_is_kept(programs):
    ended = shell(
        programs, "head -c 30000000 /dev/zero | tee /dev/stderr | tr '\\0' 'x'; echo; echo 12; echo 0.5"
    )
    assert only_number(ended.out) == 0.5
    assert ended.out == "12\n0.5\n"  # the line before has lost its beginning
    assert len(ended.err) == LIMITS.output
    ended = shell(programs, "head -c 100000 /dev/zero | tr '\\0' ' '; printf 7")
    assert isinstance(only_number(ended.out.replace(" ", "x")), Failure)


def test_output_that_is_no_text_is_replaced(programs):
    ended = shell(programs, "printf 'a\\377\\000b\\n0.5\\n'; printf '\\377' >&2")
    assert (ended.out, ended.err) == ("a\ufffd\0b\n0.5\n", "\ufffd")


STUDY = """
name = "demo"
objective = ["./program.sh", "{x}"]
batch_size = 2
evaluations = 4
n_initial = 50
[space.x]
type = "float"
low = 0.0
high = 1.0
"""

SCRIPT = """#!/bin/sh
test -e go && echo "$1" && exit 0
sleep 120 & echo $! >> pids
timeout 120 sleep 120 & echo $! >> pids
echo $$ >> programs; echo $$ >> pids
wait
"""


@pytest.fixture
def study(tmp_path):
    (tmp_path / "study.toml").write_text(STUDY)
    (tmp_path / "program.sh").write_text(SCRIPT)
    (tmp_path / "program.sh").chmod(0o755)
    return tmp_path


def covey_run(study):
    command = [sys.executable, "-m", "covey.cli.app", "run", "study.toml"]
    return subprocess.Popen(command, cwd=study, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def started(study, run):
    """The ids of all that two programs have started, their wardens last."""

    def there():
        assert run.poll() is None, run.communicate()
        return (study / "pids").exists() and len((study / "pids").read_text().split()) == 6

    until(there, 60)
    return [int(pid) for pid in (study / "pids").read_text().split()], wardens(study)


def wardens(study):
    programs = (study / "programs").read_text().split()
    said = subprocess.run(["ps", "-o", "ppid=", "-p", ",".join(programs)], capture_output=True, text=True)
    return [int(pid) for pid in said.stdout.split()]


def finish(study):
    (study / "go").touch()
    run = covey_run(study)
    out, err = run.communicate(timeout=60)
    assert run.returncode == 0, err
    assert "4 complete" in out
    return err


def test_after_a_kill_of_covey_nothing_is_left_and_a_restart_has_nothing_to_say(study):
    run = covey_run(study)
    pids, parents = started(study, run)
    run.kill()
    run.communicate(timeout=30)
    until(lambda: not any(alive(pid) for pid in (*pids, *parents)))
    assert finish(study) == ""
    assert not list(study.glob(".programs.*"))


def test_a_restart_names_programs_that_survived(study):
    run = covey_run(study)
    _, parents = started(study, run)
    try:
        run.send_signal(signal.SIGSTOP)  # or covey would end what a dead warden leaves
        for pid in parents:
            os.kill(pid, signal.SIGKILL)
        run.kill()
        run.communicate(timeout=30)
        said = finish(study)
        programs = (study / "programs").read_text().split()
        assert said.startswith("covey: programs of an earlier run are still running (process ")
        assert said.count("\n") == 1
        assert all(program in said for program in programs)
    finally:
        for parent in parents:
            end_session(parent)


def test_a_roll_that_cannot_be_made_is_done_without(tmp_path):
    assert roll.open_roll(tmp_path / "none" / "roll") is None
    (tmp_path / "file").write_text("precious")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert roll.open_roll(tmp_path / "link") is None
    assert (tmp_path / "file").read_text() == "precious"
    programs = Processes(tmp_path / "none" / "roll")
    assert shell(programs, "echo 5").out == "5\n"
    programs.close()
