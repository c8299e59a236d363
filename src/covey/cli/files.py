"""Files that a user names: plain text of a sensible size, or one line that says why not."""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path

from covey.errors import InputError, shown


@dataclass(frozen=True)
class Sizes:
    """How large a file may be, in bytes unless said otherwise; a slip in its name must not fill the memory.

    Attributes:
        study: a study.toml; a thousand parameters need a tenth.
        table: a table of results; a thousand trials of a hundred parameters need a quarter.
        lines: of a table; no study has as many trials.
    """

    study: int = 1_000_000
    table: int = 10_000_000
    lines: int = 100_000


SIZES = Sizes()


def read_text(path: Path, most: int, absent: str = "") -> str:
    """The text of a file.

    Args:
        path: of the file; a pipe or a device is refused, which may never end.
        most: bytes that it may have.
        absent: what to add if there is no such file.

    Raises:
        InputError: if it cannot be read, is too long, or is not text in UTF-8.
    """
    try:
        kind = path.stat().st_mode
        if stat.S_ISDIR(kind):
            raise InputError(f"{path} cannot be read: it is a folder")
        if not stat.S_ISREG(kind):
            raise InputError(f"{path} cannot be read: it is a pipe or a device, not a file")
        with path.open("rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise InputError(f"{path} does not exist{absent}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise InputError(f"{shown(str(path))} is no name of a file") from None
    if len(content) > most:
        raise InputError(f"{path} is too long; it may have {most / 1e6:g} MB")
    return _decoded(path, content)


def _decoded(path: Path, content: bytes) -> str:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text") from None
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError(f"{path}, line {line}: not UTF-8 text: it has a NUL character")
    return text
