"""The address of a storage, as it can be shown: without what is secret in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

MASK = "***"
_SECRET = re.compile(r"pass|pwd|secret|token|key|credential|auth", re.I)
"""What the name of a secret has in it: password, sslpassword, passwd, access_token, api_key."""
_FILE = re.compile(r"sqlite(\+\w+)?:///")


def masked(address: str) -> str:
    """An address without its password, and without the secrets among its ``?name=value`` pairs.

    It need not be one that a database driver, or anybody, can make sense of. Where it can be read in two
    ways, what is secret in either of them is left out.
    """
    shown, end = "", 0
    for start, stop in sorted(_secrets(address)):
        if start >= end:
            shown += address[end:start] + MASK
        end = max(end, stop)
    return shown + address[end:]


def masked_words(text: str) -> str:
    """A text with every address in it masked, and single spaces between its words."""
    return " ".join(masked(word) if "://" in word else word for word in text.split())


def _secrets(address: str) -> Iterator[tuple[int, int]]:
    """Where secrets are, as (start, stop)."""
    scheme = re.match(r"[^/?@]*://", address)
    begin = scheme.end() if scheme else 0
    colon, at = address.find(":", begin), address.rfind("@")
    # The last @: a password may have one in it. So may the path of a file, which has no password.
    if begin <= colon < at and not _FILE.match(address):
        yield colon + 1, at
    for pair in re.finditer(r"[?&;]([^=?&;]*)=([^&;]*)", address):
        if _SECRET.search(unquote(pair.group(1))):
            yield pair.span(2)
