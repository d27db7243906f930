"""A bouncing pogo-stick: a massless foot under a spring and a damper, with ground contact ([survey] example 5.2).

In flight the spring relaxes against the damper, in contact both carry the mass. Both motions have closed forms; the
instants of touch-down and take-off are roots of these functions of time, computed numerically. [survey] states no data;
they are chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.optimize import brentq

from flexph import PHDAE, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import by_name
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.switching import Guard, SwitchingPHDAE, SwitchingTrajectory, Transition

from .checks import converges, near, vanishes
from .files import write_rows

MASS, STIFFNESS, DAMPING = 2.0, 2000.0, 12.0  # [kg], [N/m], [N s/m]
LENGTH, OFFSET, GRAVITY = 0.5, 0.1, 9.81  # x₀ of the spring at rest, y₀ to the centre of mass [m], [m/s²]
FLIGHT, CONTACT = "flight", "contact"


@dataclass(frozen=True)
class Result:
    """A run of the stick, its switches in closed form, and the errors of event times for several step sizes."""

    run: SwitchingTrajectory
    exact: tuple[tuple[float, str, Array], ...]
    convergence: tuple[dict[str, float], ...]


def energies(x: Array) -> Array:
    """Energies (3,) [J] of spring, weight and motion at the state x, [survey] eq. (5.1).

    x is (spring length, height of the bottom of the mass, momentum).
    """
    length, height, momentum = x
    return np.array(
        [
            0.5 * STIFFNESS * (length - LENGTH) ** 2,
            MASS * GRAVITY * (height + OFFSET),
            0.5 * momentum**2 / MASS,
        ]
    )


def mode(contact: float) -> PHDAE:
    """System of [survey] eq. (5.4) in flight (``contact`` = 0) or in contact with the ground (``contact`` = 1)."""
    s = contact
    return PHDAE(
        E=np.eye(3),
        J=np.array([[0.0, 0.0, s], [0.0, 0.0, 1.0], [-s, -1.0, 0.0]]),
        R=np.diag([(1.0 - s) / DAMPING, 0.0, s * DAMPING]),
        z=lambda x: np.array([STIFFNESS * (x[0] - LENGTH), MASS * GRAVITY, x[2] / MASS]),
        H=lambda x: float(energies(x).sum()),
        sample=np.array([0.9 * LENGTH, LENGTH, MASS]),
        parts={"length": slice(0, 1), "height": slice(1, 2), "momentum": slice(2, 3)},
    )


def gap(x: Array) -> float:
    """Height y − x [m] of the foot above the ground at the state ``x``."""
    return float(x[1] - x[0])


def lift(x: Array) -> float:
    """Rate ẏ − ẋ = p/m + k(x − x₀)/d [m/s] at which a free foot would leave the ground, at the state ``x``."""
    return float(x[2] / MASS + STIFFNESS / DAMPING * (x[0] - LENGTH))


def pogo_stick() -> SwitchingPHDAE:
    """Switching system of flight and contact.

    Touch-down is at a zero of the falling y − x, take-off when a free foot would rise.
    """
    return SwitchingPHDAE(
        {FLIGHT: mode(0.0), CONTACT: mode(1.0)},
        [
            Transition(source=FLIGHT, target=CONTACT, when=Guard(lambda t, x: gap(x), direction=-1), name="touch-down"),
            Transition(source=CONTACT, target=FLIGHT, when=Guard(lambda t, x: lift(x)), name="take-off"),
        ],
    )


def mode_by_force(contact: float) -> PHDAE:
    """System of index 1 with the rate v of the foot and the ground force λ as algebraic states.

        ẋ = p/m − v,  ẏ = p/m,  ṗ = −k(x − x₀) − mg − dẋ,  0 = k(x − x₀) + dẋ + λ

    and 0 = v if ``contact`` is 1, 0 = λ in flight, if it is 0.
    """
    J, R = np.zeros((5, 5)), np.zeros((5, 5))
    for i, j, value in ((0, 2, 1.0), (0, 3, -1.0), (1, 2, 1.0), (3, 4, contact)):
        J[i, j], J[j, i] = value, -value
    R[2:4, 2:4] = DAMPING * np.array([[1.0, -1.0], [-1.0, 1.0]])
    R[4, 4] = 1.0 - contact
    return PHDAE(
        E=np.diag([1.0, 1.0, 1.0, 0.0, 0.0]),
        J=J,
        R=R,
        z=lambda x: np.array([STIFFNESS * (x[0] - LENGTH), MASS * GRAVITY, x[2] / MASS, x[3], x[4]]),
        H=lambda x: float(energies(x[:3]).sum()),
        sample=np.array([0.9 * LENGTH, LENGTH, MASS, 1.0, MASS * GRAVITY]),
    )


def pogo_stick_by_force() -> SwitchingPHDAE:
    """Switching system in which the foot takes off when the ground force λ falls to zero, since it cannot be tensile.

    In contact λ = −k(x − x₀) − d p/m, which is −d times :func:`lift`, the take-off guard of :func:`pogo_stick`.
    """
    return SwitchingPHDAE(
        {FLIGHT: mode_by_force(0.0), CONTACT: mode_by_force(1.0)},
        [
            Transition(source=FLIGHT, target=CONTACT, when=Guard(lambda t, x: gap(x), direction=-1), name="touch-down"),
            Transition(source=CONTACT, target=FLIGHT, when=Guard(lambda t, x: x[4], direction=-1), name="take-off"),
        ],
    )


def solve(height: float, step: float, end: float, method: str = "gauss6") -> SwitchingTrajectory:
    """Run by a method from a drop, with the spring at its free length and the foot ``height`` [m] above ground.

    Raises ValueError for numbers out of range.
    """
    for name, value in (("height", height), ("step", step)):
        if not (math.isfinite(value) and value > 0.0):
            raise ValueError(f"{name} must be positive, got {value}")
    if not (math.isfinite(end) and end >= step):
        raise ValueError(f"end must be at least one step of {step:g} s, got {end}")
    times = np.linspace(0.0, end, round(end / step) + 1)
    return integrate(pogo_stick(), start(height), times, mode=FLIGHT, method=by_name(method))


def start(height: float) -> Array:
    """State (3,) at the start: the spring at its free length, at rest, with the foot ``height`` [m] above ground."""
    return np.array([LENGTH, LENGTH + height, 0.0])


def in_flight(x: Array, t: float) -> Array:
    """State after a free flight of the time t [s] from the state ``x``; the spring relaxes at the rate k/d."""
    length = LENGTH + (x[0] - LENGTH) * math.exp(-STIFFNESS / DAMPING * t)
    return np.array([length, x[1] + x[2] / MASS * t - 0.5 * GRAVITY * t**2, x[2] - MASS * GRAVITY * t])


def in_contact(x: Array, t: float) -> Array:
    """State after a contact of the time t [s] from the state ``x``: an underdamped oscillation about x₀ − mg/k."""
    decay = 0.5 * DAMPING / MASS
    omega = math.sqrt(STIFFNESS / MASS - decay**2)
    rest = LENGTH - MASS * GRAVITY / STIFFNESS
    a, v = x[0] - rest, x[2] / MASS
    b = (v + decay * a) / omega
    c, s = math.cos(omega * t), math.sin(omega * t)
    away = math.exp(-decay * t) * (a * c + b * s)
    rate = math.exp(-decay * t) * omega * (b * c - a * s) - decay * away
    return np.array([rest + away, rest + away, MASS * rate])


def exact_switches(height: float, end: float) -> Iterable[tuple[float, str, Array]]:
    """Yield time [s], name and state of every touch-down and take-off up to ``end``, in closed form."""
    time, state, flies = 0.0, start(height), True
    while True:
        motion, function = (in_flight, gap) if flies else (in_contact, lambda x: -lift(x))
        span = _first_zero(lambda t, m=motion, f=function, x=state: f(m(x, t)), end - time)  # type: ignore[misc]
        if span is None:
            return
        time, state = time + span, motion(state, span)
        yield time, "touch-down" if flies else "take-off", state
        flies = not flies


def _first_zero(function: Callable[[float], float], span: float, pieces: float = 1e-4) -> float | None:
    """First time in (0, span] [s] at which a function of time crosses zero downwards; None if it does not.

    The sign is sampled at intervals of the length ``pieces`` [s].
    """
    t = pieces
    while t < span:
        if function(t) < 0.0 <= function(t - pieces) and t > pieces:
            return float(brentq(function, t - pieces, t, xtol=1e-16, rtol=8.9e-16))
        t += pieces
    return None


def converge(height: float, end: float = 0.8) -> Iterable[dict[str, float]]:
    """Yield the largest errors of event times [s], by method, for each of several steps."""
    exact = np.array([time for time, _, _ in exact_switches(height, end)])
    for step in (4e-3, 2e-3, 1e-3):
        row = {"step_s": step}
        for method in ("midpoint", "gauss4", "gauss6"):
            trajectory = solve(height, step, end, method)
            row[method] = float(np.abs(np.array([s.time for s in trajectory.switches]) - exact).max())
        yield row


def orders(rows: Iterable[dict[str, float]], coarse: int = -2, fine: int = -1) -> dict[str, float]:
    """Orders of convergence by method, from the rows of :func:`converge` with the indices ``coarse`` and ``fine``."""
    table = tuple(rows)
    one, other = table[coarse], table[fine]
    ratio = math.log(one["step_s"] / other["step_s"])
    return {name: math.log(one[name] / other[name]) / ratio for name in one if name != "step_s"}


def run(
    *,
    height: Annotated[float, Option("height of the foot from which the stick is dropped", "m")] = 0.4,
    step: Annotated[float, Option("time step", "s")] = 0.002,
    end: Annotated[float, Option("end of the run", "s")] = 3.0,
    method: Annotated[str, Option("method of integration")] = "gauss6",
) -> Result:
    """Bouncing pogo-stick: touch-down and take-off by guards, against closed forms ([survey] example 5.2)."""
    trajectory = solve(height, step, end, method)
    return Result(trajectory, tuple(exact_switches(height, end)), tuple(converge(height)))


def event_errors(result: Result) -> Array:
    """Times of the events of a run minus those of the closed form [s].

    Raises ValueError if there are more events in one than in the other.
    """
    if len(result.run.switches) != len(result.exact):
        raise ValueError(f"{len(result.run.switches)} events instead of {len(result.exact)}: try a smaller step")
    return np.array([s.time - t for s, (t, _, _) in zip(result.run.switches, result.exact, strict=True)])


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: event times and their errors, the energy at switches, and the balance."""
    run = result.run
    return {
        "events": [{"time_s": s.time, "cause": s.cause, "lost_J": s.lost} for s in run.switches],
        "event_time_error_max_s": float(np.abs(event_errors(result)).max(initial=0.0)),
        "energy_jump_max_J": max((abs(s.energy[1] - s.energy[0]) for s in run.switches), default=0.0),
        "dissipated_J": float(run.ledger.total_dissipation.sum()),
        "energy_lost_J": float(run.ledger.total_energy[0] - run.ledger.total_energy[-1]),
        "drift_over_energy": run.energy_drift(),
        "mode_at_end": str(run.modes[-1]),
        "orders": orders(result.convergence, 0, 1),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the motion, the events and the refinement, and a picture.

    Return the summary numbers.
    """
    run = result.run
    parts = np.array([energies(x) for x in run.states]).T
    columns = {"t_s": run.times, "x_m": run["length"][:, 0], "y_m": run["height"][:, 0]}
    columns |= {"p_kg_m_s": run["momentum"][:, 0], "contact": (run.modes == CONTACT).astype(float)}
    write_table(folder / "motion.csv", columns | dict(zip(("spring_J", "gravity_J", "kinetic_J"), parts, strict=True)))
    exact = [t for t, _, _ in result.exact]
    events = {"t_s": [s.time for s in run.switches], "closed_form_s": exact, "lost_J": [s.lost for s in run.switches]}
    write_table(folder / "events.csv", events)
    write_rows(folder / "convergence.csv", result.convergence)
    draw(result, folder / "pogo-stick.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw the heights with contact shaded, energies, and errors of event times against the step."""
    figure = new_figure(13.0, 4.4)
    motion, energy, errors = figure.subplots(1, 3)
    run = result.run
    motion.plot(run.times, run["height"][:, 0], label="bottom of the mass, y")
    motion.plot(run.times, run["height"][:, 0] - run["length"][:, 0], label="foot, y − x")
    motion.fill_between(run.times, 0.0, 1.0, where=run.modes == CONTACT, color="0.9", label="contact",
                        transform=motion.get_xaxis_transform(), linewidth=0.0)  # fmt: skip
    motion.set_ylabel("height [m]")
    parts = np.array([energies(x) for x in run.states]).T
    for name, values in zip(("spring", "gravity", "motion"), parts, strict=True):
        energy.plot(run.times, values, linewidth=0.8, label=name)
    energy.plot(run.times, run.ledger.total_energy, "k", label="H")
    lost = np.append(0.0, np.cumsum(run.ledger.total_dissipation))
    energy.plot(run.times, run.ledger.total_energy + lost, "k--", linewidth=0.8, label="H + dissipated in the damper")
    energy.set_ylabel("energy [J]")
    steps = np.array([row["step_s"] for row in result.convergence])
    for name in ("midpoint", "gauss4", "gauss6"):
        errors.loglog(steps, [max(row[name], 1e-17) for row in result.convergence], "o-", markersize=4, label=name)
    errors.axhline(1e-9, color="0.6", linewidth=0.8)
    errors.set_xticks(steps, [f"{h:g}" for h in steps])
    errors.xaxis.set_minor_formatter("")
    errors.set_ylabel("largest error of event times [s]")
    for axes, word in ((motion, "t [s]"), (energy, "t [s]"), (errors, "h [s]")):
        legend_above(axes, 2)
        axes.set_xlabel(word)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: times, states and energy of events against closed forms; balance, length at rest, orders of times."""
    result = Result(solve(0.4, 2e-3, 3.0), tuple(exact_switches(0.4, 3.0)), ())
    run, source = result.run, "[survey] ex. 5.2, closed form"

    yield near("number of events", len(result.exact), len(run.switches), 0.5, source=source)
    yield vanishes("event times [s]", np.abs(event_errors(result)).max(), 1e-9, source=source, kind="closed form")
    states = [np.abs(s.after - x).max() for s, (_, _, x) in zip(run.switches, result.exact, strict=True)]
    yield vanishes(
        "states at events [m, kg m/s]", max(states), 1e-7, source=source, kind="closed form"
    )  # forces up to 200 N for 1e-9 s
    last = run.system.system(FLIGHT).H(result.exact[-1][2])
    yield Check("energy at the last event [J]", source, last, run.switches[-1].energy[1], kind="closed form",
                tolerance=1e-8)  # fmt: skip
    law = "theorem: only the damper dissipates"
    yield vanishes("balance over the run / energy", run.energy_drift(), 1e-13, source=law)
    rest = LENGTH - MASS * GRAVITY / STIFFNESS
    late = solve(0.4, 2e-3, 6.0)
    # oscillations about it decay with d/2m = 3 /s after the last touch-down
    yield Check("length at rest [m]", "x₀ − mg/k", rest, late["length"][-1, 0], kind="closed form", tolerance=1e-4)
    table = tuple(converge(0.4))
    for name, order in orders(table, 0, 1).items():
        yield converges(
            f"order of event times, {name}",
            order,
            0.2,
            theory={"midpoint": 2.0, "gauss4": 4.0, "gauss6": 6.0}[name],
            source="Gauss: 2s",
        )


case = Case(run, write, checks, needs=("matplotlib",), system=pogo_stick)
