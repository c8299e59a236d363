"""Acquisition Thompson Sampling for Optuna: the sampler of the covey package."""

from covey.integrations.optuna import CoveySampler

__all__ = ["CoveySampler"]
