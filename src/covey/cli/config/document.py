"""The TOML file as text and data: where each key is, so that a message can point at its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from covey.errors import InputError

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w\-]|\s*\.\s*)+?)\s*=""")
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


@dataclass(frozen=True)
class Document:
    """A TOML file as text and as data.

    Attributes:
        path: of the file, as the user gave it.
        text: of the file.
        data: what the text says.
    """

    path: Path
    text: str
    data: dict[str, Any]

    def wrong(self, where: tuple[str, ...], message: str) -> InputError:
        """An error that names the file and the line of a key, or of the table that lacks it."""
        line = line_of(self.text, where)
        return InputError(
            f"{self.path}: {message}" if line is None else f"{self.path}, line {line}: {message}"
        )

    def check_keys(self, where: tuple[str, ...], given: Iterable[str], accepted: Iterable[str]) -> None:
        """Refuse a key that means nothing, with what it may have meant."""
        names = list(accepted)
        for key in given:
            if key not in names:
                inside = f" in {'.'.join(where)}" if where else ""
                message = f"unknown key {key!r}{inside}{did_you_mean(key, names)}"
                raise self.wrong((*where, key), f"{message}; accepted are {', '.join(names)}")


def read_document(path: Path) -> Document:
    """Read a TOML file; any reason why it cannot be read is an InputError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; covey init {path} writes one to begin with") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text") from None
    try:
        return Document(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(_syntax(path, text, str(error))) from None


def _syntax(path: Path, text: str, message: str) -> str:
    place = _PLACE.search(message)
    line = place.group(1) if place else None
    what = _PLACE.sub("", message)
    return f"{path}, line {line or max(len(text.splitlines()), 1)}: not TOML: {what}"


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A hint to append, or nothing."""
    near = get_close_matches(word, list(names), n=1)
    return f", did you mean {near[0]!r}?" if near else ""


def line_of(text: str, where: tuple[str, ...]) -> int | None:
    """The line, from 1, that says most of a dotted key: itself, or else a table that it belongs to."""
    found, depth = None, 0
    for number, said in _said(text):
        if depth < len(said) <= len(where) and where[: len(said)] == said:
            found, depth = number, len(said)
    return found


def _said(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every line that names a table or a key, with the full path of it."""
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = _path(header.group(1))
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_path(key.group(1)))


def _path(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key; TOML's own rules about quotes."""
    try:
        inner: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:  # a line inside a longer string may look like a key
        return ()
    parts: list[str] = []
    while isinstance(inner, dict):
        ((part, inner),) = inner.items()
        parts.append(part)
    return tuple(parts)
