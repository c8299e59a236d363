"""Leftovers of a run: finished evaluations that its storage would not take, in a file until it does."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from covey.space.describe import plain
from covey.trial import Evaluation, Failure, Trial

_log = logging.getLogger("covey.study")


def leave(name: str, folders: Iterable[Path], evaluations: Sequence[tuple[Trial, Evaluation]]) -> str:
    """Put evaluations into a new file; says where, in words.

    Args:
        name: of the study.
        folders: where to try, the best first.
        evaluations: of trials whose ids are the storage's own.
    """
    if not evaluations:
        return "every finished value is in it"
    rows = [_row(trial, evaluation) for trial, evaluation in evaluations]
    text = json.dumps({"study": name, "trials": rows}, indent=1)
    for folder in folders:
        if path := _written(folder, name, text):
            return f"{len(rows)} finished values are in {path}, and the same call again takes them from there"
    values = ", ".join(f"trial {row['id']}: {row['value']}" for row in rows)
    return f"and no file can be written for the values of {values}"


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


def find(name: str, folders: Iterable[Path]) -> list[Left]:
    """What earlier runs of a study left; a file that makes no sense is named and left alone."""
    found: list[Left] = []
    for path in (path for folder in folders for path in sorted(folder.glob(f"{_stem(name)}-*.json"))):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["study"] != name:
                continue
            found.append((path, [_read(row) for row in document["trials"]]))
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            _log.warning("%s cannot be read and is left alone: %s", path, error)
    return found


def _read(row: Mapping[str, Any]) -> tuple[Trial, Evaluation]:
    result = Failure(str(row["reason"])) if row["value"] is None else float(row["value"])
    return Trial(int(row["id"]), dict(row["params"])), Evaluation(result, float(row["seconds"]))


def is_of(left: Trial, recorded: Trial) -> bool:
    """Whether a trial in a file is the one that a study has under its id."""
    return left.id == recorded.id and left.params == _plain(recorded.params)
