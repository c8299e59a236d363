"""Packages that only benchmarks need: those of ``covey[bench]``, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from covey.errors import needs


def needed(module: str) -> Any:
    """Import a module that may not be installed.

    Raises:
        NotInstalled: if it is not.
    """
    with needs("bench"):
        return import_module(module)
