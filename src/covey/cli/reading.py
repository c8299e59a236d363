"""The reading of a program's value: a number that it prints, or one in a JSON file that it writes."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from covey.trial import Failure

_NUMBER = re.compile(
    r"(?<![\w.])[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+|nan\b|inf\b|infinity\b)(?:e[-+]?[0-9]+)?(?!\.?\w)", re.I
)
_GROUPED = re.compile(r"(?<![\w.,])[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?(?![\w,])")
"""One number with its thousands apart, or several: nobody can tell."""

ADVICE = 'print the value alone on the last line, or use value = {json = "...", key = "..."}'


@dataclass(frozen=True)
class Readable:
    """What can be a value's place, and what of it becomes a failure's reason.

    Attributes:
        line: characters of the last line; what is longer is no line with a value.
        shown: characters of it in a reason.
        report: bytes of a JSON file; more is not read into memory.
    """

    line: int = 10_000
    shown: int = 200
    report: int = 1_000_000


READABLE = Readable()


def only_number(out: str) -> float | Failure:
    """The only number on the last line that is not blank; nan and inf are numbers here."""
    lines = [line for line in out.splitlines() if line.strip()]
    if not lines:
        return Failure("nothing on stdout")
    line = lines[-1].strip().replace("\N{MINUS SIGN}", "-")
    if len(line) > READABLE.line:
        return Failure(f"the last line on stdout has more than {READABLE.line} characters: {ADVICE}")
    found = _NUMBER.findall(line)
    if len(found) == 1:
        return float(found[0])
    if grouped := _GROUPED.search(line):
        return Failure(f"{grouped.group()!r} on stdout is one number or several: print no commas in it")
    count = f"{len(found)} numbers" if found else "no number"
    return Failure(f"the last line on stdout has {count}, {line[: READABLE.shown]!r}: {ADVICE}")


@dataclass(frozen=True)
class Stamp:
    """What tells a report from one that was written before it.

    Attributes:
        modified: when, in nanoseconds.
        size: in bytes.
        inode: of the file.
        digest: of its contents, for file systems that know the time to a second or two.
    """

    modified: int
    size: int
    inode: int
    digest: bytes


def stamp(path: Path) -> Stamp | None:
    """The report that is there before a program starts; None if there is none that could be read."""
    try:
        return _contents(path)[0]
    except (OSError, ValueError):
        return None


def _contents(path: Path) -> tuple[Stamp, bytes]:
    """A file of a modest size; a pipe or a device is not even opened, as that may never end."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise ValueError("it is not a regular file")
    with open(path, "rb", opener=_at_once) as file:
        data, status = file.read(READABLE.report + 1), os.fstat(file.fileno())
    if len(data) > READABLE.report:
        raise ValueError(f"it has more than {READABLE.report} bytes")
    digest = hashlib.sha256(data).digest()
    return Stamp(status.st_mtime_ns, status.st_size, status.st_ino, digest), data


def _at_once(path: str, flags: int) -> int:
    """Open a file without waiting, even if it has become a pipe meanwhile."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def reported(path: Path, key: str, before: Stamp | None) -> float | Failure:
    """The number under a key of a JSON file that is not the one of before."""
    try:
        now, data = _contents(path)
        if now == before:
            return Failure(f"the program wrote no new {path.name}; the one there is older than its start")
        value = json.loads(data.decode("utf-8"))
        for part in key.split("."):
            value = value[part]
    except FileNotFoundError:
        return Failure(f"the program wrote no {path.name}")
    except (OSError, ValueError, RecursionError) as error:  # unreadable, or not JSON
        return Failure(f"{path.name} cannot be read: {error}")
    except (KeyError, IndexError, TypeError):
        value = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    return Failure(f"{path.name} has no number under {key!r}")
