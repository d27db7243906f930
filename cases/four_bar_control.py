"""The four-bar mechanism driven at its crank: transfer functions, zeros, and control through the port of the motor.

In [flex] sec. 6.1 the crank is welded to the ground, so that a torque at its root would do no work. Here it is
hinged, and the torque of a motor acts on its root; the output is the spin of that section. The welded mechanism
reappears in the transmission zeros: the frequencies at which the crank stays at rest under the torque are those of
the four-bar with a welded crank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
from cases import four_bar
from cases.four_bar import DATA, REFERENCE, pose_at
from cases.units import deg
from flexph import LinearPHDAE, Mechanism, eliminate, plot
from flexph.case import Case, Check, Option
from flexph.control import feedback, inject_damping, passive_observer, port_spring
from flexph.export.tables import write_table
from flexph.linear import (
    DampingRatios,
    FrequencyResponse,
    TimeResponse,
    damping_ratios,
    frequency_response,
    reduce,
    step_response,
    zeros,
)
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

MOTOR = "motor"
BAND = (20.0, 3e3)
SHOWN = 4
"""Number of damping ratios in the summary."""


@dataclass(frozen=True)
class Result:
    """Plants and loops of the four-bar with their responses, by name.

    ``systems`` are the full, the eliminated and the reduced plant, with the frequency responses ``responses``.
    ``loops`` are the mechanism alone and with each controller, with the frequency responses ``closed``, the ``damping``
    ratios and the step responses ``steps``. ``zeros`` are those of the mechanism alone.
    """

    systems: Mapping[str, LinearPHDAE]
    responses: Mapping[str, FrequencyResponse]
    loops: Mapping[str, LinearPHDAE]
    closed: Mapping[str, FrequencyResponse]
    damping: Mapping[str, DampingRatios]
    steps: Mapping[str, TimeResponse]
    zeros: Array


def driven_four_bar(elements: int, loss: float) -> Mechanism:
    """Mechanism of [flex] table 1 with a hinge at the root of the crank and a motor torque on it.

    ``loss`` is the structural damping, proportional to stiffness [s].
    """
    return four_bar.four_bar(DATA["si"], elements, damping=fem.Damping(stiffness=loss), motor=MOTOR)


def run(
    *,
    angle: Annotated[float, Option("crank angle", "deg")] = 90.0,
    elements: Annotated[int, Option("finite elements per link")] = 8,
    order: Annotated[int, Option("states of the reduced model")] = 20,
    loss: Annotated[float, Option("structural damping, stiffness-proportional", "s")] = 1e-5,
    gain: Annotated[float, Option("injected damping, torque over spin", "N m s")] = 1.0,
    stiffness: Annotated[float, Option("stiffness of the servo, torque over angle", "N m")] = 50.0,
    points: Annotated[int, Option("frequencies of the plots")] = 1200,
) -> Result:
    """The four-bar mechanism with a motor at the crank: full, eliminated and reduced responses, damping injection."""
    if points < 2:
        raise ValueError(f"points must be at least 2, got {points}")
    mechanism = driven_four_bar(elements, loss)
    full = mechanism.linearize(pose_at(mechanism, DATA["si"], angle * deg))
    small = reduce(full, order, method="krylov", band=BAND)
    systems = {"full": full, "eliminated": eliminate(full), "reduced": small}
    omega = np.geomspace(*BAND, points)
    responses = {
        "full": frequency_response(full, omega, method="direct"),
        "eliminated": frequency_response(systems["eliminated"], omega, method="schur"),
        "reduced": frequency_response(full, omega, through=small),
    }
    loops = closed_loops(systems["eliminated"], small, gain=gain, stiffness=stiffness)
    times = np.linspace(0.0, 0.3, 1501)
    return Result(
        systems,
        responses,
        loops,
        {name: frequency_response(loop, omega) for name, loop in loops.items()},
        {name: damping_ratios(loop) for name, loop in loops.items()},
        {name: step_response(loop, times) for name, loop in loops.items()},
        zeros(full, output=MOTOR, input=MOTOR),
    )


def closed_loops(plant: LinearPHDAE, model: LinearPHDAE, *, gain: float, stiffness: float) -> dict[str, LinearPHDAE]:
    """Loops by name: the mechanism alone, with injected damping, with a servo that holds its pose, with an observer.

    The observer measures only the spin, and estimates the state by the reduced ``model``. It has no information on the
    pose; the same stiffness as in the servo holds the crank angle.
    """
    spring = port_spring(stiffness)
    held = feedback(plant, spring, MOTOR, "spring")
    observer = passive_observer(_alone(model), MOTOR, gain)
    return {
        "open": plant,
        "damped": inject_damping(plant, MOTOR, gain),
        "servo": inject_damping(held, MOTOR, gain),
        "observer": feedback(held, observer, MOTOR, "observer"),
    }


def _alone(model: LinearPHDAE) -> LinearPHDAE:
    """Copy of the reduced model whose states belong to one part ``model`` instead of to the bodies."""
    return replace(model, lift=None, parts={"model": slice(0, model.size)})


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: errors of the eliminated and reduced plants, damping ratios, end values of step responses."""
    values = {name: response.values[:, 0, 0] for name, response in result.responses.items()}
    apart = lambda name: float(np.max(np.abs(values[name] - values["full"]) / np.abs(values["full"])))  # noqa: E731
    return {
        "states": {name: system.size for name, system in result.systems.items()},
        "eliminated_error_max_rel": apart("eliminated"),
        "reduced_error_max_rel": apart("reduced"),
        "reduced_error_estimate": result.responses["reduced"].error,
        "zeros_rad_s": np.abs(result.zeros[np.argsort(np.abs(result.zeros))][:6:2]).tolist(),
        "omega_rad_s": {name: d.omega[:SHOWN].tolist() for name, d in result.damping.items()},
        "damping_ratio": {name: d.ratio[:SHOWN].tolist() for name, d in result.damping.items()},
        "damping_ratio_min_in_band": {
            name: float(d.ratio[d.omega < BAND[1]].min()) for name, d in result.damping.items()
        },
        "spin_after_step_rad_s_per_N_m": {name: float(s.values[-1, 0, 0]) for name, s in result.steps.items()},
        "dissipation_min_eigenvalue_rel": min(
            float(np.linalg.eigvalsh(loop.R)[0] / np.linalg.norm(loop.R)) for loop in result.loops.values()
        ),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the responses and of damping; Bode plots of plants and loops, step responses.

    Return the summary numbers.
    """
    omega = result.responses["full"].omega
    columns = {"omega_rad_s": omega}
    for name, response in {**result.responses, **{k: r for k, r in result.closed.items() if k != "open"}}.items():
        h = response.between()
        columns |= {f"{name}_re": h.real, f"{name}_im": h.imag}
    write_table(folder / "responses.csv", columns)
    first = next(iter(result.steps.values()))
    write_table(folder / "steps.csv", {"t_s": first.times} | {k: s.between() for k, s in result.steps.items()})
    unit = "(rad/s)/(N m)"
    plot.save(plot.bode({**result.responses, "damped": result.closed["damped"]}, unit=unit), folder / "bode.png")
    plot.save(plot.bode(result.closed, unit=unit), folder / "loops.png")
    draw_steps(result, folder / "steps.png")
    return figures(result)


def draw_steps(result: Result, path: Path) -> None:
    """Draw the spin of the crank after a step torque of 1 N m."""
    figure = new_figure(7.5, 6.0)
    above, below = figure.subplots(2, 1, sharex=True)
    for k, (name, step) in enumerate(result.steps.items()):
        axes = above if name == "open" else below
        axes.plot(step.times, step.between(), color=f"C{k}", linewidth=1.2, label=name)
    for axes in (above, below):
        axes.set_ylabel("spin [(rad/s)/(N m)]")
        legend_above(axes, 4)
        axes.grid(alpha=0.3)
    below.set_xlabel("t [s]")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: zeros of the mechanism with a driven crank against frequencies of that with a welded crank.

    They are compared at all published angles.
    """
    source = "four-bar with the crank welded, displacement FE, converged"
    mechanism = driven_four_bar(16, 0.0)
    for angle, published in REFERENCE.items():
        system = mechanism.linearize(pose_at(mechanism, DATA["si"], angle * deg))
        magnitudes = np.abs(zeros(system, output=MOTOR, input=MOTOR))
        for k, value in enumerate(published):
            # discretisation with 16 elements; zeros come in pairs ±iω
            yield Check(
                f"zero {k + 1} at {angle}° [rad/s]",
                source,
                value,
                float(magnitudes[2 * k]),
                kind="independent code",
                tolerance=1e-5,
            )


case = Case(run, write, checks, needs=("matplotlib",))
