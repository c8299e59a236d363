"""Records of runs: JSON lines, a header with settings and versions and then the records of each run.

A run is appended as a whole when it is done, so an interrupted benchmark continues with the runs that are
missing. A last line that was cut off is ignored. In a compact file a line has all records of a run.
"""

from __future__ import annotations

import gzip
import json
import os
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeAlias

from covey.errors import BadResults

Record: TypeAlias = dict[str, Any]

ITERATIONS = "iterations"
"""The field of a compact line that has what is different in each record of a run."""

PACKAGES = ("covey", "numpy", "scipy", "numba", "emcee")


def versions(*more: str) -> dict[str, str]:
    """Of Python and of the packages that results depend on."""
    return {"python": platform.python_version()} | {name: version(name) for name in (*PACKAGES, *more)}


def there(folder: Path, name: str = "results") -> Path | None:
    """The file of results in a folder, plain or compressed, if there is one."""
    paths = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    return next((path for path in paths if path.exists()), None)


def find(folder: Path, name: str = "results") -> Path:
    """The file of results in a folder.

    Raises:
        BadResults: if there is none.
    """
    path = there(folder, name)
    if path is None:
        raise BadResults(f"{folder} has no {name}.jsonl or {name}.jsonl.gz: run a benchmark first")
    return path


def read(path: Path) -> tuple[list[Record], list[Record]]:
    """Headers and records of a file."""
    raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    *whole, _cut_off = raw.split(b"\n")  # what is after the last newline was not finished
    try:
        lines = [json.loads(line) for line in whole]
    except ValueError as error:
        raise BadResults(f"{path} is not a file of JSON lines: {error}") from None
    headers = [line["header"] for line in lines if "header" in line]
    # A run that was done again, longer, counts once: the last one.
    unique = {
        _identity(record): record for line in lines if "header" not in line for record in _records(line)
    }
    return headers, list(unique.values())


def _records(line: Record) -> list[Record]:
    """All that a line has: of a run if it is compact, or itself."""
    common = {name: value for name, value in line.items() if name != ITERATIONS}
    return [common | record for record in line.get(ITERATIONS, [{}])]


def _identity(record: Record) -> tuple[Any, ...]:
    return tuple(record.get(name) for name in ("problem", "method", "acquisition", "M", "seed", "iteration"))


class Results:
    """A collection of runs in a folder.

    Args:
        folder: made if it is not there.
        settings: what all runs have in common; a folder with runs of other settings is refused.
        key: names of the fields that tell runs apart.
        name: of the file.

    Raises:
        BadResults: if the folder has runs with other settings.
    """

    def __init__(
        self, folder: Path, settings: Mapping[str, Any], key: Sequence[str], name: str = "results"
    ) -> None:
        self.path, self._key = folder / f"{name}.jsonl", tuple(key)
        folder.mkdir(parents=True, exist_ok=True)
        self.done: dict[tuple[Any, ...], int] = {}
        self._header: list[Record] = [{"header": {"settings": dict(settings), "versions": versions()}}]
        if self.path.exists():
            self._continue(dict(settings))

    def _continue(self, settings: Record) -> None:
        headers, records = read(self.path)
        for header in headers:
            if header["settings"] != settings:
                raise BadResults(
                    f"{self.path} has runs with {_words(header['settings'])}, not {_words(settings)}; "
                    "choose another --out"
                )
        for record in records:
            self.done[self.key_of(record)] = max(record["iteration"], self.done.get(self.key_of(record), 0))
        whole = self.path.read_bytes()
        os.truncate(self.path, whole.rfind(b"\n") + 1)

    def key_of(self, record: Mapping[str, Any]) -> tuple[Any, ...]:
        """What tells a run from others."""
        return tuple(record[name] for name in self._key)

    def add(self, records: Iterable[Record]) -> None:
        """Append the records of a run at once; a header goes before the first of a session."""
        lines, self._header = [*self._header, *records], []
        text = "".join(json.dumps(line, allow_nan=False) + "\n" for line in lines)
        with self.path.open("ab") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in settings.items())
