"""A lock is one for all ways to name a file, says clearly when it cannot be, and survives its server."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import create_engine, text

import covey
from covey.cli import by_hand
from covey.cli.config import load
from covey.cli.tables import read_results
from covey.errors import InputError
from covey.study import Study
from covey.study import lock as module

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
TEXT = 'name = "demo"\n[space.x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", module.Patience(seconds=0.5))


@pytest.fixture
def study(database):
    with_lock = Study(database, "demo", SPACE)
    yield with_lock
    with_lock.close()


def test_links_and_spellings_of_a_file_share_its_lock(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study("sqlite:///study.db", "demo", SPACE)
    (tmp_path / "linked.db").symlink_to("study.db")
    (tmp_path / "folder").symlink_to(".")
    monkeypatch.setattr(module, "PATIENCE", module.Patience(seconds=0.0))
    others = ["linked.db", "./study.db", "folder/study.db", f"{tmp_path}/study.db", "file:study.db?uri=true"]
    with study.exclusive():
        for other in others:
            again = Study(f"sqlite:///{other}", "demo", SPACE)
            with pytest.raises(covey.StudyBusy), again.exclusive():
                pass
            again.close()
    study.close()


def test_a_lock_file_that_is_no_database_is_one_clear_error(tmp_path):
    study = Study(f"sqlite:///{tmp_path}/study.db", "demo", SPACE)
    with study.exclusive():
        (lock,) = tmp_path.glob(".*.lock")
    lock.write_text("notes " * 200)
    with pytest.raises(covey.CoveyError, match=r"cannot be locked with .*\.lock: file is not a database"):
        study.exclusive().__enter__()
    assert lock.read_text() == "notes " * 200
    study.close()


@pytest.mark.parametrize("content", ["", "notes " * 200])
def test_a_link_in_the_place_of_a_lock_file_is_refused_and_its_target_unchanged(tmp_path, content):
    study = Study(f"sqlite:///{tmp_path}/study.db", "demo", SPACE)
    with study.exclusive():
        (lock,) = tmp_path.glob(".*.lock")
    lock.unlink()
    victim = tmp_path / "victim"
    victim.write_text(content)
    lock.symlink_to(victim)
    with pytest.raises(covey.CoveyError, match="is a symbolic link"), study.exclusive():
        pass
    assert victim.read_text() == content
    assert not list(tmp_path.glob("victim?*"))
    study.close()


def test_a_lock_is_held_until_it_is_released_and_can_be_taken_again(study):
    with study.exclusive() as held:
        assert held.is_held()
        held.renew()
        assert held.is_held()
    assert not held.is_held()
    held.release()
    with study.exclusive() as again:
        assert again.is_held()


def end_sessions(postgres):
    """What a restarted server does to every session."""
    engine = create_engine(postgres)
    with engine.connect() as connection:
        others = "datname = current_database() and pid <> pg_backend_pid()"
        connection.execute(text(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}"))
    engine.dispose()


def test_a_lock_that_the_server_forgot_is_noticed_and_taken_again(postgres):
    study = Study(postgres, "demo", SPACE)
    with study.exclusive() as held:
        end_sessions(postgres)
        assert not held.is_held()
        held.renew()
        assert held.is_held()
        other = Study(postgres, "demo", SPACE)
        with pytest.raises(covey.StudyBusy):
            other.exclusive().__enter__()
        other.close()
    study.close()


def test_a_lock_that_another_process_took_meanwhile_is_not_taken_again(postgres):
    study, other = (Study(postgres, "demo", SPACE) for _ in range(2))
    with study.exclusive() as held:
        end_sessions(postgres)
        with other.exclusive() as theirs:
            with pytest.raises(covey.StudyBusy, match="'demo' is being run by another process"):
                held.renew()
            assert theirs.is_held()
    study.close()
    other.close()


def test_releasing_a_lock_whose_server_is_gone_says_nothing(postgres, capfd):
    study = Study(postgres, "demo", SPACE)
    with study.exclusive() as held:
        end_sessions(postgres)
    held.release()
    study.close()
    assert capfd.readouterr() == ("", "")


def test_a_connection_lost_on_the_way_does_not_keep_its_process_from_the_lock(postgres):
    """The server still has the session of a connection that a network dropped."""
    study = Study(postgres, "demo", SPACE)
    with study.exclusive() as held:
        lost, held.lock._connection = held.lock._connection, None
        held.renew()
        assert held.is_held()
        lost.invalidate()
        lost.close()
    study.close()


# Telling


@pytest.fixture
def config(tmp_path):
    (tmp_path / "study.toml").write_text(TEXT)
    return load(tmp_path / "study.toml")


def table(config, name, values):
    """A table of results for trials 1, 2, ..."""
    path = config.folder / f"{name}.csv"
    path.write_text("\n".join(["id,value", *(f"{1 + k},{value}" for k, value in enumerate(values))]))
    return read_results(path, config.space)


def told(config, lines):
    """What comes of telling a table: how many are new, or the refusal."""
    study = by_hand.open_study(config, create=False)
    try:
        return len(by_hand.tell(lines, study, skip_blank=False).news)
    except InputError as error:
        return str(error)
    finally:
        study.close()


def test_of_tables_told_at_once_contradictions_are_refused_and_the_rest_is_recorded(config, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", module.Patience(seconds=60.0))
    study = by_hand.open_study(config, create=True)
    by_hand.ask(config, study, 8)
    # Even ones agree with each other, odd ones contradict them.
    tables = [table(config, k, [i + (k % 2) * 100.0 for i in range(8)]) for k in range(8)]
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda lines: told(config, lines), tables))
    recorded = [row.result for row in study.recorded()]
    winner = [[i + k * 100.0 for i in range(8)] for k in range(2)].index(recorded)
    assert sorted(one for k, one in enumerate(said) if k % 2 == winner) == [0, 0, 0, 8]
    assert all("already, the table says" in one for k, one in enumerate(said) if k % 2 != winner)
    study.close()


def test_a_write_that_fails_midway_says_what_is_recorded(tmp_path, config):
    study = by_hand.open_study(config, create=True)
    by_hand.ask(config, study, 3)
    engine = create_engine(f"sqlite:///{tmp_path}/study.db")
    refusal = "create trigger no before insert on trial_values when new.trial_id = 2"
    with engine.begin() as connection:
        connection.execute(text(f"{refusal} begin select raise(abort, 'no'); end"))
    lines = table(config, "results", [1.5, 2.5, 3.5])
    with pytest.raises(covey.CoveyError, match="recorded of the table: 1; tell it again") as caught:
        by_hand.tell(lines, study, skip_blank=False)
    assert "refused the result of trial 2" in str(caught.value)
    with engine.begin() as connection:
        connection.execute(text("drop trigger no"))
    again = by_hand.tell(lines, study, skip_blank=False)
    assert (len(again.news), again.known) == (2, 1)
    assert [row.result for row in study.recorded()] == [1.5, 2.5, 3.5]
    study.close()
    engine.dispose()
