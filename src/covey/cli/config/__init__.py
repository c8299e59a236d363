"""The study.toml: read, checked and located key by key."""

from covey.cli.config.config import Config, check_runnable, load

__all__ = ["Config", "check_runnable", "load"]
