"""Benchmarks: problems with known answers, and runs on them."""
