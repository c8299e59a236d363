"""The study: trials on disk, in an Optuna storage."""

from covey.study.codec import Recorded, entries
from covey.study.study import Study

__all__ = ["Recorded", "Study", "entries"]
