"""Pool of processes for many runs, each on one core, with a bar that says how long it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, TypeVar

from covey.run.workers import LocalProcesses

Job = TypeVar("Job")


def run_all(
    work: Callable[[Job], list[dict[str, Any]]],
    jobs: Sequence[Job],
    processes: int,
    done: Callable[[Job, list[dict[str, Any]]], None],
    known: int = 0,
) -> None:
    """Do all jobs; an error in one of them ends it all, after what is finished was handed over.

    Args:
        work: does a job; pickled by value.
        jobs: what to do.
        processes: how many at once.
        done: hears of each finished job, in this process.
        known: how many were done before, for the bar.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("runs"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    pool, waiting = LocalProcesses(processes), list(jobs)
    running: dict[Future[list[dict[str, Any]]], Job] = {}
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("", total=known + len(jobs), completed=known)
        try:
            while waiting or running:
                while waiting and len(running) < processes:
                    job = waiting.pop(0)
                    running[pool.submit(work, job)] = job
                finished, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in finished:
                    done(running.pop(future), future.result())
                    progress.advance(bar)
        finally:
            pool.shutdown(cancel_futures=True)
