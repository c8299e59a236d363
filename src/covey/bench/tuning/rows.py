"""Rows of a file of HIGGS in chunks, or one line that says what is wrong with it and where."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from covey.bench.extras import needed
from covey.errors import BadData

Rows: TypeAlias = NDArray[np.float32]
"""float32, of the shape that the docstring names."""

FEATURES = 28
COLUMNS = 1 + FEATURES
"""The label, then the features."""

CHUNK = 50_000
"""Rows in memory at once, while eleven million go by."""

_LARGEST = float(np.finfo(np.float32).max)

_BROKEN = (EOFError, OSError, zlib.error)
"""What reading a damaged file raises."""


def chunks(path: Path, size: int = CHUNK) -> Iterator[Rows]:
    """The rows of a file, in order, never more than ``size`` of them at once.

    Args:
        path: comma-separated, without a header, plain or compressed by gzip; 0 or 1 first, then 28 numbers.
        size: of a chunk.

    Yields:
        Rows (at most size, 29), the label first.

    Raises:
        BadData: if the file is not like that.
    """
    pandas, compressed, done = needed("pandas"), _is_gzip(path), 0
    try:
        with pandas.read_csv(
            path,
            header=None,
            dtype=np.float32,
            chunksize=size,
            compression="gzip" if compressed else None,
            quoting=csv.QUOTE_NONE,
            encoding="ascii",
            encoding_errors="replace",
        ) as reader:
            for rows in _tables(reader):
                if not _sound(rows):
                    raise ValueError("a row is not a label and 28 features")
                yield rows
                done += len(rows)
    except (ValueError, *_BROKEN) as error:
        raise BadData(_reason(path, compressed, done, error)) from None


def _tables(reader: Any) -> Iterator[Rows]:
    """What pandas reads, as arrays; a number too large for float32 is infinite, without a warning."""
    while True:
        with np.errstate(over="ignore"):
            frame = next(reader, None)
        if frame is None:
            return
        yield frame.to_numpy()


def _is_gzip(path: Path) -> bool:
    """Whether the content is; the name must not promise what is not there."""
    if path.exists() and not path.is_file():
        raise BadData(f"{path} is not a file")
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except OSError as error:
        raise unreadable(path, error) from None
    if not start:
        raise BadData(f"{path} is empty")
    if start == b"PK\x03\x04":
        raise BadData(f"{path} is a zip archive: unpack it and give the HIGGS.csv.gz that is in it")
    compressed = start[:2] == b"\x1f\x8b"
    if path.suffix == ".gz" and not compressed:
        raise BadData(f"{path} is named .gz but is not a gzip file")
    return compressed


def unreadable(path: Path, error: OSError) -> BadData:
    """The error to raise where a file cannot be opened."""
    reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
    return BadData(f"{path} {reason}")


def _sound(rows: Rows) -> bool:
    """Whether rows (n, c) are labels and features."""
    if rows.shape[1] != COLUMNS:
        return False
    labels = rows[:, 0]
    return bool(np.isfinite(rows).all() and ((labels == 0) | (labels == 1)).all())


def _reason(path: Path, compressed: bool, done: int, error: Exception) -> str:
    """What is wrong after ``done`` sound rows; pandas does not say where, so look line by line."""
    seen = 0
    try:
        with _open(path, compressed) as file:
            for number, line in enumerate(file, 1):
                seen += bool(line.strip())  # pandas passes over blank lines
                wrong = _wrong(line) if seen > done and line.strip() else None
                if wrong is not None:
                    return f"{path}, line {number}: {wrong}"
    except EOFError:
        return f"{path} is cut off after {seen:,} rows: its compressed data has no end"
    except _BROKEN as damage:
        return f"{path} is damaged after {seen:,} rows: {damage}"
    return f"{path} cannot be read: {error}" if seen else f"{path} is empty"


def _open(path: Path, compressed: bool) -> TextIO:
    if compressed:
        return gzip.open(path, "rt", encoding="ascii", errors="replace")
    return path.open(encoding="ascii", errors="replace")


def _wrong(line: str) -> str | None:
    """What is wrong with a line, if anything."""
    cells = [cell.strip() for cell in line.split(",")]
    if len(cells) != COLUMNS:
        return f"{len(cells)} columns, but HIGGS has {COLUMNS}: the label, then {FEATURES} features"
    for number, cell in enumerate(cells, 1):
        if not cell:
            return f"column {number} is missing"
        if not _is_number(cell):
            return f"column {number} is {cell[:40]!r}, not a finite number"
    if float(cells[0]) not in (0, 1):
        return f"the label in column 1 is {cells[0]!r}, not 0 or 1"
    return None


def _is_number(cell: str) -> bool:
    """Whether it is one that float32 can hold."""
    try:
        return abs(float(cell)) <= _LARGEST and "_" not in cell
    except ValueError:
        return False
