"""The space: what can be varied, its cube, and how the model sees it."""

from covey.space.choices import Categorical
from covey.space.dimensions import Dimension
from covey.space.floats import Float
from covey.space.ints import Int
from covey.space.ordinal import Ordinal
from covey.space.space import Space

__all__ = ["Categorical", "Dimension", "Float", "Int", "Ordinal", "Space"]
