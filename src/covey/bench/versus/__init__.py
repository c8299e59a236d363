"""Versus: covey beside other optimisers, from the same points."""
