"""CoveySampler passes Optuna's own suites, and keeps what it says of trials, seeds, threads and processes."""

import copy
import math
import pickle
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import optuna
import pytest
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.testing.pytest_samplers import (
    BasicSamplerTestCase,
    RelativeSamplerTestCase,
    SingleOnlySamplerTestCase,
)
from optuna.trial import TrialState, create_trial

import covey
from covey.integrations.optuna import CoveySampler
from covey.integrations.optuna.model import Model
from covey.integrations.optuna.space import Axes
from covey.integrations.optuna.trials import publish

FAST = covey.strategy("auto", s=2)
UNIT = {"x": FloatDistribution(0, 1), "y": FloatDistribution(0, 1)}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield
    optuna.logging.set_verbosity(before)


class TestConformance(BasicSamplerTestCase, RelativeSamplerTestCase, SingleOnlySamplerTestCase):
    """Optuna's suites, unchanged."""

    @pytest.fixture
    def sampler(self):
        return lambda: CoveySampler(FAST, n_initial=2, seed=0)


def sampler(**options):
    return CoveySampler(**{"strategy": FAST, "n_initial": 4, "search_space": UNIT, "seed": 0, **options})


def study_of(**options):
    settings = {"sampler": sampler(**options.pop("sampler", {})), **options}
    return optuna.create_study(**settings)


def bowl(trial):
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2 + (trial.suggest_float("y", 0, 1) - 0.6) ** 2


def points(study):
    return [tuple(sorted(trial.params.items())) for trial in study.trials]


def optimizer_of(study):
    """The optimizer behind the last suggestion."""
    return study.sampler._memory._models[-1]._optimizer


# Choosing


def test_it_finds_a_minimum():
    study = study_of()
    study.optimize(bowl, n_trials=20)
    assert study.best_value < 1e-3


def test_it_finds_a_maximum():
    study = study_of(direction="maximize")
    study.optimize(lambda trial: 5 - bowl(trial), n_trials=20)
    assert study.best_value > 5 - 1e-3


@pytest.mark.parametrize("name", covey.strategies())
def test_every_strategy_serves(name):
    study = study_of(sampler={"strategy": covey.strategy(name, s=2), "n_initial": 3})
    study.optimize(bowl, n_trials=5)
    assert optimizer_of(study).trials[-1].origin.strategy == name
    assert len(set(points(study))) == 5


def test_any_acquisition_function_serves():
    def optimistic(mean, std, best, jitter):
        return 2 * std - mean

    study = study_of(sampler={"acquisition": optimistic})
    study.optimize(bowl, n_trials=6)
    assert optimizer_of(study).trials[-1].origin.acquisition == "optimistic"


def test_the_first_trials_are_the_initial_design_by_their_numbers():
    study = study_of(sampler={"n_initial": 8, "seed": 3})
    study.optimize(bowl, n_trials=8)
    asked = covey.Optimizer(covey.Space({"x": covey.Float(0, 1), "y": covey.Float(0, 1)}), seed=3).ask(8)
    assert [trial.params for trial in study.trials] == [trial.params for trial in asked]


MIXED = {
    "float": FloatDistribution(-2, 3),
    "log": FloatDistribution(1e-7, 1e3, log=True),
    "grid": FloatDistribution(-1.05, 2.15, step=0.1),
    "int": IntDistribution(-3, 9),
    "int log": IntDistribution(1, 1000, log=True),
    "int grid": IntDistribution(-10, 46, step=7),
    "many": IntDistribution(0, 2**62),
    "many log": IntDistribution(1, 2**60, log=True),
    "choice": CategoricalDistribution([None, True, 2, 3.5, "four", math.nan]),
    "alone": CategoricalDistribution(["one"]),
    "point": FloatDistribution(0.5, 0.5),
}


@pytest.mark.parametrize("given", [True, False])
def test_every_kind_of_parameter_comes_in_its_own_type_and_range(given):
    chooses = CoveySampler(FAST, n_initial=5, seed=0, search_space=MIXED if given else None)
    study = optuna.create_study(sampler=chooses)
    for k in range(12):
        study.tell(study.ask(MIXED), math.sin(k))
    for trial in study.trials:
        for name, distribution in MIXED.items():
            value = trial.params[name]
            assert distribution._contains(distribution.to_internal_repr(value))
            if not isinstance(distribution, CategoricalDistribution):
                assert type(value) is (float if isinstance(distribution, FloatDistribution) else int)
    assert len({repr(trial.params["choice"]) for trial in study.trials}) > 2
    assert set(chooses._memory._models[-1].axes.search_space) == set(MIXED) - {"alone", "point"}
    assert len(optimizer_of(study).trials) == 12


def test_steps_are_what_can_be_set():
    tenths = {"x": FloatDistribution(-0.3, 1.0, step=0.1), "y": FloatDistribution(20, 90, step=0.7)}
    study = study_of(sampler={"search_space": tenths, "n_initial": 3})
    for k in range(9):
        study.tell(study.ask(tenths), math.sin(k))
    alone = study_of(sampler={})
    for _ in range(9):  # drawn at random, each on its own
        alone.tell(alone.ask(tenths), 0.0)
    for trial in study.trials + alone.trials:
        assert all(len(str(value).partition(".")[2]) == 1 for value in trial.params.values())


def test_every_kind_of_parameter_comes_back_from_a_database_to_the_last_bit(sqlite):
    study = study_of(storage=sqlite, study_name="mixed", sampler={"search_space": MIXED, "n_initial": 2})
    for k in range(4):
        study.tell(study.ask(MIXED), math.sin(k))
    own = optimizer_of(study)
    read = Model(study.sampler._memory._models[-1].axes, 1.0, study.sampler._settings, seed=0)
    assert read.read(optuna.load_study(study_name="mixed", storage=sqlite).trials[:3])
    assert [trial.params for trial in read._optimizer.trials] == [
        {**trial.params, **{name: round(trial.params[name]) for name in ("many", "many log")}}
        for trial in own.trials[:3]
    ]


def test_logarithmic_and_large_ranges_are_covered_evenly():
    study = study_of()
    wide = {"log": FloatDistribution(1e-6, 1, log=True), "many": IntDistribution(0, 2**62)}
    drawn = [study.ask(wide).params for _ in range(200)]
    assert 60 < sum(params["log"] < 1e-3 for params in drawn) < 140
    assert 60 < sum(params["many"] < 2**61 for params in drawn) < 140


def test_a_finite_space_is_tried_whole_before_anything_is_repeated(caplog):
    study = study_of(sampler={"search_space": {"k": IntDistribution(0, 8)}, "n_initial": 3})
    study.optimize(lambda trial: trial.suggest_int("k", 0, 8) ** 2, n_trials=12)
    tried = [trial.params["k"] for trial in study.trials]
    assert sorted(tried[:9]) == list(range(9))
    assert set(tried[9:]) <= set(range(9))
    said = [record.getMessage() for record in caplog.records if record.name == "covey.optuna"]
    assert said == ["from trial 9 on values of k repeat: all of them were tried"]


# What it sees


def test_pending_trials_of_others_are_seen_before_their_objectives_begin(sqlite):
    first = study_of(storage=sqlite, study_name="shared")
    asked = first.ask()
    asked.relative_params  # noqa: B018  (as the first suggest_* does)
    assert first.trials[0].params == {}
    second = optuna.load_study(study_name="shared", storage=sqlite, sampler=sampler(seed=1))
    second.ask(UNIT)
    assert optimizer_of(second).pending[0].params == asked.relative_params
    assert len(optimizer_of(second).pending) == 2


def test_values_failures_and_pruned_trials_are_told():
    study = study_of()
    values = iter([1.0, math.nan, math.inf, 2.0, None, "raise", "prune", "prune at once", 0.5])

    def objective(trial):
        bowl(trial)
        value = next(values)
        if value == "raise":
            raise ValueError
        if value == "prune":
            trial.report(5.0, 1)
            trial.report(4.0, 2)
        if value in ("prune", "prune at once"):
            raise optuna.TrialPruned
        return value

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study.optimize(objective, n_trials=9, catch=ValueError)
    study.ask(UNIT)
    told = [trial.value for trial in optimizer_of(study).trials]
    assert told == [1.0, None, None, 2.0, None, None, 4.0, None, 0.5, None]
    states = [trial.state for trial in optimizer_of(study).trials]
    assert states.count("failed") == 5
    assert states[-1] == "running"


def test_maximising_turns_values_around_and_not_failures():
    study = study_of(direction="maximize")
    study.add_trial(create_trial(params={"x": 0.1, "y": 0.2}, distributions=UNIT, value=3.0))
    study.add_trial(
        create_trial(
            params={"x": 0.3, "y": 0.2},
            distributions=UNIT,
            state=TrialState.PRUNED,
            intermediate_values={0: 1.0, 3: 2.0},
        )
    )
    study.ask(UNIT)
    assert [trial.value for trial in optimizer_of(study).trials[:2]] == [-3.0, -2.0]


def test_trials_of_others_and_points_given_count():
    study = study_of()
    study.add_trial(create_trial(params={"x": 0.25, "y": 0.5}, distributions=UNIT, value=1.0))
    study.enqueue_trial({"x": 0.75, "y": 0.5})
    study.enqueue_trial({"x": 0.125})
    first, second, third = (study.ask(UNIT) for _ in range(3))
    assert first.params == {"x": 0.75, "y": 0.5}
    assert second.params["x"] == 0.125
    known = [trial.params for trial in optimizer_of(study).trials]
    assert known == [{"x": 0.25, "y": 0.5}, first.params, second.params, third.params]


def test_a_queued_point_is_pending():
    study = study_of()
    taken = study.ask(UNIT)
    study.enqueue_trial({"x": 0.75, "y": 0.5})
    model = Model(Axes(UNIT, {}), 1.0, study.sampler._settings, seed=0)
    assert model.read(study.trials)
    assert [trial.params for trial in model._optimizer.pending] == [taken.params, {"x": 0.75, "y": 0.5}]


def test_a_trial_whose_worker_died_is_pending_until_it_is_retried_and_then_forgotten():
    study = study_of()
    done, dead = study.ask(UNIT), study.ask(UNIT)
    study.tell(done, 1.0)
    study.ask(UNIT)
    study.tell(dead, state=TrialState.FAIL)
    study.ask(UNIT)
    assert [trial.state for trial in optimizer_of(study).trials].count("failed") == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        optuna.storages.RetryHeartbeatStaleTrialCallback()(study, study.trials[dead.number])
    retry = study.ask(UNIT)
    assert retry.params == dead.params
    study.tell(retry, 0.5)
    study.ask(UNIT)
    told = [(t.params, t.value) for t in optimizer_of(study).trials if t.state != "running"]
    assert told == [(done.params, 1.0), (dead.params, 0.5)]


def test_a_retry_keeps_a_suggestion_that_was_never_begun():
    study = study_of()
    study.tell(study.ask(UNIT), 1.0)
    dead = study.ask()
    suggested = dead.relative_params
    study.tell(dead, state=TrialState.FAIL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExperimentalWarning)
        optuna.storages.RetryHeartbeatStaleTrialCallback()(study, study.trials[dead.number])
    assert study.ask(UNIT).params == suggested


# Spaces that vary


def test_conditional_parameters_are_modelled_where_they_exist():
    study = optuna.create_study(sampler=CoveySampler(FAST, n_initial=3, seed=0))

    def objective(trial):
        x = trial.suggest_float("x", 0, 1)
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return x + trial.suggest_float("only a", 0, 1)
        return x + trial.suggest_int("only b", 1, 10, log=True)

    study.optimize(objective, n_trials=15)
    assert {trial.params["kind"] for trial in study.trials} == {"a", "b"}
    axes = study.sampler._memory._models[-1].axes
    assert set(axes.search_space) == {"x", "kind", "only a", "only b"}
    assert axes.when == {"only a": {"kind": {0.0}}, "only b": {"kind": {1.0}}}
    own = {"a": {"x", "kind", "only a"}, "b": {"x", "kind", "only b"}}
    assert all(set(trial.params) == own[trial.params["kind"]] for trial in study.trials)


def test_a_range_that_changes_is_drawn_independently_and_said_to_be_once(caplog):
    study = study_of(sampler={"search_space": None})
    for high in (1, 1, 1, 2, 2):
        trial = study.ask({"x": FloatDistribution(0, 1), "y": FloatDistribution(0, high)})
        study.tell(trial, trial.params["x"])
    study.ask(UNIT)
    assert list(study.sampler._memory._models[-1].axes.search_space) == ["x"]
    (said,) = [record.getMessage() for record in caplog.records if record.name == "covey.optuna"]
    assert said.startswith("y is drawn at random: the study has it with FloatDistribution(high=1.0")


def test_a_narrower_range_than_the_given_one_gets_its_own_values():
    study = study_of()
    study.tell(study.ask({"x": FloatDistribution(0, 1), "y": FloatDistribution(0.999, 1)}), 1.0)
    trial = study.ask(UNIT)
    assert 0.999 <= study.trials[0].params["y"] <= 1
    known = [t.params for t in optimizer_of(study).trials]
    assert known == [study.trials[0].params, trial.params]


def test_trials_outside_of_the_search_space_are_left_out():
    study = study_of()
    other = {"x": FloatDistribution(-9, 9), "y": FloatDistribution(0, 1)}
    study.add_trial(create_trial(params={"x": -5.0, "y": 0.5}, distributions=other, value=-1.0))
    study.add_trial(create_trial(params={"z": 0.5}, distributions={"z": FloatDistribution(0, 1)}, value=-1.0))
    study.optimize(bowl, n_trials=6)
    assert len(optimizer_of(study).trials) == 6


def test_an_independent_sampler_of_ones_own_is_used():
    study = optuna.create_study(
        sampler=CoveySampler(FAST, seed=0, independent_sampler=optuna.samplers.RandomSampler(seed=7))
    )
    expected = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=7))
    assert study.ask(UNIT).params == expected.ask(UNIT).params


@pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")
def test_hyperband_gives_it_a_bracket_at_a_time():
    study = study_of(pruner=optuna.pruners.HyperbandPruner(1, 9), study_name="hyperband")

    def objective(trial):
        value = bowl(trial)
        for step in range(9):
            trial.report(value + 1 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    study.optimize(objective, n_trials=20)
    assert len(set(points(study))) == 20


# Reading


def test_each_trial_is_heard_of_when_there_is_news_and_then_no_more(monkeypatch):
    heard = []
    monkeypatch.setattr(
        Model, "_hear", lambda self, trial, hear=Model._hear: heard.append(1) or hear(self, trial)
    )
    study = study_of(sampler={"n_initial": 1000})
    study.optimize(bowl, n_trials=50)
    assert len(heard) == 49


def test_a_sampler_used_for_another_study_starts_anew():
    shared = sampler(n_initial=5)
    runs = []
    for _ in range(2):
        study = optuna.create_study(sampler=shared)
        study.optimize(bowl, n_trials=8)
        runs.append(points(study))
    assert runs[0] == runs[1]


def test_a_study_goes_on_in_another_process_as_if_it_had_not_stopped(sqlite):
    study = study_of(storage=sqlite, study_name="long")
    study.optimize(bowl, n_trials=6)
    again = optuna.load_study(study_name="long", storage=sqlite, sampler=sampler(seed=5))
    again.ask(UNIT)
    told = [(trial.params, trial.value) for trial in optimizer_of(again).trials[:6]]
    assert told == [(trial.params, trial.value) for trial in study.trials[:6]]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_goes_on_as_the_original(duplicate):
    study = study_of()
    study.optimize(bowl, n_trials=6)
    study.sampler = duplicate(study.sampler)
    study.optimize(bowl, n_trials=2)
    assert len(optimizer_of(study).trials) == 8
    assert study.sampler._seed == 0


# Seeds


def test_the_same_seed_gives_the_same_study():
    runs = []
    for seed in (4, 4, 5):
        study = optuna.create_study(sampler=CoveySampler(FAST, n_initial=4, seed=seed))
        study.optimize(bowl, n_trials=8)
        runs.append(points(study))
    assert runs[0] == runs[1]
    assert not set(runs[0]) & set(runs[2])


def test_seeds_are_drawn_where_none_is_given_and_drawn_anew_when_asked_for():
    seeds = {CoveySampler()._seed for _ in range(20)}
    one = sampler(independent_sampler=optuna.samplers.RandomSampler(seed=0))
    one.reseed_rng()
    assert len(seeds | {one._seed, 0}) == 22
    assert one._design_seed == 0


@pytest.mark.parametrize("known", [0, 2, 6])
@pytest.mark.parametrize("space", [UNIT, None])
def test_workers_with_the_same_seed_that_know_the_same_choose_differently(monkeypatch, known, space):
    """As when all ask at the same moment, before any has published its suggestion."""
    storage = optuna.storages.InMemoryStorage()
    study_of(storage=storage, study_name="alike").optimize(bowl, n_trials=known)
    monkeypatch.setattr("covey.integrations.optuna.sampler.publish", lambda *_: None)
    workers = [
        optuna.load_study(study_name="alike", storage=storage, sampler=sampler(search_space=space))
        for _ in range(3)
    ]
    trials = [worker.ask() for worker in workers]
    assert all(len(trial.relative_params) == (0 if space is None and known == 0 else 2) for trial in trials)
    found = {(trial.suggest_float("x", 0, 1), trial.suggest_float("y", 0, 1)) for trial in trials}
    assert len(found) == 3


def rival(study, where):
    """Another worker publishes a suggestion of its own."""
    taken = study._storage.create_new_trial(study._study_id)
    publish(study, study._storage.get_trial(taken), where)
    return taken


def distance(one, other):
    return max(abs(one[name] - other[name]) for name in UNIT)


@pytest.mark.parametrize("step", [0.0, 0.005])
def test_a_point_that_another_worker_publishes_while_it_is_chosen_is_given_up(monkeypatch, step):
    study, places = study_of(), []
    study.optimize(bowl, n_trials=6)

    def propose(model, number, seed, attempt, propose=Model.propose):
        proposal = propose(model, number, seed, attempt)
        places.append(proposal.where)
        if attempt == 0:
            shifted = {name: min(number + step, 1.0) for name, number in proposal.where.items()}
            rival(study, shifted)
        return proposal

    monkeypatch.setattr(Model, "propose", propose)
    trial = study.ask(UNIT)
    assert trial.params == places[1] != places[0]
    assert len(optimizer_of(study).pending) == 2


def test_of_two_workers_that_publish_the_same_point_one_goes_elsewhere(monkeypatch):
    study, published = study_of(), []
    study.optimize(bowl, n_trials=6)

    def meanwhile(study, trial, where):
        publish(study, trial, where)
        published.append(where)
        if len(published) == 1:
            rival(study, where)

    monkeypatch.setattr("covey.integrations.optuna.sampler.publish", meanwhile)
    trial = study.ask(UNIT)
    assert trial.params == published[1]
    assert distance(published[0], published[1]) > 1e-6
    study.ask(UNIT)
    pending = [trial.params for trial in optimizer_of(study).pending]
    assert pending[:2] == [trial.params, published[0]] or pending[:2] == [published[0], trial.params]
    assert len(pending) == 3


def test_more_workers_than_configurations_all_get_one():
    study = study_of(sampler={"search_space": {"k": IntDistribution(0, 2)}, "n_initial": 0})
    asked = [study.ask().suggest_int("k", 0, 2) for _ in range(8)]
    assert sorted(asked[:3]) == [0, 1, 2]
    assert set(asked[3:]) <= {0, 1, 2}


# Threads


def test_threads_share_a_sampler():
    study, running, most = study_of(), set(), []
    together = threading.Barrier(4)

    def objective(trial):
        value = bowl(trial)
        running.add(trial.number)
        most.append(len(running))
        if trial.number < 4:
            together.wait(60)
        running.discard(trial.number)
        return value

    study.optimize(objective, n_trials=16, n_jobs=4)
    assert max(most) == 4
    assert len(set(points(study))) == 16
    assert len(optimizer_of(study).trials) == 16


def test_threads_see_each_others_suggestions_before_anything_is_told():
    study = study_of(sampler={"n_initial": 0})
    study.tell(study.ask(UNIT), 1.0)
    trials = [study.ask() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda trial: trial.relative_params, trials))
    assert len(optimizer_of(study).pending) == 4
    found = np.array([list(trial.relative_params.values()) for trial in trials])
    assert len(np.unique(found, axis=0)) == 4


# Refusing


def test_several_objectives_are_refused_in_words():
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler())
    with pytest.raises(ValueError, match=r"multi-objective.*CoveySampler"):
        study.optimize(lambda trial: (bowl(trial), 1.0), n_trials=1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"strategy": "best"}, "strategy must be one of"),
        ({"acquisition": "best"}, "acquisition"),
        ({"noise": -1}, "noise must be"),
        ({"prior": "best"}, "prior"),
        ({"n_initial": -1}, "n_initial must be"),
        ({"initial": "best"}, "initial must be"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_a_wrong_setting_is_refused_when_it_is_made(options, words):
    with pytest.raises(ValueError, match=words):
        CoveySampler(**options)


def test_a_distribution_of_another_kind_is_refused():
    class Odd(optuna.distributions.BaseDistribution):
        def single(self):
            return False

        def to_internal_repr(self, param_value_in_external_repr):
            return 0.0

        def _contains(self, param_value_in_internal_repr):
            return True

    study = study_of()
    with pytest.raises(TypeError, match="float, int and categorical"):
        study.sampler.sample_relative(study, study.ask()._cached_frozen_trial, {"odd": Odd()})
