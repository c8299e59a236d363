"""Memory of a worker about a study: the search space and the models that it has read so far.

All of it can be read again from the storage, so none of it is ever saved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from optuna.search_space import IntersectionSearchSpace
from optuna.study import StudyDirection

from covey.integrations.optuna.model import Model, Settings

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
        self._common = IntersectionSearchSpace()
        self._models: list[Model] = []

    def is_of(self, study: Study) -> bool:
        """Whether this is about that study."""
        return self._storage is study._storage and self._study_id == study._study_id

    def common(self, study: Study) -> dict[str, BaseDistribution]:
        """The parameters that all complete trials have, each with the same distribution."""
        return self._common.calculate(study)

    def model(self, search_space: dict[str, BaseDistribution], trials: list[FrozenTrial]) -> Model:
        """The model of a search space, after it has read these trials."""
        model = next((known for known in self._models if known.search_space == search_space), None)
        others = [known for known in self._models if known is not model]
        if model is None or not model.read(trials):
            model = Model(search_space, self._sign, self._settings, self._seed)
            model.read(trials)
        self._models = [*others, model][-_MODELS:]
        return model
