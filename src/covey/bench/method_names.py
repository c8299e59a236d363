"""Names of methods: a strategy and, after colons, settings of it, as in "auto:s=4:jitter=fixed"."""

from __future__ import annotations

import json
from typing import Any


def settings_in(method: str) -> tuple[str, dict[str, Any]]:
    """The strategy's name and the settings after it; whether there are such is not asked here.

    Raises:
        ValueError: if what follows a colon is not a setting.
    """
    name, *changes = method.split(":")
    settings: dict[str, Any] = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or key == "name":
            raise ValueError(f"a method's settings are like 'auto:s=4', got {method!r}")
        settings[key] = _parsed(value)
    return name, settings


def _parsed(value: str) -> Any:
    """A number or null of JSON; anything else is a word."""
    try:
        return json.loads(value)
    except ValueError:
        return value
