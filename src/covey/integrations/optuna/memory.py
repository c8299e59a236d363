"""Memory of a worker about a study: the search space and the models that it has read so far.

All of it can be read again from the storage, so none of it is ever saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optuna.study import StudyDirection
from optuna.trial import TrialState

from covey.integrations.optuna.model import Model, Settings
from covey.integrations.optuna.space import Axes
from covey.integrations.optuna.tree import Tree, learn_tree, restricted

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

_MODELS = 4
"""Search spaces that are remembered; a study that varies its parameters comes back to the last few."""


class Memory:
    """What one worker has read of one study.

    Args:
        study: which one.
        settings: of the optimizers.
        seed: of the initial designs.
    """

    def __init__(self, study: Study, settings: Settings, seed: int) -> None:
        self._storage, self._study_id = study._storage, study._study_id
        self._sign = -1.0 if study.direction == StudyDirection.MAXIMIZE else 1.0
        self._settings, self._seed = settings, seed
        self._tree, self._read = Tree(), tuple[int, ...]()
        self._models: list[Model] = []

    def is_of(self, study: Study) -> bool:
        """Whether this is about that study."""
        return self._storage is study._storage and self._study_id == study._study_id

    def tree(self, study: Study) -> Tree:
        """The parameters of the study's complete trials, and when each of them is there."""
        complete = study._get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        numbers = tuple(trial.number for trial in complete)
        if numbers != self._read:
            self._tree, self._read = learn_tree(complete), numbers
        return self._tree

    def axes(self, study: Study, search_space: dict[str, BaseDistribution]) -> Axes:
        """The axes of a search space, with the conditions that the study shows."""
        return Axes(search_space, restricted(self.tree(study).when, search_space))

    def model(self, axes: Axes, trials: list[FrozenTrial]) -> Model:
        """The model of a search space, after it has read these trials."""
        model = next((known for known in self._models if known.is_of(axes)), None)
        others = [known for known in self._models if known is not model]
        if model is None or not model.read(trials):
            model = Model(axes, self._sign, self._settings, self._seed)
            model.read(trials)
        self._models = [*others, model][-_MODELS:]
        return model
