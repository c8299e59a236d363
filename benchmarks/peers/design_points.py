"""Points without a model as a peer: uniform random and quasi-random (scrambled Sobol).

python design_points.py random | sobol
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from cube import spread
from protocol import Params, Setup, serve
from scipy.stats.qmc import Sobol


class Design:
    """Points that do not depend on any value."""

    def __init__(self, setup: Setup, how: str) -> None:
        self.space = setup.space
        rng = np.random.default_rng([setup.seed, 2])
        draw = {"random": lambda n: rng.random((n, len(self.space))), "sobol": self._sobol(rng)}
        self.draw = draw[how]

    def _sobol(self, rng: np.random.Generator):
        sequence = Sobol(len(self.space), rng=rng)
        warnings.filterwarnings("ignore", "The balance properties", UserWarning)  # any number of points
        return sequence.random

    def ask(self, n: int) -> list[Params]:
        return [
            {d["name"]: spread(d, uniform) for d, uniform in zip(self.space, row, strict=True)}
            for row in self.draw(n).tolist()
        ]

    def tell(self, _params: list[Params], _values: list[float]) -> None:
        pass


if __name__ == "__main__":
    serve("scipy", lambda setup: Design(setup, sys.argv[1]))
