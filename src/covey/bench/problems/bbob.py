"""Functions of BBOB, the standard suite of black boxes, on which nothing is developed here.

Hansen et al. (2009), in the implementation of COCO (``coco-experiment``): 24 functions over [-5, 5]^d, moved
and rotated at random by the number of their instance, which is the seed and one more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from covey.bench.extras import needed
from covey.space import Float, Space

FUNCTIONS = range(1, 25)
DIMENSIONS = (5, 20)


@dataclass(frozen=True)
class Bbob:
    """A function of BBOB.

    Attributes:
        name: how it is called in tables.
        space: what can be varied.
        minimum: the lowest value.
        function: a row (d,) -> the value.
    """

    name: str
    space: Space
    minimum: float
    function: Callable[[Any], float] = field(repr=False)

    def __call__(self, params: Mapping[str, Any]) -> float:
        """The value at one configuration."""
        return float(self.function(np.array([params[name] for name in self.space.dimensions])))

    def true(self, params: Mapping[str, Any]) -> float:
        """The same: there is no noise."""
        return self(params)


def _make(number: int, dimension: int, seed: int) -> Bbob:
    function = needed("cocoex").BareProblem("bbob", number, dimension, seed + 1)
    space = Space({f"x{k + 1}": Float(-5.0, 5.0) for k in range(dimension)})
    return Bbob(_name(number, dimension), space, float(function.best_value()), function)


def _name(number: int, dimension: int) -> str:
    return f"bbob{dimension}-f{number}"


BBOB: dict[str, dict[str, Callable[[int], Bbob]]] = {
    f"bbob{dimension}": {_name(number, dimension): partial(_make, number, dimension) for number in FUNCTIONS}
    for dimension in DIMENSIONS
}
"""Problems by name, by their dimension."""
