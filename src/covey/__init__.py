"""covey: parallel Bayesian optimization by sampling acquisition functions."""

from covey.acquisition.acquisition import Acquisition, Jitter, acquisitions
from covey.batch.strategy import Strategy, strategies, strategy
from covey.errors import (
    AlreadyTold,
    CoveyError,
    ExecutorLost,
    NotInstalled,
    RunError,
    SpaceExhausted,
    StorageLost,
    StudyBusy,
    StudyMismatch,
    TooManyFailures,
    UnknownTrial,
)
from covey.model.diagnostics import Diagnostics
from covey.model.distributions import Beta, Gamma, LogNormal, LogUniform, Normal, Uniform
from covey.model.priors import Prior
from covey.optimizer import Optimizer
from covey.run.minimize import minimize
from covey.run.result import Result
from covey.space import Categorical, Dimension, Float, Int, Ordinal, Space
from covey.study import Study
from covey.trial import Failure, Origin, State, Trial

__version__ = "0.1.0"

__all__ = [
    "Acquisition",
    "AlreadyTold",
    "Beta",
    "Categorical",
    "CoveyError",
    "Diagnostics",
    "Dimension",
    "ExecutorLost",
    "Failure",
    "Float",
    "Gamma",
    "Int",
    "Jitter",
    "LogNormal",
    "LogUniform",
    "Normal",
    "NotInstalled",
    "Optimizer",
    "Ordinal",
    "Origin",
    "Prior",
    "Result",
    "RunError",
    "Space",
    "SpaceExhausted",
    "State",
    "StorageLost",
    "Strategy",
    "Study",
    "StudyBusy",
    "StudyMismatch",
    "TooManyFailures",
    "Trial",
    "Uniform",
    "UnknownTrial",
    "acquisitions",
    "minimize",
    "strategies",
    "strategy",
]
