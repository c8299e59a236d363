"""Tables for spreadsheets: trials go out and values come back as CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from covey.arguments import as_result
from covey.cli.cells import csv_of, safe
from covey.cli.config.document import cut, did_you_mean
from covey.cli.files import SIZES, read_text
from covey.cli.program import text_of
from covey.errors import InputError, shown
from covey.space import Categorical, Dimension, Space
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
    rows = [[key, *(params.get(name) for name in names), None] for key, params in batch]
    return csv_of(["id", *names, "value"], rows)


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
    known = {name: cells[safe(name)] for name in space.dimensions if safe(name) in cells}
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


def fixed_params(space: Space, texts: Sequence[str]) -> dict[str, Any]:
    """Parameters of ``name=value`` texts, each a value of its dimension.

    Raises:
        InputError: if one is no such text, or the dimension does not hold the value.
    """
    found: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or name not in space.dimensions:
            near = did_you_mean(name, space.dimensions)
            there = f"there are {cut(', '.join(space.dimensions))}"
            raise InputError(f"--fix must be like NAME=VALUE, got {shown(text)}{near}; {there}")
        found[name] = _value_of(space.dimensions[name], value)
    try:
        space.positions(found)
    except ValueError as error:
        raise InputError(str(error).replace("fixed:", "--fix:", 1)) from None
    return found


def _value_of(dimension: Dimension, text: str) -> Any:
    """A text as a value of a dimension; itself if it is none."""
    if isinstance(dimension, Categorical):
        return next((one for one in dimension.choices if text_of(one) == text), text)
    try:
        return int(text) if re.fullmatch(r"[+-]?[0-9]{1,18}", text) else float(text)
    except ValueError:
        return text


def check_params(line: Line, params: Mapping[str, Any], space: Space) -> None:
    """Refuse a line whose parameters are another trial's: ids and values may have been shifted."""
    for name, text in line.cells.items():
        if name not in params:
            if text:
                has = f"trial {line.id} has no {cut(name)}"
                raise InputError(f"{line.where}: {has}, the table says {shown(text)}")
        elif not _same(space.dimensions[name], params[name], text):
            ours = text_of(params[name])
            has = f"trial {line.id} has {cut(name)} = {cut(ours)}"
            raise InputError(f"{line.where}: {has}, the table says {shown(text)}")


def _same(dimension: Dimension, value: Any, text: str) -> bool:
    if isinstance(dimension, Categorical) and isinstance(value, bool):
        return text.lower() == text_of(value)
    if isinstance(dimension, Categorical) and isinstance(value, str):
        return text in (value.strip(), safe(value).strip())  # as people write it, or as covey ask does
    try:
        return math.isclose(float(text), value, rel_tol=TOLERANCE.relative, abs_tol=0.0)
    except (ValueError, OverflowError):
        return False
