"""The paper's own results, with its settings: 10 seeds each, so behind the marker ``slow``."""

import math

import pytest

from covey.bench.paper import ROWS, best_found, summary

SEEDS = range(1000, 1010)

LAST_DIGIT = 5e-5
"""Half a unit of the last digit that the paper prints."""


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.problem}-{row.method}")
def test_mean_best_is_within_two_standard_errors_of_the_paper_or_better(row):
    mean, error = summary([best_found(row, seed) for seed in SEEDS])
    assert mean <= row.mean + 2 * math.hypot(row.error, error) + LAST_DIGIT


@pytest.mark.slow
def test_cosines_are_minimised_beyond_the_corner():
    (row,) = [row for row in ROWS if row.problem == "cosines"]
    assert summary([best_found(row, seed) for seed in SEEDS])[0] < -1.7730
