"""Identification of a crank-slider: eight parameters from noisy strains, rotations and the position of the slider.

A driven crank moves a flexible rod and a slider with a viscous friction; gauges on both faces of the rod, the rotation
of the rod and the position of the slider are measured with noise of known standard deviation σ. A least-squares fit
with the exact Jacobian J of the run gives Young's modulus, diameter and damping of the rod, the mass and the friction
of the slider, both lengths, and the speed of the crank; the density of the rod is known.

No unbiased estimate has a smaller covariance than (JᵀJ)⁻¹ with J of readings over σ, the bound of Cramér and Rao; for
small noise least squares attains it, and (p̂ − p)ᵀ JᵀJ (p̂ − p) follows χ² with eight degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import scipy

import fem
import rigid
from flexph import GROUND, Mechanism, connect, drive, hinge, slider, spring_damper
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.gradients import Responses
from flexph.mechanisms.model.state import State
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.sensors import Quantity, joint_angle, offset, strain
from flexph.studies import Fit, fit

from .checks import at_most, near

DENSITY, CRANK_MASS = 7870.0, 0.1  # [kg/m³], of the rod; [kg]
TRUTH = {
    "young": 0.2e12,  # [Pa]
    "diameter": 6e-3,  # of the rod [m]
    "damping": 2e-5,  # of the rod, proportional to its stiffness [s]
    "load": 0.033,  # mass of the slider [kg]
    "friction": 0.5,  # viscous, of the slider [N s/m]
    "crank": 0.15,  # length [m]
    "rod": 0.30,  # length [m]
    "speed": 150.0,  # of the crank [rad/s]
}
GUESS = {
    "young": 1.15,
    "diameter": 0.92,
    "damping": 1.5,
    "load": 0.85,
    "friction": 1.6,
    "crank": 1.01,
    "rod": 0.99,
    "speed": 1.003,
}
"""First guess of each parameter over its true value."""
GAUGE = (0.02, 0.0)  # place of the gauges in body axes [m]
NOISE = {"upper": 1e-5, "lower": 1e-5, "rotation": 2e-4, "place": 2e-5}  # σ of strains, angles [rad] and places [m]


def sensors() -> dict[str, Quantity]:
    """Sensors by name: strain gauges on both faces of the rod, angle between rod and crank, position of the slider."""
    return {
        "upper": strain("rod", "axial_stress_upper", GAUGE),
        "lower": strain("rod", "axial_stress_lower", GAUGE),
        "rotation": joint_angle("crank.tip", "rod.root"),
        "place": offset("slider.point", GROUND.at(0.0, 0.0), direction=(1.0, 0.0)),
    }


def crank_slider(
    young: float, diameter: float, damping: float, load: float, friction: float, crank: float, rod: float, speed: float
) -> tuple[Mechanism, State]:
    """Mechanism of a driven crank, a flexible rod and a slider, and its state at the start with the rod undeformed.

    Arguments are Young's modulus [Pa], diameter [m] and damping [s] of the rod, mass [kg] and friction [N s/m] of the
    slider, both lengths [m], and the speed of the crank [rad/s].
    """
    beam = fem.beam(
        rod,
        fem.Material(young=young, density=DENSITY),
        fem.Section(diameter=diameter),
        elements=2,
        damping=fem.Damping(stiffness=damping),
    )
    rail = GROUND.at(0.0, 0.0)
    joints = [
        hinge("crank.root", rail),
        drive("crank.root", GROUND, angle=lambda t: speed * t),
        hinge("crank.tip", "rod.root"),
        hinge("rod.tip", "slider.point"),
        slider("slider.point", rail, direction=(1.0, 0.0), turning=True),
        spring_damper("slider.point", GROUND.at(-1.0, 0.0), damping=friction),
    ]
    bodies = {"crank": rigid.bar(crank, CRANK_MASS), "rod": beam, "slider": rigid.point(load)}
    mechanism = connect(bodies, joints)
    pose = mechanism.assemble({"crank": (0.0, 0.0, 0.0)}, guess={"rod": 0.0})
    return mechanism, mechanism.consistent_state(pose)


@dataclass(frozen=True)
class Result:
    """The fit of the parameters, the measured series, and the Jacobian (m, 8) at the true parameters.

    The Jacobian is that of the m readings, each divided by the standard deviation σ of its noise.
    """

    fitted: Fit
    times: Array
    measured: dict[str, Array]
    jacobian: Array
    noise: float

    @property
    def bound(self) -> dict[str, float]:
        """Smallest standard deviation of an unbiased estimate (bound of Cramér and Rao), by the parameter's name."""
        scaled = self.jacobian * np.array([*TRUTH.values()])
        least = np.sqrt(np.diag(np.linalg.inv(scaled.T @ scaled))) * np.array([*TRUTH.values()])
        return dict(zip(TRUTH, least.tolist(), strict=True))

    @property
    def distance(self) -> float:
        """Squared distance (p̂ − p)ᵀ JᵀJ (p̂ − p) of the estimated parameters p̂ from the true ones p.

        J is in units of the noise.
        """
        gap = np.array([self.fitted.parameters[name] - value for name, value in TRUTH.items()])
        return float(((self.jacobian @ gap) ** 2).sum())


def run(
    *,
    steps: Annotated[int, Option("time steps; each sensor is read at every step")] = 200,
    turns: Annotated[float, Option("turns of the crank")] = 1.0,
    noise: Annotated[float, Option("noise over that of the sensors")] = 1.0,
    seed: Annotated[int, Option("seed of the noise")] = 1,
) -> Result:
    """Eight parameters of a crank-slider from noisy strains and rotations, against the bound of Cramér and Rao."""
    check.positive("noise", noise)
    end = check.positive("turns", turns) * 2.0 * math.pi / TRUTH["speed"]
    times = np.linspace(0.0, end, check.count("steps", steps) + 1)
    responses = Responses(crank_slider, times, sensors())
    exact, by = responses.derivatives(**TRUTH)
    sigma = {name: noise * deviation for name, deviation in NOISE.items()}
    random = np.random.default_rng(seed)
    measured = {name: exact[name] + deviation * random.standard_normal(times.size) for name, deviation in sigma.items()}
    jacobian = np.concatenate(
        [np.stack([by[name][key] for key in TRUTH], axis=1) / deviation for name, deviation in sigma.items()]
    )
    guess = {name: GUESS[name] * value for name, value in TRUTH.items()}
    fitted = fit(responses, measured, guess, deviations=sigma)
    return Result(fitted, times, measured, jacobian, noise)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: estimates with their bound, series and a picture; return the summary numbers."""
    fitted, bound = result.fitted, result.bound
    names = list(TRUTH)
    rows: dict[str, Any] = {
        "parameter": names,
        "true": [TRUTH[name] for name in names],
        "estimate": [fitted.parameters[name] for name in names],
        "deviation": [fitted.deviations[name] for name in names],
        "cramer_rao": [bound[name] for name in names],
    }
    write_table(folder / "estimates.csv", rows)
    fits = {f"{name}_fit": fitted.values[name] for name in result.measured}
    write_table(folder / "series.csv", {"t_s": result.times} | dict(result.measured) | fits)
    figure = new_figure(8.0, 3.6)
    left, right = figure.subplots(1, 2)
    for face, colour in (("upper", "C0"), ("lower", "C1")):
        left.plot(1e3 * result.times, 1e6 * result.measured[face], ".", color=colour, markersize=2.5, alpha=0.5)
        left.plot(1e3 * result.times, 1e6 * fitted.values[face], color=colour, linewidth=1.0, label=f"{face} face")
    left.set(xlabel="time [ms]", ylabel="strain [µm/m]")
    left.legend()
    errors = [(fitted.parameters[name] - TRUTH[name]) / bound[name] for name in names]
    sizes = [fitted.deviations[name] / bound[name] for name in names]
    right.errorbar(errors, range(len(names)), xerr=sizes, fmt="o", markersize=4, capsize=3)
    right.axvline(0.0, color="black", linewidth=0.8)
    right.set_yticks(range(len(names)), names)
    right.set(xlabel="error over the bound of its deviation", xlim=(-4.0, 4.0))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "identify.png")
    return {
        **{f"{name}_error": fitted.parameters[name] / TRUTH[name] - 1.0 for name in names},
        "distance": result.distance,
        "noise": fitted.noise,
        "runs": int(fitted.runs.sizes["sample"]),
    }


def checks() -> Iterable[Check]:
    """Checks of a fit: standard deviations against the bound, distance from the true parameters, size of residuals.

    Distance and residuals are compared with bounds of their χ² distributions.
    """
    result = run()
    bound, fitted = result.bound, result.fitted
    for name in TRUTH:
        yield near(
            f"deviation of {name} over the bound of Cramér and Rao",
            1.0,
            fitted.deviations[name] / bound[name],
            0.02,
            source="(JᵀJ)⁻¹ at the true parameters; the estimate differs in the order of the noise",
        )
    limit = float(scipy.stats.chi2.ppf(0.999, len(TRUTH)))
    yield at_most("(p̂ − p)ᵀ JᵀJ (p̂ − p)", limit, result.distance, source="χ² of eight degrees, exceeded once in 1000")
    count = sum(readings.size for readings in result.measured.values()) - len(TRUTH)
    spread = 4.0 / math.sqrt(2.0 * count)
    yield near("residuals over the noise", 1.0, fitted.noise, spread, source="χ²/(m − n), four standard deviations")


case = Case(run, write, checks, needs=("matplotlib", "xarray", "h5netcdf", "loky", "cloudpickle"))
