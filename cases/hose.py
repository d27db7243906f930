"""A cantilevered pipe that conveys a fluid: it flutters above a critical speed, and ends in a limit cycle.

Length, bending stiffness and whole mass per length are 1 m, 1 N m² and 1 kg/m. With the share β of the fluid in the
mass, its own mass per length m, and its speed U as u = U L √(m/EI), small motions obey

    η'''' + u²η'' + 2√β u η̇' + η̈ = 0,

and at β = 0.2 the second mode grows beyond u = 5.6, with ω = 13.6 (R. W. Gregory and M. P. Païdoussis, "Unstable
oscillation of tubular cantilevers conveying fluid", Proc. R. Soc. A 293 (1966) 512). A pipe with both ends hinged
buckles at u = π. The outflow at the tip takes the power m U v·(v + U y') from the pipe, which is negative in flutter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq

import fem
from flexph import GROUND, Mechanism, Solution, State, connect, force, hinge, integrate, weld
from flexph.case import Case, Check, Cover, Option
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .files import write_run
from .times import equal_steps

LENGTH, BENDING, MASS, AXIAL = 1.0, 1.0, 1.0, 1e5  # [m], [N m²], [kg/m] with the fluid, [N]
PUSH, PUSHED = 0.05, 0.1  # force across the tip at first [N], and how long [s]
SPEEDS = np.linspace(0.4, 8.0, 20)
CRITICAL, FREQUENCY = 5.6, 13.6  # u and ω at β = 0.2


@dataclass(frozen=True)
class Result:
    """A run of a pipe after a push of its tip, and eigenvalues [1/s] at equilibrium for each of the :data:`SPEEDS`."""

    solution: Solution
    exponents: list[Array]


def pipe(speed: float, share: float, elements: int, *, held: bool = False) -> tuple[Mechanism, State]:
    """Mechanism of a pipe that conveys fluid, and its state of equilibrium.

    ``speed`` is the dimensionless speed u of the fluid, ``share`` its part β of the whole mass. The pipe is clamped at
    its root with a free end, or, if ``held``, hinged at both ends.
    """
    flow = fem.Flow(share * MASS, speed / LENGTH * np.sqrt(BENDING / (share * MASS)))
    hose = fem.cable(
        LENGTH,
        mass_per_length=(1.0 - share) * MASS,
        axial=AXIAL,
        bending=BENDING,
        elements=elements,
        dim=2,
        flow=flow,
    )
    parts = [hinge("pipe.root", GROUND.at(0.0, 0.0)), hinge("pipe.tip", GROUND.at(LENGTH, 0.0))]
    if not held:
        parts = [weld("pipe.root", GROUND, name="clamp"), force("pipe.tip", name="push")]
    mechanism = connect({"pipe": hose}, parts)
    given = {} if held else {"push": [0.0, 0.0]}
    return mechanism, mechanism.equilibrium(mechanism.assemble(), inputs=given)


def exponents(speed: float, share: float, elements: int, *, held: bool = False) -> Array:
    """Exponents s [1/s] of small motions e^{st} of the pipe with Im s ≥ 0, in ascending order of Im s.

    For the arguments see :func:`pipe`.
    """
    mechanism, rest = pipe(speed, share, elements, held=held)
    values = mechanism.spectrum(rest, inputs={} if held else {"push": [0.0, 0.0]}).values
    upper = values[values.imag > -1e-9]
    return upper[np.argsort(upper.imag)]


def run(
    *,
    speed: Annotated[float, Option("dimensionless speed u of the fluid")] = 6.5,
    share: Annotated[float, Option("share β of the fluid in the mass")] = 0.2,
    elements: Annotated[int, Option("elements of the pipe")] = 6,
    step: Annotated[float, Option("time step", "s")] = 4e-3,
    end: Annotated[float, Option("end of the run", "s")] = 12.0,
) -> Result:
    """A cantilevered pipe that conveys fluid: flutter at the published speed, and its limit cycle."""
    speed, share = check.positive("speed", speed), check.positive("share", share)
    solution = pushed(*pipe(speed, share, elements), equal_steps(step, end))
    return Result(solution, [exponents(u, share, elements) for u in SPEEDS])


def pushed(mechanism: Mechanism, rest: State, times: Array) -> Solution:
    """Run of a pipe that is at ``rest`` and gets a short push of its tip at the start."""
    return integrate(mechanism, rest, times, inputs={"push": lambda t: [0.0, PUSH if t < PUSHED else 0.0]})


def critical(of: Any, low: float, high: float) -> float:
    """Speed u of the fluid between ``low`` and ``high`` at which the largest real part of an exponent is zero.

    ``of`` is a function that returns the exponents at a speed.
    """
    return float(brentq(lambda u: np.max(of(u).real), low, high, xtol=1e-4))


def by_modes(speed: float, share: float, count: int = 10) -> Array:
    """Exponents s [1/s] of small motions e^{st} of the cantilevered pipe with frequencies Im s > 0, in ascending order.

    Galerkin's method with the first ``count`` modes of the pipe without flow.
    """
    x, w = leggauss(80)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    middle = np.pi * (np.arange(count) + 0.5)
    roots = [brentq(lambda z: np.cos(z) + 1.0 / np.cosh(z), z - 0.9, z + 0.9) for z in middle]
    rows: list[tuple[Array, ...]] = []
    for z in roots:
        ratio = (np.sinh(z) - np.sin(z)) / (np.cosh(z) + np.cos(z))
        even, odd, c, s = np.cosh(z * x), np.sinh(z * x), np.cos(z * x), np.sin(z * x)
        slope, bend = odd + s - ratio * (even - c), even + c - ratio * (odd + s)
        rows.append((even - c - ratio * (odd - s), z * slope, z**2 * bend))
    shapes, slopes, bends = (np.array(columns) for columns in zip(*rows, strict=True))
    mass, drag, pull = ((shapes * w) @ other.T for other in (shapes, slopes, bends))
    stiffness = np.diag(np.array(roots) ** 4) + speed**2 * pull
    lower = [-np.linalg.solve(mass, part) for part in (stiffness, 2.0 * np.sqrt(share) * speed * drag)]
    values = np.linalg.eigvals(np.block([[np.zeros((count, count)), np.eye(count)], lower]))
    upper: Array = values[values.imag > 0.0]
    return upper[np.argsort(upper.imag)]


def tip(solution: Solution) -> Array:
    """Deflection of the tip at the saved times (k,) [m]."""
    across: Array = solution.position("pipe.tip")[:, 1]
    return across


def last_cycles(solution: Solution, count: int = 4) -> Array:
    """Indices of the last ``count`` + 1 saved times at which the tip crosses the axis upwards: limits of cycles."""
    y = tip(solution)
    passes: Array = np.flatnonzero((y[:-1] < 0.0) & (y[1:] >= 0.0))
    return passes[-count - 1 :]


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the run; exponents over speed, deflection of the tip and work at the outlet over time.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    y, given = tip(solution), np.concatenate([[0.0], np.cumsum(solution.ledger.work["pipe: outlet"])])
    write_table(folder / "tip.csv", {"t_s": solution.times, "tip_m": y, "outlet_J": given})
    _draw(result, y, given, folder / "hose.png")
    first = np.array([values[values.imag > 1.0][:3] for values in result.exponents])
    columns = {f"{part}_{k + 1}": getattr(first[:, k], part) for k in range(3) for part in ("real", "imag")}
    write_table(folder / "exponents.csv", {"u": SPEEDS} | columns)
    return {
        "amplitude_m": float(np.abs(y[len(y) // 2 :]).max()),
        "outlet_J": float(given[-1]),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def _draw(result: Result, y: Array, given: Array, path: Path) -> None:
    figure = new_figure(10.0, 3.6)
    plane, time, work = figure.subplots(1, 3)
    for u, values in zip(SPEEDS, result.exponents, strict=True):
        slow = values[values.imag < 80.0]
        plane.scatter(slow.real, slow.imag, s=9.0, color=(0.1 + 0.8 * u / SPEEDS[-1], 0.2, 0.9 - 0.8 * u / SPEEDS[-1]))
    plane.axvline(0.0, color="k", linewidth=0.6)
    plane.set(xlabel="growth [1/s]", ylabel="frequency [rad/s]", title="exponents, u = 0.4 … 8", xlim=(-14.0, 6.0))
    time.plot(result.solution.times, y, linewidth=0.8)
    time.set(xlabel="t [s]", ylabel="deflection of the tip [m]")
    work.plot(result.solution.times, given, linewidth=1.0)
    work.set(xlabel="t [s]", ylabel="work of the outlet [J]")
    for axes in (plane, time, work):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: critical speeds against publication, Galerkin's method and u = π; balance and work in the limit cycle."""
    for k, root in enumerate((3.5160, 22.0345)):
        own = exponents(1e-6, 0.2, 6)[k].imag
        yield near(f"frequency {k + 1} without a flow [rad/s]", root, own, 1e-3 * root, source="cos z cosh z = −1")
    published = "Gregory and Païdoussis (1966)"
    speed = critical(lambda u: exponents(u, 0.2, 6), 5.1, 6.1)
    growing = max(exponents(speed, 0.2, 6), key=lambda s: s.real)
    yield near("critical speed, β = 0.2", CRITICAL, speed, 0.05, source=published, kind="published")
    yield near("frequency there", FREQUENCY, growing.imag, 0.2, source=published, kind="published")
    for share, u in ((0.1, 4.7), (0.2, 5.6), (0.5, 9.3)):
        source = "Galerkin's method, 10 modes"
        reference = critical(lambda v, b=share: by_modes(v, b), u - 0.5, u + 0.5)
        own = critical(lambda v, b=share: exponents(v, b, 6), u - 0.5, u + 0.5)
        critical_speed = f"critical speed, β = {share:g}"
        yield near(critical_speed, reference, own, 5e-3 * reference, source=source, kind="independent code")
    buckles = critical(lambda u: exponents(u, 0.5, 6, held=True).real - 1e-6, 3.13, 3.16)
    yield near("buckling of a pipe that is held", np.pi, buckles, 1e-3, source="u = π")
    yield from _of_the_limit_cycle()


def _of_the_limit_cycle() -> Iterable[Check]:
    solution = pushed(*pipe(6.5, 0.2, 6), equal_steps(4e-3, 12.0))
    yield vanishes("balance", solution.ledger.largest_residual, 1e-12)
    at = last_cycles(solution)
    work = solution.ledger.work["pipe: outlet"]
    cycles = [float(work[i:j].sum()) for i, j in pairwise(at)]
    turned = float(np.abs(work[at[0] : at[-1]]).sum()) / len(cycles)
    yield vanishes("work of the outlet in a cycle, over the energy exchanged", np.mean(cycles) / turned, 2e-2)
    calm = pushed(*pipe(5.0, 0.2, 6), equal_steps(4e-3, 6.0))
    y = np.abs(tip(calm))
    yield vanishes("tip below the critical speed, at the end over its largest", y[-100:].max() / y.max(), 5e-3)
    yield vanishes("balance below it", calm.ledger.largest_residual, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), cover=Cover(at=7.0))
