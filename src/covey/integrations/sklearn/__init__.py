"""scikit-learn: ``CoveySearchCV`` in place of ``RandomizedSearchCV``."""

from covey.integrations.sklearn.search import CoveySearchCV

__all__ = ["CoveySearchCV"]
