"""Ask and tell: any order, any subset, any magnitude; nothing lost, nothing repeated, nothing random."""

import contextlib
import math
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import covey
import covey.batch.choose
from covey import Categorical, Failure, Float, Int, Optimizer, Space, State

BOX = Space({"x": Float(0, 1), "y": Float(-1, 1)})
MIXED = Space({"x": Float(1e-3, 1e3, log=True), "n": Int(1, 9), "k": Categorical(["a", "b", None])})
FEW = Space({"n": Int(0, 2), "k": Categorical(["a", "b"])})
FAST = covey.strategy("auto", s=2)


def optimizer(space=BOX, strategy=FAST, **settings):
    return Optimizer(space, strategy, **{"n_initial": 3, "seed": 0, **settings})


def bowl(params):
    return sum((value - 0.3) ** 2 for value in params.values())


def started(space=BOX, **settings):
    """An optimizer told its three initial points."""
    opt = optimizer(space, **settings)
    opt.tell(opt.ask(3), [1.0, 0.25, 0.5])
    return opt


def asked(trials):
    return [trial.params for trial in trials]


def distinct(space, trials):
    return len({space.encode(trial.params).tobytes() for trial in trials}) == len(trials)


# --- ask ------------------------------------------------------------------------------------------------


def test_ids_count_from_zero_and_everything_is_pending_until_told():
    opt = optimizer()
    first, second = opt.ask(2), opt.ask(1)
    assert [trial.id for trial in first + second] == [0, 1, 2]
    assert opt.pending == first + second == opt.trials
    assert all(t.state is State.RUNNING and t.value is None and t.reason is None for t in opt.trials)


def test_ask_gives_one_trial_by_default():
    assert len(optimizer().ask()) == 1


@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None, True])
def test_ask_refuses_what_is_not_a_number_of_points(n):
    opt = optimizer()
    with pytest.raises(ValueError, match=f"ask: n must be a whole number from 1 to 10000, got {n!r}"):
        opt.ask(n)
    assert opt.trials == []


def test_before_any_tell_the_initial_design_goes_on():
    opt = optimizer()
    trials = opt.ask(2) + opt.ask(4) + opt.ask(1)
    assert {trial.origin.strategy for trial in trials} == {"initial"}
    assert distinct(BOX, trials)
    assert opt.diagnostics is None


def test_the_model_is_consulted_after_the_initial_points():
    opt = optimizer(n_initial=4)
    opt.tell(opt.ask(2), [1.0, 0.0])
    origins = [trial.origin.strategy for trial in opt.ask(4)]
    assert origins == ["initial", "initial", "auto", "auto"]


def test_without_initial_points_the_first_tell_is_enough_for_the_model():
    opt = optimizer(n_initial=0)
    first = opt.ask(1)
    assert first[0].origin.strategy == "initial"  # nothing is known that a model could use
    opt.tell(first, [1.0])
    assert opt.ask(1)[0].origin.strategy == "auto"


def test_points_given_by_the_user_are_enough_for_the_model():
    opt = optimizer(n_initial=1)
    opt.add({"x": 0.5, "y": 0.5}, 1.0)
    assert opt.ask(1)[0].origin.strategy == "auto"


def test_a_trial_carries_what_chose_it():
    opt = started(strategy=covey.strategy("j-ats", s=2), acquisition="ei")
    origin = opt.ask(1)[0].origin
    assert (origin.strategy, origin.acquisition) == ("j-ats", "ei")
    assert origin.jitter is not None
    assert set(origin.length_scales) == {"x", "y"}
    assert set(origin.thetas) == {"variance", "mean", "noise"}
    assert all(math.isfinite(value) for value in origin.thetas.values())


def test_dimensions_may_be_called_mean_noise_and_variance():
    space = Space({"mean": Float(0, 1), "noise": Float(0, 1), "x": Float(0, 1)})
    opt = started(space)
    origin = opt.ask(1)[0].origin
    assert len(origin.length_scales) == 3
    assert len(origin.thetas) == 3


def test_diagnostics_tell_how_theta_was_sampled():
    opt = started()
    opt.ask(2)
    found = opt.diagnostics
    assert 0 < found.acceptance <= 1
    assert found.effective_sample_size >= 1
    assert found.evaluations >= found.steps > 0


def test_the_model_finds_the_bottom_of_a_bowl():
    opt = optimizer(strategy="auto", noise=0.0, n_initial=4)
    for _ in range(6):
        batch = opt.ask(3)
        opt.tell(batch, [bowl(trial.params) for trial in batch])
    assert opt.best.value < 5e-3


@pytest.mark.parametrize("d", [1, 50])
def test_one_dimension_and_fifty_work_alike(d):
    space = Space({f"x{k}": Float(0, 1) for k in range(d)})
    opt = optimizer(space)
    opt.tell(opt.ask(4), [4.0, 2.0, 3.0, 1.0])
    opt.tell(opt.ask(2), [2.5, 1.5])
    assert distinct(space, opt.ask(2) + opt.trials[:6])


# --- tell -----------------------------------------------------------------------------------------------


def test_values_arrive_in_any_order_and_any_subset():
    opt = optimizer()
    trials = opt.ask(4)
    opt.tell(trials[2], 0.5)
    opt.tell([trials[3], trials[0]], [0.25, 1.0])
    assert [t.value for t in opt.trials] == [1.0, None, 0.5, 0.25]
    assert [t.id for t in opt.pending] == [1]
    assert opt.best.id == 3
    flight = opt.ask(2)
    opt.tell(trials[1], 2.0)
    assert opt.pending == flight


def test_a_trial_is_known_by_its_id_too():
    opt = optimizer()
    opt.ask(3)
    opt.tell(1, 1.5)
    opt.tell([0, np.int64(2)], np.array([0.5, 2.5]))
    assert [t.value for t in opt.trials] == [0.5, 1.5, 2.5]


@pytest.mark.parametrize("value", [3, np.float32(3), np.int8(3), Decimal(3), Fraction(3), np.array(3.0)])
def test_every_kind_of_number_is_a_value(value):
    opt = optimizer()
    opt.tell(opt.ask(1)[0], value)
    assert opt.best.value == 3.0
    assert type(opt.best.value) is float


@pytest.mark.parametrize(
    "value",
    [
        None,
        "1.0",
        b"1.0",
        True,
        np.True_,
        1j,
        [1.0],
        {},
        object(),
        pytest.param(np.complex64(1 + 2j), id="complex64"),
        pytest.param(bytearray(b"1.0"), id="bytearray"),
    ],
)
def test_what_is_not_a_number_is_refused_and_nothing_changes(value):
    opt = optimizer()
    trial = opt.ask(1)[0]
    with pytest.raises(TypeError, match=r"must be a number or a covey\.Failure, got"):
        opt.tell(trial, value)
    assert opt.pending == [trial]


def test_a_second_tell_is_refused_and_the_first_value_stays():
    opt = optimizer()
    trials = opt.ask(2)
    opt.tell(trials[0], 1.0)
    opt.tell(trials[1], Failure("broke"))
    with pytest.raises(covey.AlreadyTold, match="trial 0 was told already, it is complete"):
        opt.tell(trials[0], 2.0)
    with pytest.raises(covey.AlreadyTold, match="trial 1 was told already, it is failed"):
        opt.tell(trials[1], 2.0)
    assert [(t.value, t.reason) for t in opt.trials] == [(1.0, None), (None, "broke")]


def test_a_trial_that_was_not_asked_for_here_is_unknown():
    opt = optimizer()
    opt.ask(2)
    with pytest.raises(covey.UnknownTrial, match="tell: trial 7 was not asked for here"):
        opt.tell(7, 1.0)
    with pytest.raises(covey.UnknownTrial, match="trial 1 was asked for here as"):
        opt.tell(optimizer(seed=1).ask(2)[1], 1.0)
    assert len(opt.pending) == 2


@pytest.mark.parametrize("trial", [None, "0", 0.0, {"x": 0.5}, [None], True])
def test_what_is_not_a_trial_is_refused_with_what_is(trial):
    opt = optimizer()
    opt.ask(1)
    with pytest.raises(TypeError, match=r"give a covey\.Trial, its id, or a list of them"):
        opt.tell(trial, 1.0)


@pytest.mark.parametrize(
    ("values", "error", "says"),
    [
        ([1.0, "two"], TypeError, "must be a number"),
        ([1.0], ValueError, "2 trials need as many values, got 1"),
        (1.0, TypeError, "several trials need a list of values, got 1.0"),
        ({0: 1.0, 1: 2.0}, TypeError, "several trials need a list of values"),
        pytest.param({1.0, 2.0}, TypeError, "need a list of values", id="set"),
    ],
)
def test_a_list_is_told_as_a_whole_or_not_at_all(values, error, says):
    opt = optimizer()
    trials = opt.ask(2)
    with pytest.raises(error, match=says):
        opt.tell(trials, values)
    assert opt.pending == trials


def test_a_list_with_one_bad_trial_is_not_told_at_all():
    opt = optimizer()
    trials = opt.ask(3)
    opt.tell(trials[2], 1.0)
    with pytest.raises(covey.AlreadyTold):
        opt.tell(trials, [1.0, 2.0, 3.0])
    with pytest.raises(covey.UnknownTrial):
        opt.tell([0, 1, 9], [1.0, 2.0, 3.0])
    with pytest.raises(covey.AlreadyTold, match="named twice"):
        opt.tell([0, 1, 0], [1.0, 2.0, 3.0])
    assert opt.pending == trials[:2]


def test_the_errors_of_covey_have_one_root_and_familiar_kin():
    assert issubclass(covey.UnknownTrial, covey.CoveyError)
    assert issubclass(covey.UnknownTrial, KeyError)
    assert issubclass(covey.AlreadyTold, covey.CoveyError)
    assert issubclass(covey.AlreadyTold, ValueError)
    assert issubclass(covey.SpaceExhausted, covey.CoveyError)


# --- failures -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (Failure("diverged"), "diverged"),
        (Failure(), ""),
        (math.nan, "the value was nan"),
        (math.inf, "the value was inf"),
        (-math.inf, "the value was -inf"),
        (np.float32("nan"), "the value was nan"),
        (10**400, "the value was inf"),
    ],
)
def test_a_failure_is_recorded_with_its_reason_and_is_never_best(value, reason):
    opt = optimizer()
    trials = opt.ask(2)
    opt.tell(trials, [value, 5.0])
    assert (opt.trials[0].state, opt.trials[0].value, opt.trials[0].reason) == (State.FAILED, None, reason)
    assert opt.best.id == 1


def test_when_everything_failed_there_is_no_best_and_asking_goes_on():
    opt = optimizer()
    opt.tell(opt.ask(3), [Failure("a"), math.nan, Failure("c")])
    assert opt.best is None
    batch = opt.ask(2)
    assert batch[0].origin.strategy == "initial"  # there is no value that a model could use
    assert distinct(BOX, opt.trials)


def test_as_long_as_all_values_are_the_same_the_initial_design_goes_on():
    opt = optimizer(n_initial=3)
    opt.tell(opt.ask(3), [2.0, 2.0, 2.0])
    trials = opt.ask(2)
    assert [trial.origin.strategy for trial in trials] == ["initial", "initial"]
    opt.tell(trials, [2.0, 1.0])
    assert opt.ask(1)[0].origin.strategy == "auto"


@pytest.fixture
def tasks(monkeypatch):
    """What batches were chosen from."""
    seen = []
    genuine = covey.batch.choose.choose_batch
    monkeypatch.setattr(
        covey.batch.choose, "choose_batch", lambda task, *rest: seen.append(task) or genuine(task, *rest)
    )
    return seen


def test_the_model_of_the_objective_sees_values_and_knows_what_failed(tasks):
    opt = optimizer(n_initial=5)
    trials = opt.ask(5)
    opt.tell(trials, [1.0, Failure(), -3.0, math.nan, 0.5])
    opt.ask(1)
    rows = [BOX.encode(trial.params) for trial in trials]
    np.testing.assert_allclose(tasks[0].observed, [rows[0], rows[2], rows[4]])
    np.testing.assert_allclose(tasks[0].failed, [rows[1], rows[3]])
    assert tasks[0].values == [1.0, -3.0, 0.5]


def test_the_model_sees_values_in_the_order_told_and_points_in_flight(tasks):
    opt = optimizer()
    trials = opt.ask(4)
    opt.tell([trials[2], trials[0]], [1.0, 2.0])
    flight = opt.ask(2)
    opt.tell(trials[1], 0.0)
    opt.ask(1)
    rows = [[BOX.encode(t.params) for t in told] for told in (trials, flight)]
    np.testing.assert_allclose(tasks[0].observed, [rows[0][2], rows[0][0]])
    np.testing.assert_allclose(tasks[0].pending, [rows[0][1], rows[0][3]])
    np.testing.assert_allclose(tasks[1].observed[-1], rows[0][1])
    np.testing.assert_allclose(tasks[1].pending, [rows[0][3], *rows[1]])


def test_initial_points_of_a_batch_are_pending_for_the_rest_of_it(tasks):
    opt = optimizer(n_initial=3)
    opt.tell(opt.ask(2), [0.0, 1.0])
    batch = opt.ask(3)
    np.testing.assert_allclose(tasks[0].pending, [BOX.encode(batch[0].params)])


# --- any magnitude --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values",
    [
        [1e300, -1e300, 3e299, 0.0],
        [1e-300, 2e-300, 5e-301, 0.0],
        [1e-300, 1e300, 1.0, -1.0],
        [5e-324, 1e-323, 1.5e-323, 5e-324],
        [1.7976931348623157e308, -1.7976931348623157e308, 0.0, 1.0],
        [1e15, 1e15 + 1, 1e15 + 2, 1e15 - 1],
        [7.0, 7.0, 7.0, 7.0],
        [0.1, 0.1, 0.1, 0.1],
        [0.0, 0.0, 0.0, -0.0],
    ],
    ids=repr,
)
@pytest.mark.parametrize("noise", ["learn", 0.0, 1e-3])
def test_values_of_any_magnitude_are_taken_and_kept(values, noise):
    opt = optimizer(noise=noise)
    opt.tell(opt.ask(4), values)
    assert [t.value for t in opt.trials] == values
    assert opt.best.value == min(values)
    opt.tell(opt.ask(1), [values[0]])
    batch = opt.ask(1)
    assert distinct(BOX, opt.trials)
    assert all(math.isfinite(v) for v in batch[0].origin.thetas.values())


@pytest.mark.parametrize("power", [-200, 200])
def test_units_do_not_change_what_is_asked(power):
    values = [1.0, 0.25, 0.5]
    plain, scaled = optimizer(), optimizer()
    plain.tell(plain.ask(3), values)
    scaled.tell(scaled.ask(3), [math.ldexp(value, power) for value in values])
    assert asked(plain.ask(2)) == asked(scaled.ask(2))


# --- add ------------------------------------------------------------------------------------------------


def test_results_from_elsewhere_are_data():
    opt = optimizer(MIXED)
    params = {"k": None, "x": 1.0, "n": 3}
    trial = opt.add(params, 0.5)
    assert (trial.params, trial.value, trial.state) == (params, 0.5, State.COMPLETE)
    assert trial.origin.strategy == "given"
    assert opt.best == trial
    assert opt.add(params, Failure("no luck")).state is State.FAILED


@pytest.mark.parametrize("params", [{"x": 2.0, "y": 0.0}, {"x": 0.5}, {}, {"x": 0.5, "y": "0"}])
def test_add_refuses_a_configuration_of_another_space(params):
    opt = optimizer()
    with pytest.raises(ValueError, match="parameter"):
        opt.add(params, 1.0)
    with pytest.raises(TypeError, match="must be a number"):
        opt.add({"x": 0.5, "y": 0.5}, "one")
    assert opt.trials == []


@pytest.mark.parametrize("params", [None, 5, [0.5, 0.5]])
def test_add_says_that_it_wants_a_dict(params):
    with pytest.raises((TypeError, ValueError), match="parameters must be"):
        optimizer().add(params, 1.0)


@pytest.mark.parametrize("x", [0.3, 0.7, 1 / 3, 0.123456789, 99.9, 100.0])
@pytest.mark.parametrize("log", [False, True])
def test_the_parameters_given_are_kept_to_the_last_digit(x, log):
    opt = optimizer(Space({"x": Float(0.1, 100.0, log=log)}))
    assert opt.add({"x": x}, 1.0).params == {"x": x}


def test_duplicates_are_data_and_never_asked_for():
    opt = optimizer(FEW)
    for value in (1.0, 2.0, 1.5, Failure("once")):
        opt.add({"n": 1, "k": "a"}, value)
    others = opt.ask(5)
    assert len(others) == 5
    assert {"n": 1, "k": "a"} not in asked(others)
    assert distinct(FEW, others)


def test_duplicates_do_not_upset_a_deterministic_model():
    opt = optimizer(noise=0.0)
    for value in (1.0, 2.0, 1.0, 3.0):
        opt.add({"x": 0.5, "y": 0.5}, value)
    opt.add({"x": 0.5, "y": 0.5 + 1e-12}, -1.0)
    assert len(opt.ask(2)) == 2


# --- finite spaces --------------------------------------------------------------------------------------


@pytest.mark.parametrize("told", [True, False])
def test_a_finite_space_ends_with_a_part_of_a_batch_and_then_says_so(told):
    opt = optimizer(FEW, n_initial=2)
    sizes = []
    for _ in range(2):
        batch = opt.ask(4)
        sizes.append(len(batch))
        if told:
            opt.tell(batch, [float(k) for k in range(len(batch))])
    assert sizes == [4, 2]
    assert distinct(FEW, opt.trials)
    with pytest.raises(covey.SpaceExhausted, match="all 6 configurations of the space have been asked for"):
        opt.ask(1)
    assert len(opt.trials) == 6


def test_an_exhausted_space_still_takes_values():
    opt = optimizer(FEW)
    trials = opt.ask(6)
    with pytest.raises(covey.SpaceExhausted):
        opt.ask()
    opt.tell(trials, [6.0, 5.0, 4.0, 3.0, 2.0, 1.0])
    assert opt.best.id == 5


def test_a_space_of_one_configuration_is_soon_exhausted():
    opt = optimizer(Space({"n": Int(3, 3), "k": Categorical(["only"])}), n_initial=0)
    assert asked(opt.ask(5)) == [{"n": 3, "k": "only"}]
    with pytest.raises(covey.SpaceExhausted):
        opt.ask()


def test_results_given_exhaust_a_space_too():
    opt = optimizer(Space({"k": Categorical(["a", "b"])}))
    opt.add({"k": "a"}, 1.0)
    assert asked(opt.ask(3)) == [{"k": "b"}]


# --- reproducibility ------------------------------------------------------------------------------------


def session(space=MIXED, seed=0, strategy=FAST, pickled=False):
    """A run with points in flight; all configurations."""
    opt = Optimizer(space, strategy, n_initial=3, seed=seed)
    for value, told in enumerate(([2, 0], [1], [0])):
        batch = opt.ask(3 if value == 0 else 2)
        if pickled:
            opt = pickle.loads(pickle.dumps(opt))
        opt.tell([batch[k] for k in told], [float(value - k) for k in told])
    return asked(opt.trials + opt.ask(2))


def test_same_seed_same_points():
    assert session() == session()


def test_other_seed_other_points_but_for_corners():
    first, second = session(BOX, seed=0), session(BOX, seed=1)
    corners = [{"x": x, "y": y} for x in (0.0, 1.0) for y in (-1.0, 1.0)]
    assert not [params for params in first if params in second and params not in corners]
    assert sum(params not in corners for params in first) > 5


def test_a_seed_that_was_drawn_can_be_read_and_used_again():
    opt = optimizer(seed=None)
    assert asked(optimizer(seed=opt.seed).ask(3)) == asked(opt.ask(3))
    assert optimizer(seed=None).seed != opt.seed


def test_pickling_between_asks_and_tells_changes_nothing():
    assert session(pickled=True) == session()


def test_a_pickled_optimizer_is_independent_of_the_first():
    opt = started()
    twin = pickle.loads(pickle.dumps(opt))
    twin.tell(twin.ask(2), [0.0, 0.1])
    assert len(opt.trials) == 3
    assert len(twin.trials) == 5


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_worker_process_gives_the_same_points(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} on this platform")
    opt = started(MIXED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads, from Python 3.12 on
        with multiprocessing.get_context(method).Pool(1) as pool:
            elsewhere = pool.apply_async(Optimizer.ask, (opt, 2)).get(timeout=120)
    assert asked(elsewhere) == asked(opt.ask(2))


PROGRAM = """
import covey, sys
choices = covey.Categorical(["a", "b", "c"])
space = covey.Space({"x": covey.Float(0, 1), "y": covey.Float(-1, 1), "k": choices})
opt = covey.Optimizer(space, covey.strategy(sys.argv[1], s=8), n_initial=20, seed=11)
trials = opt.ask(20)
opt.tell(trials, [t.params["x"] ** 2 + t.params["y"] for t in trials])
print([t.params for t in opt.ask(2)])
opt.tell(20, -1.0)
print([t.params for t in opt.ask(2)])
"""


def run_elsewhere(strategy, threads, hash_seed):
    env = {**os.environ, "OMP_NUM_THREADS": threads, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, strategy], env=env, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_another_process_with_other_threads_and_hashes_gives_the_same_points():
    one = run_elsewhere("auto", "1", "1")
    assert one.count("{") == 4
    assert run_elsewhere("auto", "2", "2") == one


def test_global_random_state_is_neither_read_nor_changed():
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = session()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    assert session() == first


# --- nothing leaks --------------------------------------------------------------------------------------


def test_a_returned_trial_may_be_changed_without_harm():
    opt = started()
    trial = opt.ask(1)[0]
    kept = dict(trial.params)
    for copy in (trial, opt.trials[3], opt.pending[0]):
        copy.params["x"] = 99.0
        copy.params["extra"] = 1
    assert opt.trials[3].params == kept
    with pytest.raises(covey.UnknownTrial, match="changed on the way"):
        opt.tell(trial, 1.0)
    opt.tell(trial.id, 1.0)
    assert opt.trials[3].value == 1.0


def test_what_chose_a_trial_cannot_be_changed_from_outside():
    opt = started()
    trial = opt.ask(1)[0]
    with contextlib.suppress(TypeError):
        trial.origin.length_scales["x"] = -1.0
    assert opt.trials[3].origin.length_scales["x"] > 0


def test_lists_returned_are_copies():
    opt = started()
    opt.trials.clear()
    opt.pending.append(None)
    assert len(opt.trials) == 3
    assert opt.pending == []


def test_best_is_the_lowest_and_the_first_of_equals():
    opt = optimizer()
    assert opt.best is None
    opt.tell(opt.ask(4), [2.0, 1.0, 1.0, Failure()])
    assert opt.best.id == 1


def fragile(mean, std, best, jitter):
    """Fails when the model uses it, at more points than the check at construction."""
    if mean.shape[1] > 3:
        raise ZeroDivisionError("the user's own")
    return best - mean


@pytest.mark.parametrize("n_initial", [2, 3])
def test_an_ask_that_fails_leaves_everything_as_it_was(n_initial):
    opt = optimizer(acquisition=fragile, n_initial=n_initial)
    opt.tell(opt.ask(2), [0.0, 1.0])
    before = opt.trials
    with pytest.raises(ZeroDivisionError, match="the user's own"):
        opt.ask(3)
    assert opt.trials == before


def test_it_shows_what_it_is():
    assert repr(started()) == "<Optimizer auto, log-ei: 3 of 3 told>"


# --- arguments ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"strategy": "best"}, r"strategy must be one of \['auto', .*'ats-lp'\] or a Strategy, got 'best'"),
        ({"strategy": None}, "strategy must be one of"),
        ({"acquisition": "eI"}, r"acquisition must be one of \['ei', .*got 'eI'"),
        ({"acquisition": 3}, r"acquisition must be one of \['ei', .* a function of .*got 3"),
        ({"strategy": "p-ts", "acquisition": "ei"}, "'p-ts' is defined for acquisition 'ts', got 'ei'"),
        ({"acquisition": lambda m, s, b, j: np.mean(m)}, r"must return arrays of shape"),
        ({"noise": "none"}, "noise must be 'learn' or a standard deviation from 0, got 'none'"),
        ({"noise": -1.0}, "noise must be 'learn' or a standard deviation from 0, got -1.0"),
        ({"noise": math.nan}, "noise must be 'learn'"),
        ({"noise": math.inf}, "noise must be 'learn'"),
        ({"noise": None}, "noise must be 'learn'"),
        ({"noise": True}, "noise must be 'learn'"),
        ({"prior": "papers"}, r"prior must be one of \['default', 'paper'\] or a covey.Prior, got 'papers'"),
        ({"prior": None}, "prior must be one of"),
        ({"n_initial": -1}, "n_initial must be a whole number from 0 or None, got -1"),
        ({"n_initial": 2.5}, "n_initial must be a whole number from 0 or None, got 2.5"),
        ({"n_initial": True}, "n_initial must be a whole number"),
        ({"initial": "lhs"}, r"initial must be one of \['random', 'sobol'\], got 'lhs'"),
        ({"initial": None}, "initial must be one of"),
        ({"seed": -1}, "seed must be a whole number from 0 or None, got -1"),
        ({"seed": 0.5}, "seed must be a whole number from 0 or None, got 0.5"),
        ({"seed": "0"}, "seed must be a whole number"),
        pytest.param({"strategy": ["ats"]}, "strategy must be one of", id="unhashable-strategy"),
        pytest.param({"prior": {"mean": 0}}, "prior must be one of", id="unhashable-prior"),
    ],
)
def test_a_wrong_argument_is_refused_at_once_with_what_is_accepted(arguments, says):
    with pytest.raises(ValueError, match=says):
        Optimizer(BOX, **arguments)


@pytest.mark.parametrize("space", [None, {"x": Float(0, 1)}, Float(0, 1)])
def test_what_is_not_a_space_is_refused(space):
    with pytest.raises(TypeError, match=r"space must be a covey\.Space, got"):
        Optimizer(space)


def test_the_papers_settings_are_accepted():
    opt = Optimizer(
        BOX, covey.strategy("ats", s=3), "ei", noise=0.0, prior="paper", n_initial=5, initial="random", seed=2
    )
    opt.tell(opt.ask(5), [3.0, 1.0, 2.0, 5.0, 4.0])
    assert distinct(BOX, opt.trials + opt.ask(2))


def test_a_prior_of_ones_own_is_accepted():
    prior = covey.Prior(covey.Gamma(2, 2), covey.LogNormal(0, 1), covey.Normal(0, 1), covey.LogNormal(-9, 1))
    assert len(started(prior=prior).ask(1)) == 1


def test_numpy_numbers_serve_as_arguments():
    opt = Optimizer(BOX, n_initial=np.int64(2), seed=np.uint32(5), noise=np.float32(0.5))
    assert (opt.n_initial, opt.seed, opt.noise) == (2, 5, 0.5)


# --- threads --------------------------------------------------------------------------------------------


def test_threads_may_ask_and_tell_at_once():
    opt = optimizer(MIXED, n_initial=4)
    errors, told, lock = [], {}, threading.Lock()

    def work(number):
        try:
            for step in range(3):
                trial = opt.ask(1)[0]
                opt.tell(trial, float(10 * number + step))
                with lock:
                    told[trial.id] = float(10 * number + step)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert {t.id: t.value for t in opt.trials} == told
    assert sorted(told) == list(range(12))
    assert distinct(MIXED, opt.trials)


# --- hostile surroundings -------------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", covey.strategies())
def test_a_program_that_raises_on_every_odd_number_gets_its_suggestions(strategy):
    with np.errstate(all="raise"):
        opt = Optimizer(BOX, strategy, n_initial=5, seed=0)
        opt.tell(opt.ask(5), [1e-300, 1e3, 0.0, 5.0, 1e-200])
        opt.tell(opt.ask(2), [0.5, Failure("no")])
        assert len(opt.ask(2)) == 2
        assert opt.recommend() is not None


FORK = """
import os, sys, threading, time
import covey

opt = covey.Optimizer(covey.Space({"x": covey.Float(0, 1)}), seed=0)
opt.tell(opt.ask(5), [1.0, 2.0, 3.0, 4.0, 5.0])
inside = threading.Event()

def slow(mean, std, best, jitter):
    inside.set()
    time.sleep(0.01)
    return -mean

opt.acquisition = covey.Acquisition("slow", slow)
thread = threading.Thread(target=opt.ask, args=(3,))
thread.start()
inside.wait()
if os.fork() == 0:
    try:
        opt.ask()
    except covey.CoveyError as error:
        print(error, flush=True)
    fresh = covey.Optimizer(opt.space, seed=0)
    print(len(fresh.ask(2)), flush=True)
    os._exit(0)
os.wait()
thread.join()
print(len(opt.ask(1)))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_a_fork_amid_an_ask_is_told_so_and_does_not_hang():
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, timeout=120, check=True
    )
    refusal, fresh, parent = done.stdout.splitlines()
    assert "when the process forked" in refusal
    assert (fresh, parent) == ("2", "1")
