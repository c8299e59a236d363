"""Executor on a Ray cluster, which Ray itself does not have."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

from covey.errors import needs

with needs("ray"):
    import ray


class RayExecutor(Executor):
    """A ``concurrent.futures.Executor`` whose functions run as Ray tasks.

    Connects to Ray if there is no connection yet. Ray places the tasks; a function and its arguments
    travel by cloudpickle, so lambdas and closures work.

    Args:
        **options: of each task, as in ``ray.remote``: num_cpus, num_gpus, resources, max_retries. Failed
            tasks are not retried unless asked for: an evaluation is expensive, and a failure is data.
    """

    def __init__(self, **options: Any) -> None:
        if not ray.is_initialized():
            ray.init(logging_level="ERROR", log_to_driver=False)
        settings = {"max_retries": 0, **options}
        self._task = ray.remote(_call).options(**settings)
        self._running: dict[Future[Any], Any] = {}

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task; the future is Ray's own for its result."""
        reference = self._task.remote(fn, args, kwargs)
        future: Future[Any] = reference.future()
        self._running[future] = reference
        future.add_done_callback(lambda done: self._running.pop(done, None))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Cancel what runs, or wait for it; the connection to Ray stays open."""
        references = list(self._running.values())
        if cancel_futures:
            for reference in references:
                ray.cancel(reference, force=True)
        elif wait and references:
            ray.wait(references, num_returns=len(references))


def _call(fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return fn(*args, **kwargs)
