"""Two floating bodies of two elements, joined by a transformer: steps of the discrete gradients with known derivatives.

They swing about a common hinge, of aluminium and of rubber; 52 states. Process time, the least of several runs for each
step, with derivatives of the bodies and of the coupling C, with a C that is differenced, and with all differenced.
"""

import argparse
import time
from dataclasses import replace

import numpy as np

import fem
from flexph import PHDAE, Trajectory, integrate
from flexph.bodies import floating_body, relative_axes
from flexph.interconnection import transformer
from flexph.methods import DiscreteGradient
from flexph.numerics.arrays import Array

GRAVITY, ANGLES, SPINS = (0.0, -9.81), {"a": 0.3, "b": -0.5}, {"a": 3.0, "b": -2.0}
YOUNG = {"aluminium": 7e10, "rubber": 1e8}
DIFFERENCED = 3


def floating(name: str, length: float, young: float, strain: str) -> PHDAE:
    """A beam with the forces and the torques of its ports as ports of their own."""
    section, material = fem.Section(width=0.02, height=0.004), fem.Material(young=young, density=2700.0)
    system = floating_body(fem.beam(length, material, section, elements=2, strain=strain), gravity=GRAVITY, name=name)
    ports = {}
    for port, own in system.ports.items():
        ports[f"{port}.force"] = slice(own.start, own.start + 2)
        ports[f"{port}.torque"] = slice(own.start + 2, own.stop)
    return replace(system, ports=ports)


def joined(young: float, strain: str, *, known: bool = True) -> PHDAE:
    """Both, the tip of one on the root of the other; the derivative of C is ``known`` or differenced."""
    one, two = floating("a", 0.4, young, strain), floating("b", 0.5, young, strain)
    axes = relative_axes(one, two)
    return transformer(one, two, ("a.tip.force", "b.root.force"), axes, slope=axes.slope if known else None)


def start_of(system: PHDAE) -> Array:
    """A state that meets the hinge: both turn, straight."""
    x, length = np.zeros(system.size), 0.4
    turned = {name: np.array([np.cos(angle), np.sin(angle)]) for name, angle in ANGLES.items()}
    for name, axis in turned.items():
        x[system.parts[f"{name}.rotation"]], x[system.parts[f"{name}.spin"]] = axis, SPINS[name]
    (c, s), tip = turned["b"], SPINS["a"] * length * np.array([-turned["a"][1], turned["a"][0]])
    x[system.parts["b.position"]] = length * turned["a"]
    x[system.parts["b.velocity"]] = np.array([[c, s], [-s, c]]) @ tip
    return x


def timed(system: PHDAE, gradient: str, step: float, count: int, rounds: int) -> tuple[float, Trajectory]:
    """Time of a step [ms], the mean over a run of the least of each step in several rounds, and the run."""
    clocks = np.empty((rounds, count + 1))
    for clock in clocks:
        ticks: list[float] = []
        run = integrate(
            system,
            start_of(system),
            step * np.arange(count + 1),
            method=DiscreteGradient(gradient),
            observe=lambda *_, ticks=ticks: (ticks.append(time.process_time()), 0.0)[1],
            progress=False,
        )
        clock[:] = ticks
    return 1e3 * float(np.diff(clocks, axis=1).min(axis=0).mean()), run


def main() -> None:
    """One row a case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--differences", action="store_true", help=f"{DIFFERENCED} steps with all differenced, too")
    options = parser.parse_args()
    print(
        "ms a step: derivatives known, C differenced, all differenced; states apart; iterations; balance residual [J]"
    )
    for material, young in YOUNG.items():
        for strain in ("linear", "von_karman"):
            for gradient in ("gonzalez", "mean_value"):
                for step in (1e-3, 1e-4):
                    known, run = timed(joined(young, strain), gradient, step, options.steps, options.rounds)
                    half, _ = timed(joined(young, strain, known=False), gradient, step, options.steps, options.rounds)
                    row = f"{material:10s}{strain:11s}{gradient:11s}h = {step:.0e} {known:7.2f} {half:7.2f} "
                    own = f"  {run.ledger.iterations.mean():5.1f}   {run.ledger.largest_residual:.1e}"
                    print(row + (differenced(young, strain, gradient, step, run) if options.differences else "") + own)


def differenced(young: float, strain: str, gradient: str, step: float, run: Trajectory) -> str:
    """Time of a step by differences alone [ms], and the distance of its states from the others, over their sizes."""
    plain = replace(joined(young, strain), derivatives=None)
    try:
        took, other = timed(plain, gradient, step, DIFFERENCED, 1)
    except Exception as error:
        return f"    fails: {str(error)[:60]}"
    states, others = run.states[: DIFFERENCED + 1, :50], other.states[:, :50]
    apart = np.abs(states - others).max(axis=0) / np.maximum(np.abs(states).max(axis=0), 1e-3)
    return f"{took:8.0f}   apart {apart.max():.0e}"


if __name__ == "__main__":
    main()
