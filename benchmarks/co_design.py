"""Co-design of the flexible arm by gradients, and by two searches with 2000 runs and no derivatives.

All minimise mass and energy of the case ``co-design`` under its limits from the same start. COBYQA has a tolerance of
1e-4. The differential evolution has 40 members and 50 generations, begins around the start, and pays for violated
limits. The ratios ``objective-of-cobyqa`` and ``objective-of-evolution`` are their best feasible objectives over that
by gradients.
"""

import argparse
import warnings

import numpy as np
from scipy.optimize import differential_evolution

from cases import co_design
from flexph.gradients import Responses

TOLERANCE = 1e-4
"""Tolerance of COBYQA."""
PENALTY = 5.0
"""Mass [kg] that a violation of a limit by its size costs."""


def evolved(runs, seed=1, members=40):
    """Best feasible objective [kg] of a differential evolution, its parameters, and the number of its runs."""
    times = np.linspace(0.0, co_design.END, 121)
    function = Responses(co_design.arm, times, co_design.values())
    lower, upper = np.array([*co_design.BOUNDS.values()]).T
    best = [np.inf, None, 0]

    def cost(x):
        best[2] += 1
        given = dict(zip(co_design.BOUNDS, (lower + (upper - lower) * x).tolist(), strict=True))
        try:
            own = function(**given)
        except (ArithmeticError, ValueError):
            return 1e3
        limits = [own[f"stress_{k}"] / co_design.YIELD - 1.0 for k in range(1, 2 * co_design.PIECES + 1)]
        limits += [own[f"error_{axis}"] / co_design.NEAR**2 - 1.0 for axis in "xy"]
        objective, violation = own["mass"] + co_design.PER_JOULE * own["energy"], max(max(limits), 0.0)
        if violation == 0.0 and objective < best[0]:
            best[:2] = objective, given
            print(f"run {best[2]}: {objective:.5f} kg", flush=True)
        return objective + PENALTY * min(violation, 10.0)

    random = np.random.default_rng(seed)
    start = (np.array([co_design.START[name] for name in co_design.BOUNDS]) - lower) / (upper - lower)
    first = np.clip(start + 0.15 * random.standard_normal((members, start.size)), 0.0, 1.0)
    first[0] = start
    differential_evolution(
        cost, [(0.0, 1.0)] * start.size, init=first, maxiter=runs // members - 1, tol=0.0, polish=False, rng=random
    )
    return best


def main():
    """Print both objectives and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2000, help="runs of the searches without derivatives")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    found = co_design.run().optimum
    print(f"gradients: {found.objective:.6f} kg after {found.runs.sizes['sample']} runs", flush=True)
    other = co_design.run(method="COBYQA", runs=options.runs, tolerance=TOLERANCE).optimum
    print(f"COBYQA: {other.objective:.6f} kg after {other.runs.sizes['sample']} runs", flush=True)
    objective, parameters, count = evolved(options.runs)
    print(f"evolution: {objective:.6f} kg after {count} runs, {parameters}")
    print(f"ratio objective-of-cobyqa {other.objective / found.objective:.4f}")
    print(f"ratio objective-of-evolution {objective / found.objective:.4f}")


if __name__ == "__main__":
    main()
