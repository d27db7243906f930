"""Milliseconds a step of a crank-slider that runs out with dry friction under the force of its joints.

Beside the same crank-slider without friction, interleaved; the least of some runs each.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, slider
from flexph.joints import CoulombFriction

STEP = 1e-3


def crank_slider(coefficient: float, *, flexible: bool) -> tuple[Any, Any]:
    """A mechanism of three hinges of 1 cm and a rail, and a start."""
    crank = rigid.body(1.0, inertia=0.01, ports={"a": (-0.1, 0.0), "b": (0.1, 0.0)})
    rod, ends, middle = rigid.body(2.0, inertia=0.06, ports={"a": (-0.3, 0.0), "b": (0.3, 0.0)}), "ab", 0.5
    if flexible:
        strip, steel = fem.Section(width=0.02, height=0.006), fem.Material(young=2.1e11, density=7850.0)
        rod = fem.beam(0.6, steel, strip, elements=4, strain="von_karman", damping=fem.Damping(stiffness=1e-4))
        ends, middle = ("root", "tip"), 0.2
    of = lambda **given: {"friction": CoulombFriction(coefficient, **given)} if coefficient else {}  # noqa: E731
    pin, rail = of(radius=0.01), of()
    bodies = {"crank": crank, "rod": rod, "block": rigid.body(1.5, inertia=0.01, ports={"c": (0.0, 0.0)})}
    joints = [
        hinge("crank.a", GROUND.at(0.0, 0.0), **pin),
        hinge("crank.b", f"rod.{ends[0]}", **pin),
        hinge(f"rod.{ends[1]}", "block.c", **pin),
        slider("block.c", GROUND.at(0.0, 0.0), **rail),
    ]
    mechanism = connect(bodies, joints, gravity=(0.0, -9.81))
    guess = {"crank": (0.1, 0.0, 0.0), "rod": (middle, 0.0, 0.0), "block": (0.8, 0.0, 0.0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nearest velocities that the joints allow
        return mechanism, mechanism.consistent_state(mechanism.assemble(guess=guess), velocities={"crank": (0, 2, 20)})


def main() -> None:
    """Print a line for each rod."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    times = STEP * np.arange(given.steps + 1)
    for flexible in (False, True):
        ways: dict[str, Callable[[], Any]] = {}
        for name, coefficient in (("with friction", 0.2), ("without", 0.0)):
            mechanism, start = crank_slider(coefficient, flexible=flexible)
            ways[name] = lambda m=mechanism, s=start: integrate(m, s, times, progress=False)
            integrate(mechanism, start, times[:3], progress=False)
        least = dict.fromkeys(ways, np.inf)
        for _ in range(given.runs):
            for name, run in ways.items():
                clock = time.perf_counter()
                run()
                least[name] = min(least[name], time.perf_counter() - clock)
        told = ", ".join(f"{name} {1e3 * took / given.steps:.3g} ms" for name, took in least.items())
        kind = "flexible" if flexible else "rigid"
        print(f"{kind} rod: {told} a step")
        print(f"ratio joint-friction-{kind} {least['with friction'] / least['without']:.2f}")


if __name__ == "__main__":
    main()
