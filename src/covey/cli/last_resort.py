"""The last resort of the command line: an error that nobody foresaw is one line, its details in a file."""

from __future__ import annotations

import os
import re
import tempfile
import traceback

from covey.study.address import masked


def unexpected(error: BaseException) -> str:
    """What to say about an error that nobody foresaw; its traceback is in a file for the owner's eyes."""
    what = traceback.format_exception_only(error)[-1].strip()
    try:
        where = f"the details are in {_kept(error)}, please report them"
    except OSError as problem:
        where = f"the details cannot be written: {problem.strerror}"
    return f"something unexpected happened ({what:.300}); {where}"


def _kept(error: BaseException) -> str:
    """The name of a new file with the traceback, without the secrets of addresses in it."""
    text = "".join(traceback.format_exception(error))
    text = re.sub(r"\S*://\S*", lambda found: masked(found.group()), text)
    descriptor, name = tempfile.mkstemp(prefix="covey-", suffix=".txt")  # with mode 600
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
    return name
