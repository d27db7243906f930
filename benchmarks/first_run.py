"""First and second run of a new process, by kinds of mechanisms and methods, and what a new process takes before.

Each row is a process of its own: wall time of the imports and of building the mechanism with its start, process time of
its first run and of a second one. Loops are compiled when the package is built, so that a first run only fills what
mechanisms of equal bodies share.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

STEPS, STEP = 10, 1e-3
KINDS = ("plane", "space", "decaying", "Gauss collocation", "chosen by their error")


def seconds(kind: str) -> tuple[float, float, float]:
    """Wall time before the runs, process times of a first and of a second one [s]."""
    clock = time.perf_counter()
    import numpy as np
    from chain import hanging
    from crank_slider import mechanism

    from flexph import integrate
    from flexph.methods import Decaying, Exact, ExactGauss, Method

    methods: dict[str, Callable[[], Method]] = {
        "decaying": Decaying,
        "Gauss collocation": ExactGauss,
        "chosen by their error": lambda: Exact(tolerance=1e-4),
    }
    system, start = hanging(2, 3, True) if kind == "space" else mechanism()
    before = time.perf_counter() - clock

    def run() -> float:
        clock = time.process_time()
        times = start.time + STEP * np.arange(STEPS + 1)
        integrate(system, start, times, method=methods.get(kind, Exact)(), progress=False)
        return time.process_time() - clock

    return before, run(), run()


def in_a_new_process(kind: str) -> tuple[float, float, float]:
    """The seconds of a process that nothing was done in before."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        return processes.submit(seconds, kind).result()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--repeats", type=int, default=3, help="take the least of so many")
    repeats = words.parse_args().repeats
    print(f"{'':24s}{'before [s]':>12s}{'first run [s]':>16s}{'second [s]':>12s}")
    for kind in KINDS:
        processes = [in_a_new_process(kind) for _ in range(repeats)]
        before, first, second = (min(column) for column in zip(*processes, strict=True))
        print(f"{kind:24s}{before:12.2f}{first:16.3f}{second:12.4f}", flush=True)


if __name__ == "__main__":
    main()
