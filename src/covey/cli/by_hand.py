"""Work by hand: trials that people ask a study for, and values that they tell it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from covey.cli.config import Config
from covey.cli.tables import Line, check_params
from covey.errors import CoveyError, InputError, StorageLost
from covey.history import replay
from covey.optimizer import Optimizer
from covey.study import Recorded, Study, entries
from covey.study.address import masked
from covey.study.storage import complaint
from covey.trial import Evaluation, Failure


@contextmanager
def storage_errors(config: Config) -> Iterator[None]:
    """Whatever a database complains about, in one line."""
    from optuna.exceptions import OptunaError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (OptunaError, SQLAlchemyError) as error:
        raise CoveyError(complaint(error, config.storage)) from None


def open_study(config: Config, *, create: bool) -> Study:
    """The study of a study.toml.

    Args:
        config: what the file says.
        create: make it if there is none; else that is an error, and nothing is made.

    Raises:
        InputError: if there is none.
        StudyMismatch: if there is one about something else.
    """
    with storage_errors(config):
        names = Study.names(config.storage)
        near = get_close_matches(config.name.lower(), [name.lower() for name in names], n=1)
        other = next((repr(name) for name in names if [name.lower()] == near), "")
        if config.name not in names and not create:
            where = f"study {config.name!r} is not in {masked(config.storage)}"
            hint = f"; there is {other}" if other else " yet; covey ask or covey run creates it"
            raise InputError(f"{where}{hint}")
        if config.name not in names and other:  # a slip of the pen would begin anew, with the first points
            print(f"covey: study {config.name!r} begins; there is {other} already", file=sys.stderr)
        return Study(config.storage, config.name, config.space)


def ask(
    config: Config, study: Study, count: int, fixed: Mapping[str, Any] | None = None
) -> list[tuple[int, dict[str, Any]]]:
    """The next trials, recorded as running before anybody sees them: (id, parameters) of each."""
    with study.exclusive():  # two people who ask at once get different points
        optimizer = reconstruct(config, study.recorded())
        trials = optimizer.ask(count, fixed=fixed or None)
        for trial in trials:
            study.started(trial)
    return [(study.key(trial.id), trial.params) for trial in trials]


def reconstruct(config: Config, rows: Sequence[Recorded]) -> Optimizer:
    """The optimizer that has seen all of a study, in the order in which a run would have told it."""
    optimizer = Optimizer(config.space, **config.settings)
    replay(optimizer, entries(rows, asynchronous=config.asynchronous))
    return optimizer


@dataclass(frozen=True)
class Told:
    """What a table of results brings.

    Attributes:
        news: results of trials that were running, by id.
        known: how many lines say what was recorded before.
        blank: how many lines were left for later.
    """

    news: Mapping[int, float | Failure]
    known: int
    blank: int


def tell(lines: Sequence[Line], study: Study, *, skip_blank: bool) -> Told:
    """Record what is new in a table of results: all of it, or nothing if a line contradicts the study.

    Raises:
        InputError: if one does, or contradicts another line.
        StudyBusy: if another process runs the study.
    """
    with study.exclusive():  # what is compared is what is written to
        told = _compare(lines, study, skip_blank=skip_blank)
        _record(told.news, study)
    return told


def _compare(lines: Sequence[Line], study: Study, *, skip_blank: bool) -> Told:
    """What of a table is new; nothing is written.

    Raises:
        InputError: if a line contradicts the study or another line.
    """
    rows = {row.trial.id: row for row in study.recorded()}
    news: dict[int, float | Failure] = {}
    known = blank = 0
    for line in lines:
        if line.id not in rows:
            raise InputError(f"{line.where}: trial {line.id} is not in study {study.name!r}")
        row = rows[line.id]
        check_params(line, row.trial.params, study.space)
        if line.result is None and skip_blank:
            blank += 1
            continue
        result = Failure("reported as failed") if line.result is None else line.result
        before = news.get(line.id, row.result)
        if before is None:
            news[line.id] = result
        elif _says(before) == _says(result):
            known += 1
        else:
            told = f"trial {line.id} is {_says(before)} already, the table says {_says(result)}"
            raise InputError(f"{line.where}: {told}")
    return Told(news, known, blank)


def _says(result: float | Failure) -> str:
    return "failed" if isinstance(result, Failure) else repr(result)


def _record(news: Mapping[int, float | Failure], study: Study) -> None:
    """Write results down; an error on the way says which are recorded."""
    trials = [row.trial for row in study.recorded() if row.trial.id in news]
    study.adopt({trial.id: trial.id for trial in trials})
    for count, trial in enumerate(trials):
        try:
            study.finished(trial, Evaluation(news[trial.id], 0.0))
        except StorageLost as error:
            done = ", ".join(str(one.id) for one in trials[:count]) or "none"
            raise StorageLost(
                f"{error}; recorded of the table: {done}; tell it again for the others"
            ) from None
