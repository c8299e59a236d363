"""What is to be done when a package is not there? Install the extra that brings it; the error says which."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from covey.errors import NotInstalled


@contextmanager
def explained(extra: str) -> Iterator[None]:
    """Import other people's packages inside this: one that is missing is told with its remedy.

    Args:
        extra: of covey, which brings the package.

    Raises:
        NotInstalled: an ImportError, if an import inside fails.
    """
    try:
        yield
    except ImportError as error:
        reason = f'covey.integrations.{extra} cannot be used: {error}; pip install "covey[{extra}]"'
        raise NotInstalled(reason, name=error.name) from error
