"""Ray: ``RayExecutor`` for ``covey.minimize``, ``CoveySearch`` for Ray Tune.

The executor needs Ray alone, the searcher also what Ray Tune needs: it is imported when it is asked for.
"""

from typing import TYPE_CHECKING, Any

from covey.integrations.ray.executor import RayExecutor

if TYPE_CHECKING:
    from covey.integrations.ray.search import CoveySearch

__all__ = ["CoveySearch", "RayExecutor"]


def __getattr__(name: str) -> Any:
    if name != "CoveySearch":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from covey.integrations.ray.search import CoveySearch

    return CoveySearch
