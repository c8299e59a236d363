"""The study: trials on disk, in an Optuna storage."""

from covey.study.study import Recorded, Study

__all__ = ["Recorded", "Study"]
