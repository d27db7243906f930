"""Steps of blocks of rubber and of a wide plate by compiled loops, with sparse factors, against those of NumPy.

Process time of one thread: start it with OMP_NUM_THREADS=1. Both ways take the same steps in turn; minima count.
"""

import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import fem
import rigid
from flexph import GROUND, Mechanism, connect, integrate, revolute, weld
from flexph.integration.methods import Exact

STEPS, STEP, ROUNDS = 5, 5e-3, 2
LAW = fem.NeoHooke(4e5, 6e5)
RUBBER = fem.Material(young=1e6, density=1000.0, poisson=0.3)


def jointed(cells: tuple[int, int, int], law: Any) -> Mechanism:
    """A block of cells with 27 nodes on a hub that turns."""
    ports = {"root": "left", "tip": "right"}
    mesh = fem.box_mesh((0.4, 0.1, 0.1), cells)
    block = fem.solid(mesh, RUBBER, degree=2, strain="finite", law=law, ports=ports)
    hub = rigid.body(2.0, inertia=(0.02, 0.03, 0.04), ports={"pin": (0.1, 0.0, 0.05)})
    return connect({"block": block, "hub": hub}, [revolute("block.root", "hub.pin", axis=(0.0, 1.0, 0.0))])


def cantilever(cells: tuple[int, int, int]) -> Mechanism:
    """A block of cells with 8 nodes that is let go under its weight."""
    block = fem.solid(fem.box_mesh((0.4, 0.1, 0.1), cells), RUBBER, strain="finite", ports={"root": "left"})
    return connect({"block": block}, [weld("block.root", GROUND)], gravity=(0.0, 0.0, -9.81))


def plate(cells: int) -> Mechanism:
    """A plate of von Kármán strain, clamped at one side, that is let go under its weight."""
    options = {"thickness": 2e-3, "strain": "von_karman", "supports": [fem.Support("left", "clamped")]}
    made = fem.plate(fem.box_mesh((1.0, 1.0), (cells, cells)), RUBBER, **options)
    return connect({"plate": made}, [weld("plate.frame", GROUND)], gravity=(0.0, 0.0, -9.81))


MECHANISMS = {
    "cantilever-small": lambda: cantilever((4, 1, 1)),
    "cantilever-medium": lambda: cantilever((20, 5, 5)),
    "hub": lambda: jointed((4, 1, 1), None),
    "hub-law": lambda: jointed((4, 1, 1), LAW),
    "plate": lambda: plate(8),
}


def timed(mechanism: Mechanism, compiled: bool | None) -> tuple[float, Any]:
    """Process time of a step [ms], and the run."""
    thrown = {"hub": ((0.0, 0.0, 0.0), (0.0, -9.0, 0.0))} if "hub" in mechanism.bodies else {}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=thrown)
    begin = time.process_time()
    run = integrate(mechanism, start, STEP * np.arange(STEPS + 1), method=Exact(compiled=compiled))
    return 1e3 * (time.process_time() - begin) / STEPS, run


def main() -> None:
    """Print the table and the ratios."""
    console, ratios = Console(), []
    table = Table("mechanism", "velocities", "loops [ms/step]", "NumPy [ms/step]", "balance")
    for name, make in MECHANISMS.items():
        mechanism = make()
        timed(mechanism, None)  # arrays of the mechanism are made
        rounds = [[timed(mechanism, compiled) for compiled in (None, False)] for _ in range(ROUNDS)]
        times = np.array([[spent for spent, _ in both] for both in rounds]).min(axis=0)
        ours, theirs = (run for _, run in rounds[0])
        assert np.allclose(ours.states, theirs.states, rtol=1e-8, atol=1e-8 * RUBBER.young)
        columns = (f"{times[0]:.2f}", f"{times[1]:.2f}", f"{ours.ledger.largest_residual:.0e}")
        table.add_row(name, f"{mechanism.layout.velocities}", *columns)
        ratios.append((name, times[1] / times[0]))
    console.print(table)
    for name, ratio in ratios:
        console.print(f"ratio finite-solid-{name} {ratio:.2f}", highlight=False)


if __name__ == "__main__":
    main()
