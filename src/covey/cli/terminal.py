"""The terminal's safety: what programs print and people name is shown, and never obeyed."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but for the tab, ends of lines, changes of direction, and halves of characters."""


def printable(line: str) -> str:
    """A line of text in which characters that would move, colour, reverse or end it are escaped."""
    return _UNSAFE.sub(lambda found: found.group().encode("unicode_escape").decode("ascii"), line)
