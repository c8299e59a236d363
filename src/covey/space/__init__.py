"""The space: what can be varied, its cube, and how the model sees it."""

from covey.space.dimensions import Categorical, Dimension, Float, Int
from covey.space.space import Space

__all__ = ["Categorical", "Dimension", "Float", "Int", "Space"]
