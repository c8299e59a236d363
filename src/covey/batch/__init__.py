"""The batch: which points come next, for every strategy, in one loop."""
