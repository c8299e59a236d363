"""Protocol of the paper: its five problems, its methods, and the table that it reports."""

from __future__ import annotations

from dataclasses import dataclass

from covey.model.distributions import Gamma
from covey.model.priors import NOISE, Prior, resolve_prior
from covey.space import Float, Space


@dataclass(frozen=True)
class Column:
    """A column of the paper's table.

    Attributes:
        problem: its name in ``covey.bench.problems.functions``.
        iterations, batch: T and M.
        acquisition: what methods without one of their own use.
        valley: of figure 2 (valley-like); else of figure 3 (multi-modal).
    """

    problem: str
    iterations: int
    batch: int
    acquisition: str
    valley: bool


COLUMNS: dict[str, Column] = {
    column.problem: column
    for column in (
        Column("branin", 7, 10, "lcb", valley=True),
        Column("cosines", 9, 5, "ei", valley=False),
        Column("hartmann6", 9, 10, "ei", valley=False),
        Column("eggholder", 19, 5, "ei", valley=False),
        Column("rosenbrock4", 19, 5, "ei", valley=True),
    )
}


def other(problem: str) -> Column:
    """A column for a problem that the paper does not have: about the budget of hartmann6."""
    return Column(problem, 10, 10, "ei", valley=False)


METHODS = ("sequential", "ats", "lp", "b-lcb", "p-ts", "ats-b-lcb", "ats-p-ts", "j-ats", "h-ats")
"""The seven of the table, then the two that only the figures have."""

N_INITIAL = 5
"""Uniformly random evaluations before the first batch, not counted as an iteration."""

CLIP = 1e-6
"""Regret is not shown below this."""

_REPORTED = {
    "sequential": "1.0682 0.1666 -1.5187 0.1117 -1.8188 0.2862 -745.4952 45.2170 1630.9149 352.1795",
    "ats": "0.3981 0.0002 -1.77321 6e-8 -3.2810 0.0172 -878.4349 17.5301 143.4917 30.7108",
    "lp": "0.3994 0.0012 -1.7727 1e-5 -3.2196 0.0293 -886.5274 14.9021 176.5940 42.9050",
    "b-lcb": "0.3979 2e-6 -1.7731 5e-5 -3.2898 0.0144 -830.1668 27.8264 66.4483 12.6149",
    "p-ts": "0.3994 0.0003 -1.4832 0.1476 -3.0904 0.0261 -863.1183 39.2462 86.7537 28.9031",
    "ats-b-lcb": "0.3979 1e-6 -1.77315 4e-5 -3.3064 0.0109 -888.9844 17.3145 125.8718 37.7826",
    "ats-p-ts": "0.3993 0.0003 -1.5798 0.1289 -3.1295 0.0202 -803.8516 50.5051 36.6755 6.3740",
}
"""Mean and standard error of the best value, column by column (table 1 of the paper)."""


@dataclass(frozen=True)
class Reported:
    """A cell of the paper's table.

    Attributes:
        mean, error: of the best value, and its standard error.
        digits: decimals that the mean is printed with, so how far rounding may have moved it.
    """

    mean: float
    error: float
    digits: int


def _cell(mean: str, error: str) -> Reported:
    return Reported(float(mean), float(error), len(mean.partition(".")[2]))


REPORTED: dict[tuple[str, str], Reported] = {
    (method, problem): _cell(row.split()[2 * k], row.split()[2 * k + 1])
    for method, row in _REPORTED.items()
    for k, problem in enumerate(COLUMNS)
}
"""By method and problem."""


def _same(rate: float) -> Prior:
    return Prior(Gamma(1, rate), Gamma(1, rate), resolve_prior("paper", 1).mean, NOISE)


def prior_of(reading: str, space: Space) -> Prior:
    """A reading of the paper's prior, which for one of them depends on the width of the domain.

    Raises:
        ValueError: if there is no such reading, or if it is about widths and the space has none.
    """
    if reading not in PRIORS:
        raise ValueError(f"prior must be one of {list(PRIORS)}, got {reading!r}")
    if reading == "scale-6-raw":
        flat = _same(1 / 6)
        return Prior(Gamma(1, _width(space) / 6), flat.variance, flat.mean, NOISE)
    if reading == "scale-6":
        return _same(1 / 6)
    return resolve_prior(reading, len(space))


def _width(space: Space) -> float:
    """Of all dimensions alike: a prior has one distribution for all length-scales."""
    widths = {
        dim.high - dim.low for dim in space.dimensions.values() if isinstance(dim, Float) and not dim.log
    }
    if len(widths) != 1 or len(space) != sum(isinstance(dim, Float) for dim in space.dimensions.values()):
        raise ValueError("prior scale-6-raw needs real parameters that are equally wide, none on a log scale")
    return widths.pop()


PRIORS: dict[str, str] = {
    "paper": "the preset: Gamma(1, 6) with 6 a rate, on length-scales and variance",
    "scale-6": "Gamma(1, 6) with 6 a scale, on length-scales and variance",
    "scale-6-raw": "the same, with length-scales in the function's own units",
    "default": "covey's own",
}
"""Readings of "Gamma(1, 6)", by name."""
