"""The address of a storage, as it can be shown: without what is secret in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote

if TYPE_CHECKING:
    from sqlalchemy import URL

MASK = "***"
LONG = 20
"""Characters of a user name that may be an access token; the names of people and roles are shorter."""
_OPEN = ("host", "hostaddr", "port", "user", "dbname")
"""The settings of a server whose values are shown. Any other may be a secret, or lead to one."""
_PLAIN = re.compile(r"[\w.,:/+-]*")
_SECRET = re.compile(r"pass|pwd|secret|token|key|credential|auth", re.I)
"""What the name of a secret has in it; for files, whose paths may look like settings."""
_FILE = re.compile(r"\W?sqlite(\+\w+)?:///")


def masked(address: str | URL) -> str:
    """An address without its password, and without the secrets among its ``?name=value`` pairs.

    It need not be one that a database driver, or anybody, can make sense of. Where it can be read in two
    ways, what is secret in either of them is left out.
    """
    address = address if isinstance(address, str) else _text(address)
    shown, end = "", 0
    for start, stop in sorted(_secrets(address)):
        if start >= end:
            shown += address[end:start] + MASK
        end = max(end, stop)
    return shown + address[end:]


def masked_words(text: str) -> str:
    """A text with every address in it masked, and single spaces between its words."""
    return " ".join(masked(word) if "://" in word else word for word in text.split())


def scrubbed(text: str, url: URL) -> str:
    """A text of somebody else's, such as a driver's error, without the secrets of an address."""
    settings = {name: one for name, values in url.normalized_query.items() for one in values}
    secrets = [one for name, one in settings.items() if not _is_open(name, one)]
    secrets += [str(url.password or ""), _token(url.username or "")]
    forms = {form for one in secrets for form in (one, quote(one, safe=""), quote_plus(one), repr(one)[1:-1])}
    for form in sorted(forms - {""}, key=len, reverse=True):
        text = text.replace(form, MASK)
    return text


def _text(url: URL) -> str:
    """An address as it is shown; the path of a file as it is, without the marks of an address."""
    if url.get_backend_name() != "sqlite":
        return url.render_as_string(hide_password=False)
    query = "&".join(f"{name}={one}" for name, values in url.normalized_query.items() for one in values)
    return f"{url.drivername}:///{url.database or ''}{'?' if query else ''}{query}"


def _secrets(address: str) -> Iterator[tuple[int, int]]:
    """Where secrets are, as (start, stop)."""
    if _FILE.match(address):
        for pair in re.finditer(r"[?&;]([^=?&;]*)=([^&;]*)", address):
            if _SECRET.search(unquote(pair.group(1))):
                yield pair.span(2)
        return
    scheme = re.match(r"[^/?@]*://", address)
    begin = scheme.end() if scheme else 0
    yield from _of_user(address, begin, bool(scheme))
    for pair in re.finditer(r"[?&]([^=&]*)(?:=([^&]*))?", address[begin:]):
        if not _is_open(pair.group(1), pair.group(2)):
            yield (
                begin + pair.start(1 if pair.group(2) is None else 2),
                len(address),
            )  # an & may be a part of the secret
            return


def _of_user(address: str, begin: int, certain: bool) -> Iterator[tuple[int, int]]:
    """The password, up to the last @ since it may have one in it; a token; what is no port in its place."""
    colon, at = address.find(":", begin), address.rfind("@")
    if begin <= colon < at:
        yield colon + 1, at
    if begin < at:
        name = re.compile(r"[^:@]*").match(address, begin)
        if name and _token(name.group()):
            yield name.span()
    if certain:
        port = re.compile(r"(?:\[[^\]]*\]|[^:/?#]*):([^/?#]*)").match(address, max(begin, at + 1))
        if port and not port.group(1).strip("'\"").isdigit():
            yield port.span(1)


def _token(user: str) -> str:
    """A user name if it may be an access token, else nothing."""
    return user if len(user) >= LONG else ""


def _is_open(name: str, value: str | None) -> bool:
    """Whether a setting can be shown."""
    known = unquote(name) in _OPEN and value is not None and _PLAIN.fullmatch(value) is not None
    return known and not (name == "user" and _token(value or ""))
