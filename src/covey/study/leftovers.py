"""Leftovers of a run: finished evaluations that its storage would not take, in a file until it does."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from covey.space.describe import plain
from covey.study.codec import Recorded
from covey.study.study import Study
from covey.trial import Evaluation, Failure, Trial

_log = logging.getLogger("covey.study")


def leave(study: Study, evaluations: Sequence[tuple[Trial, Evaluation]]) -> str:
    """Put evaluations that a study cannot take into a new file; says where, in words.

    Args:
        study: it need not be there.
        evaluations: of trials whose ids are the storage's own.
    """
    if not evaluations:
        return "every finished value is in it"
    rows = [_row(trial, evaluation) for trial, evaluation in evaluations]
    text = json.dumps({"study": study.name, "trials": rows}, indent=1)
    for folder in _folders(study):
        if path := _written(folder, study.name, text):
            return f"{len(rows)} finished values are in {path}, and the same call again takes them from there"
    values = ", ".join(f"trial {row['id']}: {row['value']}" for row in rows)
    return f"and no file can be written for the values of {values}"


def take(study: Study) -> None:
    """Write down what an earlier run could not; a file whose values are all in the study is removed."""
    for path, evaluations in _found(study):
        rows = {row.trial.id: row for row in study.recorded()}
        others = [trial.id for trial, given in evaluations if not _fits(rows.get(trial.id), trial, given)]
        for trial, evaluation in evaluations:
            if trial.id not in others and rows[trial.id].result is None:
                study.adopt({trial.id: trial.id})
                study.finished(trial, evaluation)
        if others:
            _log.warning("%s is left alone: the study has other trials %s", path, others)
        else:
            path.unlink()


def _folders(study: Study) -> list[Path]:
    """Where leftovers may be: beside a file, else where the run is; or at home."""
    beside = Path.cwd() if study.file is None else study.file.parent
    return list(dict.fromkeys([beside, Path.home().resolve()]))


def _row(trial: Trial, evaluation: Evaluation) -> dict[str, Any]:
    failed = isinstance(evaluation.result, Failure)
    return {
        "id": trial.id,
        "params": _plain(trial.params),
        "value": None if failed else evaluation.result,
        "reason": evaluation.result.reason if isinstance(evaluation.result, Failure) else None,
        "seconds": evaluation.seconds,
    }


def _plain(params: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain(value) for key, value in params.items()}


def _written(folder: Path, name: str, text: str) -> Path | None:
    """The file that was written in a folder; None if none could be."""
    for number in range(1, 100):  # earlier ones that nobody took stay
        path = folder / f"{_stem(name)}-{number}.json"
        try:
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            continue
        except OSError:
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        return path.resolve()
    return None


def _stem(name: str) -> str:
    """The beginning of a file's name: readable, and another for every study."""
    readable = re.sub(r"[^\w.-]+", "-", name)[:40]
    return f"covey-{readable}-{hashlib.sha256(name.encode()).hexdigest()[:8]}-unwritten"


Left = tuple[Path, list[tuple[Trial, Evaluation]]]
"""A file, and what is in it."""


def _found(study: Study) -> list[Left]:
    """What earlier runs of a study left; a file that makes no sense is named and left alone."""
    found: list[Left] = []
    pattern = f"{_stem(study.name)}-*.json"
    for path in (path for folder in _folders(study) for path in sorted(folder.glob(pattern))):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            found.append((path, [_read(row) for row in document["trials"]]))
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            _log.warning("%s cannot be read and is left alone: %s", path, error)
    return found


def _read(row: Mapping[str, Any]) -> tuple[Trial, Evaluation]:
    result = Failure(str(row["reason"])) if row["value"] is None else float(row["value"])
    return Trial(int(row["id"]), dict(row["params"])), Evaluation(result, float(row["seconds"]))


def _fits(row: Recorded | None, trial: Trial, evaluation: Evaluation) -> bool:
    """Whether a trial of a file is in the study, and still running or with the same result."""
    if row is None or trial.params != _plain(row.trial.params):
        return False
    return row.result in (None, evaluation.result)
