"""Search for scikit-learn: rounds of candidates, each cross-validated in parallel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from covey.acquisition.acquisition import Acquisition, Value
from covey.arguments import LIMITS
from covey.batch.strategy import Strategy
from covey.errors import needs
from covey.integrations.sklearn.rounds import Folds, Rounds, announced, round_sizes
from covey.integrations.sklearn.space import as_space
from covey.optimizer import Optimizer
from covey.space import Space

with needs("sklearn"):
    from sklearn.model_selection._search import BaseSearchCV
    from sklearn.utils import check_random_state
    from sklearn.utils._param_validation import Interval


class CoveySearchCV(BaseSearchCV):
    """Bayesian optimization in place of ``RandomizedSearchCV``, with the same parameters and attributes.

    Candidates come in rounds. A round's candidates x folds are fitted in parallel, on any joblib backend,
    and its scores decide on the next. All rounds see the same folds, also those of a splitter that shuffles.

    A candidate with a fit or a score that fails is a failure to the model, which avoids what is like it,
    unless ``error_score`` is a number, which is then its score. When every fit of a round fails, its
    candidates are not in ``cv_results_``: scikit-learn has no place for them.

    Args:
        estimator: what is tuned; a pipeline's parameters are named "step__parameter".
        param_distributions: name -> scipy distribution, list of values or covey dimension; or a covey.Space.
            Rising or falling numbers in a list are ordered, other lists are choices.
        n_iter: the number of candidates in all.
        batch_size: the number of candidates in a round. Fewer learn more from each other; keep
            ``batch_size`` x folds above ``n_jobs`` for all workers to have something to do.
        strategy: a name from ``covey.strategies()`` or a ``covey.Strategy``.
        acquisition: a name from ``covey.acquisitions()``, a function or a ``covey.Acquisition``; None takes
            the strategy's own.
        scoring: as everywhere in scikit-learn. With several metrics the one that ``refit`` names decides
            what is searched for, the first one if it names none.
        n_jobs: fits in parallel, by joblib.
        refit: whether, or by which metric, to fit the best candidate on all data.
        cv: the number of folds or a splitter.
        verbose: how much is printed.
        pre_dispatch: how many fits are handed out in advance.
        random_state: of the candidates; an int for the same ones again, whatever ``n_jobs`` is.
        error_score: the score of a fit that fails, or "raise".
        return_train_score: whether ``cv_results_`` has training scores.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **BaseSearchCV._parameter_constraints,
        "param_distributions": [dict, Space],
        "n_iter": [Interval(Integral, 1, LIMITS.count, closed="both")],
        "batch_size": [Interval(Integral, 1, LIMITS.batch, closed="both")],
        "strategy": [str, Strategy],
        "acquisition": [str, callable, Acquisition, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator: Any,
        param_distributions: Mapping[str, Any] | Space,
        *,
        n_iter: int = 10,
        batch_size: int = 4,
        strategy: str | Strategy = "auto",
        acquisition: str | Value | Acquisition | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: bool | str | Callable[..., Any] = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: int | str = "2*n_jobs",
        random_state: int | np.random.RandomState | None = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
    ) -> None:
        self.param_distributions = param_distributions
        self.n_iter = n_iter
        self.batch_size = batch_size
        self.strategy = strategy
        self.acquisition = acquisition
        self.random_state = random_state
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )

    def _check_input_parameters(self, X: Any, y: Any, split_params: Mapping[str, Any]) -> None:
        # Splitters that shuffle would give every round other folds, and scores that do not compare. Kept
        # until the search begins only: the indices are as long as the data.
        self._folds = Folds(list(self._checked_cv_orig.split(X, y, **split_params)))

    def _run_search(self, evaluate_candidates: Callable[..., Any], *, callback_ctx: Any = None) -> None:
        """Ask, cross-validate, tell, until there were n_iter candidates."""
        space = as_space(self.param_distributions)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        optimizer = Optimizer(space, self.strategy, self.acquisition, seed=seed)
        rounds = Rounds(evaluate_candidates, self._folds, self.refit)
        del self._folds
        sizes = round_sizes(self.n_iter, self.batch_size, space.size)
        outer = {} if callback_ctx is None else {"callback_ctx": callback_ctx}
        with announced(self, outer, "search", len(sizes)) as search:
            for size in sizes:
                fits = size * self.n_splits_
                with announced(self, search, "round", fits, sequential=False) as context:
                    trials = optimizer.ask(size)
                    optimizer.tell(trials, rounds.losses(trials, context))
        rounds.check()
