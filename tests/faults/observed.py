"""Observations from outside: the rows of a study, and the processes of a run."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.pool import NullPool

_ROWS = """
    select trial_params.param_value, trials.state, trial_values.value
    from trials join trial_params on trial_params.trial_id = trials.trial_id
    left join trial_values on trial_values.trial_id = trials.trial_id
"""
MARK = "COVEY_ORDEAL"
"""The variable in the environment of a process by which all that come from it are known."""


def rows(storage: str) -> list[tuple[float, str, float | None]]:
    """Point, state and value of each trial; read without Optuna, which would make tables that are missing."""
    engine = create_engine(storage, poolclass=NullPool)
    with engine.connect() as connection:
        if not {"trials", "trial_params", "trial_values"} <= set(inspect(connection).get_table_names()):
            return []
        return [(x, str(state), found) for x, state, found in connection.execute(text(_ROWS))]


def processes(mark: str) -> dict[int, str]:
    """Commands of living processes that have a mark, by process id; none where there is no /proc."""
    wanted, found = f"{MARK}={mark}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def survivors(mark: str, seconds: float) -> dict[int, str]:
    """Processes with a mark that are still there after so many seconds; they are ended here."""
    deadline = time.monotonic() + seconds
    while (left := processes(mark)) and time.monotonic() < deadline:
        time.sleep(0.05)
    for number in left:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    return left
