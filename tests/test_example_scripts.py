"""The example scripts run as a user would run them, with smaller budgets, and say what they promise."""

import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import optuna
import pytest

ROOT = Path(__file__).parent.parent


def run(*command):
    """The output of a command that must succeed."""
    done = subprocess.run(
        [str(part) for part in command], cwd=ROOT, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def python(*arguments):
    return run(sys.executable, *arguments)


def number(pattern, text):
    """The number at the place of # in the output."""
    found = re.search(re.escape(pattern).replace(r"\#", r"(-?[\d.]+)"), text)
    assert found, f"{pattern!r} is not in the output:\n{text}"
    return float(found.group(1))


@pytest.fixture
def mpi():
    """The command before a script that runs on four MPI processes."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed")
    beside = shutil.which("mpiexec", path=str(Path(sys.executable).parent))
    mpiexec = beside or shutil.which("mpiexec")
    if mpiexec is None:
        pytest.skip("no mpiexec, neither beside Python nor in PATH")
    return [mpiexec, "-n", "4", sys.executable, "-m", "mpi4py.futures"]


def test_a_function_is_tuned_and_a_second_run_has_nothing_left_to_do(sqlite):
    command = ["examples/function.py", "--evaluations", "16", "--storage", sqlite]
    first = python(*command)
    assert "16 evaluations in the study, 16 of them in this run" in first
    assert 0 < number("an error of # degrees", first) < 1
    recorded = optuna.load_study(study_name="covey", storage=sqlite).trials
    second = python(*command)
    assert "16 evaluations in the study, 0 of them in this run" in second
    assert second.splitlines()[1] == first.splitlines()[1]
    assert optuna.load_study(study_name="covey", storage=sqlite).trials == recorded


def test_asynchronous_workers_idle_less_than_those_in_batches():
    output = python("examples/asynchronous.py", "--evaluations", "24")
    asynchronous = number("asynchronous: workers evaluated #%", output)
    batches = number("in batches: workers evaluated #%", output)
    assert 0 < batches < asynchronous <= 100


def test_a_dask_cluster_calibrates_the_epidemic():
    pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    output = python("examples/dask_cluster.py", "--evaluations", "20")
    assert "20 evaluations on 2 Dask workers" in output
    assert 0 < number("a misfit of # with", output) < 15


@pytest.mark.filterwarnings("ignore")
def test_ray_tasks_design_the_coating():
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'covey[ray]'")
    output = python("examples/ray_local.py", "--evaluations", "16")
    assert "16 evaluations as Ray tasks" in output
    assert 0 < number("best: # % reflected", output) < 4  # better than bare glass


def test_a_study_in_postgresql_goes_on_after_ctrl_c_and_optuna_reads_it(postgres):
    command = ["examples/postgresql.py", postgres, "--evaluations", "16"]
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,  # Ctrl-C in a terminal reaches the script and its workers alike
    )
    lines = [process.stdout.readline() for _ in range(5)]
    os.killpg(process.pid, signal.SIGINT)
    first = "".join(lines) + process.communicate(timeout=60)[0]
    assert process.returncode == 0, first
    assert "stopped: interrupted" in first
    announced = len(re.findall("^trial", first, re.MULTILINE))
    finished = round(number("Optuna reads # finished trials", first))
    assert 5 <= announced <= finished < 16  # Ctrl-C may come between keeping a value and saying so

    second = python(*command)
    assert len(re.findall("^trial", second, re.MULTILINE)) == 16 - finished
    assert "Optuna reads 16 finished trials" in second
    study = optuna.load_study(study_name="reactor", storage=postgres)
    assert number("a cost of # with", second) == round(study.best_value, 2)


def test_mpi_processes_find_the_rods_properties_and_end(mpi):
    output = run(*mpi, "examples/mpi.py", "--evaluations", "18")
    assert "18 evaluations by 3 processes" in output
    assert 0 < number("a misfit of # K", output) < 20


def test_mpi_takes_closures_and_failures_asynchronously(mpi, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import covey
            from mpi4py.futures import MPIPoolExecutor

            def main():
                half = 0.5

                def objective(params):
                    if params["x"] > half:
                        raise ValueError("more than half")
                    return params["x"]

                with MPIPoolExecutor() as pool:
                    result = covey.minimize(
                        objective, covey.Space({"x": covey.Float(0, 1)}),
                        batch_size=3, evaluations=9, asynchronous=True, executor=pool, seed=0,
                    )
                for trial in result.trials:
                    assert (trial.value is None) == (trial.params["x"] > half), trial
                    assert trial.value is not None or "more than half" in trial.reason, trial
                print(len(result.trials), "trials, best", result.best.value)

            if __name__ == "__main__":
                main()
        """)
    )
    assert 0 <= number("9 trials, best #", run(*mpi, script)) < 0.5
