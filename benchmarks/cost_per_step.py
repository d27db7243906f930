"""Cost of one step against the number of elements and bodies: the crank-slider, and a chain of links in space.

By all methods, with multipliers of least norm (the first joint of the chain stands there twice), and with steps chosen
by their error, at a tolerance that accepts all.
"""

import argparse
import time
import warnings

import numpy as np
from crank_slider import END, mechanism

from flexph import Mechanism, State, integrate
from flexph.methods import Decaying, Exact, Exact4, ExactGauss, MechanismMethod

ELEMENTS = (4, 8, 16, 32, 64, 128, 256, 512)
STEPS = 4000  # of two turns
BODIES = (10, 25, 50, 100, 200, 500)
TIMED, LOOSE = 20, 1e6
"""Steps of a chain, and a tolerance by which every pair of steps is accepted."""
REPEATS = 2
CLEAR, LONGEST = 0.3, 200
"""Difference of two runs [s] that is enough, and steps of the shorter one that are: chains become whips later."""
CONTROL = Exact(tolerance=LOOSE)


def per_step(system: Mechanism, warm: State, h: float, count: int, *, method: MechanismMethod) -> tuple[float, float]:
    """Milliseconds and Newton iterations per step, from runs of two lengths: what a run does once does not count."""

    def run(steps: int) -> tuple[float, float, int]:
        times = warm.time + h * np.arange(steps + 1)
        clock = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = integrate(system, warm, times, save_every=steps, progress=False, method=method)
        taken = int(found.ledger.steps.sum())
        return time.process_time() - clock, float(found.ledger.iterations.sum()) / taken, taken

    while True:
        short, long = (min(run(n) for _ in range(REPEATS)) for n in (count, 3 * count))
        if long[0] - short[0] > CLEAR or count >= LONGEST:
            return 1e3 * (long[0] - short[0]) / (long[2] - short[2]), long[1]
        count *= 4


def time_per_step(elements: int, method: MechanismMethod) -> tuple[float, float]:
    """Milliseconds and Newton iterations per step at the start of the run."""
    system, start = mechanism(elements)
    h = END / STEPS
    warm = integrate(system, start, h * np.arange(4), progress=False, method=method).final
    return per_step(system, warm, h, max(20, min(100, 3200 // elements)), method=method)


def exponent(sizes: list[int], costs: list[float]) -> float:
    """Slope of log cost over log size, over the larger half of the sizes."""
    later = np.log(np.column_stack([sizes, costs])[len(sizes) // 2 :])
    return float(np.polyfit(later[:, 0], later[:, 1], 1)[0]) if len(later) > 1 else float("nan")


def table(largest: int) -> None:
    """Milliseconds per step by method, µs per element, fitted exponents."""
    columns: dict[str, MechanismMethod] = {
        "exact": Exact(),
        "fourth": Exact4(),
        "gauss": ExactGauss(),
        "control": CONTROL,
        "decaying": Decaying(),
    }
    print("crank-slider, von Kármán strain")
    print(
        "elements  velocities  iterations" + "".join(f"{name + ' [ms]':>16s} {'µs/element':>11s}" for name in columns)
    )
    sizes, costs = [n for n in ELEMENTS if n <= largest], {name: [] for name in columns}  # type: ignore[var-annotated]
    for elements in sizes:
        row, iterations = "", float("nan")
        for name, method in columns.items():
            cost, used = time_per_step(elements, method)
            iterations = used if name == "exact" else iterations
            costs[name].append(cost)
            row += f"{cost:16.3f} {1e3 * cost / elements:11.1f}"
        print(f"{elements:8d}  {3 * elements + 8:10d}  {iterations:10.1f}{row}", flush=True)
    fitted = (f"{exponent(sizes, costs[name]):16.2f} {'':11s}" for name in columns)
    print(f"{'exponent, larger half':32s}" + "".join(fitted))
    for name in ("fourth", "gauss", "control", "decaying"):
        print(f"ratio steps-of-exact-in-one-of-{name} {costs[name][-1] / costs['exact'][-1]:.1f}")


def chains(largest: int) -> None:
    """Milliseconds per step of chains of flexible links in space, fitted exponents."""
    from chain import STEP, hanging

    columns: dict[str, tuple[int, MechanismMethod]] = {
        "exact": (1, Exact()),
        "fourth": (1, Exact4()),
        "gauss": (1, ExactGauss()),
        "least norm": (2, Exact(redundant="least_norm")),
        "control": (1, CONTROL),
        "decaying": (1, Decaying()),
    }
    print("\nchain in space, two elements a link, von Kármán strain")
    print("bodies" + "".join(f"{name + ' [ms]':>18s}" for name in columns) + f"{'building, start [s]':>22s}")
    sizes, costs = [n for n in BODIES if n <= largest], {name: [] for name in columns}  # type: ignore[var-annotated]
    for bodies in sizes:
        clock = time.process_time()
        hanging(bodies, 3, True, first=1)
        building = time.process_time() - clock
        for name, (first, method) in columns.items():
            system, start = hanging(bodies, 3, True, first=first)
            costs[name].append(per_step(system, start, STEP, max(TIMED, 2000 // bodies), method=method)[0])
        print(
            f"{bodies:6d}" + "".join(f"{costs[name][-1]:18.3f}" for name in columns) + f"{building:22.2f}", flush=True
        )
    print("exponent, larger half" + "".join(f"  {name} {exponent(sizes, costs[name]):.2f}" for name in columns))
    print(f"ratio exact-over-least-norm {costs['exact'][-1] / costs['least norm'][-1]:.2f}")


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--largest", type=int, default=ELEMENTS[-1], metavar="ELEMENTS")
    words.add_argument("--bodies", type=int, default=BODIES[-1], help="0: no chains")
    given = words.parse_args()
    table(given.largest)
    if given.bodies:
        chains(given.bodies)


if __name__ == "__main__":
    main()
