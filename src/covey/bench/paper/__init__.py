"""The paper: its experiments, its table and its figures."""
