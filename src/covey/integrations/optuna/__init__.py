"""Optuna: ``optuna.create_study(sampler=CoveySampler())``."""

from covey.integrations.optuna.sampler import CoveySampler

__all__ = ["CoveySampler"]
