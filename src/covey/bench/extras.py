"""Which packages do only benchmarks need? Those of ``covey[bench]``, imported when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from covey.errors import NotInstalled


def needed(module: str) -> Any:
    """Import a module that may not be installed.

    Raises:
        NotInstalled: if it is not.
    """
    try:
        return import_module(module)
    except ImportError as error:
        reason = f"{module} cannot be imported ({error}): pip install 'covey[bench]'"
        raise NotInstalled(reason) from None
