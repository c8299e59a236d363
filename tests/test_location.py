"""A study is where its address says, whatever characters are in it, and nothing is made elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import URL, create_engine

import covey
from covey.cli.by_hand import open_study
from covey.cli.config import load
from covey.errors import InputError
from covey.study import Study
from covey.study.location import file_of, located

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
TEXT = 'name = "demo"\n{}\n[space.x]\ntype = "float"\nlow = 0.0\nhigh = 1.0\n'

ODD = [
    "a?b",
    "a%20b",
    "a%3Fb",
    "a b",
    "a#b&c=d",
    "x?mode=ro&uri=true",
    "x?timeout=5",
    "größe-\N{SNOWMAN}",
    'it\'s "quoted"',
    "ends with a dot.",
    "{braces}{SCHEMA_VERSION}",
    "me:secret@host",
    "%",
    "file:c",
    "back\\slash",
]


def files(folder):
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())


@pytest.mark.parametrize("name", ODD)
def test_a_folder_of_any_name_has_its_own_database(tmp_path, name):
    folder = tmp_path / "inner" / name
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(TEXT.format(""))
    config = load(folder / "study.toml")
    open_study(config, create=True).close()
    assert Study.names(config.storage) == ["demo"]
    assert files(tmp_path) == [f"inner/{name}/study.db", f"inner/{name}/study.toml"]


@pytest.mark.parametrize("name", [one for one in ODD if not one.startswith("x?") and '"' not in one])
def test_a_file_of_any_name_can_be_the_storage_of_a_study_file(tmp_path, name):
    (tmp_path / "study.toml").write_text(
        TEXT.format(f"storage = 'sqlite:///{name}'".replace("'", '"', 2))
        if "\\" not in name
        else TEXT.format(f"storage = 'sqlite:///{name}'")
    )
    open_study(load(tmp_path / "study.toml"), create=True).close()
    assert files(tmp_path) == sorted([name, "study.toml"])


@pytest.mark.parametrize("storage", ["sqlite:///s.db?timeout=5", "sqlite:///s.db?mode=ro&uri=true"])
def test_options_of_sqlite_are_refused_in_a_study_file(tmp_path, storage):
    (tmp_path / "study.toml").write_text(TEXT.format(f'storage = "{storage}"'))
    with pytest.raises(InputError, match="line 2: storage must be a path after sqlite:///, without options"):
        load(tmp_path / "study.toml")


@pytest.mark.parametrize(
    "storage",
    [
        "sqlite:///:memory:",
        "sqlite://",
        "postgresql://me:secret@host:secret/db",
        "postgresql://host:secret/db",
        "postgresql://me:secret@[::1/db",
        "postgresql://me:se@cret@host/db",
        "postgresql://me:sec?ret@host/db",
        "postgresql+nonsense://me:secret@host/db",
        "postgresql+asyncpg://me:secret@host/db",
        "postgresql://host:5432/db?password=a@secret",
    ],
)
def test_an_address_that_makes_no_sense_is_refused_with_its_line(tmp_path, storage):
    (tmp_path / "study.toml").write_text(TEXT.format(f'storage = "{storage}"'))
    with pytest.raises(InputError, match=r"line 2: storage (must be|has a character)") as caught:
        load(tmp_path / "study.toml")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host:secret/db",
        "postgresql://me:secret@[::1/db",
        "postgresql://me:secret@[::1]]/db",
        "postgresql://me:secret@host:99999999/db",
        "postgresql://me:secret@h\N{LATIN SMALL LETTER O WITH DIAERESIS}\0st/db",
        "postgresql+psycopg://me:secret@" + "h" * 300 + "/db",
        "postgresql+nonsense://me:secret@host/db",
        "postgresql+pg8000://me:secret@host/db",
        "postgresql://me:secret@127.0.0.1:1/db?nonsense=secret",
        "postgresql://me:secret@127.0.0.1:1/db?sslmode=secret",
        "postgresql+psycopg://me:secret@127.0.0.1:1/db?sslmode=secret",
        "postgresql+psycopg://127.0.0.1:1/db?connect_timeout=secret",
        "sqlite:///x.db?timeout=never",
        "sqlite://host/x.db",
        "sqlite:///\0.db",
        "sqlite:///" + "x" * 5000,
    ],
)
def test_an_address_that_cannot_be_opened_is_an_error_of_our_own(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises((ValueError, covey.CoveyError), match=r"^storage ") as caught:
        Study(address, "demo", SPACE)
    chain = [caught.value, caught.value.__cause__, caught.value.__context__]
    assert "secret" not in "".join(f"{one!r} {one}" for one in chain)
    assert chain[1:] == [None, None]


def test_a_url_that_was_built_is_taken_as_it_is(tmp_path):
    url = URL.create("sqlite", database=str(tmp_path / "a?b%20c.db"))
    study = Study(url, "demo", SPACE)
    study.close()
    assert files(tmp_path) == ["a?b%20c.db"]
    assert study.address == f"sqlite:///{tmp_path}/a?b%20c.db"


def test_one_file_has_one_path_however_it_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "s.db").touch()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "linked.db").symlink_to("real/s.db")
    written = ["real/s.db", "./real/../real/s.db", "link/s.db", "linked.db", str(tmp_path / "real/s.db")]
    written += ["file:real/s.db?uri=true", f"file://{tmp_path}/re%2561l/s.db?uri=true&mode=rw"]
    found = {file_of(located(f"sqlite:///{one}")) for one in written}
    assert found == {tmp_path / "real" / "s.db"}


def test_a_database_in_memory_has_no_file():
    for one in ("sqlite://", "sqlite:///:memory:", "sqlite:///file:x?mode=memory&uri=true"):
        assert file_of(located(one)) is None


# Only reading


def unprivileged():
    """A command before which root, too, needs permission to write."""
    if os.geteuid() != 0:
        return []
    tool = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"]
    try:
        subprocess.run([*tool, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("root can write everywhere, and setpriv does not change that here")
    return tool


def test_a_read_only_study_can_be_shown_and_exported(tmp_path):
    toml = tmp_path / "study.toml"
    toml.write_text(TEXT.format(""))
    study = open_study(load(toml), create=True)
    study.started(covey.Trial(0, {"x": 0.25}))
    study.close()
    before = (tmp_path / "study.db").read_bytes()
    (tmp_path / "study.db").chmod(0o444)
    tmp_path.chmod(0o555)

    def run(command):
        return subprocess.run(
            [*unprivileged(), sys.executable, "-m", "covey.cli.app", command, toml],
            capture_output=True,
            text=True,
            check=False,
        )

    try:
        shown, exported, asked = run("show"), run("export"), run("ask")
    finally:
        tmp_path.chmod(0o755)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "1 running" in shown.stdout
    assert (exported.returncode, exported.stderr) == (0, "")
    assert "0.25" in exported.stdout
    assert asked.returncode == 2
    assert asked.stderr.count("\n") == 1
    assert (tmp_path / "study.db").read_bytes() == before
    assert files(tmp_path) == ["study.db", "study.toml"]


def test_looking_for_a_study_makes_nothing(tmp_path):
    empty = tmp_path / "empty.db"
    empty.touch()
    assert Study.names(f"sqlite:///{tmp_path}/none.db") == []
    assert Study.names(f"sqlite:///{empty}") == []
    assert files(tmp_path) == ["empty.db"]
    assert empty.stat().st_size == 0


def test_looking_in_a_file_that_is_no_database_is_said(tmp_path):
    Path(tmp_path / "notes").write_text("notes " * 100)
    with pytest.raises(covey.CoveyError, match="cannot be used: file is not a database"):
        Study.names(f"sqlite:///{tmp_path}/notes")


def settings_of(address):
    """What a connection of a study was made with."""
    study = Study(address, "demo", SPACE)
    with study._storage.engine.connect() as connection:
        driver = connection.connection.dbapi_connection
        found = (
            driver.info.get_parameters()
            if hasattr(driver.info, "get_parameters")
            else driver.info.dsn_parameters
        )
    study.close()
    return found


@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
def test_a_server_is_not_waited_for_without_end(postgres, driver):
    pytest.importorskip(driver)
    address = postgres.replace("psycopg2", driver)
    assert settings_of(address)["connect_timeout"] == "10"
    assert settings_of(f"{address}?connect_timeout=3")["connect_timeout"] == "3"


def test_a_study_survives_connections_that_its_server_drops(postgres):
    study = Study(postgres, "demo", SPACE)
    study.started(covey.Trial(0, {"x": 0.5}))
    with study._storage.engine.connect() as connection:
        others = "datname = current_database() and pid <> pg_backend_pid()"
        connection.exec_driver_sql(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}")
    engine = create_engine(postgres)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"select pg_terminate_backend(pid) from pg_stat_activity where {others}")
    engine.dispose()
    study.started(covey.Trial(1, {"x": 0.75}))
    assert len(study.recorded()) == 2
    study.close()
