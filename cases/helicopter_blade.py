"""A rotor blade of rod elements: flapping frequencies in rotation, and a spin-up under a lift with large coning.

The hub has no radius. Reference frequencies are those of an independent code for slender beams; such tables are in
A. D. Wright, C. E. Smith, R. W. Thresher, J. L. C. Wang, Vibration modes of centrifugally stiffened beams, J. Appl.
Mech. 49 (1982) 197.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

import fem
from flexph import GROUND, Mechanism, Solution, connect, distributed_load, drive, integrate, revolute
from flexph.case import Case, Check, Cover, Option
from flexph.export.tables import write_table
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .files import write_run
from .rods import kept

FLAPPING = {0.0: 3.5160, 3.0: 4.7973, 6.0: 7.3604, 12.0: 13.1702}
"""First flapping frequency ω√(ρAL⁴/EI) by the speed Ω√(ρAL⁴/EI), for slender beams, by an independent code.

Wright et al. tabulate such values; the table was not available for comparison.
"""
LENGTH, LINE, FLAP, CHORD = 5.0, 4.0, 2.0e3, 5.0e4  # [m], [kg/m], EI [N m²] of flap and of chord
BLADE = fem.RodSection(
    axial=5e6, shear=(2e6, 2e6), torsion=4e3, bending=(FLAP, CHORD), mass=LINE, inertia=(6e-3, 1e-3, 5e-3)
)
SPEED, RISE, LIFT = 10.0, 2.0, 400.0  # [rad/s] after [s], lift [N/m] at full speed, ten times the weight
UNIT = np.sqrt(FLAP / (LINE * LENGTH**4))  # [rad/s]
AXIS = (0.0, 0.0, 1.0)


class Result(NamedTuple):
    """Flapping frequencies of the blade by the speed of the rotor, both divided by UNIT, and a run of a spin-up.

    UNIT is √(EI/ρAL⁴) with the flapwise stiffness EI.
    """

    speeds: tuple[float, ...]
    frequencies: tuple[float, ...]
    spin_up: Solution


def speed(t: float) -> float:
    """Speed Ω(t) [rad/s] of the rotor, which rises to full speed with a continuous acceleration."""
    x = min(t / RISE, 1.0)
    return float(SPEED * (x - np.sin(2.0 * np.pi * x) / (2.0 * np.pi)))


def angle(t: float) -> float:
    """Angle ∫Ω dt [rad] of the rotor at the time t."""
    x = min(t / RISE, 1.0)
    turned = SPEED * RISE * (0.5 * x**2 + (np.cos(2.0 * np.pi * x) - 1.0) / (4.0 * np.pi**2))
    return float(turned + SPEED * max(0.0, t - RISE))


def rotor(elements: int, order: int, turning: Any, *, section: fem.RodSection = BLADE) -> Mechanism:
    """Mechanism of a blade along x, clamped to a mast that turns it about z, with a distributed lift.

    ``turning`` is the angle of the mast as a function of time.
    """
    rod = fem.rod(LENGTH, None, section, elements=elements, order=order)
    joints = [
        revolute("blade.root", GROUND.at(0.0, 0.0, 0.0), axis=AXIS),
        drive("blade.root", angle=turning, axis=AXIS),
    ]
    return connect({"blade": rod}, [*joints, distributed_load("blade.load", name="lift")])


def flapping(relative: float, elements: int, order: int) -> float:
    """First flapping frequency of the blade without lift, at the speed ``relative`` of the rotor; both divided by UNIT.

    The blade is slender and much stiffer in chordwise bending and torsion, as in the reference.
    """
    stiff = fem.RodSection(
        axial=5e8, shear=(5e8, 5e8), torsion=1e6, bending=(FLAP, 1e6), mass=LINE, inertia=(2e-5, 1e-5, 1e-5)
    )
    omega = relative * UNIT
    mechanism = rotor(elements, order, lambda t: omega * t, section=stiff)
    pose = mechanism.assemble({"blade": ((0.0, 0.0, 0.0), np.eye(3))})
    state = mechanism.equilibrium(pose, spin=(0.0, 0.0, omega), about=(0.0, 0.0, 0.0))
    values = mechanism.spectrum(state).values
    return float(np.sort(np.abs(values.imag))[0] / UNIT)


def spin_up(step: float, elements: int, order: int, end: float) -> Solution:
    """Run of the rotor from rest up to ``end`` [s]; lift less weight grows with the square of the rotor's speed."""
    mechanism = rotor(elements, order, angle)
    start = mechanism.consistent_state(mechanism.assemble({"blade": ((0.0, 0.0, 0.0), np.eye(3))}))
    lift = {"lift": lambda t: np.array([0.0, 0.0, (LIFT - 9.81 * LINE) * (speed(t) / SPEED) ** 2])}
    return integrate(mechanism, start, np.linspace(0.0, end, max(1, round(end / step)) + 1), inputs=lift)


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.02,
    elements: Annotated[int, Option("elements of the blade")] = 8,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
    end: Annotated[float, Option("end of the run", "s")] = 3.0,
) -> Result:
    """A helicopter blade of rods: flapping frequencies over the speed, and a spin-up with large deflections."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    frequencies = tuple(flapping(value, elements, order) for value in FLAPPING)
    return Result(tuple(FLAPPING), frequencies, spin_up(step, elements, order, end))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: flapping frequencies; flap and lag of the tip, balance and constraint errors of the spin-up."""
    tip = result.spin_up.position("blade.tip")
    numbers = {k: v for k, v in kept(result.spin_up).items() if "momentum" not in k}
    return {
        "speeds": list(result.speeds),
        "flap_frequencies": list(result.frequencies),
        "tip_flap_max_m": float(np.abs(tip[:, 2]).max()),
        "tip_flap_end_m": float(tip[-1, 2]),
        "tip_lag_max_m": float(np.abs(_lag(result.spin_up)).max()),
        **numbers,
    }


def _lag(solution: Solution) -> Any:
    """Displacement of the tip in the plane of the rotor, normal to the axis of the rigid blade, (k,) [m]."""
    turned = np.array([angle(float(t)) for t in solution.times])
    tip = solution.position("blade.tip")
    return np.cos(turned) * tip[:, 1] - np.sin(turned) * tip[:, 0]


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the frequencies, table and picture of the tip's flap and lag, and the run itself.

    Return the summary numbers.
    """
    write_run(result.spin_up, folder)
    write_table(folder / "frequencies.csv", {"speed": result.speeds, "flap": result.frequencies})
    times, tip, lag = result.spin_up.times, result.spin_up.position("blade.tip"), _lag(result.spin_up)
    write_table(folder / "tip.csv", {"t_s": times, "flap_m": tip[:, 2], "lag_m": lag})
    figure = new_figure(8.0, 4.0)
    axes = figure.add_subplot()
    axes.plot(times, tip[:, 2], label="flap")
    axes.plot(times, lag, label="lag")
    axes.set(xlabel="t [s]", ylabel="displacement of the tip [m]")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(folder / "tip.png")
    return figures(result)


def checks() -> Iterable[Check]:
    """Checks: flapping frequencies against an independent code; step balance and constraint errors of two spin-ups.

    Constraint errors, at two step sizes, are the drift of the joints and the loss of orthonormality of the directors.
    """
    for relative, reference in FLAPPING.items():
        name, value = f"flapping at Ω = {relative:g}", flapping(relative, 8, 2)
        yield near(name, reference, value, 1e-3 * reference, source="series of a slender beam", kind="independent code")
    for step in (0.02, 0.04):
        numbers = kept(spin_up(step, 8, 2, 3.0))
        for name in ("energy_residual_max_rel", "joint_drift_max_m", "orthogonality_max"):
            yield vanishes(f"step {step} s: {name}", numbers[name], 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures, cover=Cover(at=2.6, towards=(0.3, -1.0, 0.25)))
