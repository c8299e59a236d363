"""Optuna's dashboard on a study that covey wrote: the real server, looked at with a real browser."""

import html.parser
import http.client
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

import covey

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SERVER = Path(sysconfig.get_path("scripts"), "optuna-dashboard")
PATIENCE = 60.0

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no browser here: apt-get install chromium"),
    pytest.mark.skipif(
        importlib.util.find_spec("optuna_dashboard") is None or not SERVER.exists(),
        reason="no dashboard here: pip install optuna-dashboard",
    ),
]

NAME = "pines & <firs>"
SPACE = covey.Space(
    {
        "rate": covey.Float(1e-5, 1.0, log=True),
        "depth": covey.Int(1, 9),
        "kernel": covey.Categorical(["rbf", "matern", (1, 2)]),
    }
)


def grow(params):
    if params["depth"] % 3 == 2:
        raise RuntimeError("the tree is too deep")
    return 10.0 + params["depth"] + params["rate"]


def run(storage):
    with ThreadPoolExecutor(2) as executor:
        return covey.minimize(
            grow,
            SPACE,
            executor=executor,
            batch_size=2,
            evaluations=10,
            n_initial=10,
            seed=0,
            storage=storage,
            name=NAME,
            progress=False,
        )


@contextmanager
def started(command, folder, **environment):
    """A program with its output in a file; it and its children are gone afterwards."""
    log = folder / f"{Path(command[0]).name}.log"
    with log.open("ab") as errors:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if command[0] == BROWSER else errors,
            stderr=errors,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    try:
        yield process, log
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def studies(port):
    """The studies that a dashboard knows: names and numbers."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/api/studies")
        answer = json.load(connection.getresponse())
    return {study["study_name"]: study["study_id"] for study in answer["study_summaries"]}


@contextmanager
def dashboard(storage, folder):
    """The URL of the study's page."""
    port = free_port()
    command = [str(SERVER), storage, "--host", "127.0.0.1", "--port", str(port), "--server", "wsgiref"]
    with started(command, folder) as (server, log):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            assert server.poll() is None, log.read_text()
            with suppress(ConnectionRefusedError):
                found = studies(port)
                break
            time.sleep(0.1)
        else:
            pytest.fail(f"the dashboard does not answer: {log.read_text()}")
        yield f"http://127.0.0.1:{port}/dashboard/studies/{found[NAME]}"


class Texts(html.parser.HTMLParser):
    """The texts of a page that can be read, in their order."""

    def __init__(self, page):
        super().__init__()
        self.found, self._hidden = [], 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag):
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data):
        if data.strip() and not self._hidden:
            self.found.append(data.strip())


def rendered(url, folder):
    """The texts of a page after its scripts ran, five seconds of the browser's own time."""
    command = [
        BROWSER,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        f"--user-data-dir={folder / 'browser'}",
        "--virtual-time-budget=5000",
        "--dump-dom",
        url,
    ]
    with started(command, folder, HOME=str(folder)) as (browser, log):
        page, _ = browser.communicate(timeout=PATIENCE)
        assert browser.returncode == 0, log.read_text()
    return Texts(page.decode()).found


def after(texts, text):
    return texts[texts.index(text) + 1]


def test_the_dashboard_shows_the_best_trial_and_every_failure_of_a_study(database, tmp_path):
    result = run(database)
    best, trials = result.best, result.trials
    failed = [trial.id for trial in trials if trial.state == "failed"]
    assert 0 < len(failed) < len(trials) == 10
    with dashboard(database, tmp_path) as url:
        history = rendered(url, tmp_path)
        listed = rendered(f"{url}/trials?numbers={failed[-1]}", tmp_path)

    assert any(text.startswith(f"{NAME} (id=") for text in history)
    assert float(after(history, f"Best Trial (number={best.id})")) == best.value
    shown = ", ".join(f"{name}: {value}" for name, value in best.params.items())
    assert f"Params = [{shown}]" in history
    assert {"Complete", "Fail"} <= set(history)  # the legend of the timeline

    assert "10 Trials" in listed
    states = [after(listed, f"Trial {trial.id}") for trial in trials]
    assert states == ["Fail" if trial.id in failed else "Complete" for trial in trials]
    params = [f"{name} {value}" for name, value in trials[failed[-1]].params.items()]
    begin = listed.index("Parameter") + 1
    assert listed[begin : begin + 3] == params
    (reason,) = [text for text in listed if text.startswith("covey:reason")]
    assert reason.endswith("RuntimeError: the tree is too deep")
