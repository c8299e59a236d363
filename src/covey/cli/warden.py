"""The warden of a program: a small process that sees to it that the program does not outlive covey.

``covey run`` starts this file as a script, which starts the program in its own session. A thread waits for
the end of a pipe whose other end covey alone has: it comes when covey is gone, however it died, and then the
whole session is killed. When the program ends, what it left running in the session is killed too, so that
nothing holds its output open, and the warden ends as the program did. A process that makes a session of its
own (setsid) has left, and is not followed.

It imports nothing of covey and little else, so that it starts in an instant.
"""

from __future__ import annotations

import _thread
import os
import signal
import sys

PIDS = 100_000
"""Above every process id of systems without /proc: macOS and the BSDs end at 99,999."""

OURS = ("SIGPIPE", "SIGXFSZ")
"""Signals that Python ignores, and that a program expects to find as they are for everybody."""

WITHSTOOD = ("SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM", "SIGUSR1", "SIGUSR2")
"""Signals that a batch system sends to all processes of a job: they are for the program."""


def processes() -> list[int] | range:
    """The ids of all processes, perhaps with some that are none."""
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()] or range(1, PIDS)
    except OSError:
        return range(1, PIDS)


def _members(session: int) -> set[int]:
    found = set()
    for pid in processes():
        try:
            if os.getsid(pid) == session:
                found.add(pid)
        except OSError:  # gone, or somebody else's
            continue
    return found


def end_session(session: int, spared: int | None = None) -> None:
    """Kill all processes of a session but one, and those that they start meanwhile."""
    ended = {spared}
    while found := _members(session) - ended:
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:  # gone, or another user's
                continue
        ended |= found


def _become(program: list[str], roll: int) -> None:
    """Turn this process into the program, in a group of its own: a script's ``kill 0`` spares the warden."""
    try:
        os.setpgid(0, 0)
        for name in OURS:
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        if roll >= 0:
            _enter(roll)
        os.execvp(program[0], program)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        os.write(2, os.fsencode(f"the program could not be started: {reason}: {program[0]!r}\n"))
    finally:
        os._exit(127)


def _enter(roll: int) -> None:
    """Write the program's id on the roll, if the disk has room for it."""
    try:
        os.write(roll, b"%d\n" % os.getpid())
    except OSError:
        return


def _watch(life: int) -> None:
    while os.read(life, 1):
        pass
    end_session(os.getpid(), spared=os.getpid())
    os.kill(os.getpid(), signal.SIGKILL)


def _end_as(code: int) -> None:
    """End with an exit code, or by a signal if it is negative."""
    if code < 0:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
        # The program has dumped its core already. A limit of one byte, unlike 0, stops crash reporters too.
        resource.setrlimit(resource.RLIMIT_CORE, (0 if hard == 0 else 1, hard))
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [-code])
        signal.raise_signal(-code)
    os._exit(code if code >= 0 else 128 - code)


def main(life: int, roll: int, program: list[str]) -> None:
    """Run a program and end as it does, or with it.

    Args:
        life: the pipe that ends when covey does.
        roll: the file that programs hold locked while they live; -1 for none.
        program: its argument list.
    """
    os.set_inheritable(life, False)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody hears how a child ended
    child = os.fork()
    if child == 0:
        _become(program, roll)
    for name in WITHSTOOD:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    _thread.start_new_thread(_watch, (life,))
    _, status = os.waitpid(child, 0)
    end_session(os.getpid(), spared=os.getpid())
    _end_as(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
