"""Every method is a row of the table in the notes on the paper; what each axis does to a batch."""

import pickle
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import covey
import covey.batch.choose
import covey.model.gaussian_process
from covey.acquisition.acquisition import ACQUISITIONS
from covey.acquisition.candidates import Search
from covey.batch.axes import AXES, JITTER, OUTPUTS, Axis, table
from covey.batch.choose import Task, choose_batch
from covey.batch.strategy import STRATEGIES
from covey.model.gaussian_process import GaussianProcess
from covey.model.native.threads import single_threaded_blas
from covey.model.priors import resolve_prior
from covey.space.features import Features

SPACE = covey.Space({"x": covey.Float(0, 1), "y": covey.Float(0, 1)})
N = 6

# name: p, thetas given, surrogate given, repel, jitter, acquisition; the rest as it is for all.
PAPER = {
    "sequential": (0, "data", "data", "none", "fixed", None),
    "ats": (1, "data", "data", "none", "fixed", None),
    "j-ats": (1, "data", "data", "none", "drawn", None),
    "h-ats": (1, "hallucinated", "data", "none", "fixed", None),
    "b-lcb": (0, "data", "hallucinated", "none", "fixed", "lcb"),
    "ats-b-lcb": (0.5, "data", "hallucinated", "none", "fixed", "lcb"),
    "p-ts": (0, "data", "data", "none", "fixed", "ts"),
    "ats-p-ts": (0.5, "data", "data", "none", "fixed", "ts"),
    "lp": (0, "data", "data", "penalise", "fixed", None),
    "ats-lp": (0.5, "data", "data", "penalise", "fixed", None),
}


def task(name, acquisition=None, pending=0, **settings):
    """Six observations of a bowl, and perhaps points in flight."""
    rng = np.random.default_rng(2)
    rows, flight = rng.random((N, 2)), rng.random((pending, 2))
    y = ((rows - 0.4) ** 2).sum(axis=1)
    search = Search.of(SPACE, Features.of(SPACE), np.concatenate([rows, flight]))
    chosen = covey.strategy(name, **{"s": 3, **settings})
    return Task(search, rows, y.tolist(), rows[:0], flight, chosen, chosen.paired(acquisition))


def choose(name, size=3, seed=0, **rest):
    given = task(name, **rest)
    warps = OUTPUTS[given.strategy.outputs]
    model = GaussianProcess(np.arange(2), "learn", resolve_prior("default", 2), warps)
    with single_threaded_blas():
        return choose_batch(given, size, model, np.random.default_rng(seed))[0]


def sets(choices):
    """The set of thetas of each point, as something to compare."""
    return [choice.thetas.length_scale.tobytes() for choice in choices]


# --- the table ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAPER)
def test_a_method_of_the_paper_sets_the_axes_as_its_row_reads(name):
    row = covey.strategy(name)
    axes = (row.p, row.thetas, row.surrogate, row.repel, row.jitter, row.acquisition)
    assert axes == PAPER[name]
    assert (row.outputs, row.boundary) == ("standard", "equal")
    assert row.name == name


def test_the_registry_is_the_papers_table_and_auto():
    assert set(covey.strategies()) == {*PAPER, "auto"} == set(STRATEGIES)


def test_the_trade_offs_are_the_papers():
    assert ACQUISITIONS["ei"].jitter == covey.Jitter(0.0, covey.LogUniform(-3, 0))
    assert ACQUISITIONS["lcb"].jitter == covey.Jitter(1.0, covey.Beta(1, 12))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_shows_what_it_is(name):
    row = STRATEGIES[name]
    assert eval(repr(row), {"Strategy": covey.Strategy}) == row
    shown = str(row)
    for axis in AXES:
        assert f"{axis} = {getattr(row, axis)!r}" in shown


def test_printed_auto_shows_the_constants_behind_it():
    assert "Discount(reach=0.1, power=2.0" in str(covey.strategy("auto"))


def test_documentation_and_signature_have_every_axis_and_value_once():
    assert list(AXES) == list(covey.Strategy.__dataclass_fields__)[1:]
    for name, axis in AXES.items():
        assert f"        {name}: " in covey.Strategy.__doc__
        for value in axis.values if isinstance(axis, Axis) else ():
            assert table().count(f"| | `{value}` |") == sum(
                value in other.values for other in AXES.values() if isinstance(other, Axis)
            )


# --- settings -------------------------------------------------------------------------------------------


def test_settings_change_what_they_name_and_nothing_else():
    changed = covey.strategy("ats-b-lcb", s=10, p=0.25)
    assert changed == replace(STRATEGIES["ats-b-lcb"], s=10, p=0.25)
    assert covey.strategy("ats-b-lcb") == STRATEGIES["ats-b-lcb"]


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"s": 0}, "s must be a whole number from 1 to 10000 or 'auto', got 0"),
        ({"s": 2.5}, "s must be a whole number from 1 to 10000 or 'auto', got 2.5"),
        ({"s": True}, "s must be a whole number from 1 to 10000 or 'auto', got True"),
        ({"s": "many"}, "s must be a whole number from 1 to 10000 or 'auto', got 'many'"),
        ({"p": -0.1}, "p must be a probability between 0 and 1, got -0.1"),
        ({"p": 1.1}, "p must be a probability between 0 and 1, got 1.1"),
        ({"p": float("nan")}, "p must be a probability between 0 and 1, got nan"),
        ({"p": "half"}, "p must be a probability between 0 and 1, got 'half'"),
        ({"p": True}, "p must be a probability between 0 and 1, got True"),
        ({"thetas": "fixed"}, r"thetas must be one of \['data', 'hallucinated'\], got 'fixed'"),
        (
            {"surrogate": None},
            r"surrogate must be one of \['data', 'hallucinated', 'fantasised', 'noiseless'\], got None",
        ),
        ({"repel": "push"}, r"repel must be one of \['none', 'penalise'\], got 'push'"),
        ({"boundary": "sharp"}, r"boundary must be one of \['equal', 'discounted'\], got 'sharp'"),
        ({"jitter": 0.1}, r"jitter must be one of \['fixed', 'drawn'\], got 0.1"),
        ({"acquisition": "ucb"}, r"acquisition must be one of \['ei', .* or None, got 'ucb'"),
        ({"starts": 0}, "starts must be a whole number from 1 to 10000 or None, got 0"),
        ({"starts": 2.5}, "starts must be a whole number from 1 to 10000 or None, got 2.5"),
        ({"q": 3}, r"a strategy has the settings \['s', 'p', .*\], got \['q'\]"),
    ],
)
def test_a_wrong_setting_is_refused_with_what_is_accepted(settings, says):
    with pytest.raises(ValueError, match=says):
        covey.strategy("ats", **settings)


def test_an_unknown_name_is_refused_with_the_names():
    with pytest.raises(ValueError, match=r"strategy must be one of \['auto', 'sequential', .*got 'atss'"):
        covey.strategy("atss")


def test_whole_numbers_and_probabilities_may_be_numpys():
    assert covey.strategy("ats", s=np.int64(3), p=np.float64(0.5)).thetas_per_point(2) == 3


def test_automatic_s_shares_32_thetas_among_a_batch_with_four_for_each_at_least():
    auto = [covey.strategy("ats", s="auto").thetas_per_point(m) for m in range(1, 200)]
    assert all(a >= b >= 4 for a, b in pairwise(auto))
    assert [auto[m - 1] for m in (1, 2, 4, 5, 8, 100)] == [32, 16, 8, 6, 4, 4]
    assert covey.strategy("ats", s=7).thetas_per_point(100, 900) == 7


def test_automatic_s_decreases_with_many_observations():
    few, hundred, many = (covey.strategy("ats").thetas_per_point(1, n) for n in (5, 100, 900))
    assert few == hundred == 32
    assert many == 11


def test_automatic_s_counts_points_in_flight(anywhere):
    alone = choose("ats", size=1, s="auto")[0]
    crowded = choose("ats", size=1, s="auto", pending=15)[0]
    assert len(crowded.thetas) < len(alone.thetas)


def test_strategies_are_values():
    assert pickle.loads(pickle.dumps(covey.strategy("lp", s=3))) == covey.strategy("lp", s=3)
    assert hash(covey.strategy("lp")) == hash(covey.strategy("lp"))


def test_a_method_defined_for_one_acquisition_refuses_another():
    with pytest.raises(ValueError, match=r"'b-lcb' is defined for acquisition 'lcb', got 'ei'; .*None"):
        covey.strategy("b-lcb").paired("ei")
    assert covey.strategy("b-lcb").paired("lcb").name == "lcb"
    assert covey.strategy("b-lcb", acquisition=None).paired("ei").name == "ei"
    assert covey.strategy("p-ts").paired(None).name == "ts"


@pytest.fixture
def anywhere(monkeypatch):
    """A maximiser that costs nothing, for tests that ask with what a point was chosen and not where."""
    monkeypatch.setattr(covey.batch.choose, "maximise", lambda _surface, search, rng: search.any_new(rng))


# --- which thetas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ats", "j-ats", "h-ats", "auto"])
def test_each_point_has_a_fresh_set_of_thetas(name, anywhere):
    choices = choose(name, size=4)
    assert len(set(sets(choices))) == 4
    assert [len(choice.thetas) for choice in choices] == [3] * 4


@pytest.mark.parametrize("name", ["sequential", "b-lcb", "p-ts", "lp"])
def test_one_set_of_thetas_serves_the_whole_batch(name, anywhere):
    assert len(set(sets(choose(name, size=4)))) == 1


@pytest.mark.parametrize("name", ["ats-b-lcb", "ats-p-ts", "ats-lp"])
def test_a_coin_decides_between_a_fresh_set_and_the_last(name, anywhere):
    fresh = [a != b for seed in range(6) for a, b in pairwise(sets(choose(name, size=6, seed=seed, s=1)))]
    assert len(fresh) == 30
    assert 6 <= sum(fresh) <= 24  # a fair coin leaves this range once in 3,000 times


def test_p_is_the_probability_of_a_fresh_set(anywhere):
    often = [a != b for k in range(4) for a, b in pairwise(sets(choose("ats-lp", 8, seed=k, s=1, p=0.9)))]
    seldom = [a != b for k in range(4) for a, b in pairwise(sets(choose("ats-lp", 8, seed=k, s=1, p=0.1)))]
    assert sum(often) > 14 > sum(seldom)


def test_ats_b_lcb_with_p_0_is_b_lcb():
    mixed, pure = choose("ats-b-lcb", size=4, p=0.0), choose("b-lcb", size=4)
    np.testing.assert_array_equal([c.row for c in mixed], [c.row for c in pure])
    assert sets(mixed) == sets(pure)


def test_ats_b_lcb_with_p_1_always_takes_a_fresh_set(anywhere):
    assert len(set(sets(choose("ats-b-lcb", size=5, p=1.0)))) == 5


def test_ats_with_p_0_is_sequential():
    kept, sequential = choose("ats", size=3, p=0.0), choose("sequential", size=3)
    np.testing.assert_array_equal([c.row for c in kept], [c.row for c in sequential])


def test_large_batches_do_not_run_out_of_thetas(anywhere):
    choices = choose("ats", size=4, s=300)
    assert len(set(sets(choices))) == 4


def test_origins_show_which_points_share_their_thetas():
    for name, different in (("ats", 3), ("b-lcb", 1)):
        optimizer = covey.Optimizer(SPACE, covey.strategy(name, s=3), n_initial=3, seed=1)
        optimizer.tell(optimizer.ask(3), [0.0, 1.0, 0.5])
        batch = optimizer.ask(3)
        assert len({tuple(trial.origin.thetas.items()) for trial in batch}) == different
        assert set(batch[0].origin.thetas) == {"variance", "mean", "noise"}
        assert batch[0].origin.strategy == name


# --- what pending points are ----------------------------------------------------------------------------


@pytest.fixture
def runs(monkeypatch):
    """The data that theta was sampled from, run by run."""
    seen = []
    genuine = covey.model.gaussian_process.sample
    monkeypatch.setattr(
        covey.model.gaussian_process, "sample", lambda data, *rest: seen.append(data) or genuine(data, *rest)
    )
    return seen


@pytest.fixture
def surrogates(monkeypatch):
    """The surrogates that surfaces were made of, point by point."""
    seen = []
    genuine = covey.batch.choose.Surface
    monkeypatch.setattr(
        covey.batch.choose, "Surface", lambda view, *rest: seen.append(view) or genuine(view, *rest)
    )
    return seen


def points(surrogates):
    return [view.x.shape[1] for view in surrogates]


def test_h_ats_hallucinations_reach_the_theta_posterior_and_never_the_surrogate(runs, surrogates):
    choices = choose("h-ats", size=3)
    assert [len(data.y) for data in runs] == [N, N + 1, N + 2]
    np.testing.assert_array_equal(runs[-1].x[N:], [c.row for c in choices[:2]])
    assert points(surrogates) == [N] * 3


def test_h_ats_hallucinates_points_in_flight_too(runs, surrogates):
    choose("h-ats", size=2, pending=2)
    assert [len(data.y) for data in runs] == [N, N + 2, N + 3]
    assert points(surrogates) == [N] * 2


def test_an_h_ats_hallucination_is_the_mean_of_its_own_thetas_given_the_data_alone(runs, surrogates):
    choices = choose("h-ats", size=3)
    for k in range(2):
        mean = surrogates[k].predict(choices[k].row[None])[0].mean()
        assert runs[-1].y[N + k] == pytest.approx(mean)


@pytest.mark.parametrize("name", ["b-lcb", "ats-b-lcb"])
def test_b_lcb_conditions_the_surrogate_and_not_the_theta_posterior(name, runs, surrogates):
    choose(name, size=3, pending=2)
    assert [len(data.y) for data in runs] == [N]
    assert points(surrogates) == [N + 2, N + 3, N + 4]


def test_b_lcb_leaves_the_mean_where_it_is_and_shrinks_the_spread(surrogates):
    choose("b-lcb", size=3)
    grid = np.random.default_rng(1).random((20, 2))
    (first, spread), (last, narrowed) = surrogates[0].predict(grid), surrogates[2].predict(grid)
    np.testing.assert_allclose(last, first, atol=1e-6)
    assert (narrowed <= spread + 1e-9).all()
    assert narrowed.sum() < spread.sum()


@pytest.mark.parametrize("name", ["ats", "j-ats", "sequential", "p-ts", "lp"])
def test_other_methods_leave_pending_points_out_of_model_and_posterior(name, runs, surrogates):
    choose(name, size=2, pending=2)
    assert [len(data.y) for data in runs] == [N]
    assert points(surrogates) == [N] * 2


def test_only_lp_pushes_away_from_pending_points(monkeypatch):
    pushes = []
    genuine = covey.batch.choose.Surface
    monkeypatch.setattr(
        covey.batch.choose, "Surface", lambda *parts: pushes.append(parts[-1]) or genuine(*parts)
    )
    choose("lp", size=2, pending=1)
    assert [len(push.centres) for (push,) in pushes] == [1, 2]
    pushes.clear()
    choose("lp", size=2)
    assert [[len(push.centres) for push in factors] for factors in pushes] == [[], [1]]
    pushes.clear()
    choose("ats", size=2, pending=1)
    assert pushes == [(), ()]


def test_lp_spreads_a_batch_that_sequential_does_not():
    def closest(name):
        rows = np.array([c.row for c in choose(name, size=3, acquisition="lcb", seed=4)])
        return min(np.linalg.norm(rows[i] - rows[j]) for i in range(3) for j in range(i))

    assert closest("lp") > 10 * closest("sequential")


# --- jitter and drawn functions -------------------------------------------------------------------------


@pytest.mark.parametrize("acquisition", ["ei", "lcb", "log-ei"])
def test_j_ats_draws_jitter_and_leaves_it_alone_in_half_of_the_cases(acquisition):
    jitter = ACQUISITIONS[acquisition].jitter
    draw = JITTER["drawn"]
    rng = np.random.default_rng(0)
    drawn = np.array([draw(ACQUISITIONS[acquisition], rng) for _ in range(2000)])
    assert 900 < (drawn == jitter.fixed).sum() < 1100
    changed = drawn[drawn != jitter.fixed]
    assert len(np.unique(changed)) == len(changed)
    assert ((changed > 0) & (changed <= 1)).all()


def test_j_ats_tells_the_jitter_of_each_point(anywhere):
    jitters = [choice.jitter for choice in choose("j-ats", size=12, s=1, acquisition="ei")]
    assert 2 <= sum(j == 0 for j in jitters) <= 10
    assert all(j == 0 or 1e-3 <= j <= 1 for j in jitters)


@pytest.mark.parametrize(("name", "acquisition"), [("ats", "ei"), ("ats", "lcb"), ("b-lcb", "lcb")])
def test_other_methods_keep_the_trade_off_fixed(name, acquisition, anywhere):
    fixed = ACQUISITIONS[acquisition].jitter.fixed
    assert {choice.jitter for choice in choose(name, acquisition=acquisition)} == {fixed}


@pytest.mark.parametrize(("name", "acquisition"), [("p-ts", None), ("ats", "ts")])
def test_thompson_sampling_draws_a_new_function_for_each_point(name, acquisition, surrogates):
    choose(name, size=3, acquisition=acquisition)
    grid = np.random.default_rng(1).random((5, 2))
    values = [view.predict(grid)[0] for view in surrogates]
    assert not np.isclose(values[0], values[1]).any()
    assert not np.isclose(values[1], values[2]).any()
    assert all((view.predict(grid)[1] == 0).all() for view in surrogates)


def test_thompson_samples_of_one_set_of_thetas_go_apart():
    rows = np.array([choice.row for choice in choose("p-ts", size=4, s=1)])
    assert np.linalg.norm(rows[:, None] - rows, axis=2)[np.triu_indices(4, 1)].min() > 1e-4


def test_the_page_about_strategies_has_the_table_of_axes_and_every_name():
    page = (Path(__file__).parents[1] / "docs" / "strategies.md").read_text()
    assert table() in page
    for name, row in STRATEGIES.items():
        assert f"| `{name}` | `{row!r}` |" in page
