"""One damaged row of a study does not cost the others: it is left out, and named."""

import logging
import warnings
from concurrent.futures import ThreadPoolExecutor

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState, create_trial
from sqlalchemy import text

import covey
from covey.integrations.optuna import CoveySampler
from covey.study import Study
from covey.trial import Evaluation, Failure, Trial

SPACE = covey.Space(
    {"x": covey.Float(0.0, 1.0), "k": covey.Int(0, 9), "kind": covey.Categorical(["a", ("b", 1)])}
)
POINT = {"x": 0.25, "k": 3, "kind": ("b", 1)}


@pytest.fixture
def study(database):
    """A study of four trials: three values and a failure."""
    full = Study(database, "demo", SPACE)
    for k in range(4):
        trial = Trial(k, {**POINT, "k": k})
        full.started(trial)
        full.finished(trial, Evaluation(Failure("no") if k == 3 else float(k), 0.5))
    yield full
    full.close()


def again(study):
    """The same study as another process opens it."""
    return Study(study._url, study.name, SPACE)


def damage(study, sql, **values):
    with study._storage.engine.begin() as connection:
        assert connection.execute(text(sql), values).rowcount > 0


JSON = ["3", '"text"', "null", "true", "[1, [2]]", "{}", "-1e400", "NaN", "1e400", "-3.5", "9" * 400]


@pytest.mark.parametrize("name", ["covey:seconds", "covey:reason", "covey:origin"])
def test_what_is_kept_beside_a_value_can_be_of_any_type(sqlite, name):
    study = Study(sqlite, "demo", SPACE)
    for k, value in enumerate(JSON):
        trial = Trial(k, {**POINT, "x": k / 100})
        study.started(trial)
        study.finished(trial, Evaluation(Failure("no") if name == "covey:reason" else 1.5, 0.5))
        columns = "trial_user_attributes (trial_id, key, value_json)"
        damage(
            study,
            f"insert or replace into {columns} values (:id, :name, :value)",
            id=study.key(k),
            name=name,
            value=value,
        )
    rows = again(study).recorded()
    assert len(rows) == len(JSON)
    assert all(isinstance(row.seconds, float) and row.seconds >= 0 for row in rows)
    assert all(row.trial.reason is None or isinstance(row.trial.reason, str) for row in rows)
    assert name == "covey:reason" or [row.result for row in rows] == [1.5] * len(JSON)
    study.close()


SECOND = "trial_id = (select min(trial_id) + 1 from trials)"
DAMAGED = {
    "value is NaN": f"update trial_values set value = null, value_type = 'INF_POS' where {SECOND}",
    "value is gone": f"update trial_values set value = null where {SECOND}",
    "x outside": f"update trial_params set param_value = 7 where param_name = 'x' and {SECOND}",
    "k outside": f"update trial_params set param_value = 99 where param_name = 'k' and {SECOND}",
    "no such choice": f"update trial_params set param_value = 9 where param_name = 'kind' and {SECOND}",
    "x missing": f"delete from trial_params where param_name = 'x' and {SECOND}",
    "all missing": f"delete from trial_params where {SECOND}",
    "distribution": f"update trial_params set distribution_json = '{{' where param_name = 'x' and {SECOND}",
    "other distribution": (
        "update trial_params set distribution_json = "
        """'{"name": "CategoricalDistribution", "attributes": {"choices": ["q", "r"]}}', param_value = 1 """
        f"where param_name = 'x' and {SECOND}"
    ),
    "attribute": f"update trial_user_attributes set value_json = 'not JSON' where {SECOND}",
}
RAW = {  # only SQLite stores what is not of a column's type
    "value is text": f"update trial_values set value = 'abc' where {SECOND}",
    "state unknown": f"update trials set state = 'ODD' where {SECOND}",
    "number null": f"update trials set number = null where {SECOND}",
    "number text": f"update trials set number = 'two' where {SECOND}",
    "time": f"update trials set datetime_complete = 'yesterday' where {SECOND}",
    "parameter text": f"update trial_params set param_value = 'abc' where param_name = 'x' and {SECOND}",
    "blob": f"update trial_user_attributes set value_json = x'ff00' where {SECOND}",
}


def check_that_the_second_is_left_out(study, caplog):
    key = study.key(1)
    with caplog.at_level(logging.WARNING, "covey.study"):
        results = [row.result for row in again(study).recorded()]
        assert [row.result for row in again(study).recorded()] == results
    assert results == [0.0, 2.0, Failure("no")]
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 1  # once in a process
    assert said[0].startswith(f"trial {key} of study 'demo' is damaged and left out: ")


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_row_is_left_out_and_named(study, caplog, what):
    damage(study, DAMAGED[what])
    check_that_the_second_is_left_out(study, caplog)
    other = again(study)
    other.started(Trial(9, POINT))
    other.finished(Trial(9, POINT), Evaluation(9.0, 0.0))
    assert [row.result for row in other.recorded()][-1] == 9.0


@pytest.mark.parametrize("what", RAW)
def test_raw_damage_is_left_out_and_named(sqlite, caplog, what):
    full = Study(sqlite, "demo", SPACE)
    for k in range(4):
        full.started(Trial(k, {**POINT, "k": k}))
        full.finished(Trial(k, POINT), Evaluation(Failure("no") if k == 3 else float(k), 0.5))
    damage(full, RAW[what])
    check_that_the_second_is_left_out(full, caplog)
    full.close()


def test_a_study_whose_first_row_keeps_optuna_from_writing_says_so(study):
    damage(study, "update trial_params set distribution_json = '{'")
    assert again(study).recorded() == []
    with pytest.raises(covey.StudyMismatch, match="study 'demo' is damaged"):
        again(study).started(Trial(9, POINT))


@pytest.mark.parametrize(
    "written", ["3", "null", '"text"', '"[]"', '"{\\"x\\": 3}"', '"null"', "{}", "not JSON", "", '"{"']
)
def test_a_space_that_makes_no_sense_is_a_mismatch(study, written):
    damage(study, "update study_user_attributes set value_json = :value", value=written)
    with pytest.raises(covey.StudyMismatch, match="study 'demo'"):
        again(study)


def test_a_run_goes_on_beside_a_damaged_row(sqlite):
    def run(evaluations):
        with ThreadPoolExecutor(1) as pool:
            options = {"storage": sqlite, "evaluations": evaluations, "n_initial": 99, "seed": 1}
            return covey.minimize(lambda p: p["x"], SPACE, executor=pool, progress=False, **options)

    run(3)
    study = Study(sqlite, "covey", SPACE)
    damage(study, DAMAGED["x outside"])
    assert len(run(4).trials) == 4
    assert len(study.recorded()) == 4
    study.close()


# Optuna's trials, where any worker can write any attribute

DISTRIBUTIONS = {
    "x": FloatDistribution(0.0, 1.0),
    "n": IntDistribution(0, 9),
    "c": CategoricalDistribution(["a", "b", "c"]),
}
leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["1", "0.5", "x", 10**400]),
)
names = st.sampled_from(["x", "n", "c", "nobody"])
hostile = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=8,
)
ATTRIBUTES = ["covey:suggested", "fixed_params", "retry_history"]
STATES = [TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED, TrialState.RUNNING, TrialState.WAITING]


def suggested(study):
    """What a new worker suggests for the next trial."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = CoveySampler(n_initial=99, seed=1, search_space=DISTRIBUTIONS)
        trial = study._storage.get_trial(study._storage.create_new_trial(study._study_id))
        params = sampler.sample_relative(study, trial, DISTRIBUTIONS)
    assert all(
        DISTRIBUTIONS[name]._contains(DISTRIBUTIONS[name].to_internal_repr(params[name])) for name in params
    )
    return params


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(ATTRIBUTES), hostile, st.sampled_from(STATES)), min_size=1, max_size=4)
)
def test_hostile_attributes_stop_no_worker(written):
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study()
    for name, value, state in written:
        params = {"x": 0.5, "n": 3, "c": "a"} if state == TrialState.COMPLETE else {}
        trial = create_trial(
            state=state,
            value=1.0 if state == TrialState.COMPLETE else None,
            params=params,
            distributions=DISTRIBUTIONS if params else {},
            system_attrs={name: value},
        )
        study._storage.create_new_trial(study._study_id, template_trial=trial)
    assert set(suggested(study)) == set(DISTRIBUTIONS)


@pytest.mark.parametrize("name", ATTRIBUTES)
@pytest.mark.parametrize(
    "value", [3, "x", None, True, [[1]], ["0"], [True], [99, -1], {"x": [1]}, {"c": "1"}]
)
def test_a_trial_with_a_hostile_attribute_counts_as_one_without(name, value):
    def with_attributes(attributes):
        study = optuna.create_study()
        for k in range(3):
            params = {"x": k / 4, "n": k, "c": "a"}
            trial = create_trial(value=float(k), params=params, distributions=DISTRIBUTIONS)
            study.add_trial(trial)
        study._storage.create_new_trial(
            study._study_id, template_trial=create_trial(state=TrialState.RUNNING, system_attrs=attributes)
        )
        return suggested(study)

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    assert with_attributes({name: value}) == with_attributes({})


def test_a_retry_of_a_trial_that_is_complete_takes_no_value_away():
    from covey.integrations.optuna.model import Model, Settings
    from covey.integrations.optuna.space import Axes

    space = {"x": FloatDistribution(0.0, 1.0)}
    done = create_trial(value=1.0, params={"x": 0.5}, distributions=space)
    later = create_trial(state=TrialState.RUNNING, system_attrs={"retry_history": [0, 1]})
    later.number = 1
    model = Model(Axes(space, {}), 1.0, Settings("auto", None, "learn", "default", None, "sobol"), 0)
    assert model.read([done, later])
    assert model._optimizer.best.value == 1.0
