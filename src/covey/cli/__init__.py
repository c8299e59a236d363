"""What can be done without writing Python? The commands of ``covey``, about a study.toml."""

from covey.errors import CoveyError


class InputError(CoveyError):
    """What the user gave cannot be used; the message is one line that says what is accepted."""
