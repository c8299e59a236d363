"""Densities, draws and refusals of the plain distributions, and the jitters made of them."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from covey.acquisition.acquisition import ACQUISITIONS, Jitter
from covey.model.distributions import Beta, Gamma, LogNormal, LogUniform, Normal, Uniform
from covey.model.priors import PRESETS, Prior, resolve_prior

# Each with an oracle and the ends of its support.
CASES = [
    (Gamma(1, 6), stats.gamma(1, scale=1 / 6), (0, math.inf)),
    (Gamma(2.5, 0.5), stats.gamma(2.5, scale=2), (0, math.inf)),
    (LogNormal(0.3, 0.8), stats.lognorm(0.8, scale=math.exp(0.3)), (0, math.inf)),
    (Normal(-1.0, 2.0), stats.norm(-1, 2), (-math.inf, math.inf)),
    (Uniform(-3, 3), stats.uniform(-3, 6), (-3, 3)),
    (LogUniform(-3, 0), stats.loguniform(1e-3, 1), (1e-3, 1)),
    (LogUniform(-1, 2), stats.loguniform(0.1, 100), (0.1, 100)),
    (Beta(1, 12), stats.beta(1, 12), (0, 1)),
    (Beta(2.5, 1.5), stats.beta(2.5, 1.5), (0, 1)),
]
every_distribution = pytest.mark.parametrize(
    ("ours", "theirs", "ends"), CASES, ids=[str(c[0]) for c in CASES]
)


@every_distribution
def test_density_integrates_to_one(ours, theirs, ends):
    total, _ = quad(lambda x: math.exp(ours.log_density(np.array([x]))[0]), *ends, limit=200)
    assert total == pytest.approx(1, abs=1e-6)


@every_distribution
def test_log_density_agrees_with_scipy(ours, theirs, ends):
    x = theirs.ppf(np.linspace(0.001, 0.999, 101))
    np.testing.assert_allclose(ours.log_density(x), theirs.logpdf(x), rtol=1e-10, atol=1e-10)


@every_distribution
def test_log_density_keeps_the_shape_of_its_argument(ours, theirs, ends):
    x = theirs.ppf(np.linspace(0.1, 0.9, 6)).reshape(2, 3)
    np.testing.assert_allclose(ours.log_density(x), theirs.logpdf(x))


@every_distribution
def test_log_density_is_minus_infinity_outside_the_support(ours, theirs, ends):
    outside = [end + sign for end, sign in zip(ends, (-1e-9, 1e-9), strict=True) if math.isfinite(end)]
    if not outside:
        pytest.skip("supported everywhere")
    assert (ours.log_density(np.array(outside)) == -np.inf).all()


@every_distribution
def test_draws_have_the_mean_of_the_density(ours, theirs, ends):
    draws = ours.draw(np.random.default_rng(0), 20_000)
    mean, _ = quad(lambda x: x * math.exp(ours.log_density(np.array([x]))[0]), *ends, limit=200)
    assert draws.shape == (20_000,)
    assert abs(draws.mean() - mean) < 5 * draws.std() / math.sqrt(draws.size)


@every_distribution
def test_draws_follow_the_distribution(ours, theirs, ends):
    assert stats.kstest(ours.draw(np.random.default_rng(1), 5000), theirs.cdf).pvalue > 1e-3


@every_distribution
def test_draws_lie_in_the_support(ours, theirs, ends):
    draws = ours.draw(np.random.default_rng(2), 5000)
    assert np.isfinite(ours.log_density(draws)).all()


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
@pytest.mark.parametrize(
    ("kind", "good", "name"),
    [
        (Gamma, {"shape": 1.0, "rate": 1.0}, "shape"),
        (Gamma, {"shape": 1.0, "rate": 1.0}, "rate"),
        (LogNormal, {"mu": 0.0, "sigma": 1.0}, "sigma"),
        (Normal, {"mu": 0.0, "sigma": 1.0}, "sigma"),
        (Beta, {"a": 1.0, "b": 1.0}, "a"),
        (Beta, {"a": 1.0, "b": 1.0}, "b"),
    ],
)
def test_a_parameter_that_must_be_positive_is_refused_by_name(kind, good, name, bad):
    with pytest.raises(ValueError, match=rf"{kind.__name__}: {name} must be a positive number"):
        kind(**(good | {name: bad}))


@pytest.mark.parametrize("kind", [Uniform, LogUniform])
@pytest.mark.parametrize("ends", [(1, 1), (2, 1), (-math.inf, 0), (0, math.inf), (math.nan, 1)])
def test_an_empty_or_infinite_interval_is_refused_by_name(kind, ends):
    with pytest.raises(ValueError, match=rf"{kind.__name__}: low must be below high"):
        kind(*ends)


def test_half_of_the_jitters_are_fixed_and_half_are_drawn():
    rng = np.random.default_rng(3)
    draws = np.array([Jitter(7.0, Uniform(0, 1)).draw(rng) for _ in range(4000)])
    fixed = draws == 7.0
    assert abs(fixed.mean() - 0.5) < 5 * 0.5 / math.sqrt(4000)
    assert stats.kstest(draws[~fixed], stats.uniform.cdf).pvalue > 1e-3


def test_jitters_are_the_papers():
    assert ACQUISITIONS["ei"].jitter == Jitter(0.0, LogUniform(-3, 0))
    assert ACQUISITIONS["lcb"].jitter == Jitter(1.0, Beta(1, 12))


def test_the_papers_prior_does_not_depend_on_the_dimension():
    assert resolve_prior("paper", 2) == resolve_prior("paper", 20)
    assert resolve_prior("paper", 2).length_scale == Gamma(1, 6)
    assert resolve_prior("paper", 2).mean == Uniform(-3, 3)


def test_the_default_length_scale_grows_with_the_root_of_the_dimension():
    rng = np.random.default_rng(4)
    few, many = (np.median(resolve_prior("default", d).length_scale.draw(rng, 20_000)) for d in (1, 16))
    assert many / few == pytest.approx(4, rel=0.1)


def test_a_prior_object_is_taken_as_it_is_and_an_unknown_name_is_refused():
    prior = Prior(Gamma(2, 2), Gamma(2, 2), Normal(0, 1), LogNormal(-5, 1))
    assert resolve_prior(prior, 3) is prior
    with pytest.raises(ValueError, match=r"prior must be one of .*got 'papr'"):
        resolve_prior("papr", 3)
    assert {"default", "paper"} <= set(PRESETS)
