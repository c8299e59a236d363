"""Rounds of candidates: losses to tell the optimizer, or failures when no fit succeeds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from covey.errors import needs
from covey.trial import Failure, Trial

with needs("sklearn"):
    from sklearn.exceptions import FitFailedWarning


def round_sizes(candidates: int, batch: int, available: int | None) -> list[int]:
    """How many candidates each round has; a finite space may have too few for all."""
    if available is not None and available < candidates:
        warnings.warn(
            f"the space has {available} configurations, fewer than n_iter={candidates}: all are tried",
            stacklevel=2,
        )
        candidates = available
    full, rest = divmod(int(candidates), int(batch))
    return [batch] * full + [rest] * (rest > 0)


@dataclass(frozen=True)
class Folds:
    """A splitter that always gives the same (train, test) pairs."""

    pairs: Sequence[tuple[Any, Any]]

    def split(self, *_data: Any, **_params: Any) -> Iterator[tuple[Any, Any]]:
        return iter(self.pairs)


class Rounds:
    """Cross-validates candidates, round by round.

    Args:
        evaluate: scikit-learn's ``evaluate_candidates``.
        folds: that every candidate is validated on.
        refit: the searcher's, which may name the metric that counts.
    """

    def __init__(self, evaluate: Callable[..., Any], folds: Folds, refit: Any) -> None:
        self._evaluate, self._folds, self._refit = evaluate, folds, refit
        self._succeeded = False
        self._error: ValueError | None = None

    def losses(self, trials: Sequence[Trial], context: Mapping[str, Any]) -> Sequence[float | Failure]:
        """The mean over the folds of each candidate, negative: scikit-learn maximises."""
        try:
            results = self._evaluate([trial.params for trial in trials], cv=self._folds, **context)
        except ValueError as error:
            if "fits failed" not in str(error):
                raise
            return self._failed(trials, error)
        self._succeeded = True
        losses: Sequence[float] = -results[driving(results, self._refit)][-len(trials) :]
        return losses

    def _failed(self, trials: Sequence[Trial], error: ValueError) -> Sequence[Failure]:
        """scikit-learn gives up when all fits of one call fail; here that is one round of several."""
        self._error = error
        warnings.warn(
            f"the {len(trials)} candidates of a round failed.{error}", FitFailedWarning, stacklevel=2
        )
        return [Failure("every fit of the round failed")] * len(trials)

    def check(self) -> None:
        """Raise what scikit-learn raised, if no round had a fit that succeeded."""
        if self._error is not None and not self._succeeded:
            raise self._error


def driving(results: Mapping[str, Any], refit: Any) -> str:
    """The column that is maximised: of the metric that refit names, else of the first or only one."""
    named = f"mean_test_{refit}"
    return named if named in results else next(key for key in results if key.startswith("mean_test_"))


@contextmanager
def announced(
    estimator: Any, parent: Mapping[str, Any], task: str, subtasks: int, *, sequential: bool = True
) -> Iterator[Mapping[str, Any]]:
    """Tell scikit-learn's callbacks of a task, where it has them (1.9); gives the keywords for subtasks."""
    if not parent:
        yield {}
        return
    context = parent["callback_ctx"].subcontext(
        task_name=task, max_subtasks=subtasks, sequential_subtasks=sequential
    )
    context.call_on_fit_task_begin(estimator=estimator)
    yield {"callback_ctx": context}
    context.call_on_fit_task_end(estimator=estimator)
