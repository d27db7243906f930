"""Studies: crank-sliders on two processes against one, overhead per sample, and the growth to many samples.

The crank-sliders run on fresh processes in both columns, in turns: wall time, the least of several rounds, with the
start of the processes, and without it. The last column is the processor time of the busiest process: what the wall time
would be on an idle machine. Overhead is that of samples that compute nothing, less the start. One thread:
OMP_NUM_THREADS=1. `--samples 10000` for the long growth; it takes minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import flexph
from cases import crank_slider

ROUNDS = 2


def run(speed: float, steps: int = 4000) -> dict[str, Any]:
    """Largest deflection of the rod at a speed of the crank."""
    mechanism = crank_slider.around(crank_slider.beam(8, "linear", crank_slider.fem.Section(diameter=6e-3)), speed)
    state = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    times = np.linspace(0.0, 4.0 * np.pi / speed, steps + 1)
    solution = flexph.integrate(mechanism, state, times, progress=False)
    return {
        "deflection": np.abs(solution.displacement("rod.middle")[:, 1]).max(),
        "ended": time.time(),
        "pid": os.getpid(),
        "cpu": time.process_time(),
    }


def nothing(k: int) -> dict[str, Any]:
    """A sample that computes nothing."""
    return {"a": 0.5 * k, "b": k, "c": "text", "pid": os.getpid()}


def compare(count: int) -> None:
    """Crank-sliders on one and on two processes, in turns."""
    from loky import ProcessPoolExecutor

    samples = {"speed": np.linspace(100.0, 150.0, count)}
    rounds: dict[int, list[tuple[float, ...]]] = {1: [], 2: []}
    for _ in range(ROUNDS):
        for jobs, own in rounds.items():
            begin = time.time()
            with ProcessPoolExecutor(jobs, env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}) as pool:
                told = flexph.study(run, samples, executor=pool, jobs=2 * jobs, progress=False).load()
            ended = np.sort(told.ended.values)
            busiest = max(float(told.cpu.values[told.pid.values == pid].max()) for pid in np.unique(told.pid))
            own.append((time.time() - begin, ended[-1] - ended[count // 4], busiest))
    print(f"\n{count} crank-sliders of 4000 steps [s]")
    print(f"{'processes':>10} {'wall':>8} {'wall after a quarter':>21} {'CPU of the busiest':>19}")
    least = {jobs: np.min(own, axis=0) for jobs, own in rounds.items()}
    for jobs, (wall, rest, busiest) in least.items():
        print(f"{jobs:>10} {wall:8.2f} {rest:21.2f} {busiest:19.2f}")
    for name, ratio in zip(("", "-started", "-cpu"), least[1] / least[2], strict=True):
        print(f"ratio study-two-processes{name} {ratio:.2f}")


def growth(count: int) -> None:
    """Overhead per sample, and the memory of the driver, for tenfold samples; each in a process of its own."""
    print(f"\n{'samples':>8} {'wall s':>8} {'CPU of all s':>13} {'ms a sample':>12} {'driver MB':>10}")
    rows = []
    for samples in (count // 100, count // 10, count):
        told = [json.loads(_alone(samples)) for _ in range(ROUNDS if samples < count else 1)]
        wall, cpu, memory = (min(row[name] for row in told) for name in ("wall", "cpu", "memory"))
        rows.append((samples, wall, cpu, memory))
        each = 1e3 * (wall - rows[0][1]) / (samples - rows[0][0]) if len(rows) > 1 else float("nan")
        print(f"{samples:>8} {wall:8.2f} {cpu:13.2f} {each:12.2f} {memory:10.1f}")
    print(f"ratio study-overhead-ms {1e3 * (rows[-1][1] - rows[0][1]) / (rows[-1][0] - rows[0][0]):.2f}")
    print(f"ratio study-overhead-cpu-ms {1e3 * (rows[-1][2] - rows[0][2]) / (rows[-1][0] - rows[0][0]):.2f}")
    print(f"ratio study-driver-memory {rows[-1][3] / rows[0][3]:.3f}")


def _alone(samples: int) -> str:
    return subprocess.run(
        [sys.executable, __file__, "--driver", str(samples)], check=True, capture_output=True, text=True
    ).stdout


def driver(samples: int) -> None:
    """A study of samples that compute nothing on two processes: wall time, processor time of all, peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        flexph.study(nothing, {"k": range(samples)}, jobs=2, out=Path(folder) / "s", progress=False)
        workers = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = time.process_time() - cpu + workers.ru_utime + workers.ru_stime
        told = {"wall": time.perf_counter() - wall, "cpu": spent}
        print(json.dumps(told | {"memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crank-sliders", type=int, default=200)
    parser.add_argument("--samples", type=int, default=2000)
    parser.add_argument("--driver", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.driver:
        driver(given.driver)
    else:
        if given.crank_sliders:
            compare(given.crank_sliders)
        growth(given.samples)
