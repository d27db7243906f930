"""Steps of blocks of rubber: stiffness cell by cell against sparse products of all strain rows, and where time goes.

Process time of one thread: start it with OMP_NUM_THREADS=1. Both ways take the same steps in turn; minima count. The
shares are those of a profile of the steps, of laws, stiffness, factors and all else.
"""

import cProfile
import pstats
import time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import fem
import rigid
from flexph import Mechanism, connect, integrate, revolute
from flexph.integration.methods import Exact
from flexph.mechanisms.model.state import configuration
from flexph.results.solution import Solution

STEPS, STEP, ROUNDS = 5, 5e-3, 3
LAW = fem.NeoHooke(4e5, 6e5)
RUBBER = fem.Material(young=1e6, density=1000.0, poisson=0.3)
BLOCKS = (("small", (4, 1, 1), LAW), ("large", (10, 2, 2), LAW), ("large, linear law", (10, 2, 2), None))
PARTS = {"laws": "of_tensor", "stiffness": "solid_stiffness", "factors": "<built-in method scipy.sparse.linalg._dsolve"}


def jointed(cells: tuple[int, int, int], law: Any) -> Mechanism:
    """A block of cells with 27 nodes on a hub that turns."""
    ports = {"root": "left", "tip": "right"}
    mesh = fem.box_mesh((0.4, 0.1, 0.1), cells)
    block = fem.solid(mesh, RUBBER, degree=2, strain="finite", law=law, ports=ports)
    hub = rigid.body(2.0, inertia=(0.02, 0.03, 0.04), ports={"pin": (0.1, 0.0, 0.05)})
    return connect({"block": block, "hub": hub}, [revolute("block.root", "hub.pin", axis=(0.0, 1.0, 0.0))])


def run(mechanism: Mechanism) -> Solution:
    """Some steps from an eccentric spin of the hub."""
    thrown = {"hub": ((0.0, 0.0, 0.0), (0.0, -9.0, 0.0))}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=thrown)
    return integrate(mechanism, start, STEP * np.arange(STEPS + 1), method=Exact(compiled=False))


def by_rows(mechanism: Mechanism) -> Mechanism:
    """The same mechanism without the cells of its arrays."""
    other = connect(mechanism.bodies, mechanism.connections)
    network = other.network
    arrays = network.arrays._replace(strains=network.arrays.strains._replace(cells=None))
    object.__setattr__(network, "arrays", arrays)
    return other


def timed(mechanism: Mechanism) -> float:
    """Process time of a step [ms]."""
    begin = time.process_time()
    run(mechanism)
    return 1e3 * (time.process_time() - begin) / STEPS


def shares(mechanism: Mechanism) -> dict[str, float]:
    """Which part of the time of steps goes where, of profiled runs."""
    profile = cProfile.Profile()
    profile.runcall(run, mechanism)
    stats: Any = pstats.Stats(profile)
    whole = stats.total_tt
    return {
        part: sum(own[3] for (_, _, name), own in stats.stats.items() if name.startswith(function)) / whole
        for part, function in PARTS.items()
    }


def main() -> None:
    """Print the table and the ratios."""
    console = Console()
    table = Table("block", "velocities", "strain rows", "cells [ms/step]", "rows [ms/step]", *PARTS)
    ratios = []
    for name, cells, law in BLOCKS:
        ours = jointed(cells, law)
        theirs = by_rows(ours)
        assert np.allclose(run(ours).states, run(theirs).states, rtol=1e-8, atol=1e-8 * RUBBER.young)
        times = np.array([[timed(ours), timed(theirs)] for _ in range(ROUNDS)]).min(axis=0)
        size = configuration(ours, ours.consistent_state(ours.assemble()).x).sigma.size
        told = (f"{share:.0%}" for share in shares(ours).values())
        table.add_row(name, f"{ours.layout.velocities}", f"{size}", f"{times[0]:.0f}", f"{times[1]:.0f}", *told)
        ratios.append((name.replace(", ", "-").replace(" ", "-"), times[1] / times[0]))
    console.print(table)
    for name, ratio in ratios:
        console.print(f"ratio finite-solid-{name} {ratio:.2f}", highlight=False)


if __name__ == "__main__":
    main()
