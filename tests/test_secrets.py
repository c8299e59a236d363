"""A secret in an address appears in no output, log, error or file, whether the storage opens or not."""

import logging
import os
import pickle
import subprocess
import sys
import textwrap

import cloudpickle
import pytest

import covey
from covey.study import Study
from covey.study.address import scrubbed
from covey.study.location import located

SPACE = covey.Space({"x": covey.Float(0.0, 1.0)})
SECRET = "hunter2"

TOML = """
name = "demo"
objective = ["echo", "{{x}}"]
iterations = 2
n_initial = 9
storage = '{address}'
[space.x]
type = "float"
low = 0.0
high = 1.0
"""

SCRIPT = """
    import logging, sys, traceback
    import covey
    from covey.cli.app import app
    from concurrent.futures import ThreadPoolExecutor

    logging.basicConfig(filename="log", level=logging.INFO)

    def command(*words):
        print("$", *words, flush=True)
        try:
            app([*words], prog_name="covey")
        except SystemExit as ended:
            print("exit", ended.code, flush=True)

    command("run", "study.toml")
    command("show", "study.toml")
    command("ask", "study.toml", "-n", "1", "-o", "batch.csv")
    command("tell", "study.toml", "results.csv")
    command("tell", "study.toml", "wrong.csv")
    command("export", "study.toml", "-o", "all.json")
    command("export", "study.toml")
    try:
        with ThreadPoolExecutor(1) as pool:
            space = covey.Space({"x": covey.Float(0.0, 1.0)})
            address = open("address").read()
            covey.minimize(lambda p: p["x"], space, executor=pool, storage=address, evaluations=2, name="two")
            study = covey.Study(address, "two", space)
            print(repr(study), study.address)
    except Exception as error:
        while error is not None:
            print(type(error), repr(error), str(error), *traceback.format_exception(error))
            error = error.__cause__ or error.__context__
"""


def everything(folder, address):
    """All that real commands and a script say and write, given an address."""
    (folder / "study.toml").write_text(TOML.format(address=address))
    (folder / "address").write_text(address)
    (folder / "results.csv").write_text("id,value\n3,0.5\n")
    (folder / "wrong.csv").write_text("id,value\n1,0.123456\n")
    given = {"study.toml", "address", "results.csv", "wrong.csv"}
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", textwrap.dedent(SCRIPT)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        env={**os.environ, "PYTHONWARNINGS": "default", "PGPASSWORD": ""},
    )
    made = [path for path in folder.rglob("*") if path.is_file() and path.name not in given]
    return done.stdout + "".join(path.read_bytes().decode("utf-8", "replace") for path in made)


@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
def test_a_run_that_succeeds_shows_no_secret(postgres, tmp_path, driver):
    pytest.importorskip(driver)
    user, _, rest = postgres.partition("://")[2].partition("@")
    settings = f"sslpassword={SECRET}&application_name={SECRET}&passfile=%2Fnone%2F{SECRET}"
    address = f"postgresql+{driver}://{user}:a%40{SECRET}%2F%3A@{rest}?{settings}"
    said = everything(tmp_path, address)
    assert said.count("exit 0") == 6
    assert "is kept in postgresql" in said
    assert "1 values and 0 failures recorded" in said
    assert SECRET not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql+psycopg2://me:{SECRET}@127.0.0.1:1/db?password={SECRET}",
        f"postgresql+psycopg2://{SECRET:x<30}@127.0.0.1:1/db?options=-c%20{SECRET}",
        f"postgresql+psycopg://me:x@127.0.0.1:1/db?passfile={SECRET}&sslkey={SECRET}&service={SECRET}",
        f"postgresql+nonsense://me:{SECRET}@127.0.0.1:1/db",
        f"postgresql://me:a@{SECRET}@127.0.0.1:1/db",
        f"mysql://me:{SECRET}@127.0.0.1:1/db?password={SECRET}",
    ],
)
def test_a_run_that_cannot_begin_shows_no_secret(tmp_path, address):
    pytest.importorskip("psycopg2")
    said = everything(tmp_path, address)
    assert said.count("exit 2") == 7
    assert SECRET not in said


@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
@pytest.mark.parametrize("part", ["user", "database", "sslmode", "connect_timeout", "nonsense"])
def test_what_a_driver_says_of_a_secret_is_left_out(postgres, driver, part):
    """Every part of an address ends up in some message of the server or of its driver."""
    pytest.importorskip(driver)
    user, _, place = postgres.partition("://")[2].partition("@")
    token = f"{SECRET}{'x' * 20}"
    addresses = {
        "user": f"{token}@{place}",
        "database": f"{user}:{token}@{place.partition('/')[0]}/{token}",
    }
    address = f"postgresql+{driver}://{addresses.get(part, f'{user}@{place}?{part}={token}')}"
    with pytest.raises(covey.CoveyError, match="cannot be used") as caught:
        Study(address, "demo", SPACE)
    assert SECRET not in f"{caught.value!r}" or part == "database"
    assert SECRET not in str(caught.value).partition("cannot be used")[2]
    assert caught.value.__context__ is None


def test_a_secret_is_found_in_a_text_however_it_is_written():
    url = located("postgresql://me:p%40ss'%20w%2Ford@host/db?sslpassword=p%26w")
    said = "p@ss' w/ord p%40ss%27%20w%2Ford p%40ss%27+w%2Ford p&w p%26w me host db"
    assert scrubbed(said, url) == "*** *** *** *** *** me host db"


def test_a_study_is_not_pickled_with_its_password(sqlite):
    study = Study(sqlite, "demo", SPACE)
    for module in (pickle, cloudpickle):
        with pytest.raises(TypeError, match="open it anew"):
            module.dumps(study)
    study.close()


def test_a_failing_storage_is_logged_without_its_secrets(postgres, caplog):
    pytest.importorskip("psycopg2")
    user, _, rest = postgres.partition("://")[2].partition("@")
    with caplog.at_level(logging.DEBUG):
        Study(f"postgresql+psycopg2://{user}:{SECRET}@{rest}", "demo", SPACE).close()
    assert SECRET not in caplog.text


def test_an_address_of_another_type_is_refused_without_showing_it():
    with pytest.raises(TypeError, match="got bytes") as caught:
        Study(f"postgresql://me:{SECRET}@host/db".encode(), "demo", SPACE)
    assert SECRET not in str(caught.value)
