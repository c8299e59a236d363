"""The run: evaluations on workers, from the first to the last, on a budget."""
