"""Steps chosen by their error: compiled pairs of steps beside those of NumPy, the same tolerance and the same steps.

Process time of runs of the crank-slider (plane) and of a chain of ten links (space), the least of rounds in which both
take their turn. One thread: OMP_NUM_THREADS=1.
"""

import argparse
import time
from typing import Any

from chain import hanging
from crank_slider import mechanism

from flexph import Solution, integrate
from flexph.methods import Exact

TOLERANCE = 1e-3
ENDS = {"plane": 0.01, "space": 0.1}
"""Durations of the runs [s]."""


def problem(kind: str) -> tuple[Any, Any]:
    """System and start."""
    return mechanism() if kind == "plane" else hanging(10, 2, True)


def timed(kind: str, given: tuple[Any, Any], compiled: bool) -> tuple[float, Solution]:
    """Seconds of a run, and the run."""
    system, start = given
    times, method = [start.time, start.time + ENDS[kind]], Exact(tolerance=TOLERANCE, compiled=compiled)
    clock = time.process_time()
    solution = integrate(system, start, times, method=method, progress=False)
    return time.process_time() - clock, solution


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--rounds", type=int, default=3)
    rounds = words.parse_args().rounds
    ratios = {}
    print(f"{'':8s}{'steps':>8s}{'rejected':>10s}{'compiled [s]':>14s}{'NumPy [s]':>12s}")
    for kind in ENDS:
        given = problem(kind)
        timed(kind, given, True)
        seconds: dict[bool, list[float]] = {True: [], False: []}
        for _ in range(rounds):
            for compiled, told in seconds.items():
                spent, solution = timed(kind, given, compiled)
                told.append(spent)
        fast, slow = min(seconds[True]), min(seconds[False])
        steps, rejected = int(solution.ledger.steps.sum()), int(solution.ledger.rejected.sum())
        print(f"{kind:8s}{steps:8d}{rejected:10d}{fast:14.3f}{slow:12.3f}", flush=True)
        ratios[kind] = slow / fast
    for kind, ratio in ratios.items():
        print(f"ratio step-control-{kind} {ratio:.1f}")


if __name__ == "__main__":
    main()
