"""The export of a study: all trials as CSV, JSON or Parquet, in a file that did not exist."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from covey.cli.cells import csv_of
from covey.cli.program import text_of
from covey.errors import InputError, needs
from covey.space import Space
from covey.study import Recorded


def records(rows: Sequence[Recorded]) -> list[dict[str, Any]]:
    """Trials as plain data, a flat dict for each."""
    return [
        {
            "id": row.trial.id,
            "state": str(row.trial.state),
            "value": row.trial.value,
            **row.trial.params,
            "finished": datetime.fromtimestamp(row.finished, UTC).isoformat() if row.finished else None,
            "evaluation_seconds": row.seconds or None,
            "reason": row.trial.reason,
        }
        for row in rows
    ]


def columns_of(space: Space) -> list[str]:
    """The columns of an export."""
    return ["id", "state", "value", *space.dimensions, "finished", "evaluation_seconds", "reason"]


def csv_text(trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table of records."""
    return csv_of(columns, [[one.get(name) for name in columns] for one in trials])


def _csv(trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    return csv_text(trials, columns).encode("utf-8", "backslashreplace")


def _json(trials: Sequence[Mapping[str, Any]], _columns: Sequence[str]) -> bytes:
    return (json.dumps(trials, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "backslashreplace")


def _parquet(trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    with needs("parquet"):
        import pandas as pd
        import pyarrow  # noqa: F401  (what pandas writes Parquet with)
    frame = pd.DataFrame(trials, columns=list(columns))
    mixed = [name for name in columns if frame[name].map(type).nunique() > 1 and frame[name].dtype == object]
    # A Parquet column has one type; choices of several become text.
    frame = frame.assign(**{name: frame[name].map(_text_or_none) for name in mixed})
    return bytes(frame.to_parquet(index=False))


def _text_or_none(value: Any) -> str | None:
    return None if value is None else text_of(value)


WRITERS: dict[str, Callable[[Sequence[Mapping[str, Any]], Sequence[str]], bytes]] = {
    ".csv": _csv,
    ".json": _json,
    ".parquet": _parquet,
}
"""The contents of a file of each kind, by its suffix: CSV is for spreadsheets, the others are exact."""


def export(path: Path, rows: Sequence[Recorded], space: Space, *, overwrite: bool) -> None:
    """Write all trials; the suffix says how.

    Raises:
        InputError: if the suffix is unknown, the file exists already, or it cannot be written.
    """
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: the name must end in {', '.join(WRITERS)}")
    data = WRITERS[path.suffix.lower()](records(rows), columns_of(space))
    try:
        _write(path, data, overwrite)
    except FileExistsError:
        raise InputError(f"{path} exists already; choose another name, or say --overwrite") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None


def _write(path: Path, data: bytes, overwrite: bool) -> None:
    """Write a file as a whole or not at all; a link is never followed, but replaced if that is wanted."""
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    if not overwrite:
        path.open("xb").close()  # the name is ours from here on
    try:
        with part.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        if not overwrite:
            path.unlink(missing_ok=True)
        raise
