"""Virtual workers: an event queue instead of sleeping, so that hundreds of them take minutes to compare."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import covey


@dataclass
class Clock:
    """Evaluations under way, by the virtual time at which they end.

    Attributes:
        now: virtual seconds since the begin.
        running: (end, trial id, trial), a heap.
        busy: virtual seconds that workers have spent evaluating.
    """

    now: float = 0.0
    running: list[tuple[float, int, covey.Trial]] = field(default_factory=list)
    busy: float = 0.0

    def start(self, trial: covey.Trial, seconds: float) -> None:
        heapq.heappush(self.running, (self.now + seconds, trial.id, trial))
        self.busy += seconds

    def until(self, moment: float) -> list[tuple[float, covey.Trial]]:
        """All that end until a moment, which it then is; at least the next one."""
        ended = []
        while self.running and (not ended or self.running[0][0] <= moment):
            end, _, trial = heapq.heappop(self.running)
            self.now = max(self.now, end)
            ended.append((end, trial))
        self.now = max(self.now, moment)
        return ended


def simulate(
    optimizer: covey.Optimizer,
    objective: Callable[[dict[str, Any]], float],
    duration: Callable[[dict[str, Any]], float],
    workers: int,
    evaluations: int,
    asynchronous: bool,
    choosing: float,
) -> dict[str, Any]:
    """Minimise on virtual workers.

    Args:
        optimizer: asked and told.
        objective: of a configuration; takes no virtual time itself.
        duration: virtual seconds that a configuration takes.
        workers: how many evaluations run at once.
        evaluations: how many in all.
        asynchronous: refill free workers as soon as points are chosen; else when all are free.
        choosing: virtual seconds that one ask takes. Whoever returns meanwhile waits for the next one.

    Returns:
        When each evaluation ended, the best value by then, the time it took and the share of it that
        workers spent evaluating.
    """
    clock, times, best, asked = Clock(), list[float](), list[float](), 0
    while len(times) < evaluations:
        free = workers - len(clock.running) if asynchronous or not clock.running else 0
        wanted = min(free, evaluations - asked)
        for trial in optimizer.ask(wanted) if wanted > 0 else ():
            clock.start(trial, duration(trial.params))
            asked += 1
        for end, trial in clock.until(clock.now + choosing):
            optimizer.tell(trial, objective(trial.params))
            times.append(end)
            best.append(optimizer.best.value)  # type: ignore[union-attr, arg-type]
    return {"ends": times, "best": best, "wall": times[-1], "utilisation": clock.busy / workers / times[-1]}
