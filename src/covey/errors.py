"""Which errors does covey raise of its own?"""


class CoveyError(Exception):
    """The root of every exception that is covey's own."""


class SpaceExhausted(CoveyError):
    """Every configuration of a finite space has been asked for already."""


class UnknownTrial(CoveyError, KeyError):
    """A trial was told that this optimizer never asked for."""

    def __str__(self) -> str:
        # KeyError shows the repr of its argument; a sentence reads better bare.
        return str(self.args[0]) if self.args else ""


class AlreadyTold(CoveyError, ValueError):
    """A trial was told a second time."""


class NotInstalled(CoveyError, ImportError):
    """A package is needed that is not there."""
