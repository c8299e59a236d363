"""Ray Tune's search spaces, as covey sees them."""

import json
import math

import pytest

import covey
from covey.testing import DimensionSuite

tune = pytest.importorskip("ray.tune", reason="ray[tune] is not installed: pip install 'covey[ray]'")

from covey.integrations.ray.codec import dump, load  # noqa: E402
from covey.integrations.ray.domains import as_dimension  # noqa: E402
from covey.integrations.ray.layout import Layout  # noqa: E402


class TestQuantizedFloat(DimensionSuite):
    def make(self):
        return as_dimension(tune.quniform(-0.3, 0.7, 0.1))

    def outside(self):
        return [*super().outside(), 0.75, 0.8, -0.4, True, math.inf]


class TestQuantizedLogFloat(DimensionSuite):
    def make(self):
        return as_dimension(tune.qloguniform(0.5, 500, 0.5))


class TestQuantizedInt(DimensionSuite):
    def make(self):
        return as_dimension(tune.qrandint(-4, 20, 4))


class TestQuantizedLogInt(DimensionSuite):
    def make(self):
        return as_dimension(tune.qlograndint(3, 100, 5))


class TestChoice(DimensionSuite):
    def make(self):
        return as_dimension(tune.choice(["a", None, 1.5, True]))


@pytest.mark.parametrize(
    ("domain", "dimension"),
    [
        (tune.uniform(-1, 2), covey.Float(-1, 2)),
        (tune.loguniform(1e-4, 1e-1), covey.Float(1e-4, 1e-1, log=True)),
        (tune.randint(2, 9), covey.Int(2, 8)),
        (tune.lograndint(1, 1000), covey.Int(1, 999, log=True)),
    ],
    ids=["uniform", "loguniform", "randint", "lograndint"],
)
def test_bounds_and_scales_are_the_same(domain, dimension):
    assert as_dimension(domain) == dimension


@pytest.mark.parametrize(
    ("domain", "values"),
    [
        (tune.quniform(0, 1, 0.25), [0.0, 0.25, 0.5, 0.75, 1.0]),
        (tune.qrandint(3, 7, 4), [4]),
        (tune.qrandint(2, 10, 2), [2, 4, 6, 8, 10]),
        (tune.qrandint(3, 11, 4), [4, 8]),
        (tune.qrandint(2, 5, 1), [2, 3, 4]),
        (tune.qlograndint(1, 5, 1), [1, 2, 3, 4]),
        (tune.choice([16, 32, 64]), [16, 32, 64]),
        (tune.choice([[16, 16], {"wide": True}]), [[16, 16], {"wide": True}]),
    ],
)
def test_steps_and_choices_have_the_values_of_tune_and_their_types(domain, values):
    dimension = as_dimension(domain)
    ours = [dimension.decode(float(dimension.position(k))) for k in range(dimension.levels)]
    assert ours == values
    assert list(map(type, ours)) == list(map(type, values))
    assert all(domain.sample() in values for _ in range(50))


@pytest.mark.parametrize(
    "domain", [tune.quniform(0.1, 0.7, 0.1), tune.qloguniform(0.1, 0.7, 0.1)], ids=["linear", "log"]
)
def test_steps_are_what_can_be_set(domain):
    dimension = as_dimension(domain)
    ours = [dimension.decode(float(dimension.position(k))) for k in range(dimension.levels)]
    assert ours == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    theirs = [domain.sample() for _ in range(50)]  # some of them 0.30000000000000004
    assert {dimension.decode(dimension.encode(value)) for value in theirs} <= set(ours)


def test_steps_are_covey_steps_where_covey_has_them():
    assert as_dimension(tune.quniform(-1, 1, 0.5)) == covey.Float(-1, 1, step=0.5)
    assert as_dimension(tune.qrandint(0, 21, 5)) == covey.Int(0, 20, step=5)


@pytest.mark.parametrize(
    ("domain", "says"),
    [
        (tune.sample_from(lambda: 1), "sample_from"),
        (tune.grid_search([1, 2]), "grid_search"),
        (tune.randn(0, 1), "normal"),
        (tune.qrandn(0, 1, 0.1), "normal"),
        (tune.choice([{"a": tune.uniform(0, 1)}, 2]), "choice between search spaces"),
        (tune.choice([]), "at least one"),
        (tune.uniform(1, 1), "low must be below high"),
    ],
    ids=["sample_from", "grid_search", "randn", "qrandn", "conditional", "empty", "point"],
)
def test_what_has_no_dimension_is_refused_by_name(domain, says):
    with pytest.raises(ValueError, match=f"'net/x'.*{says}"):
        Layout({"net": {"x": domain}})


NESTED = {
    "lr": tune.loguniform(1e-4, 1),
    "data": "mnist",
    "net": {"depth": tune.randint(1, 5), "kind": "conv", "widths": [tune.choice([8, 16]), 32]},
    "unused": {"seed": 3},
    "pair": (tune.uniform(0, 1), "x"),
}


def test_nested_configs_become_flat_names_and_back():
    layout = Layout(NESTED)
    assert list(layout.space.dimensions) == ["lr", "net/depth", "net/widths/0", "pair/0"]
    params = {"lr": 0.1, "net/depth": 2, "net/widths/0": 16, "pair/0": 0.5}
    filled = layout.fill(params)
    # Constants are Tune's to add, except in lists, which it replaces as a whole.
    assert filled == {"lr": 0.1, "net": {"depth": 2, "widths": [16, 32]}, "pair": (0.5, "x")}
    assert layout.read(filled) == params


def test_what_is_in_a_list_is_kept_whole():
    layout = Layout({"layers": [{"width": tune.randint(1, 9), "kind": "conv"}, {"kind": "dense"}], "seed": 3})
    filled = {"layers": [{"width": 4, "kind": "conv"}, {"kind": "dense"}]}
    assert layout.fill({"layers/0/width": 4}) == filled
    assert layout.read(filled) == {"layers/0/width": 4}


@pytest.mark.parametrize("names", [("a", "a/b"), ("a/b", "a"), ("a/b", "a/b/c/d")], ids=str)
def test_a_parameter_cannot_hold_others(names):
    with pytest.raises(ValueError, match="cannot also hold"):
        Layout(covey.Space(dict.fromkeys(names, covey.Float(0, 1))))


def test_a_layout_survives_json():
    layout = Layout(
        {
            **NESTED,
            "steps": [tune.quniform(0, 1, 0.1), tune.qrandint(1, 9, 2)],
            "one": covey.Categorical(["a", None]),
            "dose": covey.Ordinal([1, 2.5, 10], log=True),
        }
    )
    again = Layout(load(json.loads(json.dumps(dump(layout.tree)))))
    assert again.tree == layout.tree
    assert again.space == layout.space


def test_bounds_are_read_without_a_step():
    assert load({"Float": [0.0, 1.0, False]}) == covey.Float(0.0, 1.0)
    assert load({"Int": [1, 9, True]}) == covey.Int(1, 9, log=True)


def test_what_is_no_data_has_no_json():
    with pytest.raises(TypeError, match="no form in JSON"):
        dump({"f": [math.sin]})
    with pytest.raises(ValueError, match="not a part of a search space"):
        load({"os.system": ["true"]})


def test_a_covey_space_may_have_nested_names():
    layout = Layout(covey.Space({"net/depth": covey.Int(1, 4), "lr": covey.Float(0, 1)}))
    assert layout.fill({"net/depth": 2, "lr": 0.5}) == {"net": {"depth": 2}, "lr": 0.5}


def test_covey_dimensions_may_stand_among_tunes():
    layout = Layout({"a": covey.Float(0, 1), "b": tune.uniform(0, 1)})
    assert list(layout.space.dimensions.values()) == [covey.Float(0, 1), covey.Float(0, 1)]


def test_a_config_that_lacks_a_parameter_is_refused():
    with pytest.raises(ValueError, match="'net/depth' is missing"):
        Layout(NESTED).read({"lr": 0.1, "net": {}})


@pytest.mark.parametrize("config", [{}, {"a": 1, "b": {"c": [2]}}], ids=str)
def test_a_config_where_nothing_varies_is_refused(config):
    with pytest.raises(ValueError, match="nothing varies"):
        Layout(config)


def test_two_places_of_one_name_are_refused():
    with pytest.raises(ValueError, match="one name"):
        Layout({"a/b": tune.uniform(0, 1), "a": {"b": tune.uniform(0, 1)}})
