"""Compact results: a line for each run, with only what tables and figures read.

A file of results has a line for every batch, with all points and values. Tables and figures read an eighth of
that. ``covey.bench.records.read`` gives the same kind of records from either.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from covey.bench.records import ITERATIONS, Record, read
from covey.errors import BadResults

RUN = ("problem", "method", "acquisition", "M", "seed", "version")
"""Fields that all records of a run have in common."""


@dataclass(frozen=True)
class Columns:
    """The fields that tables and figures read of a record, kept with all digits.

    A rounded number moves a line by less than anyone sees, and still gives another file of the figure.

    Attributes:
        every: read of every record.
        initial: read of the initial points alone.
    """

    every: tuple[str, ...]
    initial: tuple[str, ...] = ()

    def of(self, record: Record) -> Record:
        """What is kept of a record."""
        names = (*self.every, *(self.initial if record["iteration"] == 0 else ()))
        return {name: record[name] for name in names if name in record}


PAPER = Columns(every=("iteration", "best", "regret", "distance"))
VERSUS = Columns(every=("iteration", "n", "best", "seconds", "error"), initial=("regret",))


def merged(records: Iterable[Record], columns: Columns) -> list[Record]:
    """A line for each run, in the order of their first appearance."""
    runs: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        runs.setdefault(tuple(record.get(name) for name in RUN), []).append(columns.of(record))
    return [_common(key) | {ITERATIONS: kept} for key, kept in runs.items()]


def _common(key: tuple[Any, ...]) -> Record:
    return {name: value for name, value in zip(RUN, key, strict=True) if value is not None}


def compact(folder: Path) -> list[Path]:
    """Replace each file of results in a folder by a compact and compressed one.

    Raises:
        BadResults: if there is none, or if one is there both plain and compressed.
    """
    paths = sorted([*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz")])
    if not paths:
        raise BadResults(f"{folder} has no files of results: run a benchmark first")
    for path in paths:
        if path.with_name(f"{path.name}.gz") in paths:
            raise BadResults(f"{path} is there compressed too: delete one of them")
    return [_compact(path) for path in paths]


def _compact(path: Path) -> Path:
    headers, records = read(path)
    lines = [{"header": header} for header in _unique(headers)]
    lines += merged(records, VERSUS if path.name.startswith("versus.") else PAPER)
    text = "".join(json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in lines)
    smaller = path if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
    partial = smaller.with_name(f"{smaller.name}.partial")
    partial.write_bytes(gzip.compress(text.encode(), mtime=0))  # the same data, the same file
    partial.replace(smaller)
    if path != smaller:
        path.unlink()
    return smaller


def _unique(headers: Iterable[Record]) -> list[Record]:
    """Headers that differ: a session that was continued has the same again."""
    return list({json.dumps(header, sort_keys=True): header for header in headers}.values())
