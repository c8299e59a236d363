"""Problems made out of problems: their minima are still known."""

import itertools
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, pearsonr

import covey
from covey.bench.problems.functions import FAMILIES, PROBLEMS, problem
from covey.bench.problems.mixed import mixed
from covey.bench.problems.variants import noisy, raised, shifted
from covey.space import Categorical, Float, Int

TRANSLATABLE = [
    *(p for p in PROBLEMS.values() if p.translatable),
    *(family.problem(4) for family in FAMILIES.values() if family.translatable),
]
translatable = pytest.mark.parametrize("original", TRANSLATABLE, ids=[p.name for p in TRANSLATABLE])
sphere2, rastrigin2 = problem("sphere2"), problem("rastrigin2")


def bounds(problem):
    return np.array(problem.bounds).T


def at(problem, x):
    return dict(zip(problem.space.dimensions, x, strict=True))


@translatable
@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_shifted_problem_has_its_minimum_within_the_middle_of_the_domain(original, seed):
    moved = shifted(original, seed)
    low, high = bounds(moved)
    unit = (np.array(moved.minimisers) - low) / (high - low)
    assert moved.bounds == original.bounds
    assert moved.minimum == original.minimum
    assert ((unit > 0.1 - 1e-9) & (unit < 0.9 + 1e-9)).all()
    values = moved.formula(np.array(moved.minimisers))
    np.testing.assert_allclose(values, moved.minimum, rtol=1e-8, atol=1e-8)
    rng = np.random.default_rng(seed)
    anywhere = rng.uniform(low, high, (1000, len(low)))
    assert moved.formula(anywhere).min() > moved.minimum
    near = moved.minimisers[0] + 1e-3 * (high - low) * rng.normal(size=anywhere.shape)
    assert moved.formula(np.clip(near, low, high)).min() >= moved.minimum - 1e-8


@translatable
def test_the_shift_is_the_same_everywhere(original):
    moved = shifted(original, 1)
    shift = np.subtract(moved.minimisers, original.minimisers)
    np.testing.assert_allclose(shift, shift[:1].repeat(len(shift), axis=0), atol=1e-9)
    low, high = bounds(original)
    x = np.random.default_rng(0).uniform(low, high, (100, len(low)))
    np.testing.assert_allclose(moved.formula(x + shift[0]), original.formula(x), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_the_minimiser_goes_where_the_generator_says_within_the_middle(seed):
    """Exactly, and not by a test of uniformity: that would be a test of numpy's seeds."""
    unit = (np.array(shifted(sphere2, seed).minimisers[0]) + 5.12) / 10.24
    np.testing.assert_allclose(unit, 0.1 + 0.8 * np.random.default_rng(seed).uniform(size=2), atol=1e-12)


def test_the_seed_says_where():
    assert shifted(sphere2, 3) == shifted(sphere2, np.int64(3))
    assert shifted(sphere2, 3).minimisers != shifted(sphere2, 4).minimisers
    assert shifted(sphere2, 3).name == "sphere2-shifted3"


def test_a_shifted_problem_may_be_shifted_again():
    again = shifted(shifted(rastrigin2, 0), 1)
    assert again(at(again, again.minimisers[0])) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", ["branin", "cosines", "eggholder", "michalewicz3"])
def test_what_depends_on_its_domain_is_not_shifted(name):
    with pytest.raises(
        ValueError, match=f"only .*'shekel'.*'ackley'.* may be shifted, got '{name}'"
    ) as error:
        shifted(problem(name), 0)
    assert "'branin'," not in str(error.value)


@pytest.mark.parametrize("seed", [-1, 1.5, None, True, "1"])
def test_seeds_are_whole_numbers(seed):
    for make in (lambda: shifted(sphere2, seed), lambda: noisy(sphere2, 1.0, seed)):
        with pytest.raises(ValueError, match=r"seed must be a whole number from 0, got"):
            make()


def test_a_raised_problem_is_higher_everywhere_by_as_much():
    high = raised(PROBLEMS["branin"], 2.5)
    x = np.random.default_rng(0).uniform(0, 10, (50, 2))
    np.testing.assert_allclose(high.formula(x), PROBLEMS["branin"].formula(x) + 2.5)
    assert high.minimum == PROBLEMS["branin"].minimum + 2.5
    assert high.minimisers == PROBLEMS["branin"].minimisers
    assert high.name == "branin+2.5"


def test_it_is_raised_by_a_finite_number():
    with pytest.raises(ValueError, match="by must be a finite number, got inf"):
        raised(sphere2, float("inf"))


def rows(size, seed=0):
    return [at(sphere2, row) for row in np.random.default_rng(seed).uniform(-5, 5, (size, 2)).tolist()]


def test_noise_is_normal_and_has_the_given_deviation():
    observed = noisy(sphere2, 0.3, seed=1)
    noise = [observed(params) - sphere2(params) for params in rows(2000)]
    assert kstest(noise, "norm", (0, 0.3)).pvalue > 1e-3


def test_noise_of_neighbours_seeds_and_repeats_is_independent():
    points = rows(2000)
    near = [{"x1": p["x1"] + 1e-12, "x2": p["x2"]} for p in points]

    def noise(seed, where, repeat=0):
        return [noisy(sphere2, 1.0, seed)(params, repeat) - sphere2(params) for params in where]

    first = noise(1, points)
    for other in (noise(1, near), noise(2, points), noise(1, points, 1), noise(0, points, 1)):
        assert abs(pearsonr(first, other).statistic) < 0.1


def test_noise_depends_on_nothing_but_seed_and_configuration():
    observed, points = noisy(sphere2, 1.0, seed=5), rows(20)
    forwards = [observed(params) for params in points]
    backwards = [noisy(sphere2, 1.0, seed=5)(dict(reversed(params.items()))) for params in reversed(points)]
    assert forwards == backwards[::-1]


def test_both_zeros_are_the_same_configuration():
    observed = noisy(PROBLEMS["hartmann3"], 1.0, seed=5)  # its domain begins at 0, whose sign encoding keeps
    assert observed({"x1": -0.0, "x2": 0, "x3": 0.5}) == observed({"x1": 0.0, "x2": -0.0, "x3": 0.5})


def test_noise_is_the_same_in_another_process():
    observed = noisy(mixed(sphere2, raised(sphere2, 1.0), integers={"x1": 5}), 1.0, seed=5)
    params = {"x1": 2, "x2": 0.5, "function": "sphere2+1"}
    program = "import pickle, sys; o, p = pickle.load(sys.stdin.buffer); print(repr(o(p)))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=pickle.dumps((observed, params)),
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "12345"},
    )
    assert float(done.stdout) == observed(params)


@pytest.mark.parametrize(
    "inner", [sphere2, shifted(sphere2, 1), mixed(sphere2, integers={"x2": 4})], ids=lambda p: p.name
)
def test_a_noisy_problem_is_scored_without_noise(inner):
    observed = noisy(inner, 10.0, seed=0)
    params = observed.space.decode(observed.space.spread(np.array([[0.3, 0.7]]))[0])
    assert observed.space == inner.space
    assert observed.minimum == inner.minimum
    assert observed.true(params) == inner(params) != observed(params)


def test_noise_upon_noise_takes_its_place():
    params = {"x1": 1.0, "x2": 2.0}
    assert noisy(noisy(sphere2, 9.0, 1), 0.5, 2)(params) == noisy(sphere2, 0.5, 2)(params)


def test_without_deviation_there_is_no_noise():
    assert noisy(sphere2, 0, seed=1)({"x1": 1.0, "x2": 2.0}) == 5.0


@pytest.mark.parametrize("sigma", [-0.1, float("nan"), float("inf")])
def test_the_deviation_is_a_finite_number(sigma):
    with pytest.raises(ValueError, match="sigma must be a finite number from 0, got"):
        noisy(sphere2, sigma, seed=0)


GRIDS = {
    "one grid": mixed(problem("ackley", 1), integers={"x1": 50}),
    "all grids": mixed(problem("styblinski-tang", 3), integers={"x1": 9, "x2": 10, "x3": 2}),
    "on the border": mixed(PROBLEMS["eggholder"], integers={"x1": 33, "x2": 40}),
    "of several": mixed(PROBLEMS["branin"], integers={"x1": 7, "x2": 30}),
    "choices": mixed(
        raised(shifted(rastrigin2, 1), 0.5),
        shifted(rastrigin2, 2),
        raised(sphere2, 0.1),
        integers={"x1": 15, "x2": 15},
    ),
}
grids = pytest.mark.parametrize("one", GRIDS.values(), ids=list(GRIDS))


def everything(space):
    levels = [range(dimension.levels) for dimension in space.dimensions.values()]
    for combination in itertools.product(*levels):
        positions = [
            float(dimension.position(np.array(float(level))))
            for level, dimension in zip(combination, space.dimensions.values(), strict=True)
        ]
        yield space.decode(np.array(positions))


@grids
def test_nothing_in_a_whole_mixed_space_is_below_its_minimum(one):
    """By trying every configuration."""
    lowest = min(one(params) for params in everything(one.space))
    assert lowest == pytest.approx(one.minimum, rel=1e-8, abs=1e-8)


@grids
def test_the_minimiser_of_a_mixed_problem_attains_the_minimum(one):
    one.space.encode(one.minimiser)
    assert one.true(one.minimiser) == pytest.approx(one.minimum, rel=1e-8, abs=1e-8)


@settings(max_examples=100, deadline=None)
@given(count=st.integers(2, 200), seed=st.integers(0, 2**32))
def test_a_grid_lies_in_the_domain_and_holds_the_minimiser(count, seed):
    moved = shifted(sphere2, seed)
    (grid, other) = mixed(moved, integers={"x1": count}).grids
    assert other == ()
    assert len(grid) == count
    assert moved.minimisers[0][0] in grid
    assert min(grid) >= -5.12
    assert max(grid) <= 5.12
    np.testing.assert_allclose(np.diff(grid), 10.24 / count, rtol=1e-9)


def test_a_mixed_space_has_whole_numbers_choices_and_a_continuum():
    one = mixed(sphere2, raised(rastrigin2, 1), integers={"x2": 6})
    dimensions = one.space.dimensions
    assert dimensions == {
        "x1": Float(-5.12, 5.12),
        "x2": Int(0, 5),
        "function": Categorical(["sphere2", "rastrigin2+1"]),
    }
    assert one.name == "sphere2|rastrigin2+1-int1"
    assert "function" not in mixed(sphere2, integers={"x1": 3}).space.dimensions


def test_the_choice_says_which_function():
    one = mixed(sphere2, raised(rastrigin2, 1), integers={"x2": 6})
    x2 = one.grids[1][4]
    for inner in one.problems:
        expected = inner({"x1": 0.7, "x2": x2})
        assert one({"x1": 0.7, "x2": 4, "function": inner.name}) == expected


@pytest.mark.parametrize("x2", [-1, 6, 1.5])
def test_a_mixed_problem_is_not_evaluated_off_its_grid(x2):
    with pytest.raises(ValueError, match="parameter 'x2'"):
        mixed(sphere2, integers={"x2": 6})({"x1": 0.0, "x2": x2})


@pytest.mark.parametrize(
    ("problems", "integers", "message"),
    [
        ((), {}, "at least one problem"),
        ((sphere2, sphere2), {}, "different names"),
        ((sphere2, problem("ackley2")), {}, "same bounds"),
        ((sphere2,), {"x3": 4}, r"integers must be of \['x1', 'x2'\], got 'x3'"),
        ((sphere2,), {"x1": 1}, "'x1' must have a whole number of values from 2, got 1"),
        ((sphere2,), {"x1": 2.5}, "got 2.5"),
    ],
)
def test_what_cannot_be_mixed_is_refused(problems, integers, message):
    with pytest.raises(ValueError, match=message):
        mixed(*problems, integers=integers)


def test_variants_can_be_sent_and_compared():
    for one in (shifted(sphere2, 1), raised(sphere2, 1), noisy(sphere2, 1, 1), GRIDS["choices"]):
        assert pickle.loads(pickle.dumps(one)) == one
        assert hash(one) == hash(pickle.loads(pickle.dumps(one)))


def test_covey_minimises_a_noisy_mixed_problem():
    one = noisy(mixed(shifted(rastrigin2, 1), raised(sphere2, 2), integers={"x1": 8}), 0.01, seed=0)
    optimizer = covey.Optimizer(one.space, initial="random", seed=0)
    trials = optimizer.ask(4)
    optimizer.tell(trials, [one(trial.params) for trial in trials])
    assert all(one.true(trial.params) >= one.minimum for trial in trials)
