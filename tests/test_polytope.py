"""The polytope: points all over it, the nearest point, climbing inside, fixed columns, conflicts."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from covey.space.polytope import EmptyPolytope, conflict, polytope

NONE = np.empty(0)


def no_rows(d):
    return np.empty((0, d))


def simplex(d):
    """Parts of a mixture: they sum to one."""
    return polytope(no_rows(d), NONE, np.ones((1, d)), np.ones(1))


def random_system(seed, d, inequalities, equalities):
    """Constraints that a random point of the cube satisfies, some of them tightly."""
    rng = np.random.default_rng(seed)
    inside = rng.random(d)
    A, E = rng.normal(size=(inequalities, d)), rng.normal(size=(equalities, d))
    return A, A @ inside + rng.exponential(0.1, inequalities), E, E @ inside


systems = st.integers(1, 7).flatmap(
    lambda d: st.builds(
        random_system, st.integers(0, 10**6), st.just(d), st.integers(0, 5), st.integers(0, max(d - 1, 0))
    )
)


def violation(points, A, b, E, e):
    """By how much the worst constraint is violated, rows scaled to length 1."""
    lengths = np.linalg.norm(A, axis=1), np.linalg.norm(E, axis=1)
    over = [(points @ A.T - b) / lengths[0], np.abs(points @ E.T - e) / lengths[1], -points, points - 1]
    return max(part.max(initial=0.0) for part in over)


# --- making ---------------------------------------------------------------------------------------------


@given(systems)
@settings(max_examples=60, deadline=None)
def test_the_centre_is_inside_and_the_basis_is_free(system):
    found = polytope(*system)
    assert violation(found.centre[None], *system) < 1e-9
    assert np.allclose(found.basis.T @ found.basis, np.eye(found.basis.shape[1]))
    assert np.allclose(system[2] @ found.basis, 0, atol=1e-9)
    assert (found.g - found.G @ found.centre > 0).all()
    assert np.allclose(found.edges @ system[2].T, 0, atol=1e-9)


@pytest.mark.parametrize(
    ("A", "b", "E", "e", "free"),
    [
        ([], [], [[1, 1, 1], [2, 2, 2]], [1, 2], 2),  # the same twice
        ([[1, 1, 0], [-1, -1, 0]], [0.5, -0.5], [], [], 2),  # two opposite inequalities
        ([[-1, 0, 0]], [-1], [], [], 2),  # at least the most
        ([[1, 1, 1]], [0], [], [], 0),  # a corner
        ([], [], [[1, 1, 1]], [3], 0),
        ([], [], [[0.1, 0.2, 0.3], [1, 0, 0]], [0.3, 0], 1),
        ([[0, 0, 0]], [1], [[0, 0, 0]], [0], 3),  # nothing said
        ([], [], np.eye(3), [0.1, 0.2, 0.3], 0),  # one point
    ],
)
def test_equalities_in_disguise_are_found(A, b, E, e, free):
    A, E = np.reshape(A, (-1, 3)).astype(float), np.reshape(E, (-1, 3)).astype(float)
    found = polytope(A, np.array(b, dtype=float), E, np.array(e, dtype=float))
    assert found.basis.shape == (3, free)
    points = found.sample(100, np.random.default_rng(0))
    assert (points @ A.T <= np.array(b) + 1e-12).all()
    assert np.allclose(points @ E.T, e, atol=1e-12)
    assert points.min() >= 0
    assert points.max() <= 1


@pytest.mark.parametrize(
    ("A", "b", "E", "e", "rows", "equal"),
    [
        ([[1, 1], [-1, 0], [0, 1]], [0.5, -0.8, 0.9], [], [], [0, 1], []),
        ([[1, 0]], [0.9], [[1, 1]], [2.5], [], [0]),
        ([[1, 0], [0, 1]], [0.2, 0.9], [[1, 1], [1, -1]], [1.0, 0.0], [0], [0, 1]),
        ([[0, 0]], [-1], [], [], [0], []),
        ([], [], [[1, 1], [2, 2]], [1, 1], [], [0, 1]),
    ],
)
def test_an_impossible_set_is_refused_and_a_smallest_conflict_named(A, b, E, e, rows, equal):
    A, E = np.reshape(A, (-1, 2)).astype(float), np.reshape(E, (-1, 2)).astype(float)
    b, e = np.array(b, dtype=float), np.array(e, dtype=float)
    with pytest.raises(EmptyPolytope):
        polytope(A, b, E, e)
    found = conflict(A, b, E, e)
    assert [list(part) for part in found] == [rows, equal]


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_without_any_one_of_a_conflict_the_others_can_be_satisfied(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.normal(size=(8, 3)), rng.normal(size=8) - 0.5
    E, e = no_rows(3), NONE
    try:
        polytope(A, b, E, e)
    except EmptyPolytope:
        rows, _ = conflict(A, b, E, e)
        with pytest.raises(EmptyPolytope):
            polytope(A[rows], b[rows], E, e)
        for fewer in combinations(rows, len(rows) - 1):
            polytope(A[list(fewer)], b[list(fewer)], E, e)
    else:
        assert [len(part) for part in conflict(A, b, E, e)] == [0, 0]


# --- samples --------------------------------------------------------------------------------------------


@given(systems, st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_no_sample_violates_anything(system, seed):
    points = polytope(*system).sample(500, np.random.default_rng(seed))
    assert violation(points, *system) < 1e-9  # as exact as the system is; rounding below


def test_ten_thousand_samples_of_a_mixture_hold_to_rounding():
    points = simplex(6).sample(10_000, np.random.default_rng(0))
    assert np.abs(points.sum(axis=1) - 1).max() <= 1e-12
    assert points.min() >= 0


@pytest.mark.parametrize("d", [3, 6, 12])
def test_samples_of_a_simplex_have_the_moments_of_dirichlet(d):
    points = simplex(d).sample(8000, np.random.default_rng(1))
    truth = np.random.default_rng(2).dirichlet(np.ones(d), 8000)
    assert np.allclose(points.mean(axis=0), 1 / d, atol=0.1 / d)
    assert np.allclose(points.var(axis=0) / truth.var(axis=0), 1, atol=0.12)
    quantiles = [0.05, 0.5, 0.95]
    for extreme in (np.max, np.min):
        ours, theirs = (np.quantile(extreme(x, axis=1), quantiles) for x in (points, truth))
        assert np.allclose(ours, theirs, rtol=0.12)


@pytest.mark.parametrize("width", [1.0, 0.02])
def test_samples_agree_with_rejection_also_where_the_set_is_oblique_and_thin(width):
    A = np.array([[1.0, -1, 0], [-1, 1, 0], [0.5, 0.5, 1]])
    b = np.array([width, width, 0.9])
    rng = np.random.default_rng(3)
    u = rng.random((1_000_000, 3))
    truth = u[(u @ A.T <= b).all(axis=1)]
    points = polytope(A, b, no_rows(3), NONE).sample(8000, rng)
    assert np.allclose(points.mean(axis=0), truth.mean(axis=0), atol=0.02)
    assert np.allclose(np.cov(points.T), np.cov(truth.T), atol=0.006)


@given(systems)
@settings(max_examples=25, deadline=None)
def test_a_shorter_spread_design_is_the_beginning_of_a_longer(system):
    found = polytope(*system)
    long, short = (found.spread(m, np.random.default_rng(0)) for m in (9, 4))
    assert np.array_equal(long[:4], short)
    assert violation(long, *system) < 1e-9


def test_a_spread_design_is_wider_than_samples_and_leaves_smaller_gaps():
    found, rng = simplex(4), np.random.default_rng(0)
    everywhere = found.sample(2000, rng)

    def closest(rows):
        return min(np.linalg.norm(a - b) for a, b in combinations(rows, 2))

    def gap(rows):
        return np.linalg.norm(everywhere[:, None] - rows, axis=2).min(axis=1).max()

    spread, random = ([draw(16, rng) for _ in range(10)] for draw in (found.spread, found.sample))
    assert np.mean([*map(closest, spread)]) > 3 * np.mean([*map(closest, random)])
    assert np.mean([*map(gap, spread)]) < 0.85 * np.mean([*map(gap, random)])


# --- nearest points and reach ---------------------------------------------------------------------------


@given(systems, st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_the_projection_is_the_nearest_point(system, seed):
    """No point inside makes an acute angle with the way back: the variational inequality of projections."""
    found, rng = polytope(*system), np.random.default_rng(seed)
    points = rng.normal(0.5, 1.0, size=(6, len(found.centre)))
    nearest = found.project(points)
    assert violation(nearest, *system) < 1e-9
    inside = np.concatenate([found.sample(200, rng), found.project(rng.normal(0.5, 3, points.shape))])
    for point, near in zip(points, nearest, strict=True):
        assert ((inside - near) @ (point - near)).max() <= 1e-9


@given(systems, st.integers(0, 10**6))
@settings(max_examples=15, deadline=None)
def test_the_projection_agrees_with_a_general_solver(system, seed):
    found = polytope(*system)
    point = np.random.default_rng(seed).normal(0.5, 1.0, size=len(found.centre))
    if found.basis.shape[1] == 0:
        return
    C = found.G @ found.basis
    rest = minimize(
        lambda q: ((found.centre + found.basis @ q - point) ** 2).sum(),
        np.zeros(C.shape[1]),
        jac=lambda q: 2 * found.basis.T @ (found.centre + found.basis @ q - point),
        constraints={
            "type": "ineq",
            "fun": lambda q: found.g - found.G @ found.centre - C @ q,
            "jac": lambda q: -C,
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 300},
    )
    ours = ((found.project(point[None])[0] - point) ** 2).sum()
    assert ours <= rest.fun + 1e-6


@given(systems, st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_what_is_inside_stays_where_it_is(system, seed):
    found = polytope(*system)
    points = found.sample(20, np.random.default_rng(seed))
    assert np.abs(found.project(points) - points).max() <= 1e-12


def test_projections_and_samples_hold_to_the_last_digits():
    """Not beyond 1e-12, measured in the rows that the polytope itself holds."""
    for seed in range(20):
        system = random_system(seed, 8, 6, 2)
        found, rng = polytope(*system), np.random.default_rng(seed)
        for points in (
            found.sample(500, rng),
            found.project(rng.normal(0.5, 1, (30, 8))),
            found.spread(9, rng),
        ):
            assert found.holds(points, 1e-12).all()
            assert violation(points, *system) <= 1e-12


@given(systems, st.integers(0, 10**6))
@settings(max_examples=40, deadline=None)
def test_reach_ends_on_the_border(system, seed):
    found, rng = polytope(*system), np.random.default_rng(seed)
    points = found.sample(10, rng)
    directions = rng.normal(size=(10, found.basis.shape[1])) @ found.basis.T
    lower, upper = found.reach(points, directions)
    assert (lower <= 0).all()
    assert (upper >= 0).all()
    for end in (lower, upper):
        ends = points + end[:, None] * directions
        assert found.holds(ends, 1e-9).all()
        if found.basis.shape[1]:
            assert np.abs((found.g - ends @ found.G.T).min(axis=1)).max() < 1e-9


def test_a_face_can_be_walked_along_and_nowhere_is_nowhere():
    found = simplex(3)
    corner = np.array([[1.0, 0.0, 0.0]] * 3)
    lower, upper = found.reach(corner, np.array([[-1.0, 1, 0], [0, 0, 0], [-1, 0.5, 0.5]]))
    assert np.allclose(lower, 0)
    assert np.allclose(upper, [1, 0, 1])


def test_fixed_columns_are_fixed_and_the_rest_still_sums_up():
    rest = simplex(5).fixed([1, 3], [0.25, 0.5])
    points = rest.sample(1000, np.random.default_rng(0))
    assert np.allclose(points[:, [1, 3]], [0.25, 0.5], rtol=0, atol=1e-15)
    assert np.abs(points.sum(axis=1) - 1).max() < 1e-12
    assert points[:, 0].max() > 0.2
    with pytest.raises(EmptyPolytope):
        simplex(5).fixed([1, 3], [0.75, 0.5])
    assert np.allclose(simplex(3).fixed([0], [1.0]).centre, [1, 0, 0], atol=1e-12)


# --- climbing -------------------------------------------------------------------------------------------


def hill(rng, d):
    """A concave function with its top anywhere, also outside."""
    root = rng.normal(size=(d, d))
    bend, top = root @ root.T / d + 0.1 * np.eye(d), rng.normal(0.5, 0.5, d)

    def function(rows):
        away = rows - top
        height = np.einsum("kd,de,ke->k", away, bend, away)
        return -np.log1p(height), -2 * (away @ bend) / (1 + height)[:, None]

    return function


def by_slsqp(found, function, start, steps):
    C, room = found.G @ found.basis, found.g - found.G @ start
    result = minimize(
        lambda q: -function((start + found.basis @ q)[None])[0][0],
        np.zeros(C.shape[1]),
        jac=lambda q: -(function((start + found.basis @ q)[None])[1][0] @ found.basis),
        constraints={"type": "ineq", "fun": lambda q: room - C @ q, "jac": lambda q: -C},
        method="SLSQP",
        options={"maxiter": steps, "ftol": 1e-12},
    )
    return -result.fun


@pytest.mark.parametrize("d", [2, 4, 6, 10])
def test_a_climb_is_as_high_as_that_of_slsqp(d):
    for seed in range(5):
        rng = np.random.default_rng([seed, d])
        found = polytope(*random_system(seed, d, 3, 1))
        function = hill(rng, d)
        starts = found.sample(3, rng)
        ours = function(found.climb(function, starts, 60))[0]
        theirs = np.array([by_slsqp(found, function, start, 60) for start in starts])
        assert (ours >= theirs - 1e-5).all()


@given(systems, st.integers(0, 10**6))
@settings(max_examples=30, deadline=None)
def test_a_climb_never_goes_down_nor_outside(system, seed):
    found, rng = polytope(*system), np.random.default_rng(seed)
    frequency = rng.normal(size=len(found.centre)) * 6

    def waves(rows):
        assert violation(rows, *system) < 1e-9
        phase = rows @ frequency
        return np.sin(phase), np.cos(phase)[:, None] * frequency

    starts = found.sample(4, rng)
    ends = found.climb(waves, starts, 20)
    assert violation(ends, *system) < 1e-9
    assert (waves(ends)[0] >= waves(starts)[0] - 1e-9).all()


def test_a_climb_moves_only_the_columns_it_may():
    found, rng = simplex(6), np.random.default_rng(0)
    starts, columns = found.sample(4, rng), np.array([0, 2, 5])
    ends = found.climb(hill(rng, 6), starts, 20, columns)
    assert np.array_equal(ends[:, [1, 3, 4]], starts[:, [1, 3, 4]])
    assert (np.abs(ends - starts)[:, columns].max(axis=1) > 1e-3).all()
    assert np.abs(ends.sum(axis=1) - 1).max() < 1e-12


def test_a_linear_function_is_climbed_to_its_corner():
    weights = np.array([0.1, 0.3, 0.9, 0.2])
    ends = simplex(4).climb(
        lambda rows: (rows @ weights, np.tile(weights, (len(rows), 1))), np.full((1, 4), 0.25), 20
    )
    assert np.allclose(ends, [[0, 0, 1, 0]], atol=1e-9)


def test_rows_without_a_finite_value_stay():
    def nowhere(rows):
        return np.full(len(rows), -np.inf), np.full(rows.shape, np.nan)

    starts = simplex(3).sample(2, np.random.default_rng(0))
    assert np.allclose(simplex(3).climb(nowhere, starts, 5), starts, rtol=0, atol=1e-15)
