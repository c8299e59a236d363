"""Tables for spreadsheets: trials go out and values come back as CSV; exports are Parquet and JSON too."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from covey.arguments import as_result
from covey.cli.config.document import cut, did_you_mean
from covey.cli.files import SIZES, read_text
from covey.cli.program import text_of
from covey.errors import InputError, needs, shown
from covey.space import Categorical, Dimension, Space
from covey.study import Recorded
from covey.trial import Failure


@dataclass(frozen=True)
class Tolerance:
    """How near a parameter that comes back must be.

    Attributes:
        relative: spreadsheets round, to no fewer than seven digits.
    """

    relative: float = 1e-6


TOLERANCE = Tolerance()
_ID = re.compile(r"[0-9]{1,18}")
"""No number of a trial is longer: databases count to 2**63."""
_VALUE = re.compile(
    r"[-+]?(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:e[-+]?[0-9]++)?|[-+]?(?:nan|inf|infinity)", re.I
)
"""What float() takes, but for separators and the digits of other scripts."""


@dataclass(frozen=True)
class Line:
    """A line of a table of results.

    Attributes:
        where: the file and the line, for messages.
        id: of the trial.
        result: its value or failure; None for a blank.
        cells: the parameters that the line repeats, as text.
    """

    where: str
    id: int
    result: float | Failure | None
    cells: Mapping[str, str]


def batch_text(space: Space, batch: Sequence[tuple[int, Mapping[str, Any]]]) -> str:
    """A table of trials to evaluate: id, parameters, and a value column to fill in."""
    names = list(space.dimensions)
    rows = [[str(key), *(text_of(params[name]) for name in names), ""] for key, params in batch]
    return _csv([["id", *names, "value"], *rows])


def _csv(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def read_results(path: Path, space: Space) -> list[Line]:
    """The lines of a table with the columns id and value.

    Raises:
        InputError: if anything in it cannot be understood.
    """
    rows = _read_rows(path)
    if not rows:
        raise InputError(f"{path} is empty; it needs the columns id and value")
    (_, names), *lines = rows
    header = [name.strip() for name in names]
    _check_header(path, header)
    return [_line(f"{path}, line {number}", header, row, space) for number, row in lines]


def _read_rows(path: Path) -> list[tuple[int, list[str]]]:
    """All rows but blank ones, each with the number of its last line."""
    reader = csv.reader(io.StringIO(read_text(path, SIZES.table), newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in islice(reader, SIZES.lines + 1) if any(map(str.strip, row))]
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not CSV: {error}") from None
    if reader.line_num > SIZES.lines:
        raise InputError(f"{path} is too long; it may have {SIZES.lines} lines")
    return rows


def _check_header(path: Path, header: list[str]) -> None:
    counts = Counter(name for name in header if name)
    if twice := sorted(name for name, count in counts.items() if count > 1):
        raise InputError(f"{path}, line 1: column {shown(twice[0])} is there twice")
    for name in ("id", "value"):
        if name not in header:
            near = did_you_mean(name, header).replace("did you mean", "is it")
            if len(header) == 1 and any(mark in header[0] for mark in ";\t"):
                near = "; columns are separated by commas"
            raise InputError(f"{path}, line 1: column {name!r} is missing{near or f'; got {shown(header)}'}")


def _line(where: str, header: list[str], row: list[str], space: Space) -> Line:
    if len(row) != len(header):
        raise InputError(f"{where}: {len(row)} cells under {len(header)} columns")
    cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
    if not _ID.fullmatch(cells["id"]):
        raise InputError(f"{where}: id must be a whole number that covey ask gave, got {shown(cells['id'])}")
    known = {name: cells[name] for name in space.dimensions if name in cells}
    return Line(where, int(cells["id"]), _result(where, cells["value"]), known)


def _result(where: str, text: str) -> float | Failure | None:
    if not text:
        return None
    if text.lower() == "failed":
        return Failure("reported as failed")
    if not _VALUE.fullmatch(text):
        raise InputError(f"{where}: value must be a number, blank or 'failed', got {shown(text)}")
    number = float(text)
    if math.isinf(number) and "inf" not in text.lower():
        raise InputError(f"{where}: value must be a number up to 1.7e308, got {shown(text)}")
    return as_result(number)


def check_params(line: Line, params: Mapping[str, Any], space: Space) -> None:
    """Refuse a line whose parameters are another trial's: ids and values may have been shifted."""
    for name, text in line.cells.items():
        if not _same(space.dimensions[name], params[name], text):
            ours = text_of(params[name])
            has = f"trial {line.id} has {cut(name)} = {cut(ours)}"
            raise InputError(f"{line.where}: {has}, the table says {shown(text)}")


def _same(dimension: Dimension, value: Any, text: str) -> bool:
    if isinstance(dimension, Categorical) and isinstance(value, (str, bool)):
        return text.lower() == text_of(value).lower() if isinstance(value, bool) else text == value.strip()
    try:
        return math.isclose(float(text), value, rel_tol=TOLERANCE.relative, abs_tol=0.0)
    except (ValueError, OverflowError):
        return False


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


def csv_text(trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """A table of records."""
    cells = [["" if one[name] is None else text_of(one[name]) for name in columns] for one in trials]
    return _csv([list(columns), *cells])


def _write_csv(path: Path, trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    path.write_text(csv_text(trials, columns), encoding="utf-8", newline="")


def _write_json(path: Path, trials: Sequence[Mapping[str, Any]], _columns: Sequence[str]) -> None:
    path.write_text(json.dumps(trials, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_parquet(path: Path, trials: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    with needs("parquet"):
        import pandas as pd
        import pyarrow  # noqa: F401  (what pandas writes Parquet with)
    frame = pd.DataFrame(trials, columns=list(columns))
    mixed = [name for name in columns if frame[name].map(type).nunique() > 1 and frame[name].dtype == object]
    # A Parquet column has one type; choices of several become text.
    frame = frame.assign(**{name: frame[name].map(_text_or_none) for name in mixed})
    frame.to_parquet(path, index=False)


def _text_or_none(value: Any) -> str | None:
    return None if value is None else text_of(value)


WRITERS: dict[str, Callable[[Path, Sequence[Mapping[str, Any]], Sequence[str]], None]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
"""How a file of each kind is written, by its suffix."""


def columns_of(space: Space) -> list[str]:
    """The columns of an export."""
    return ["id", "state", "value", *space.dimensions, "finished", "evaluation_seconds", "reason"]


def export(path: Path, rows: Sequence[Recorded], space: Space) -> None:
    """Write all trials; the suffix says how.

    Raises:
        InputError: if the suffix is unknown or the file cannot be written.
    """
    if path.suffix.lower() not in WRITERS:
        raise InputError(f"{path}: the name must end in {', '.join(WRITERS)}")
    try:
        WRITERS[path.suffix.lower()](path, records(rows), columns_of(space))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
