"""covey: parallel Bayesian optimization by sampling acquisition functions."""

from covey.acquisition import Acquisition, Jitter, acquisitions
from covey.distributions import Beta, Gamma, LogNormal, LogUniform, Normal, Uniform
from covey.errors import AlreadyTold, CoveyError, SpaceExhausted, UnknownTrial
from covey.exclusive import StudyBusy
from covey.loop import TooManyFailures, minimize
from covey.optimizer import Optimizer
from covey.posterior import Diagnostics
from covey.priors import Prior
from covey.result import Result
from covey.space import Categorical, Dimension, Float, Int, Space
from covey.strategy import Strategy, strategies, strategy
from covey.study import Study, StudyMismatch
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
    "Failure",
    "Float",
    "Gamma",
    "Int",
    "Jitter",
    "LogNormal",
    "LogUniform",
    "Normal",
    "Optimizer",
    "Origin",
    "Prior",
    "Result",
    "Space",
    "SpaceExhausted",
    "State",
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
