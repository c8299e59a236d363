"""Descriptors of choices: the model sees how alike they are, and learns which of the numbers matter."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import covey
from covey import Categorical, Float, Space
from covey.cli.app import app
from covey.space.describe import describe
from covey.space.features import Features

SOLVENTS = {"water": [78.4, 1.85, 5.0], "ethanol": [24.5, 1.69, 5.0], "toluene": [2.4, 0.36, 5.0]}
PLAIN = Categorical(list(SOLVENTS))
KNOWN = Categorical(list(SOLVENTS), descriptors=SOLVENTS)


def test_the_model_sees_the_numbers_over_the_unit_range():
    features = Features.of(Space({"x": Float(0, 1), "solvent": KNOWN}))
    rows = Space({"x": Float(0, 1), "solvent": KNOWN}).spread(np.array([[0.3, 0.0], [0.3, 0.5], [0.3, 0.9]]))
    seen = features.embed(rows)
    assert seen.shape == (3, 6)  # x, three choices, and two numbers: the third never differs
    assert seen[:, 0] == pytest.approx(0.3)
    assert seen[:, 1:4] == pytest.approx(np.sqrt(0.5) * np.eye(3))
    assert seen[:, 4].tolist() == pytest.approx([1.0, (24.5 - 2.4) / 76.0, 0.0])
    assert seen[:, 5].tolist() == pytest.approx([1.0, (1.69 - 0.36) / 1.49, 0.0])


def test_every_number_has_a_length_scale_of_its_own():
    space = Space({"a": Float(0, 1), "solvent": KNOWN, "kind": Categorical(list("xyz")), "b": Float(0, 1)})
    features = Features.of(space)
    assert features.owner.tolist() == [0, 1, 1, 1, 1, 1, 2, 2, 2, 3]
    assert features.groups.tolist() == [0, 1, 1, 1, 2, 3, 4, 4, 4, 5]


def test_what_a_space_without_descriptors_sees_is_unchanged():
    features = Features.of(Space({"a": Float(0, 1), "kind": PLAIN}))
    assert np.array_equal(features.owner, features.groups)


@pytest.mark.parametrize(
    ("descriptors", "words"),
    [
        ({"water": [1.0]}, "every choice"),
        ({**SOLVENTS, "acetone": [1.0, 2.0, 3.0]}, "every choice"),
        ({**SOLVENTS, "water": [1.0]}, "as many of every choice"),
        ({**SOLVENTS, "water": "wet"}, "descriptors of 'water' must be a list of finite numbers"),
        ({**SOLVENTS, "water": [1.0, float("nan"), 2.0]}, "finite numbers"),
        ({**SOLVENTS, "water": [24.5, 1.69, 5.0]}, "must differ"),
        ({name: [] for name in SOLVENTS}, "finite numbers"),
        ([1, 2, 3], "a dict of every choice"),
    ],
)
def test_wrong_descriptors_are_refused(descriptors, words):
    with pytest.raises(ValueError, match=words):
        Categorical(list(SOLVENTS), descriptors=descriptors)


def test_descriptors_are_data_and_no_part_of_what_a_study_compares():
    assert pickle.loads(pickle.dumps(KNOWN)) == KNOWN == replace(KNOWN)
    assert hash(KNOWN) != hash(PLAIN)
    assert describe(Space({"s": KNOWN})) == describe(Space({"s": PLAIN}))


def test_choices_that_are_alike_are_learned_from_each_other():
    """Forty choices on a line: with numbers the best is found in few trials."""
    numbers = {f"c{k}": [float(k), float((7 * k) % 13)] for k in range(40)}

    def trials_to_best(descriptors, seed):
        opt = covey.Optimizer(
            Space({"c": Categorical(list(numbers), descriptors=descriptors)}), n_initial=4, seed=seed
        )
        for count in range(1, 41):
            (trial,) = opt.ask()
            value = abs(int(trial.params["c"][1:]) - 27)
            opt.tell(trial, float(value))
            if value == 0:
                return count
        return 41

    knowing = [trials_to_best(numbers, seed) for seed in range(5)]
    blind = [trials_to_best(None, seed) for seed in range(5)]
    assert np.mean(knowing) < np.mean(blind) - 2


def test_a_study_takes_descriptors_and_conditions_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(
        """
        name = "lab"
        n_initial = 3
        [space.wet]
        type = "categorical"
        choices = [true, false]
        [space.solvent]
        type = "categorical"
        choices = ["water", "ethanol", "brine"]
        descriptors = {water = [1, 2], ethanol = [2, 3], brine = [1, 5]}
        when = {wet = true}
        """
    )
    done = CliRunner().invoke(app, ["ask", "study.toml", "-n", "4"])
    assert done.exit_code == 0, done.output
    Path("study.toml").write_text(Path("study.toml").read_text().replace("brine = [1, 5]", "brine = [1]"))
    done = CliRunner().invoke(app, ["ask", "study.toml"])
    assert done.exit_code == 2
    assert "as many of every choice" in done.output
