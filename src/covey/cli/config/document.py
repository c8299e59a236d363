"""The TOML file as text and data: where each key is, so that a message can point at its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from covey.cli.files import SIZES, read_text
from covey.errors import MOST_SHOWN, InputError, shown

_PART = r"""(?:"[^"\n]*"|'[^'\n]*'|(?<![\w\-])[\w\-]++)"""
_DOTTED = rf"{_PART}(?:[ \t]*+\.[ \t]*+{_PART})"
_HEADER = re.compile(r"\s*+\[([^\[\]]+)\]\s*(?:#.*)?$")
_KEY = re.compile(rf"\s*+({_DOTTED}*+)\s*+=")
_DEEP = re.compile(rf"{_DOTTED}{{50}}")
"""More dots than any key of a study has. The parser takes the square of their number."""
_BARE = re.compile(r"[\w\-]++(?:\.[\w\-]++)*+", re.ASCII)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")

_LONGEST, _MANY = 100, 1000
"""Characters of a word, and words that it is compared with, to find what was meant: each takes a moment."""


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
                inside = f" in {cut('.'.join(where))}" if where else ""
                message = f"unknown key {shown(key)}{inside}{did_you_mean(key, names)}"
                raise self.wrong((*where, key), f"{message}; accepted are {', '.join(names)}")


def read_document(path: Path) -> Document:
    """Read a TOML file; any reason why it cannot be read is an InputError."""
    text = read_text(path, SIZES.study, f"; covey init {path} writes one to begin with")
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if deep := _DEEP.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise InputError(f"{path}, line {line}: a key of too many parts")
    try:
        return Document(path, text, tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise InputError(_syntax(path, text, str(error))) from None
    except RecursionError:
        raise InputError(f"{path}: lists or tables are nested too deeply") from None
    except (ValueError, OverflowError):  # of whole numbers that Python takes no time for
        raise InputError(f"{path}: a number has too many digits") from None


def _syntax(path: Path, text: str, message: str) -> str:
    place = _PLACE.search(message)
    line = place.group(1) if place else None
    what = _PLACE.sub("", message)
    return f"{path}, line {line or max(len(text.splitlines()), 1)}: not TOML: {what}"


def cut(text: str) -> str:
    """A name in a message: as it is, or the beginning of a long one; as a literal if it is not printable."""
    return text if len(text) <= MOST_SHOWN and text.isprintable() else shown(text)


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """A hint to append, or nothing."""
    if len(word) > _LONGEST:
        return ""
    near = get_close_matches(word, [name for name in names if len(name) <= _LONGEST][:_MANY], n=1)
    return f", did you mean {shown(near[0])}?" if near else ""


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
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _path(header.group(1))
            yield number, table
        elif key := _KEY.match(line):
            yield number, (*table, *_path(key.group(1)))


def _path(dotted: str) -> tuple[str, ...]:
    """The parts of a dotted key; TOML's own rules about quotes."""
    if _BARE.fullmatch(dotted):  # most are, and a parser for each takes its time
        return tuple(dotted.split("."))
    parts: list[str] = []
    try:
        inner: Any = tomllib.loads(f"{dotted} = 0")
        while isinstance(inner, dict):
            ((part, inner),) = inner.items()
            parts.append(part)
    except (ValueError, RecursionError):  # a line inside a longer string may look like a key
        return ()
    return tuple(parts)
