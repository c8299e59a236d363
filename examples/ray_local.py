"""Evaluate as Ray tasks, here on this machine. Needs: pip install 'covey[ray]'

    python examples/ray_local.py

On a cluster, call ray.init(address="auto") first: the executor uses the connection that is there.
"""

import argparse

import numpy as np
import ray

import covey
from covey.integrations.ray.executor import RayExecutor

INDICES = {"titania": 2.4, "zirconia": 2.05, "silica": 1.46, "fluoride": 1.38}
SPACE = covey.Space(
    {
        "inner_nm": covey.Float(5, 150),
        "middle_nm": covey.Float(5, 150),
        "outer_nm": covey.Float(5, 150),
        "middle": covey.Categorical(["titania", "zirconia"]),
        "outer": covey.Categorical(["silica", "fluoride"]),
    }
)


def reflectance(params: dict) -> float:
    """Percent of visible light that glass with three thin layers reflects: characteristic matrices."""
    layers = [  # from the air to the glass
        (INDICES[params["outer"]], params["outer_nm"]),
        (INDICES[params["middle"]], params["middle_nm"]),
        (1.65, params["inner_nm"]),
    ]
    reflected = []
    for wavelength in np.linspace(420, 680, 53):
        fields = np.array([1, 1.52], complex)  # electric and magnetic, at the glass
        for index, thickness in reversed(layers):
            phase = 2 * np.pi * index * thickness / wavelength
            cos, sin = np.cos(phase), 1j * np.sin(phase)
            fields = np.array([[cos, sin / index], [sin * index, cos]]) @ fields
        reflected.append(abs((fields[0] - fields[1]) / (fields[0] + fields[1])) ** 2)
    return float(100 * np.mean(reflected))


def main() -> None:
    parser = argparse.ArgumentParser(description="Design an antireflection coating on Ray.")
    parser.add_argument("--evaluations", type=int, default=40)
    options = parser.parse_args()
    executor = RayExecutor(num_cpus=0.5)  # options of each evaluation, as in ray.remote
    settings = {"batch_size": 4, "seed": 0}
    result = covey.minimize(reflectance, SPACE, executor=executor, **settings, **vars(options))
    ray.shutdown()
    print(f"{len(result.trials)} evaluations as Ray tasks")
    print(f"best: {result.best.value:.3f} % reflected (bare glass: 4.258 %) with {result.best.params}")


if __name__ == "__main__":
    main()
