"""Studies on real databases: what is written, what is resumed, what is refused."""

import itertools
import math
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor

import optuna
import pytest

import covey

SPACE = covey.Space(
    {
        "x": covey.Float(-1.0, 1.0),
        "rate": covey.Float(1e-7, 3.0, log=True),
        "k": covey.Int(0, 9),
        "kind": covey.Categorical([(1, 2), None, True, "a", 0.5, ("a", (3, None))]),
    }
)
CHEAP = {"n_initial": 10_000, "seed": 0, "progress": False}
MODEL = {"strategy": covey.strategy("j-ats", s=2), "n_initial": 3, "noise": 0.0, "seed": 5}


class Recorder:
    """An objective that remembers what it was called with."""

    def __init__(self, function=lambda params: params["x"]):
        self.function, self.calls, self._lock = function, [], threading.Lock()

    def __call__(self, params):
        with self._lock:
            self.calls.append(params)
        return self.function(params)


class Crash(BaseException):
    """The process that runs the loop dies: nothing is caught, nothing cleaned up."""


def crash_after(count):
    """A callback that crashes the run once so many trials are recorded."""
    heard = []

    def callback(trial, best):
        heard.append(trial)
        if len(heard) >= count:
            raise Crash

    return callback


@pytest.fixture
def threads():
    with ThreadPoolExecutor(4) as executor:
        yield executor


def run(storage, objective=None, space=SPACE, **options):
    settings = {**CHEAP, "storage": storage, **options}
    return covey.minimize(objective or Recorder(), space, **settings)


def load(storage, name="covey"):
    return optuna.load_study(study_name=name, storage=storage)


def rows(storage):
    """Everything that can be seen of the trials in a database."""
    return [(t.number, t.state, t.params, t.value, t.user_attrs) for t in load(storage).trials]


def points(result):
    return [trial.params for trial in result.trials]


# Writing


def test_optuna_reads_params_and_values_bit_for_bit(database, threads):
    result = run(database, executor=threads, batch_size=4, evaluations=12)
    trials = load(database).trials
    assert [t.state.name for t in trials] == ["COMPLETE"] * 12
    for ours, theirs in zip(result.trials, trials, strict=True):
        assert theirs.value == ours.value
        assert {name: theirs.params[name] for name in ("x", "rate", "k")} == {
            name: ours.params[name] for name in ("x", "rate", "k")
        }
    assert load(database).best_value == result.best.value
    assert load(database).direction.name == "MINIMIZE"


def test_a_resumed_run_has_the_same_trials_bit_for_bit(database, threads):
    first = run(database, Recorder(lambda p: math.sin(1e6 * p["x"])), executor=threads, evaluations=40)
    again = run(database, executor=threads, evaluations=40)
    assert points(again) == points(first)
    assert [t.value for t in again.trials] == [t.value for t in first.trials]
    kinds = {repr(t.params["kind"]) for t in again.trials}
    assert kinds == {"(1, 2)", "None", "True", "'a'", "0.5", "('a', (3, None))"}
    assert all(type(t.params["k"]) is int for t in again.trials)


def test_a_value_can_be_read_while_the_run_goes_on(database, threads):
    seen, release = [], threading.Event()

    def objective(params):
        with lock:
            first = not begun
            begun.append(params)
        if not first:
            release.wait(30)
        return params["x"]

    def look(trial, best):
        seen.append([(t.state.name, t.value) for t in load(database).trials])
        release.set()

    begun, lock = [], threading.Lock()
    run(database, objective, executor=threads, batch_size=2, evaluations=2, callbacks=[look])
    assert sorted(seen[0]) == [("COMPLETE", begun[0]["x"]), ("RUNNING", None)]


def test_a_trial_is_in_the_database_before_it_is_evaluated(database, threads):
    def objective(params):
        (running,) = [t for t in load(database).trials if t.state.name == "RUNNING"]
        return float(running.params["x"] == params["x"])

    assert [t.value for t in run(database, objective, executor=threads, evaluations=2).trials] == [1.0, 1.0]


def test_failures_keep_their_reasons(database, threads):
    def objective(params):
        raise RuntimeError("größer als erlaubt \N{PILE OF POO}\n" * 300 + "the last line")

    run(database, objective, executor=threads, evaluations=1)
    again = run(database, executor=threads, evaluations=2)
    assert [t.state for t in again.trials] == ["failed", "complete"]
    assert again.trials[0].reason.endswith("the last line")
    assert "größer als erlaubt \N{PILE OF POO}" in again.trials[0].reason
    assert load(database).trials[0].state.name == "FAIL"


def test_a_short_reason_survives_whole(sqlite, threads):
    def objective(params):
        raise RuntimeError("quite short")

    first = run(sqlite, objective, executor=threads, evaluations=1)
    again = run(sqlite, executor=threads, evaluations=1)
    assert again.trials[0].reason == first.trials[0].reason
    assert "RuntimeError: quite short" in again.trials[0].reason
    assert "in objective" in again.trials[0].reason


def test_two_studies_share_a_database(sqlite, threads):
    run(sqlite, executor=threads, evaluations=2, name="one")
    other = covey.Space({"z": covey.Float(0.0, 1.0)})
    run(sqlite, Recorder(lambda p: p["z"]), other, executor=threads, evaluations=3, name="two")
    assert len(load(sqlite, "one").trials) == 2
    assert len(load(sqlite, "two").trials) == 3


# Resuming


def test_the_same_call_again_evaluates_nothing(database, threads):
    first = run(database, executor=threads, batch_size=2, iterations=3)
    recorder = Recorder()
    again = run(database, recorder, executor=threads, batch_size=2, iterations=3)
    assert recorder.calls == []
    assert points(again) == points(first)
    assert again.best.value == first.best.value


def test_asking_for_more_goes_on(database, threads):
    run(database, executor=threads, batch_size=2, evaluations=4)
    recorder = Recorder()
    result = run(database, recorder, executor=threads, batch_size=2, evaluations=7)
    assert len(recorder.calls) == 3
    assert len(result.trials) == len(load(database).trials) == 7


@pytest.mark.parametrize("asynchronous", [False, True])
def test_after_a_crash_trials_in_flight_run_first_and_none_twice(database, asynchronous):
    options = {"batch_size": 4, "evaluations": 16, "asynchronous": asynchronous}
    crashed, count = threading.Event(), itertools.count()
    slow = Recorder(lambda params: float(next(count) < 7 or crashed.wait(30)))
    with ThreadPoolExecutor(4) as executor:
        with pytest.raises(Crash):
            run(database, slow, executor=executor, callbacks=[crash_after(7)], **options)
        crashed.set()
    before = load(database).trials
    done = [t.params["x"] for t in before if t.state.name == "COMPLETE"]
    flying = [t.params["x"] for t in before if t.state.name == "RUNNING"]
    assert len(done) == 7
    assert flying
    recorder = Recorder()
    with ThreadPoolExecutor(1) as executor:
        result = run(database, recorder, executor=executor, **options)
    begun = [params["x"] for params in recorder.calls]
    assert begun[: len(flying)] == flying
    assert not set(done) & set(begun)
    assert sorted(done + begun) == sorted(t.params["x"] for t in result.trials)
    assert [t.state.name for t in load(database).trials] == ["COMPLETE"] * 16
    assert len({t.params["x"] for t in load(database).trials}) == 16


def test_two_resumes_of_the_same_file_make_the_same_suggestions(tmp_path):
    files = [tmp_path / f"{k}.db" for k in range(2)]
    options = {"batch_size": 3, "evaluations": 12, **MODEL}
    with ThreadPoolExecutor(3) as executor, pytest.raises(Crash):
        run(f"sqlite:///{files[0]}", executor=executor, callbacks=[crash_after(5)], **options)
    shutil.copy(files[0], files[1])
    with ThreadPoolExecutor(3) as executor:
        results = [run(f"sqlite:///{file}", executor=executor, **options) for file in files]
    assert points(results[0]) == points(results[1])
    assert len(results[0].trials) == 12
    assert results[0].trials[-1].origin.strategy == "j-ats"


def test_failed_evaluations_are_not_run_again(sqlite, threads):
    run(sqlite, Recorder(lambda p: None), executor=threads, evaluations=3)
    recorder = Recorder()
    result = run(sqlite, recorder, executor=threads, evaluations=5)
    assert len(recorder.calls) == 2
    assert [t.state for t in result.trials] == ["failed"] * 3 + ["complete"] * 2


def test_a_target_reached_earlier_evaluates_nothing(sqlite, threads):
    run(sqlite, Recorder(lambda p: 0.0), executor=threads, evaluations=1)
    recorder = Recorder()
    assert "target" in run(sqlite, recorder, executor=threads, target=0.5).stopped
    assert recorder.calls == []


def test_a_trial_queued_with_optuna_does_not_stop_a_resume(sqlite, threads):
    run(sqlite, executor=threads, evaluations=1)
    load(sqlite).enqueue_trial({"x": 0.5})
    assert len(run(sqlite, executor=threads, evaluations=3).trials) >= 3


def test_choices_that_look_alike_when_written_are_refused(sqlite, threads):
    space = covey.Space({"c": covey.Categorical([(1, 2), "(1, 2)"])})
    with pytest.raises(ValueError, match="cannot tell these choices apart"):
        run(sqlite, lambda p: float(p["c"] == (1, 2)), space, executor=threads, evaluations=2)


GIVEN = [{"x": k / 8, "rate": 0.5, "k": k, "kind": None} for k in range(5)]


def test_points_given_to_begin_with_are_all_evaluated_when_the_run_is_resumed(sqlite):
    options = {"batch_size": 2, "evaluations": 8, "x0": GIVEN}
    with ThreadPoolExecutor(2) as executor, pytest.raises(Crash):
        run(sqlite, executor=executor, callbacks=[crash_after(1)], **options)
    with ThreadPoolExecutor(2) as executor:
        result = run(sqlite, executor=executor, **options)
    tried = points(result)
    assert all(tried.count(params) == 1 for params in GIVEN)
    assert len(tried) == 8


def test_known_values_given_to_begin_with_are_still_known_when_the_run_is_resumed(sqlite, threads):
    options = {"executor": threads, "x0": GIVEN, "y0": [-5.0, 1.0, 2.0, 3.0, 4.0]}
    first = run(sqlite, evaluations=2, **options)
    again = run(sqlite, evaluations=4, **options)
    assert first.best.value == again.best.value == -5.0
    assert len(again.trials) == 5 + 4
    assert points(again)[: len(first.trials)] == points(first)


def test_a_resumed_run_with_known_values_makes_the_suggestions_of_one_never_stopped(
    sqlite, tmp_path, threads
):
    options = {"executor": threads, "batch_size": 2, "x0": GIVEN, "y0": [-5.0, 1.0, 2.0, 3.0, 4.0]}
    whole = run(f"sqlite:///{tmp_path / 'whole.db'}", evaluations=6, **options)
    run(sqlite, evaluations=4, **options)
    resumed = run(sqlite, evaluations=6, **options)
    evaluated = [t.params for t in whole.trials if t.params not in GIVEN]
    assert [t.params for t in resumed.trials if t.params not in GIVEN] == evaluated


# A study that is open already


@pytest.fixture
def open_study(database):
    study = covey.Study(database, "mine", SPACE)
    yield study
    study.close()


def test_an_open_study_takes_a_run_and_stays_open(open_study, database, threads):
    first = run(open_study, executor=threads, batch_size=2, evaluations=4)
    assert [row.result for row in open_study.recorded()] == [t.value for t in first.trials]
    again = run(open_study, executor=threads, batch_size=2, evaluations=6, name="mine")
    assert points(again)[:4] == points(first)
    assert len(load(database, "mine").trials) == 6


def test_an_open_study_takes_runs_whose_trials_have_other_numbers(open_study, threads):
    known = {"x0": GIVEN, "y0": [5.0, 1.0, 2.0, 3.0, 4.0]}
    run(open_study, executor=threads, evaluations=2, **known)
    result = run(open_study, executor=threads, evaluations=5)
    assert [row.trial.params for row in open_study.recorded()] == points(result)
    assert [row.result for row in open_study.recorded()] == [t.value for t in result.trials]


def test_an_open_study_of_another_space_or_name_is_refused(open_study, threads):
    with pytest.raises(covey.StudyMismatch, match="'k' is in the study"):
        run(open_study, space=without_k(), executor=threads, evaluations=1)
    with pytest.raises(ValueError, match="'mine' already"):
        run(open_study, executor=threads, evaluations=1, name="yours")
    assert open_study.recorded() == []


# Refusing


def dimensions(**changes):
    return covey.Space({**SPACE.dimensions, **changes})


def without_k():
    return covey.Space({name: dim for name, dim in SPACE.dimensions.items() if name != "k"})


def reordered():
    return covey.Space(dict(reversed(SPACE.dimensions.items())))


OTHER_SPACES = [
    (dimensions(x=covey.Float(-1.0, 2.0)), "'x'.*1.0.*2.0"),
    (dimensions(x=covey.Int(-1, 1)), "'x'.*float.*int"),
    (dimensions(rate=covey.Float(1e-7, 3.0)), "'rate'.*True.*False"),
    (dimensions(k=covey.Int(0, 10)), "'k'.*9.*10"),
    (dimensions(kind=covey.Categorical(["a", None])), "'kind'"),
    (dimensions(extra=covey.Int(0, 1)), "'extra' is in the space given"),
    (without_k(), "'k' is in the study"),
    (reordered(), "order"),
]


def test_another_space_is_refused_and_nothing_changed(sqlite, threads):
    run(sqlite, executor=threads, evaluations=2)
    before, recorder = rows(sqlite), Recorder()
    for space, words in OTHER_SPACES:
        with pytest.raises(covey.StudyMismatch, match=words):
            run(sqlite, recorder, space, executor=threads, evaluations=4)
    assert recorder.calls == []
    assert rows(sqlite) == before


def test_another_direction_is_refused(database, threads):
    optuna.create_study(study_name="covey", storage=database, direction="maximize")
    with pytest.raises(covey.StudyMismatch, match="maximize"):
        run(database, executor=threads, evaluations=2)
    assert load(database).trials == []


def test_several_objectives_are_refused(sqlite, threads):
    optuna.create_study(study_name="covey", storage=sqlite, directions=["minimize", "minimize"])
    with pytest.raises(covey.StudyMismatch, match="direction"):
        run(sqlite, executor=threads, evaluations=2)


def test_a_study_of_somebody_else_is_refused_and_nothing_changed(sqlite, threads):
    study = optuna.create_study(study_name="covey", storage=sqlite)
    study.optimize(lambda trial: trial.suggest_float("x", -1.0, 1.0), n_trials=2)
    before = rows(sqlite)
    with pytest.raises(covey.StudyMismatch, match="not written by covey"):
        run(sqlite, executor=threads, evaluations=4)
    assert rows(sqlite) == before
    assert load(sqlite).user_attrs == {}


def test_a_mismatch_is_both_a_covey_error_and_a_value_error():
    assert issubclass(covey.StudyMismatch, (covey.CoveyError, ValueError))


# Storages that cannot be opened


@pytest.mark.parametrize("url", ["study.db", "", "nonsense://x", "sqlite:/study.db"])
def test_something_that_is_no_url_is_refused_with_an_example(threads, url):
    with pytest.raises(ValueError, match="sqlite:///"):
        run(url, executor=threads, evaluations=1)


def test_a_folder_that_does_not_exist_is_named(tmp_path, threads):
    with pytest.raises(covey.CoveyError, match="nowhere"):
        run(f"sqlite:///{tmp_path}/nowhere/study.db", executor=threads, evaluations=1)


def test_a_file_that_is_no_database_is_refused_clearly(tmp_path, threads):
    file = tmp_path / "notes.txt"
    file.write_text("these are my notes\n" * 100)
    with pytest.raises(covey.CoveyError, match="not a database"):
        run(f"sqlite:///{file}", executor=threads, evaluations=1)
    assert file.read_text() == "these are my notes\n" * 100


def test_a_server_that_does_not_answer_is_said_and_the_password_is_not(threads):
    pytest.importorskip("psycopg2")
    with pytest.raises(covey.CoveyError, match=r"127\.0\.0\.1") as caught:
        run("postgresql+psycopg2://me:secret@127.0.0.1:1/study", executor=threads, evaluations=1)
    assert "secret" not in str(caught.value)


def test_a_missing_driver_is_said_and_the_password_is_not(threads):
    with pytest.raises(covey.CoveyError, match="driver") as caught:
        run("postgresql+pg8000://me:secret@localhost/study", executor=threads, evaluations=1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("driver", ["nonsense", "asyncpg"])
def test_a_driver_that_cannot_be_used_is_refused_and_the_password_is_not_shown(threads, driver):
    with pytest.raises(ValueError, match=r"me:\*\*\*@localhost") as caught:
        run(f"postgresql+{driver}://me:secret@localhost/study", executor=threads, evaluations=1)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("kind", ["mysql", "mysql+pymysql", "mariadb", "oracle"])
def test_a_database_without_a_lock_is_refused_and_the_password_is_not_shown(threads, kind):
    with pytest.raises(ValueError, match=rf"SQLite or PostgreSQL.*lock.*{kind.replace('+', '.')}") as caught:
        run(f"{kind}://me:sec@ret@localhost/study?password=ret", executor=threads, evaluations=1)
    assert "ret" not in str(caught.value).partition("got")[2]


def test_a_plain_postgresql_url_works_with_what_the_extra_installs(postgres, threads):
    plain = postgres.replace("+psycopg2", "")
    assert len(run(plain, executor=threads, evaluations=2).trials) == 2
    assert len(load(postgres).trials) == 2


# Leaving


def test_connections_are_closed_when_a_run_ends(postgres, threads):
    import psycopg2

    run(postgres, executor=threads, batch_size=2, evaluations=2)
    connection = psycopg2.connect(postgres.replace("+psycopg2", ""))
    with connection.cursor() as cursor:
        cursor.execute("select count(*) from pg_stat_activity where datname = current_database()")
        (count,) = cursor.fetchone()
    connection.close()
    assert count == 1


def test_optuna_is_left_as_talkative_as_it_was(sqlite, threads):
    before = optuna.logging.get_verbosity()
    run(sqlite, executor=threads, evaluations=1)
    assert optuna.logging.get_verbosity() == before


def test_a_run_with_storage_prints_nothing(sqlite, threads, capfd):
    run(sqlite, executor=threads, evaluations=2)
    run(sqlite, executor=threads, evaluations=2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("state", ["FAIL", "COMPLETE"])
def test_a_trial_that_somebody_else_closes_does_not_end_the_run(database, state):
    """The dashboard has a button for it."""
    from optuna.trial import TrialState

    def objective(params):
        study = optuna.load_study(study_name="covey", storage=database)
        running = [t for t in study.trials if t.state == TrialState.RUNNING]
        if running[0].number == 1:
            values = [100.0] if state == "COMPLETE" else None
            study._storage.set_trial_state_values(running[0]._trial_id, TrialState[state], values)
        return params["x"]

    space = covey.Space({"x": covey.Float(0, 1)})
    with ThreadPoolExecutor(1) as pool:
        result = covey.minimize(objective, space, executor=pool, storage=database, evaluations=3, seed=1)
    assert len([t for t in result.trials if t.value is not None]) == 3
    kept = [t.value for t in optuna.load_study(study_name="covey", storage=database).trials]
    assert kept == (
        [result.trials[0].value, None, result.trials[1].value, result.trials[2].value]
        if state == "FAIL"
        else [result.trials[0].value, 100.0, result.trials[2].value]
    )
