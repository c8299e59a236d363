"""The damage that others do to the rows of a study: one row that makes no sense does not cost the others."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from optuna.storages import RDBStorage
    from optuna.trial import FrozenTrial

DAMAGE = (ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError, RecursionError)
"""What comes of reading a row that makes no sense. A database that cannot be read raises other errors."""


def read_trials(
    storage: RDBStorage, study_id: int, leave_out: Callable[[int, Exception], None]
) -> list[FrozenTrial]:
    """All trials of a study that can be read.

    Args:
        storage: where the study is.
        study_id: its number there.
        leave_out: hears of each trial that cannot be read, and why.
    """
    try:
        return storage.get_all_trials(study_id, deepcopy=False)
    except DAMAGE:  # Optuna reads all or none
        found = []
        for trial_id in trial_ids(storage, study_id):
            try:
                found.append(storage.get_trial(trial_id))
            except DAMAGE as error:
                leave_out(trial_id, error)
        return found


def trial_ids(storage: RDBStorage, study_id: int) -> list[int]:
    """The storage's numbers of a study's trials, whatever is in their rows."""
    from sqlalchemy import text

    query = text("select trial_id from trials where study_id = :study order by trial_id")
    with storage.engine.connect() as connection:
        return [int(row[0]) for row in connection.execute(query, {"study": study_id})]
