"""Cost of one step of the crank-slider against the number of elements, dense and sparse kernels."""

import time

import numpy as np

import flexph.network
from cases import crank_slider

STEPS = 200
DENSE, SPARSE = 10**9, 0  # values of the limit below which the kernels are dense


def time_per_step(elements: int, limit: int) -> tuple[float, float]:
    """Milliseconds and Newton iterations per step."""
    default = flexph.network.DENSE_LIMIT
    flexph.network.DENSE_LIMIT = limit
    try:
        turns = STEPS * 2.0 / 4000
        crank_slider.solve(elements, "von_karman", 5, turns * 5 / STEPS)  # first calls are slow
        clock = time.perf_counter()
        solution, _ = crank_slider.solve(elements, "von_karman", STEPS, turns)
        return 1e3 * (time.perf_counter() - clock) / STEPS, float(np.mean(solution.ledger.iterations))
    finally:
        flexph.network.DENSE_LIMIT = default


def main() -> None:
    print(
        f"crank-slider, von Kármán strain, {STEPS} steps; default: dense up to {flexph.network.DENSE_LIMIT} velocities"
    )
    print("elements  velocities  dense [ms/step]  sparse [ms/step]  dense/sparse  iterations")
    for elements in (2, 4, 8, 16, 32, 64, 128, 256):
        velocities = 3 * elements + 3 + 5
        dense = time_per_step(elements, DENSE)[0] if elements <= 128 else float("nan")
        sparse, iterations = time_per_step(elements, SPARSE)
        row = f"{elements:8d}  {velocities:10d}  {dense:15.2f}  {sparse:16.2f}"
        print(f"{row}  {dense / sparse:12.2f}  {iterations:10.1f}")


if __name__ == "__main__":
    main()
