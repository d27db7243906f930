"""The degenerate Van der Pol oscillator: impasse points and jump rules ([survey] example 4.4).

A unit capacitor ``Q̇ = I, V = Q`` in parallel with a resistor with V = I − I³/3, which is not controlled by the
voltage. On the branches |I| ≥ 1 the circuit obeys ``(1 − I²) İ = I``. They end at (I, V) = (∓1, ∓2/3), where İ is
infinite, and the jump rules (4.43) lead to (±2, ∓2/3). From dt = (1 − I²)/I dI the time from |I| = 2 to 1 is
3/2 − ln 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.integrate import solve_ivp

from flexph import PHDAE, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.methods import DiscreteGradient
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.switching import Impasse, Reset, SwitchingPHDAE, SwitchingTrajectory, Transition

from .checks import converges, near, vanishes
from .files import write_rows
from .times import equal_steps

HALF_PERIOD = 1.5 - math.log(2.0)
EXCHANGED = 2.25
"""∫I² dt = ∫⅓I⁴ dt over a half period: [½s² − ¼s⁴] and [s⁴/12 − s⁶/18] from s = 2 to 1."""
CORNER = 2.0 / 3.0


@dataclass(frozen=True)
class Result:
    """A run of the oscillator, and the errors of its first switch by step."""

    run: SwitchingTrajectory
    convergence: tuple[dict[str, float], ...]


def characteristic(current: Array | float) -> Any:
    """Voltage V = I − I³/3 of the resistor at a current I, its characteristic ([survey] eq. (4.42))."""
    return current - current**3 / 3.0


def branch(current: float) -> PHDAE:
    """System ``Q̇ = I, 0 = −Q − ⅓I²·I + I·u`` in the states (Q, I), on the branch that contains ``current``.

    The input u is 1 at the port ``supply``. The part −⅓I³ of the characteristic dissipates ⅓I⁴, the part +I supplies
    I²: near I = 0 the resistor is active.
    """
    return PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=lambda x: np.diag([0.0, x[1] ** 2 / 3.0]),
        B=lambda x: np.array([[0.0], [x[1]]]),
        z=lambda x: np.array(x),
        H=lambda x: 0.5 * float(x[0]) ** 2,
        sample=np.array([characteristic(current), current]),
        ports={"supply": slice(0, 1)},
        parts={"Q": slice(0, 1), "I": slice(1, 2)},
    )


def other_current(_: float, x: Array) -> Array:
    """State after the jump from the state ``x`` to the far branch at the same charge.

    Its current I′ is the solution of (V(I′) − V(I))/(I′ − I) = 0, a quadratic.
    """
    charge, current = x
    root = math.sqrt(max(12.0 - 3.0 * current**2, 0.0))
    return np.array([charge, -0.5 * (current + math.copysign(root, current))])


def oscillator() -> SwitchingPHDAE:
    """Switching system of the oscillator on its branches I ≤ −1 and I ≥ 1.

    Its jump rules (4.43) conserve charge and energy.
    """
    jump = Reset(other_current, keeps={"charge": lambda x: x[0]})
    return SwitchingPHDAE(
        {"left": branch(-1.5), "right": branch(1.5)},
        [
            Transition(source="left", target="right", when=Impasse(), reset=jump, name="jump to the right"),
            Transition(source="right", target="left", when=Impasse(), reset=jump, name="jump to the left"),
        ],
    )


def landing(inductance: float) -> tuple[float, float]:
    """Current [A] and voltage [V] after the jump from the left branch, if there is a small inductance L.

    The regularised equations L İ = I − ⅓I³ − Q, Q̇ = I are integrated.
    """

    def rate(_: float, y: Array) -> list[float]:
        return [y[1], (characteristic(y[1]) - y[0]) / inductance]

    fall = solve_ivp(
        rate,
        (0.0, 1.01 * HALF_PERIOD),
        (characteristic(-2.0), -2.0),
        method="Radau",
        rtol=1e-9,
        atol=1e-12,
        max_step=1e-2,
    )
    after = fall.y[:, np.argmax(fall.y[1])]
    return float(after[1]), float(after[0])


def solve(step: float, end: float, current: float = -2.0) -> SwitchingTrajectory:
    """Run of the oscillator from a current on a branch, |I| > 1; raises ValueError for numbers out of range."""
    if not (math.isfinite(current) and abs(current) > 1.0):
        raise ValueError(f"current must be below -1 or above 1, got {current}")
    times = equal_steps(step, end)
    mode = "left" if current < 0.0 else "right"
    inputs = {"supply": 1.0}
    return integrate(
        oscillator(), (characteristic(current), current), times, mode=mode, inputs=inputs, method=DiscreteGradient()
    )


def converge(counts: Iterable[int] = (100, 200, 400)) -> Iterable[dict[str, float]]:
    """Yield errors of time, charge and current at the first switch from I = −2, for several steps.

    ``counts`` are the numbers of steps before the switch, which falls into the middle of a step.
    """
    for count in counts:
        step = HALF_PERIOD / (count + 0.5)
        first = solve(step, (count + 2) * step).switches[0]
        yield {
            "step_s": step,
            "time_s": abs(first.time - HALF_PERIOD),
            "charge": abs(first.before[0] + CORNER),
            "current": abs(first.before[1] + 1.0),
            "landing": abs(first.after[1] - 2.0),
        }


def slope(rows: Iterable[dict[str, float]]) -> float:
    """Order of convergence of the time of the first switch, by least squares over all rows of :func:`converge`."""
    table = tuple(rows)
    steps, errors = (np.log([row[name] for row in table]) for name in ("step_s", "time_s"))
    return float(np.polyfit(steps, errors, 1)[0])


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.002,
    end: Annotated[float, Option("end of the run", "s")] = 4.0,
    current: Annotated[float, Option("current at the start, on a branch", "A")] = -2.0,
) -> Result:
    """Degenerate Van der Pol oscillator: impasse points, jumps, limit cycle ([survey] example 4.4)."""
    return Result(solve(step, end, current), tuple(converge()))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: states at the jumps, period, and energies supplied, dissipated and lost at jumps in the run."""
    run = result.run
    times = [s.time for s in run.switches]
    return {
        "jumps": [{"time_s": s.time, "from_I_Q": s.before[::-1], "to_I_Q": s.after[::-1]} for s in run.switches],
        "period_s": times[-1] - times[-3] if len(times) > 2 else math.nan,
        "period_closed_form_s": 2.0 * HALF_PERIOD,
        "order_of_switching_time": slope(result.convergence),
        "lost_at_jumps_J": run.lost_at_switches,
        "supplied_J": float(run.ledger.work["supply"].sum()),
        "dissipated_J": float(run.ledger.total_dissipation.sum()),
        "drift_over_energy": run.energy_drift(),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the motion, the jumps and the refinement, and a picture.

    Return the summary numbers.
    """
    run = result.run
    columns = {"t_s": run.times, "Q_C": run["Q"][:, 0], "I_A": run["I"][:, 0], "H_J": run.ledger.total_energy}
    write_table(folder / "motion.csv", columns)
    before, after = (np.array([getattr(s, name) for s in run.switches]).reshape(-1, 2) for name in ("before", "after"))
    jumps = {"t_s": [s.time for s in run.switches], "Q_before": before[:, 0], "I_before": before[:, 1]}
    write_table(folder / "jumps.csv", jumps | {"Q_after": after[:, 0], "I_after": after[:, 1]})
    write_rows(folder / "convergence.csv", result.convergence)
    draw(result, folder / "van-der-pol.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw the limit cycle on the characteristic, both states over time, and the switch's error against the step."""
    figure = new_figure(13.0, 4.4)
    cycle, motion, errors = figure.subplots(1, 3)
    run, currents = result.run, np.linspace(-2.4, 2.4, 200)
    cycle.plot(currents, characteristic(currents), color="0.7", label="V = I − I³/3")
    # currents are stage values, half a step before their charge; on smooth branches they lie on the curve
    cycle.plot(run["I"][:, 0], run["Q"][:, 0], linewidth=1.2, label="run")
    for k, switch in enumerate(run.switches):
        cycle.plot(*switch.before[::-1], "o", color="C3", label="impasse points" if k == 0 else None)
    cycle.set_xlabel("I [A]")
    cycle.set_ylabel("V [V]")
    motion.plot(run.times, run["I"][:, 0], label="I [A]")
    motion.plot(run.times, run["Q"][:, 0], label="Q [C]")
    motion.set_xlabel("t [s]")
    steps = np.array([row["step_s"] for row in result.convergence])
    errors.loglog(steps, [row["time_s"] for row in result.convergence], "o-", label="time of the first jump")
    scale = result.convergence[-1]["time_s"]
    errors.loglog(steps, scale * (steps / steps[-1]) ** 1.5, color="0.6", linewidth=0.8, label="order 3/2")
    errors.set_xticks(steps, [f"{h:.2g}" for h in steps])
    errors.xaxis.set_minor_formatter("")
    errors.set_xlabel("h [s]")
    errors.set_ylabel("error [s]")
    for axes in (cycle, motion, errors):
        legend_above(axes, 2)
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: jumps against eq. (4.43) and a small inductance, period and energies against integrals; order."""
    trajectory, source = solve(2e-3, 2.5), "[survey] eq. (4.43)"

    first, second, third = trajectory.switches[:3]
    for name, switch, side in (("left", first, -1.0), ("right", second, 1.0)):
        # at a fold I + 1 is proportional to the square root of the distance in Q
        yield near(f"impasse point, I, {name}", side, switch.before[1], 1e-5, source=source)
        yield near(f"impasse point, V, {name}", side * CORNER, switch.before[0], 1e-9, source=source)
    # the jump rule is an assumption of this case: a small inductance gives the jump, late by its 2/3 power
    for name, value, computed in zip("IV", landing(1e-6), first.after[::-1], strict=True):
        source = "Radau, L = 1 µH"
        yield near(f"landing, {name}, right", value, computed, 1e-3, source=source, kind="independent code")
    yield near("period [s]", 2.0 * HALF_PERIOD, third.time - first.time, 5e-5, source="3 − 2 ln 2")
    cycle = slice(*(int(np.searchsorted(trajectory.times, s.time, side="left")) for s in (first, third)))
    for name, values in (
        ("supplied", trajectory.ledger.work["supply"]),
        ("dissipated", trajectory.ledger.total_dissipation),
    ):
        yield near(f"{name} in a period [J]", 2.0 * EXCHANGED, values[cycle].sum(), 1e-3, source="∫I² dt = ∫⅓I⁴ dt")
    yield vanishes("balance over the run / energy", trajectory.energy_drift(), 1e-12)
    # İ is singular like the inverse root of the remaining time: the last steps err by h^(3/2)
    yield converges("order of the time of a jump", slope(converge()), 0.1, theory=1.5, source="square root at the fold")


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: (oscillator(), {"supply": 1.0}))
