"""The woodpecker toy: a sleeve with clearance on a pole, a spring and a bird, moving down by impacts and jams.

Coordinates are the height y of the sleeve and the angles φ_M, φ_S of sleeve and bird, with kinematics linear in both:
a body with two shapes. Data of C. Glocker, Dynamik von Starrkörpersystemen mit Reibung und Stößen (1995), and R. I.
Leine, C. Glocker, D. H. van Campen, Nonlinear dynamics of the woodpecker toy (2001), as in open examples of Siconos;
the published initial state penetrates the pole by 0.9 µm, so that here φ_M begins at −0.0006/0.0058.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy import sparse

import rigid
from flexph import GROUND, Body, Event, Mechanism, Solution, State, connect, hinge, integrate, slider
from flexph.bodies.body import Port
from flexph.bodies.elasticity import Elasticity
from flexph.bodies.fields import View
from flexph.bodies.inertia import Inertia
from flexph.case import Case, Check, Option
from flexph.contacts import Plane, Rigid, contact
from flexph.drawing import Shape, box_shape, cylinder_shape, merged_shapes, sphere_shape
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

SLEEVE, BIRD = 0.0003, 0.0045  # m_M, m_S [kg]
SLEEVE_INERTIA, BIRD_INERTIA = 5.0e-9, 7.0e-7  # J_M, J_S [kg m²]
STIFFNESS, GRAVITY = 0.0056, 9.81  # c_φ [N m/rad]
L_M, L_G, L_S = 0.010, 0.015, 0.0201  # [m]
R_0, R_M, H_M, H_S = 0.0025, 0.0031, 0.0058, 0.02  # [m]
FRICTION, BEAK_RESTITUTION = 0.3, 0.5
START = (-(R_M - R_0) / H_M, -0.2788)  # φ_M, φ_S [rad]
RATES = (-0.3411, 0.0, -7.4583)  # ẏ [m/s], φ̇_M, φ̇_S [rad/s]
BEAK = 1e-6  # of the mass of the bird, as a point by itself [kg]


def _point(x: float, along: tuple[float, float], up: tuple[float, float]) -> Port:
    """Port at x [m] along the body, whose displacements in x and y are ``along`` and ``up`` times (φ_M, φ_S)."""
    return Port(np.array([x, 0.0]), sparse.csr_array([along, up]), sparse.csr_array((1, 2)))


def bird() -> Body:
    """Body of sleeve and bird together, with the shapes φ_M and φ_S; the point mass of the beak is left out."""
    up = np.array([L_M, L_G])
    pair = sparse.csr_array(BIRD * np.outer(up, up))
    none = sparse.csr_array((2, 2))
    inertia = Inertia(
        mass=SLEEVE + BIRD,
        first=np.zeros(2),
        second=np.zeros((2, 2)),
        shape_first=np.array([[0.0, 0.0], BIRD * up]),
        shape_lever=np.zeros((2, 2, 2)),
        shape_pair=((none, none), (none, pair)),
        spin=np.array([[BIRD_INERTIA]]),
        spin_shape=np.zeros((1, 2)),
        spin_pair=sparse.csr_array(np.diag([SLEEVE_INERTIA, BIRD_INERTIA])),
    )
    play, gap = R_M - R_0, L_M + L_G - L_S - R_0
    ports = {
        "pole": _point(0.0, (0.0, 0.0), (0.0, 0.0)),
        "beak": _point(gap, (0.0, -H_S), (L_M, L_G - L_S)),
        "below": _point(play, (H_M, 0.0), (R_M, 0.0)),
        "above": _point(play, (-H_M, 0.0), (R_M, 0.0)),
    }
    spring = Elasticity(
        sparse.csr_array([[1.0 / STIFFNESS]]), sparse.csr_array([[1.0, -1.0]]), sparse.csr_array((0, 2)),
        sparse.csr_array((1, 0)),
    )  # fmt: skip
    beak = ports["beak"]
    inertia = inertia.plus_point(-BEAK, beak.position, beak.shape)
    return Body(inertia, ports, spring, view=drawn(), momenta="constant")


def drawn() -> View:
    """View of sleeve, spring and bird for pictures.

    The sleeve turns by φ_M about the pole, the bird by φ_S about the end of the spring.
    """
    sleeve = merged_shapes(
        [box_shape((0.001, 2.0 * H_M, 0.006), centre=(side * R_M, 0.0, 0.0)) for side in (-1.0, 1.0)]
        + [box_shape((L_M - R_M, 0.0015, 0.0015), centre=(0.5 * (L_M + R_M), 0.0, 0.0))]
    )
    tip = L_M + L_G - L_S
    bird = merged_shapes(
        [
            box_shape((L_G, 0.001, 0.001), centre=(L_M + 0.5 * L_G, 0.0, 0.0)),
            _oval((0.006, 0.013, 0.006), (L_M + L_G, -0.002)),
            _oval((0.005, 0.005, 0.005), (L_M + L_G - 0.002, H_S - 0.004)),
            cylinder_shape(L_S - 0.005, 0.001, centre=(tip + 0.5 * (L_S - 0.005), H_S, 0.0)),
        ]
    )
    surface, count = merged_shapes([sleeve, bird]), len(sleeve.points)
    x, y, z = surface.points.T
    rows = np.zeros((len(x), 2, 2))
    rows[:count, :, 0] = np.column_stack([-y, x])[:count]
    rows[count:, 1, 0] = L_M
    rows[count:, :, 1] = np.column_stack([-y, x - L_M])[count:]
    points = np.column_stack([x - R_0, y])
    return View(points, surface.triangles, "triangle", sparse.csr_array(rows.reshape(-1, 2)), heights=z)


def _oval(half: tuple[float, float, float], centre: tuple[float, float]) -> Shape:
    """Shape of an ellipsoid with the half axes ``half`` [m] about ``centre`` [m]."""
    ball = sphere_shape(1.0)
    return Shape(ball.points * half + np.array([*centre, 0.0]), ball.triangles)


def toy() -> Mechanism:
    """Mechanism of the bird on its pole, with three contacts with friction."""
    pole, law = Plane(GROUND.at(0.0, 0.0), (1.0, 0.0)), Rigid(friction=FRICTION)
    joints = [
        slider("bird.pole", GROUND.at(0.0, 0.0), direction=(0.0, 1.0)),
        hinge("beak.point", "bird.beak"),
        contact("beak.point", pole, Rigid(restitution=BEAK_RESTITUTION, friction=FRICTION), name="beak"),
        contact("bird.below", pole, law, name="sleeve below"),
        contact("bird.above", pole, law, name="sleeve above"),
    ]
    return connect({"bird": bird(), "beak": rigid.point(BEAK)}, joints, gravity=(0.0, -GRAVITY))


def start(mechanism: Mechanism) -> State:
    """State of the toy at the start, as published but for a small penetration."""
    state = mechanism.consistent_state(mechanism.assemble(guess={"bird": (0.0, 0.0, 0.0)}))
    x, parts, u, du = state.x.copy(), mechanism.layout.parts, np.array(START), np.array(RATES[1:])
    body = mechanism.bodies["bird"]
    mean, beak = body.inertia.mean_shape, body.ports["beak"].shape
    up = np.array([0.0, RATES[0]])
    for name, shape in (("bird", mean), ("beak", beak)):
        x[parts[f"{name}.centre"]] += shape @ u
        x[parts[f"{name}.velocity"]] = up + shape @ du
    x[parts["bird.deformation"]], x[parts["bird.deformation_rate"]] = u, du
    x[parts["bird.stress"]] = STIFFNESS * (u[0] - u[1])
    return State(state.time, x, state.multipliers, state.anchors)


@dataclass(frozen=True)
class Cycle:
    """Means over the last two periods of a run: period [s], fall [m], energy loss [J], number of impacts.

    A period is between two upward passages of φ_S through zero. Two periods are averaged because the motion approaches
    its limit cycle from alternating sides.
    """

    period: float
    fall: float
    loss: float
    impacts: int


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 2e-4,
    end: Annotated[float, Option("end of the run", "s")] = 0.52,
) -> Solution:
    """A woodpecker that pecks its way down a pole: impacts, friction and jams (Glocker 1995, Leine 2001)."""
    mechanism = toy()
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    swings = Event(lambda t, x: float(x["bird.deformation"][1]), direction=1)
    times = np.linspace(0.0, count * step, count + 1)
    return integrate(mechanism, start(mechanism), times, events={"swing": swings})


def cycle(solution: Solution) -> Cycle | None:
    """Means over the last two periods of a run, or over one if it has only one; None for a run without a period."""
    passages = solution.events["swing"]
    periods = min(2, len(passages.times) - 1)
    if periods < 1:
        return None
    parts = solution.mechanism.layout.parts
    origin = [_origin(solution, x[parts["bird.centre"]], x[parts["bird.deformation"]]) for x in passages.states]
    t0, t1 = float(passages.times[-1 - periods]), float(passages.times[-1])
    whole = (solution.times[1:] > t0) & (solution.times[1:] <= t1)
    lost = np.sum(list(solution.ledger.dissipation.values()), axis=0)
    fall = origin[-1 - periods] - origin[-1]
    loss = float(lost[whole].sum())
    return Cycle((t1 - t0) / periods, fall / periods, loss / periods, round(_impacts(solution, whole) / periods))


def _origin(solution: Solution, centre: Array, u: Array) -> float:
    """Height [m] of the sleeve, at the body's centre of mass ``centre`` and its flexible coordinates ``u``."""
    inertia = solution.mechanism.bodies["bird"].inertia
    return float((centre - inertia.centre - inertia.mean_shape @ u)[1])


def _impacts(solution: Solution, whole: Array) -> int:
    """Number of dissipative impacts of all contacts in the steps of the mask ``whole``.

    Impacts of a contact in consecutive steps count once.
    """
    names = [name for name in solution.ledger.dissipation if name.endswith(": impact")]
    count = 0
    for name in names:
        struck = (solution.ledger.dissipation[name] > 1e-9)[whole]
        count += int(np.sum(struck & ~np.append(False, struck[:-1])))
    return count


def angles(solution: Solution) -> Array:
    """Angles φ_M of the sleeve and φ_S of the bird at the saved times (k + 1, 2) [rad]."""
    return solution["bird.deformation"]


def summary_numbers(solution: Solution) -> dict[str, Any]:
    """Summary numbers: period, fall, energy loss and impacts of the limit cycle, and the range of φ_S."""
    last = cycle(solution)
    swing = angles(solution)[len(solution.times) // 2 :, 1]
    return {
        "period_s": last.period if last else None,
        "fall_per_period_m": last.fall if last else None,
        "loss_per_period_J": last.loss if last else None,
        "impacts_per_period": last.impacts if last else None,
        "phi_S_rad": [float(swing.min()), float(swing.max())],
    }


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: angles and energy over time; return the summary numbers."""
    write_run(solution, folder)
    sleeve, bird_ = angles(solution).T
    columns = {"t_s": solution.times, "phi_M_rad": sleeve, "phi_S_rad": bird_}
    write_table(folder / "motion.csv", columns | {"H_J": solution.ledger.total_energy})
    figure = new_figure(7.0, 4.5)
    axes = figure.subplots()
    axes.plot(solution.times, sleeve, linewidth=1.0, label="sleeve")
    axes.plot(solution.times, bird_, linewidth=1.0, label="bird")
    axes.set(xlabel="t [s]", ylabel="angle [rad]")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return summary_numbers(solution) | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: limit cycle against an independent integration, balance, and no energy generated."""
    solution = run()
    computed, source = summary_numbers(solution), "independent prototype"
    for name, reference, share in (  # a thousandth, above the last digit of each
        ("period_s", 0.145976, 1e-3),
        ("fall_per_period_m", 0.019445, 1e-3),
        ("loss_per_period_J", 9.156e-4, 1e-3),
        ("impacts_per_period", 5, 0.1),  # a whole number
    ):
        yield near(
            name, reference, computed[name] or math.inf, share * reference, source=source, kind="independent code"
        )
    yield vanishes("balance", balance(solution), 1e-10)
    yield vanishes("energy given", least_taken(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
