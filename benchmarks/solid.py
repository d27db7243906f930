"""A solid body from its mesh to a run: assembly, reduction and 1000 steps, as the mesh grows."""

import argparse
import resource
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from cases.solid_cantilever import bar
from flexph import GROUND, connect, hinge, integrate
from flexph.bodies import reduce_body
from flexph.numerics.factors.positive_definite import PARDISO

MODES, STEPS = 12, 1000


def timed(work: Any) -> tuple[Any, float]:
    """A result and the seconds it took."""
    clock = time.perf_counter()
    made = work()
    return made, time.perf_counter() - clock


def swinging(body: Any, steps: int) -> Any:
    """The bar on a hinge at its root, under its weight, for one second."""
    mechanism = connect({"bar": body}, [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))}))
    return integrate(mechanism, start, np.linspace(0.0, 1e-3 * steps, steps + 1), progress=False)


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--across", type=int, nargs="+", default=[3, 5, 8], help="cells over the height of each mesh")
    words.add_argument("--cells", choices=("tetra", "hexahedron"), default="tetra")
    given = words.parse_args()
    solver = "PARDISO" if PARDISO else "SuperLU"
    table = Table(title=f"{given.cells}, degree 2; {MODES} modes and 6 static responses; {STEPS} steps; {solver}")
    for column in (
        "coordinates",
        "stresses",
        "assembly s",
        "reduction s",
        "run s",
        "µs/step",
        "balance",
        "MB",
    ):
        table.add_column(column, justify="right")
    swinging(reduce_body(bar("tetra", 2, 1), modes=MODES, static=("tip",)), 10)
    for across in given.across:
        body, assembly = timed(lambda across=across: bar(given.cells, 2, across))
        small, reduction = timed(lambda body=body: reduce_body(body, modes=MODES, static=("tip",)))
        run, spent = timed(lambda small=small: swinging(small, STEPS))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        row = (f"{assembly:.2f}", f"{reduction:.1f}", f"{spent:.2f}", f"{1e6 * spent / STEPS:.0f}")
        table.add_row(str(body.size), str(body.stress_size), *row, f"{run.ledger.largest_residual:.0e}", f"{peak:.0f}")
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
