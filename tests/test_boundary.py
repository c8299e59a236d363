"""Edges of the space: the formula of the discount, and that it keeps points inside, but not too much."""

import numpy as np
import pytest
from scipy.stats import norm

import covey
from covey.acquisition.boundary import inside
from covey.model.theta import Thetas
from covey.space.features import Features

CUBE = Features.of(covey.Space({name: covey.Float(-2.0, 3.0) for name in "abcde"}))
MIXED = Features.of(
    covey.Space(
        {
            "choice": covey.Categorical(["u", "v", "w"]),
            "x": covey.Float(0.1, 10.0, log=True),
            "level": covey.Int(1, 9),
            "y": covey.Float(0.0, 1.0),
            "z": covey.Float(0.0, 1.0),
        }
    )
)


def some_thetas(features, count=4, seed=0):
    rng = np.random.default_rng(seed)
    length_scale = rng.uniform(0.1, 3.0, (count, len(features.owner)))
    return Thetas(length_scale, np.ones(count), np.zeros(count), np.zeros(count))


def one_theta(features, length_scale):
    shape = (1, len(features.owner))
    return Thetas(np.full(shape, length_scale), np.ones(1), np.zeros(1), np.zeros(1))


def test_log_factor_is_the_formula():
    thetas = some_thetas(CUBE)
    points = np.random.default_rng(1).random((30, 5))
    width = thetas.length_scale / 10
    expected = np.ones((4, 30))
    for s in range(4):
        for i, point in enumerate(points):
            for u, w in zip(point, width[s], strict=True):
                expected[s, i] *= (norm.cdf(u / w) * norm.cdf((1 - u) / w)) ** 2
    discount = inside(thetas, CUBE)
    np.testing.assert_allclose(np.exp(discount.log_factor(points)), expected, rtol=1e-12)


@pytest.mark.parametrize("features", [CUBE, MIXED], ids=["cube", "mixed"])
def test_gradient_agrees_with_differences(features):
    discount = inside(some_thetas(features, seed=2), features)
    width = len(features.owner)
    points, step = np.random.default_rng(3).random((20, width)), 1e-6
    value, gradient = discount.log_factor_gradient(points)
    columns = [
        (discount.log_factor(points + e) - discount.log_factor(points - e)) / (2 * step)
        for e in step * np.eye(width)
    ]
    np.testing.assert_array_equal(value, discount.log_factor(points))
    np.testing.assert_allclose(gradient, np.stack(columns, axis=-1), rtol=1e-5, atol=1e-8)


def test_a_face_counts_a_quarter_a_corner_of_three_faces_the_cube_of_it_and_the_middle_whole():
    discount = inside(one_theta(CUBE, 0.5), CUBE)
    middle = [0.5, 0.5]
    corners = ([0.5, 0.5, 0.5], [0.0, 0.5, 0.5], [0.5, 1.0, 0.5], [0.0, 1.0, 1.0])
    points = np.array([[*corner, *middle] for corner in corners])
    np.testing.assert_allclose(np.exp(discount.log_factor(points)[0]), [1, 1 / 4, 1 / 4, 1 / 64])


def test_what_changes_quickly_is_discounted_only_close_to_the_edge():
    near = np.array([[0.05, 0.5, 0.5, 0.5, 0.5]])
    slow, quick = (inside(one_theta(CUBE, scale), CUBE).log_factor(near)[0, 0] for scale in (1.0, 0.1))
    assert slow < np.log(0.6)
    assert quick > np.log(0.999)


def test_levels_and_choices_have_no_edge():
    discount = inside(some_thetas(MIXED), MIXED)
    rows = np.array([[0.0, 0.3, 0.0, 0.6, 0.6], [1.0, 0.3, 1.0, 0.6, 0.6], [0.5, 0.3, 0.5, 0.6, 0.6]])
    log = discount.log_factor(MIXED.embed(rows))
    np.testing.assert_array_equal(log, log[:, [0, 0, 0]])


def face(count):
    """The discount of a face of a cube with so many continuous coordinates."""
    features = Features.of(covey.Space({f"x{k}": covey.Float(0.0, 1.0) for k in range(count)}))
    discount = inside(one_theta(features, 0.5), features)
    point = np.full((1, count), 0.5)
    point[0, 0] = 0.0
    return 1.0 if discount is None else np.exp(discount.log_factor(point)[0, 0])


def test_a_line_and_a_square_have_no_discount_and_it_grows_until_five_dimensions():
    powers = [-np.log2(face(count)) for count in range(1, 9)]
    np.testing.assert_allclose(powers, [0, 0, 2 / 3, 4 / 3, 2, 2, 2, 2], atol=1e-9)


def test_a_space_without_continua_is_not_discounted():
    features = Features.of(covey.Space({"level": covey.Int(0, 5), "choice": covey.Categorical(["a", "b"])}))
    assert inside(one_theta(features, 1.0), features) is None


def share_at_faces(boundary, seeds=3):
    """Of coordinates proposed on a bumpy function in 5 dimensions, with little to go by."""
    space = covey.Space({name: covey.Float(0.0, 1.0) for name in "abcde"})
    at_faces = []
    for seed in range(seeds):
        optimizer = covey.Optimizer(space, covey.strategy("auto", boundary=boundary), n_initial=5, seed=seed)
        for _ in range(3):
            trials = optimizer.ask(5)
            rows = np.array([list(trial.params.values()) for trial in trials])
            optimizer.tell(trials, np.sin(9 * rows + seed).prod(axis=1) + np.sin(17 * rows).sum(axis=1))
            at_faces.append(((rows < 1e-3) | (rows > 1 - 1e-3)).mean())
    return np.mean(at_faces)


def test_proposals_crowd_on_the_faces_unless_they_are_discounted():
    assert share_at_faces("equal") > 0.15
    assert share_at_faces("discounted") < 0.05


def test_a_minimum_in_a_corner_is_found_all_the_same():
    space = covey.Space({name: covey.Float(0.0, 1.0) for name in "abcd"})
    optimizer = covey.Optimizer(space, n_initial=5, seed=0)
    for _ in range(7):
        trials = optimizer.ask(5)
        optimizer.tell(trials, [sum((v + 0.2) ** 2 for v in trial.params.values()) for trial in trials])
    assert min(trial.value for trial in optimizer.trials) == pytest.approx(4 * 0.2**2, abs=1e-6)
