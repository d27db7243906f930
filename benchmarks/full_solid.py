"""A solid body in full on a hinge: what its first step takes, with the factorisation, and what any further one does."""

import argparse
import resource
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from cases.solid_cantilever import bar
from flexph import GROUND, connect, hinge, integrate
from flexph.methods import Exact

STEPS = 10


def swing(body: Any, times: Any) -> tuple[Any, float]:
    """The bar on a hinge at its root, under its weight, and the seconds that its run took."""
    mechanism = connect({"bar": body}, [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))}))
    clock = time.perf_counter()
    run = integrate(mechanism, start, times, progress=False, method=Exact())
    return run, time.perf_counter() - clock


def main() -> None:
    """Print the table."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--across", type=int, nargs="+", default=[2, 3, 5], help="cells over the height of each mesh")
    table = Table(title=f"tetrahedra of degree 2 in full, {STEPS} steps of 1 ms")
    for column in ("coordinates", "stresses", "first step s", "step s", "iterations", "balance", "drift m", "MB"):
        table.add_column(column, justify="right")
    swing(bar("tetra", 2, 2), [0.0, 1e-3])  # finds libraries
    for across in words.parse_args().across:
        body = bar("tetra", 2, across)
        first = swing(body, [0.0, 1e-3])[1]
        run, spent = swing(body, np.linspace(0.0, 1e-3 * (STEPS + 1), STEPS + 2))
        ledger = run.ledger
        row = (f"{first:.2f}", f"{(spent - first) / STEPS:.3f}", f"{ledger.iterations.mean():.1f}")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
        kept = (f"{ledger.largest_residual:.0e}", f"{ledger.position_residual.max():.0e}", f"{peak:.0f}")
        table.add_row(str(body.size), str(body.stress_size), *row, *kept)
    Console(width=140).print(table)


if __name__ == "__main__":
    main()
