"""The examples run, as a user would run them."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_the_demo_writes_a_picture_and_its_data(tmp_path):
    command = [sys.executable, "examples/demo.py", "--methods", "random", "auto", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "seconds choosing points" in done.stdout
    assert (tmp_path / "convergence.png").read_bytes().startswith(b"\x89PNG")
    runs = {
        run["method"]: run["best"] for run in json.loads((tmp_path / "convergence.json").read_text())["runs"]
    }
    assert runs["auto"][-1] < runs["random"][-1]
    assert all(later <= sooner for sooner, later in zip(runs["auto"], runs["auto"][1:], strict=False))


def test_the_cost_benchmark_runs_and_records_its_settings(tmp_path):
    out = tmp_path / "cost.json"
    command = [
        sys.executable,
        "benchmarks/cost.py",
        "--observations",
        "20",
        "--batches",
        "2",
        "--repetitions",
        "1",
    ]
    done = subprocess.run(
        [*command, "--out", str(out)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    recorded = json.loads(out.read_text())
    assert recorded["header"]["strategy"] == "j-ats"
    (row,) = recorded["rows"]
    assert row["warm"] >= row["theta posterior"] + row["maximise"] > 0


def test_virtual_workers_are_busier_without_batches():
    from virtual import simulate

    import covey
    from covey.bench.problems.functions import PROBLEMS

    problem, runs = PROBLEMS["branin"], {}
    for asynchronous in (True, False):
        optimizer = covey.Optimizer(problem.space, "sequential", n_initial=100, seed=0)
        runs[asynchronous] = simulate(
            optimizer, problem, lambda p: 1.0 + p["x1"] / 20, 4, 40, asynchronous, choosing=0.05
        )
    for run in runs.values():
        assert len(run["ends"]) == 40
        assert run["ends"] == sorted(run["ends"])
        assert run["best"] == sorted(run["best"], reverse=True)
        assert 0 < run["utilisation"] <= 1
    assert runs[True]["wall"] < runs[False]["wall"]
    assert runs[True]["utilisation"] > runs[False]["utilisation"]
