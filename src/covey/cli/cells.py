"""The cells of a CSV table, as a spreadsheet can open them: no text in them is taken for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from covey.cli.program import text_of

_FORMULA = re.compile("'*[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""How text begins that a spreadsheet computes, in full width too.

Apostrophes may stand before it, so that no two texts are escaped alike.
"""


def safe(text: str) -> str:
    """A text with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def cell(value: Any) -> str:
    """A value of a column: text is made safe, a number stays as it is, None is a blank."""
    if value is None:
        return ""
    return safe(value) if isinstance(value, str) else text_of(value)


def csv_of(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table as CSV."""
    out = io.StringIO()
    plain = csv.writer(out, lineterminator="\n")
    quoted = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in (header, *rows):
        cells = [cell(value) for value in row]
        # A lone carriage return ends a line for readers, which not every writer quotes.
        (quoted if any("\r" in one for one in cells) else plain).writerow(cells)
    return out.getvalue()
