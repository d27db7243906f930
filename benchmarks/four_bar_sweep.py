"""Time of the four-bar sweep of 37 crank angles, and its ratio to plain displacement finite elements."""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "samples"))

from displacement_frames import SI, four_bar_frequencies

from cases import four_bar

REPEATS = 5


def best(function: Callable[[], object]) -> float:
    """Shortest of a few times [s]: what the machine can do when nothing disturbs it."""
    times = []
    for _ in range(REPEATS):
        clock = time.perf_counter()
        function()
        times.append(time.perf_counter() - clock)
    return min(times)


def displacement_sweep() -> np.ndarray:
    """The peer: dense frame elements, whole spectrum at each angle."""
    return np.array([four_bar_frequencies(math.radians(a), 8, SI) for a in range(0, 361, 10)])


def main() -> None:
    ours, theirs = four_bar.run().frequencies, displacement_sweep()
    print(f"largest relative difference of the 111 frequencies: {np.abs(ours / theirs - 1.0).max():.1e}")
    sweep, peer = best(four_bar.run), best(displacement_sweep)
    print(f"four-bar sweep, 37 angles, 8 elements per link: {sweep:.3f} s ({1e3 * sweep / 37:.1f} ms per angle)")
    print(f"displacement finite elements, dense:            {peer:.3f} s, ratio {sweep / peer:.2f}")


if __name__ == "__main__":
    main()
