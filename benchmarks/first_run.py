"""From an empty cache of compiled code to the first result: linked code beside numba's own way, and steps by NumPy.

Every number is that of a process of its own with a cache in a new folder: process time without the import of packages,
of a short run of the crank-slider (plane), of a chain of two links (space), of the four particles (a general system).
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np
from chain import hanging
from crank_slider import mechanism

from cases import four_particle_system
from flexph import integrate
from flexph.methods import DiscreteGradient, Exact

KINDS = ("plane", "space", "general")
WAYS = ("linked", "numba's own", "NumPy")
STEPS, STEP = 10, 1e-3


def problem(kind: str) -> tuple[Any, Any, Callable[[bool], Any]]:
    """System, start and method."""
    if kind == "general":
        system = four_particle_system.four_particles(1.0)
        return system, four_particle_system.START, lambda compiled: DiscreteGradient(compiled=compiled)
    system, start = mechanism() if kind == "plane" else hanging(2, 3, True)
    return system, start, lambda compiled: Exact(compiled=compiled)


def seconds(kind: str, way: str) -> float:
    """Process time of the first run of a process [s]."""
    if way == "numba's own":
        from flexph.numerics.compiled import linking

        linking.TRIED = (0, 0), (0, 0)
    system, start, method = problem(kind)
    clock = time.process_time()
    integrate(system, start, STEP * np.arange(STEPS + 1), method=method(way != "NumPy"), progress=False)
    return time.process_time() - clock


def in_a_new_process(kind: str, way: str) -> float:
    """The seconds of a process that nothing was done in before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(seconds, kind, way).result()


def measured(kind: str, way: str) -> tuple[float, float]:
    """Seconds with an empty cache, and with what that run left there."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["NUMBA_CACHE_DIR"] = folder
        return in_a_new_process(kind, way), in_a_new_process(kind, way)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--repeats", type=int, default=1, help="take the least of so many")
    repeats = words.parse_args().repeats
    print(f"{'':10s}{'way':>14s}{'first run [s]':>16s}{'second [s]':>14s}")
    ratios = {}
    for kind in KINDS:
        first = {}
        for way in WAYS:
            first[way], second = np.min([measured(kind, way) for _ in range(repeats)], axis=0)
            print(f"{kind:10s}{way:>14s}{first[way]:16.2f}{second:14.2f}", flush=True)
        ratios[kind] = first["numba's own"] / first["linked"]
    for kind, ratio in ratios.items():
        print(f"ratio first-run-{kind} {ratio:.2f}")


if __name__ == "__main__":
    main()
