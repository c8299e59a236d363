"""The same call on other executors: a Dask cluster and Ray, both real and local."""

import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

import covey

SPACE = covey.Space({"x": covey.Float(0, 1), "y": covey.Float(0, 1)})


def run(executor, **settings):
    settings = {"iterations": 2, **settings}
    return covey.minimize(
        lambda p: (p["x"] - 0.3) ** 2 + p["y"], SPACE, batch_size=16, executor=executor, seed=3, **settings
    )


@pytest.fixture(scope="module")
def on_threads():
    with ThreadPoolExecutor(16) as pool:
        return [(t.params, t.value) for t in run(pool).trials]


@pytest.fixture(scope="module")
def dask_executor():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=8, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@pytest.fixture(scope="module")
def ray_executor():
    ray = pytest.importorskip("ray")
    from covey.integrations.ray.executor import RayExecutor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Ray's own, while it starts
        executor = RayExecutor(num_cpus=0.1)
    yield executor
    ray.shutdown()


def test_sixteen_dask_workers_find_what_threads_find(dask_executor, on_threads):
    assert [(t.params, t.value) for t in run(dask_executor).trials] == on_threads


def test_dask_runs_asynchronously(dask_executor):
    result = run(dask_executor, iterations=None, evaluations=24, asynchronous=True)
    assert len(result.trials) == 24
    assert all(t.state == "complete" for t in result.trials)


@pytest.mark.filterwarnings("ignore")
def test_sixteen_ray_workers_find_what_threads_find(ray_executor, on_threads):
    assert [(t.params, t.value) for t in run(ray_executor).trials] == on_threads


@pytest.mark.filterwarnings("ignore")
def test_a_ray_executor_returns_values_and_raises_errors(ray_executor):
    assert ray_executor.submit(pow, 2, 5).result(timeout=60) == 32
    with pytest.raises(ZeroDivisionError):
        ray_executor.submit(lambda: 1 / 0).result(timeout=60)


@pytest.mark.filterwarnings("ignore")
def test_shutting_a_ray_executor_down_waits_for_what_runs(ray_executor):
    future = ray_executor.submit(time.sleep, 0.5)
    ray_executor.shutdown(wait=True)
    assert future.result(timeout=10) is None
