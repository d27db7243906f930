"""A mass on a spring with the hysteresis of Bouc and Wen, shaken or released.

Shaken by x = A sin ωt the force k z follows x with dz/dx = 1 − (β sgn(z dx) + γ)|z|ⁿ (Y. K. Wen, "Method for random
vibration of hysteretic systems", J. Eng. Mech. Div. ASCE 102 (1976)). With n = 1 and β = γ = k/2F_y the loop that
repeats is known in closed form: after each reversal the force falls to zero with the stiffness k, and then approaches
the yield force exponentially.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, integrate, slider, spring_damper
from flexph.case import Case, Check, Option
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.laws import bouc_wen
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import converges, near, vanishes
from .files import write_run
from .times import equal_steps

MASS, STIFFNESS, YIELD = 1.0, 200.0, 20.0  # [kg], [N/m], [N]
FREQUENCY, REACH = 1.0, 0.5  # [Hz], [m] from the wall to the mass at rest
ELASTIC = 50.0  # [N/m], of the elastic spring that brings a released mass back
Motion = Literal["shaken", "released"]


def isolated_mass(motion: Motion, amplitude: float, exponent: float, shape: float) -> Mechanism:
    """Mechanism of a mass on a slide with a hysteretic spring between mass and wall.

    If ``motion`` is "shaken", a drive moves the mass with the ``amplitude`` [m]; else an elastic spring is in parallel.
    ``exponent`` is n of the law, ``shape`` β/(β + γ).
    """
    ground, wall, way = GROUND.at(0.0, 0.0), GROUND.at(-REACH, 0.0), (1.0, 0.0)
    law = bouc_wen(STIFFNESS, yield_force=YIELD, exponent=exponent, shape=shape)
    held = spring_damper("mass.point", wall, law=law, direction=way, length=REACH, name="isolator")
    if motion == "shaken":
        rate = 2.0 * math.pi * FREQUENCY
        other = drive(
            "mass.point", ground, displacement=lambda t: amplitude * math.sin(rate * t), direction=way, name="shaker"
        )
    else:
        other = spring_damper("mass.point", wall, stiffness=ELASTIC, direction=way, length=REACH, name="elastic")
    block = rigid.body(MASS, inertia=1e-3, ports={"point": (0.0, 0.0)}, shape=box_shape((0.08, 0.06, 0.06)))
    return connect({"mass": block}, [slider("mass.point", ground), held, other])


def run(
    *,
    motion: Annotated[Motion, Option("shaken by a drive, or released")] = "shaken",
    amplitude: Annotated[float, Option("amplitude, or the first displacement", "m")] = 0.25,
    exponent: Annotated[float, Option("n of the law, at least 1")] = 1.0,
    shape: Annotated[float, Option("β/(β + γ), at least 0.5")] = 0.5,
    step: Annotated[float, Option("time step", "s")] = 5e-3,
    end: Annotated[float, Option("end of the run", "s")] = 4.0,
) -> Solution:
    """A mass on a hysteretic spring (Bouc-Wen), whose loops dissipate what the shaker supplies."""
    amplitude = check.positive("amplitude", amplitude, "m")
    mechanism = isolated_mass(motion, amplitude, exponent, shape)
    first = 0.0 if motion == "shaken" else amplitude
    start = mechanism.consistent_state(mechanism.assemble({"mass": (first, 0.0, 0.0)}))
    return integrate(mechanism, start, equal_steps(step, end))


def displacement(solution: Solution) -> Array:
    """Displacement of the mass at the saved times (k,) [m]."""
    return solution.position("mass.point")[:, 0]


def force(solution: Solution) -> Array:
    """Force of the hysteretic spring at the saved times (k,) [N]."""
    return STIFFNESS * solution["isolator"][:, 0]


def loss(solution: Solution, since: float) -> float:
    """Energy [J] that the hysteretic spring has dissipated from the time ``since`` [s] to the end."""
    return float(solution.ledger.dissipation["isolator"][solution.times[1:] > since + 1e-9].sum())


def closed_loop(amplitude: float) -> tuple[float, float]:
    """Peak force [N] and energy loss per cycle [J] of the hysteresis loop that repeats, for n = 1 and β = γ.

    The mass is shaken with the given amplitude [m].
    """
    c = STIFFNESS / YIELD
    missing = lambda z: z - (1.0 - math.exp(-c * (2.0 * amplitude - z))) / c  # noqa: E731
    peak = scipy.optimize.brentq(missing, 0.0, 1.0 / c, xtol=1e-15, rtol=1e-15)
    yielding = 2.0 * amplitude - peak
    return STIFFNESS * peak, 2.0 * STIFFNESS * ((yielding - peak) / c - 0.5 * peak**2)


def released(amplitude: float, end: float, exponent: float, shape: float) -> float:
    """Displacement [m] at the time ``end`` of a mass released at ``amplitude`` [m], by an adaptive integrator.

    ``exponent`` is n of the law, ``shape`` β/(β + γ). The integrator solves the three equations of displacement,
    velocity and z.
    """
    total = (STIFFNESS / YIELD) ** exponent

    def rates(_: float, y: Array) -> tuple[float, float, float]:
        x, v, z = y.tolist()
        slope = 1.0 - (shape * np.sign(z * v) + 1.0 - shape) * total * abs(z) ** exponent
        return v, -(ELASTIC * x + STIFFNESS * z) / MASS, slope * v

    path = scipy.integrate.solve_ivp(rates, (0.0, end), (amplitude, 0.0, 0.0), method="DOP853", rtol=1e-10, atol=1e-12)
    return float(path.y[0, -1])


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: loops of force against displacement, and the energy dissipated.

    Return the summary numbers.
    """
    write_run(solution, folder)
    x, f = displacement(solution), force(solution)
    lost = np.concatenate([[0.0], np.cumsum(solution.ledger.dissipation["isolator"])])
    write_table(folder / "loops.csv", {"t_s": solution.times, "x_m": x, "force_N": f, "dissipated_J": lost})
    figure = new_figure(8.0, 3.6)
    loops, energy = figure.subplots(1, 2)
    loops.plot(1e3 * x, f, linewidth=1.2)
    loops.set(xlabel="displacement [mm]", ylabel="force [N]")
    energy.plot(solution.times, lost, linewidth=1.2)
    energy.set(xlabel="t [s]", ylabel="energy dissipated [J]")
    for axes in (loops, energy):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "loops.png")
    return {
        "force_max_N": float(np.abs(f).max()),
        "dissipated_J": float(lost[-1]),
        "largest_residual": float(solution.ledger.largest_residual),
    }


def checks() -> Iterable[Check]:
    """Checks: peak and area of the loop that repeats, a released mass against an adaptive integrator, the balance."""
    shaken = run()
    peak, area = closed_loop(0.25)
    yield near("peak force [N]", peak, np.abs(force(shaken)[-200:]).max(), 1e-9 * YIELD, source="z = (1 − e^(−cs))/c")
    yield near("loss per cycle [J]", area, loss(shaken, 3.0), 1e-9 * area, source="2k[(s − z)/c − z²/2]")
    yield vanishes("balance, shaken", shaken.ledger.largest_residual, 1e-13)
    for exponent, shape in ((1.0, 0.5), (1.0, 0.8), (2.0, 0.6)):
        law = f"n = {exponent:g}, shape {shape:g}"
        reference = released(0.3, 2.0, exponent, shape)
        errors = []
        for step in (1e-3, 5e-4):
            solution = run(motion="released", amplitude=0.3, exponent=exponent, shape=shape, step=step, end=2.0)
            errors.append(abs(displacement(solution)[-1] - reference))
            yield vanishes(f"balance, {law}, step {step:g}", solution.ledger.largest_residual, 1e-13)
        yield vanishes(f"released, {law} [m]", errors[1], 4e-6, source="solve_ivp (DOP853)", kind="independent code")
        yield converges(f"order, {law}", math.log2(errors[0] / errors[1]), 0.1)


case = Case(run, write, checks, needs=("matplotlib",))
