"""Sampler for Optuna: ``optuna.create_study(sampler=CoveySampler())``.

Any number of workers, each with a sampler of its own, share a study through its storage. None of them
coordinates the others: each sees what the others evaluate, and draws its own acquisition function.
"""

from __future__ import annotations

import logging
import threading
import zlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler
from optuna.trial import TrialState

from covey.acquisition.acquisition import Acquisition, Value
from covey.acquisition.candidates import SEPARATION
from covey.arguments import check_seed
from covey.batch.strategy import Strategy
from covey.errors import shown
from covey.integrations.optuna.memory import Memory
from covey.integrations.optuna.model import Settings
from covey.integrations.optuna.space import Axes, axis
from covey.integrations.optuna.tree import Tree
from covey.integrations.optuna.trials import place, publish
from covey.model.priors import Prior
from covey.space import Float, Space

if TYPE_CHECKING:
    from optuna.study import Study
    from optuna.trial import FrozenTrial


_log = logging.getLogger("covey.optuna")

_NEAR = 0.01
"""In every dimension of the unit cube; two points chosen so near, the one in ignorance of the other, are one
too many."""

_ATTEMPTS = 10
"""At a point of one's own. In a small finite space with many workers the last one may still be another's."""


def _distributions(search_space: Any) -> dict[str, BaseDistribution]:
    """A search space that was given, checked."""
    if isinstance(search_space, Mapping):
        given = dict(search_space)
        if all(isinstance(one, BaseDistribution) for one in given.values()):
            return given
    accepted = "a dict of name -> optuna.distributions.BaseDistribution or None"
    raise TypeError(f"search_space must be {accepted}, got {shown(search_space)}")


class CoveySampler(BaseSampler):
    """Chooses the parameters of Optuna's trials by covey.

    Minimises or maximises one objective over floats (also ``log`` and ``step``), ints (also ``log`` and
    ``step``) and choices. Trials that run elsewhere are pending points; pruned trials count with the last
    value that they reported, failed ones as failures. Parameters that an objective asks for only with certain
    values of others are modelled as the tree that finished trials show; one that comes and goes for another
    reason is drawn at random, which is said. Constraints are not looked at.

    Worker processes may have the same seed: the number of the trial goes into every choice, so no two of
    them choose alike. With one worker, the same seed gives the same study. Calls from several threads
    (``n_jobs``) are safe, one at a time.

    Args:
        strategy: a name from ``covey.strategies()`` or a ``covey.Strategy``.
        acquisition: a name from ``covey.acquisitions()``, a function of (mean, std, best, jitter), or a
            ``covey.Acquisition``; None takes the strategy's own, or else log-EI.
        noise: "learn", or the standard deviation of the noise in the objective's units.
        prior: "default", "paper", or a ``covey.Prior``.
        n_initial: trials of the study before the model is consulted; None takes one per dimension and one
            more, within 5 to 20.
        initial: how these are placed, "sobol" or "random".
        search_space: the parameters and their distributions, if they are known beforehand: then the model
            serves from the first trial on. None finds them out from the finished trials.
        independent_sampler: for parameters outside of the search space; None draws them uniformly.
        seed: a whole number; None draws one.
    """

    def __init__(
        self,
        strategy: str | Strategy = "auto",
        acquisition: str | Value | Acquisition | None = None,
        *,
        noise: float | Literal["learn"] = "learn",
        prior: str | Prior = "default",
        n_initial: int | None = None,
        initial: str = "sobol",
        search_space: Mapping[str, BaseDistribution] | None = None,
        independent_sampler: BaseSampler | None = None,
        seed: int | None = None,
    ) -> None:
        self._settings = Settings(strategy, acquisition, noise, prior, n_initial, initial)
        self._settings.optimizer(Space({"any": Float(0, 1)}), seed)  # says what is wrong here, not later
        if independent_sampler is not None and not isinstance(independent_sampler, BaseSampler):
            accepted = "an Optuna sampler or None"
            raise TypeError(f"independent_sampler must be {accepted}, got {shown(independent_sampler)}")
        self._given = None if search_space is None else _distributions(search_space)
        self._independent_sampler = independent_sampler
        self._seed = self._design_seed = check_seed(seed)
        self._memory: Memory | None = None
        self._warned: set[str] = set()
        self._lock = threading.RLock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: part for name, part in self.__dict__.items() if name not in ("_lock", "_memory")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory=None, _lock=threading.RLock())

    def reseed_rng(self) -> None:
        """Draw another seed for the choices to come; the initial design stays, trials share it by number."""
        self._seed = check_seed(None)
        if self._independent_sampler is not None:
            self._independent_sampler.reseed_rng()

    def infer_relative_search_space(
        self,
        study: Study,
        trial: FrozenTrial,  # noqa: ARG002  (Optuna passes it)
    ) -> dict[str, BaseDistribution]:
        """What is varied together: the parameters given, or those of the tree that complete trials show."""
        self._raise_error_if_multi_objective(study)
        with self._lock:
            tree = self._remember(study).tree(study)
            self._warn_of_unclear(tree)
            space = tree.distributions if self._given is None else self._given
        return {name: distribution for name, distribution in space.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The parameters to evaluate next, given the study as the storage has it now."""
        self._raise_error_if_multi_objective(study)
        if not search_space:
            return {}
        with self._lock:
            axes = self._remember(study).axes(study, search_space)
        # A trial that is a retry, or was enqueued, has its place already.
        where = place(trial, axes) or self._suggest(study, trial, axes)
        return {name: search_space[name].to_external_repr(number) for name, number in where.items()}

    def _suggest(self, study: Study, trial: FrozenTrial, axes: Axes) -> dict[str, float]:
        """A point that no other worker has, though all of them may choose at the same time.

        If another was published near the first choice meanwhile, the second choice knows of it. A point is
        published and then looked for: of two workers with the same point, the later one sees the other's.
        """
        with self._lock:
            for attempt in range(_ATTEMPTS):
                model = self._remember(study).model(axes, _others(study, trial))
                proposal = model.propose(trial.number, self._seed, attempt)
                if attempt == 0 and not model.is_alone(proposal, _others(study, trial), _NEAR):
                    continue
                publish(study, trial, proposal.where)
                if model.is_alone(proposal, _others(study, trial), SEPARATION):
                    break
            model.accept(trial.number, proposal)
        return proposal.where

    def _remember(self, study: Study) -> Memory:
        """What is known of a study; all else is forgotten."""
        if self._memory is None or not self._memory.is_of(study):
            self._memory = Memory(study, self._settings, self._design_seed)
        return self._memory

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A parameter on its own: at random, by trial and name, or as the independent sampler says."""
        self._raise_error_if_multi_objective(study)
        if self._independent_sampler is not None:
            return self._independent_sampler.sample_independent(study, trial, param_name, param_distribution)
        self._warn_of_change(study, param_name, param_distribution)
        rng = np.random.default_rng([self._seed, trial.number, zlib.crc32(param_name.encode())])
        return param_distribution.to_external_repr(axis(param_distribution).draw(rng))

    def _warn_of_change(self, study: Study, name: str, now: BaseDistribution) -> None:
        """Say once that a parameter is not modelled, as finished trials have it with another range."""
        if name in self._warned:
            return
        finished = study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        before = (trial.distributions.get(name, now) for trial in finished)
        if other := next((one for one in before if one != now), None):
            self._warned.add(name)
            _log.warning("%s is drawn at random: the study has it with %s, now it is %s", name, other, now)

    def _warn_of_unclear(self, tree: Tree) -> None:
        """Say once of a parameter that comes and goes without a reason that the model could learn."""
        for name in tree.unclear:
            if name not in self._warned:
                self._warned.add(name)
                _log.warning("%s is drawn at random: nothing shows when the objective asks for it", name)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Let the independent sampler prepare."""
        if self._independent_sampler is not None:
            self._independent_sampler.before_trial(study, trial)

    def after_trial(
        self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None
    ) -> None:
        """Let the independent sampler learn; covey reads the storage when it is asked next."""
        if self._independent_sampler is not None:
            self._independent_sampler.after_trial(study, trial, state, values)


def _others(study: Study, trial: FrozenTrial) -> list[FrozenTrial]:
    """All other trials of a study, as they are now."""
    return [other for other in study._get_trials(deepcopy=False) if other.number != trial.number]
