"""The result of a run: its trials, the best of them, why it ended and where the time went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from covey.errors import needs
from covey.history import best_of
from covey.trial import Trial


@dataclass(frozen=True)
class Result:
    """What a run found.

    Attributes:
        trials: all trials that were started, in the order of asking.
        stopped: why the run ended, in words.
        seconds: of wall-clock time.
        seconds_choosing: spent on choosing points, mostly while others were evaluated.
        durations: seconds of each evaluation, by trial id.
    """

    trials: list[Trial]
    stopped: str
    seconds: float
    seconds_choosing: float
    durations: Mapping[int, float] = field(default_factory=dict)

    @property
    def best(self) -> Trial | None:
        """The trial with the lowest value; None if no evaluation succeeded."""
        return best_of(self.trials)

    def to_dataframe(self) -> Any:
        """A pandas DataFrame, a row for each trial, parameters in columns of their own."""
        with needs("dataframe"):
            import pandas as pd
        rows = [
            {
                "id": trial.id,
                "state": str(trial.state),
                "value": trial.value,
                **{f"params_{name}": value for name, value in trial.params.items()},
                "seconds": self.durations.get(trial.id),
                "strategy": trial.origin.strategy,
                "jitter": trial.origin.jitter,
                "reason": trial.reason,
            }
            for trial in self.trials
        ]
        return pd.DataFrame(rows)
