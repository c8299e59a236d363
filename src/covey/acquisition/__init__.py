"""Acquisition: how much a point is worth trying, and where that is highest."""
