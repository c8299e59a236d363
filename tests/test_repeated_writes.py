"""A write can be repeated after an error that came before or after it reached the database."""

import logging

import pytest
from optuna.exceptions import StorageInternalError
from optuna.trial import TrialState

import covey
from covey.study import Study
from covey.trial import Evaluation, Failure, Trial

SPACE = covey.Space({"x": covey.Float(0.0, 1.0), "kind": covey.Categorical(["a", ("b", 1)])})
FIRST, SECOND = (Trial(k, {"x": 0.25, "kind": ("b", 1)}) for k in range(2))
RESULTS = [1.5, 5e-324, Failure("it broke"), Failure("")]


@pytest.fixture
def study(database):
    with_rows = Study(database, "demo", SPACE)
    yield with_rows
    with_rows.close()


def failing(method, after):
    """A method of a storage that raises once, before or after it has done its work."""
    calls = []

    def call(*args, **keywords):
        calls.append(args)
        if after or len(calls) > 1:
            done = method(*args, **keywords)
        if len(calls) == 1:
            raise StorageInternalError("the connection was lost")
        return done

    return call


def rows(study):
    return [(row.trial.params, row.result) for row in study.recorded()]


@pytest.mark.parametrize("after", [False, True])
def test_a_trial_that_is_started_again_after_an_error_has_one_row(study, monkeypatch, after):
    storage = study._storage
    monkeypatch.setattr(storage, "create_new_trial", failing(storage.create_new_trial, after))
    with pytest.raises(covey.StorageLost):
        study.started(FIRST)
    study.started(FIRST)
    assert rows(study) == [(FIRST.params, None)]
    study.started(SECOND)  # the same parameters, and another trial
    assert len({study.key(0), study.key(1)}) == 2
    assert rows(study) == [(FIRST.params, None)] * 2


def test_a_row_of_another_trial_with_the_same_parameters_is_not_adopted(study, monkeypatch):
    study.started(FIRST)
    storage = study._storage
    monkeypatch.setattr(storage, "create_new_trial", failing(storage.create_new_trial, after=False))
    with pytest.raises(covey.StorageLost):
        study.started(SECOND)
    study.started(SECOND)
    assert len({study.key(0), study.key(1)}) == 2


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("method", ["set_trial_user_attr", "set_trial_state_values"])
@pytest.mark.parametrize("after", [False, True])
def test_a_result_that_is_written_again_after_an_error_is_there_once(
    sqlite, monkeypatch, caplog, result, method, after
):
    study = Study(sqlite, "demo", SPACE)
    study.started(FIRST)
    monkeypatch.setattr(study._storage, method, failing(getattr(study._storage, method), after))
    with pytest.raises(covey.StorageLost):
        study.finished(FIRST, Evaluation(result, 0.5))
    study.finished(FIRST, Evaluation(result, 0.5))
    study.finished(FIRST, Evaluation(result, 0.5))
    assert rows(study) == [(FIRST.params, result)]
    assert study.recorded()[0].seconds == 0.5
    assert not caplog.records
    study.close()


def test_another_result_than_the_recorded_one_is_left_out_with_a_word(study, caplog):
    study.started(FIRST)
    study.finished(FIRST, Evaluation(1.0, 0.0))
    with caplog.at_level(logging.WARNING, "covey.study"):
        study.finished(FIRST, Evaluation(2.0, 0.0))
    assert "closed as complete by somebody else" in caplog.text
    assert rows(study) == [(FIRST.params, 1.0)]


@pytest.mark.parametrize("after", [False, True])
def test_a_value_of_a_trial_that_somebody_failed_gets_one_row_of_its_own(study, monkeypatch, after):
    study.started(FIRST)
    storage = study._storage
    storage.set_trial_state_values(study.key(0), TrialState.FAIL)
    monkeypatch.setattr(storage, "create_new_trial", failing(storage.create_new_trial, after))
    with pytest.raises(covey.StorageLost):
        study.finished(FIRST, Evaluation(2.0, 0.0))
    study.finished(FIRST, Evaluation(2.0, 0.0))
    assert rows(study) == [(FIRST.params, Failure("")), (FIRST.params, 2.0)]


def test_a_result_that_the_database_refuses_is_an_error(sqlite):
    from sqlalchemy import text

    study = Study(sqlite, "demo", SPACE)
    study.started(FIRST)
    with study._storage.engine.begin() as connection:
        refusal = "create trigger no before insert on trial_values"
        connection.execute(text(f"{refusal} begin select raise(abort, 'no'); end"))
    with pytest.raises(covey.StorageLost, match="refused the result of trial 1"):
        study.finished(FIRST, Evaluation(2.0, 0.0))
    study.close()
