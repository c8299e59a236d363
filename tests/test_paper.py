"""The paper's results are reached with its settings: statistical checks, `make test-slow`."""

import pytest

from covey.bench.paper.protocol import COLUMNS, METHODS, REPORTED
from covey.bench.paper.runs import Job, Settings, run
from covey.bench.paper.table import cells

SEEDS = range(1000, 1010)  # others than those of the published results
CHECKED = [
    ("branin", "ats"),
    ("branin", "b-lcb"),
    ("cosines", "ats"),
    ("hartmann6", "ats"),
    ("rosenbrock4", "ats"),
]


def test_the_table_has_thirty_five_cells():
    assert len(REPORTED) == 35
    assert {method for method, _ in REPORTED} == set(METHODS) - {"j-ats", "h-ats"}


@pytest.mark.slow
@pytest.mark.parametrize(("problem", "method"), CHECKED)
def test_the_mean_is_within_two_standard_errors_of_the_papers_or_better(problem, method):
    column = COLUMNS[problem]
    acquisition = "lcb" if method == "b-lcb" else column.acquisition
    jobs = [Job(problem, method, acquisition, column.batch, column.iterations, seed) for seed in SEEDS]
    (cell,) = cells([record for job in jobs for record in run(job, Settings())])
    assert cell.repetitions == len(SEEDS)
    assert cell.holds, cell
