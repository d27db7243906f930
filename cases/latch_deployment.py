"""A spinning satellite that unfolds two panels by springs until they latch; docking, and a hinge that is locked.

One panel is folded to the front, the other to the back, so that the satellite looks the same after half a turn. From
release to latch the angle α of both panels to the hub is the only degree of freedom, since the angular momentum
L = J ω + K α̇ is constant:

    ½ L²/J(α) + ½ (N − K(α)²/J(α)) α̇² + V(α) = H,

where the kinetic energy is ½Jω² + Kωα̇ + ½Nα̇² with the spin ω of the hub, and V is the energy of the springs. The time
of the latch, the spin after it and the dissipated energy follow. A plastic latch leaves the energy ½ L²/J(0) + V(0),
of rigid rotation and springs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import rigid
from flexph import Mechanism, Solution, connect, hinge, integrate, torsion_spring, weld
from flexph.case import Case, Check, Option
from flexph.changes import lock, release
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.methods import Exact
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import joint_angle, offset

from .checks import near, vanishes
from .contact_figures import balance
from .files import write_run
from .times import equal_steps

HUB, HUB_INERTIA, HALF = 40.0, 8.0, 0.5  # [kg], [kg m²], [m] from the centre to the hinges
PANEL, LENGTH = 6.0, 2.0  # [kg], [m] of each panel
CLEAR, MIDDLE = 0.5, 0.5 * LENGTH  # [s] of the release; [m] from hinge to centre of a panel
TURNED = PANEL * LENGTH**2 / 12.0  # [kg m²] of a panel about its centre
PANELS = {"right": "starboard", "left": "port"}
RIGHT = joint_angle("starboard.root", "hub.right")
LEFT = joint_angle("port.root", "hub.left")


@dataclass(frozen=True)
class Result:
    """A run of the satellite, the spin of the stowed satellite [rad/s], and the data of each spring.

    The data are the ``stiffness`` [N m/rad] and the ``preload``, the deflection [rad] of the spring at the latch.
    """

    solution: Solution
    spin: float
    stiffness: float
    preload: float


def satellite(stiffness: float, preload: float) -> Mechanism:
    """Mechanism of a hub with two panels on sprung hinges; ``preload`` [rad] is the springs' angle at the latch."""
    ports = {"right": (HALF, 0.0), "left": (-HALF, 0.0)}
    hub = rigid.body(HUB, inertia=HUB_INERTIA, ports=ports, shape=box_shape((2.0 * HALF, 2.0 * HALF, HALF)))
    joints = []
    for side, name in PANELS.items():
        ends = f"{name}.root", f"hub.{side}"
        free = -preload if side == "right" else -math.pi - preload
        joints += [
            hinge(*ends, name=side),
            torsion_spring(*ends, stiffness=stiffness, angle=free, name=f"spring {side}"),
        ]
    bars = {name: rigid.bar(LENGTH, PANEL) for name in PANELS.values()}
    return connect({"hub": hub, **bars}, joints)


def inertia(angle: Any) -> Any:
    """Moment of inertia J(α) [kg m²] of the satellite about the centre of the hub, α the angle of the panels."""
    return HUB_INERTIA + 2.0 * (TURNED + PANEL * (HALF**2 + MIDDLE**2 + 2.0 * HALF * MIDDLE * np.cos(angle)))


def unfolding(angle: Any) -> Any:
    """Effective inertia N − K(α)²/J(α) [kg m²] of the panels' motion relative to the hub, α their angle."""
    uncoupled = 2.0 * (TURNED + PANEL * MIDDLE**2)
    coupled = uncoupled + 2.0 * PANEL * HALF * MIDDLE * np.cos(angle)
    return uncoupled - coupled**2 / inertia(angle)


def energy(angle: Any, result: Result) -> Any:
    """Energy [J] of rotation and springs with the panels at ``angle`` [rad], at rest relative to the hub."""
    momentum = inertia(0.5 * math.pi) * result.spin
    return 0.5 * momentum**2 / inertia(angle) + result.stiffness * (angle + result.preload) ** 2


def latch_time(result: Result) -> float:
    """Time [s] from release to latch, by quadrature of the equation of α.

    α = π/2 − s² removes the singularity at the start.
    """

    def pace(s: float) -> float:
        angle = 0.5 * math.pi - s * s
        fall = float(energy(0.5 * math.pi, result) - energy(angle, result))
        return 2.0 * s * math.sqrt(0.5 * float(unfolding(angle)) / fall)

    return float(scipy.integrate.quad(pace, 0.0, math.sqrt(0.5 * math.pi), epsabs=1e-12)[0])


def loss(result: Result) -> float:
    """Energy that both latches dissipate [J]: the kinetic energy of the panels relative to the hub, in closed form."""
    return float(energy(0.5 * math.pi, result) - energy(0.0, result))


def final_spin(result: Result) -> float:
    """Spin [rad/s] of the satellite after the latch, in closed form."""
    return float(result.spin * inertia(0.5 * math.pi) / inertia(0.0))


def run(
    *,
    spin: Annotated[float, Option("spin of the stowed satellite", "rad/s")] = 0.8,
    stiffness: Annotated[float, Option("of each spring", "N m/rad")] = 5.0,
    preload: Annotated[float, Option("of the springs at the latch", "rad")] = 0.3,
    step: Annotated[float, Option("time step", "s")] = 2e-3,
    end: Annotated[float, Option("end of the run", "s")] = 2.5,
) -> Result:
    """A satellite that unfolds two panels, which latch."""
    mechanism = satellite(check.positive("stiffness", stiffness), check.positive("preload", preload))
    folded = {"starboard": 0.5 * math.pi, "port": -0.5 * math.pi}
    pose = mechanism.assemble({"hub": (0.0, 0.0, 0.0)}, guess=folded)
    start = mechanism.consistent_state(pose, velocities={"hub": (0.0, 0.0, spin)}, joints="at rest")
    changes = [
        *(lock(side, at=0.0) for side in PANELS),
        *(release(side, at=CLEAR) for side in PANELS),
        lock("right", when=RIGHT, reaches=0.0),
        lock("left", when=LEFT, reaches=-math.pi),
    ]
    if not check.positive("end", end, "s") > CLEAR:
        raise ValueError(f"end must be later than the release at {CLEAR} s, got {end} s")
    times = equal_steps(step, end)
    solution = integrate(mechanism, start, times, changes=changes, method=Exact())
    return Result(solution, spin, stiffness, preload)


def latched(solution: Solution) -> Array:
    """Times [s] at which the panels latch; an empty array if they do not within the run."""
    names = [name for name in solution.events if name.startswith("lock") and name.endswith("(2)")]
    return np.concatenate([solution.events[name].times for name in names])


def taken(solution: Solution) -> float:
    """Energy [J] dissipated over the run by latches, docking and locks."""
    return float(sum(values.sum() for values in solution.ledger.dissipation.values()))


def docking() -> Solution:
    """Run of two bodies, the first of which docks at the second at 1.5 m/s."""
    block = {name: rigid.body(m, inertia=1.0, ports={"nose": (0.0, 0.0)}) for name, m in (("a", 2.0), ("b", 3.0))}
    mechanism = connect(block, [])
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"a": (1.5, 0.0, 0.0), "b": (0.0, 0.0, 0.0)})
    dock = lock(weld("a.nose", "b.nose", name="dock"), when=offset("a.nose", "b.nose", (1.0, 0.0)), reaches=0.0)
    return integrate(mechanism, start, np.linspace(0.0, 1.0, 11), changes=[dock])


def locked_for_a_while() -> Solution:
    """Run of two free bars joined by a hinge with a spring; the hinge locks at 0.5 s and is released at 1 s."""
    ends = "a.tip", "b.root"
    joints = [hinge(*ends, name="pin"), torsion_spring(*ends, stiffness=3.0, angle=0.0, name="spring")]
    mechanism = connect({"a": rigid.bar(1.0, 2.0), "b": rigid.bar(0.7, 1.5)}, joints)
    pose = mechanism.assemble({"a": (0.0, 0.0, 0.3)}, guess={"b": (1.0, 0.3, 0.9)})
    start = mechanism.consistent_state(pose, velocities={"a": (0.1, 0.2, 1.0)}, joints="free")
    changes = [lock("pin", at=0.5), release("pin", at=1.0)]
    return integrate(mechanism, start, np.linspace(0.0, 2.0, 41), changes=changes)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: angles, spin and energies over time; return the summary numbers."""
    solution, t = result.solution, result.solution.times
    write_run(solution, folder)
    angle, spin = solution.measured(RIGHT), solution.spin("hub").ravel()
    lost = np.concatenate([[0.0], np.cumsum(solution.ledger.total_dissipation)])
    write_table(folder / "motion.csv", {"t_s": t, "angle_rad": angle, "spin_rad_s": spin, "loss_J": lost})
    figure = new_figure(7.0, 6.5)
    above, middle, below = figure.subplots(3, 1, sharex=True)
    above.plot(t, np.degrees(angle))
    above.set_ylabel("panel to hub [°]")
    middle.plot(t, spin)
    middle.axhline(final_spin(result), color="k", linestyle=":", linewidth=0.8, label="L/J of the latched satellite")
    middle.set_ylabel("spin of the hub [rad/s]")
    middle.legend(frameon=False)
    below.plot(t, solution.ledger.kind("kinetic"), label="kinetic")
    below.plot(t, solution.ledger.kind("stored"), label="springs")
    below.plot(t, lost, label="lost at the latch")
    below.set(xlabel="t [s]", ylabel="energy [J]")
    below.legend(frameon=False)
    for axes in (above, middle, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    times = latched(solution)
    return {
        "latch_s": float(times.max()) if times.size else None,
        "spin_end_rad_s": float(spin[-1]),
        "loss_J": taken(solution),
        "balance_residual_max_rel": balance(solution),
    }


def checks() -> Iterable[Check]:
    """Checks: time, spin and loss of the latch and loss of docking against closed forms; momenta, balance, drift.

    The last three are checked for the satellite and for the two bars with a hinge that is locked.
    """
    result = run()
    solution = result.solution
    late, expected = latched(solution), latch_time(result)
    yield near("time of the latch [s]", expected, late.max() - CLEAR, 1e-5, source="quadrature of the energy")
    yield vanishes("both panels at once [s]", np.ptp(late), 1e-11)
    spin = float(solution.spin("hub").ravel()[-1])
    yield near("spin after the latch [rad/s]", final_spin(result), spin, 1e-11, source="angular momentum")
    yield near("loss [J]", loss(result), taken(solution), 1e-11, source="energy of the panels against the hub")
    yield vanishes("balance over the run", solution.energy_drift(), 1e-12)
    momenta = np.ptp(solution.linear_momentum(), axis=0).max(), np.ptp(solution.angular_momentum())
    yield vanishes("momenta", max(momenta), 1e-12)
    after = solution.times >= late.max()
    yield vanishes("drift of the latch [rad]", np.abs(solution.measured(RIGHT)[after]).max(), 1e-12)
    dock = docking()
    yield near("loss of docking [J]", 1.35, dock.ledger.dissipation["lock dock"].sum(), 1e-13, source="½ (6/5) 1.5²")
    pair = locked_for_a_while()
    held = (pair.times >= 0.5) & (pair.times <= 1.0)
    angles = pair.measured(joint_angle("a.tip", "b.root"))[held]
    yield vanishes("two bars: drift of the lock [rad]", np.ptp(angles), 1e-15)
    yield vanishes("two bars: balance over the run", pair.energy_drift(), 1e-13)
    momenta = np.ptp(pair.linear_momentum(), axis=0).max(), np.ptp(pair.angular_momentum())
    yield vanishes("two bars: momenta", max(momenta), 1e-13)


case = Case(run, write, checks, needs=("matplotlib",))
