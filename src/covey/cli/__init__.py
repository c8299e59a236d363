"""The command line: what can be done with a study.toml, without writing Python."""
