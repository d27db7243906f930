"""The crank-slider with its rod in full and reduced: error of the midpoint deflection, states, time of a run."""

import time
import warnings

import numpy as np
from rich.console import Console
from rich.table import Table

import rigid
from cases.crank_slider import CRANK, CRANK_MASS, ROD, SLIDER, SPEED, STRAINS, crank_slider
from flexph import GROUND, Body, Solution, connect, drive, hinge, integrate, slider
from flexph.bodies import reduce_body
from flexph.linear import ReductionWarning

STEPS = 4000  # of two turns
REPEATS = 3
CHOICES = {
    "linear": ({"modes": 1}, {"modes": 3}, {"modes": 6}),
    "von_karman": (
        {"modes": 3},
        {"modes": 6},
        {"modes": 1, "derivatives": 1},
        {"modes": 3, "derivatives": 2},
        {"modes": 3, "derivatives": 3},
        {"modes": 3, "derivatives": 2, "static": ("tip",)},
    ),
}


def run(rod: Body, steps: int) -> tuple[Solution, float]:
    """The first steps of two turns, and the seconds they take: the best of some runs."""
    mechanism = connect(
        {"crank": rigid.bar(CRANK, CRANK_MASS), "rod": rod, "slider": rigid.point(SLIDER)},
        [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", GROUND, angle=lambda t: SPEED * t),
            hinge("crank.tip", "rod.root"),
            hinge("rod.tip", "slider.point"),
            slider("slider.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True),
        ],
    )
    start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    times = 4.0 * np.pi / SPEED / STEPS * np.arange(steps + 1)
    spent = []
    for _ in range(REPEATS):
        clock = time.process_time()
        found = integrate(mechanism, start, times, progress=False)
        spent.append(time.process_time() - clock)
    return found, min(spent)


def deflection(solution: Solution) -> np.ndarray:
    """Of the midpoint over the length."""
    return solution.displacement("rod.middle")[:, 1] / ROD


def main() -> None:
    """Print the table."""
    table = Table(title=f"two turns, {STEPS} steps; errors over the largest deflection")
    for column in ("strain", "elements", "rod", "coordinates", "slopes", "rms error", "largest", "a step"):
        table.add_column(column, justify="right")
    for strain, choices in CHOICES.items():
        for elements in (8, 32):
            rod = crank_slider(elements, strain).bodies["rod"]
            run(rod, 10)
            exact = None
            for choice in (None, *choices):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ReductionWarning)
                    body = rod if choice is None else reduce_body(rod, **choice)
                solution, seconds = run(body, STEPS)
                y = deflection(solution)
                exact = y if exact is None else exact
                top, off = np.abs(exact).max(), np.abs(y - exact)
                name = "full" if choice is None else ", ".join(f"{k} {v}" for k, v in choice.items())
                sizes = (str(body.size), str(body.elasticity.slopes.shape[0]))
                errors = (f"{np.sqrt(np.mean(off**2)) / top:.1e}", f"{off.max() / top:.1e}")
                spent = f"{1e6 * seconds / STEPS:.0f} µs"
                table.add_row(STRAINS[strain], str(elements), name, *sizes, *errors, spent)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
