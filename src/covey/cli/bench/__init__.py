"""Commands below ``covey bench``: each module registers its own."""

from covey.cli.bench import compact, paper, versus, xgboost

__all__ = ["compact", "paper", "versus", "xgboost"]
