"""What every named strategy suggests stays what it is, unless it is changed on purpose.

``python tests/test_suggestions.py`` writes the record anew.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import covey
from covey import Categorical, Failure, Float, Int, Space

RECORD = Path(__file__).with_name("suggestions.json")

# Machines differ in the last bits of a sum, which a sampler and a maximiser carry on.
CLOSE = 0.02

SPACES = {
    "float": Space({name: Float(0, 1) for name in "abc"}),
    "mixed": Space(
        {
            "rate": Float(1e-4, 1e2, log=True),
            "width": Int(1, 500, log=True),
            "kind": Categorical(["a", "b", "c"]),
        }
    ),
    "categorical": Space(
        {"kind": Categorical(["a", "b", "c", "d"]), "flag": Categorical([None, 1, "x"]), "n": Int(0, 4)}
    ),
}


def value(row):
    return float(np.sum((np.arange(1, len(row) + 1) * (row - 0.37)) ** 2) + np.exp(3 * row[-1]))


def suggested(strategy, space):
    """Rows of the cube: a first batch, and one more with a failure known and a point in flight."""
    opt = covey.Optimizer(space, strategy, n_initial=5, seed=3)
    for trial in opt.ask(5):
        opt.tell(trial, value(space.encode(trial.params)))
    first = opt.ask(2)
    opt.tell(first[1], Failure("no"))
    rows = [space.encode(trial.params) for trial in [*first, *opt.ask(2)]]
    return [[round(float(position), 6) for position in row] for row in rows]


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("strategy", covey.strategies())
def test_suggestions_are_those_of_the_record(strategy, space):
    recorded = json.loads(RECORD.read_text())[strategy][space]
    np.testing.assert_allclose(suggested(strategy, SPACES[space]), recorded, atol=CLOSE)


if __name__ == "__main__":
    found = {s: {name: suggested(s, space) for name, space in SPACES.items()} for s in covey.strategies()}
    RECORD.write_text(json.dumps(found) + "\n")
