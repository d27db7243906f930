"""Two cases: motion and stability of a freely spinning body, and Casimirs of four systems.

[survey] examples 2.3, 2.5, 4.2 and 4.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import PHDAE, Trajectory, integrate
from flexph.analysis import Analysis, KinematicSystem, analyze
from flexph.case import Case, Check, Option
from flexph.dirac import DiracStructure, PortHamiltonian, jacobi_identity
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

from .checks import near, vanishes
from .times import equal_steps

INERTIA = np.array([1.0, 2.0, 3.0])  # principal moments of inertia [kg m²]
AXES = ("x", "y", "z")
START = np.array([0.02, 3.0, 0.01])  # near the axis in the middle [N m s]


def structure(p: Array) -> Array:
    """Structure matrix J(p) (3, 3) of a spinning body with the angular momenta p (3,), [survey] eq. (2.30)."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def spinning(start: Array = START, energy: Callable[[Array], float] | None = None,
             slope: Callable[[Array], Array] | None = None) -> PHDAE:  # fmt: skip
    """System of Euler's equations in the angular momenta p, with the sample state ``start``.

    If ``energy`` and its gradient ``slope`` are given, they are the Hamiltonian instead of the kinetic energy.
    """
    return PHDAE(
        E=np.eye(3),
        J=structure,
        z=slope or (lambda p: p / INERTIA),
        H=energy or (lambda p: 0.5 * float(p @ (p / INERTIA))),
        sample=start,
        parts={"p": slice(0, 3)},
    )


@dataclass(frozen=True)
class Spin:
    """A run near the axis of the middle moment of inertia, and analyses of the rotations about each axis, by axis.

    ``integrable`` is the defect of the Jacobi identity of the structure matrix.
    """

    trajectory: Trajectory
    axes: dict[str, Analysis]
    integrable: float


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.05,
    end: Annotated[float, Option("end of the run", "s")] = 60.0,
) -> Spin:
    """A freely spinning body: Poisson structure, Casimir, stability of the axes ([survey] ex. 2.3, 4.2)."""
    trajectory = integrate(spinning(), START, equal_steps(step, end), progress=False)
    axes = {axis: analyze(spinning(3.0 * np.eye(3)[i])) for i, axis in enumerate(AXES)}
    return Spin(trajectory, axes, jacobi_identity(structure, START).defect)


def drift(values: Array) -> float:
    """Largest deviation of ``values`` from the first value, divided by the first value."""
    return float(np.abs(values - values[0]).max() / np.abs(values[0]))


def write(result: Spin, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the path of the momentum on the sphere, a table of the axes; return the summary numbers."""
    p = result.trajectory.states
    write_table(
        folder / "momentum.csv", {"t_s": result.trajectory.times, **{f"p{a}": p[:, i] for i, a in enumerate(AXES)}}
    )
    draw(result, folder / "sphere.png")
    return {
        "verdict": {axis: report.stability.verdict for axis, report in result.axes.items()},
        "growth_per_s": {axis: report.stability.growth for axis, report in result.axes.items()},
        "casimirs": {axis: report.casimirs.count for axis, report in result.axes.items()},
        "momentum_drift_rel": drift((p**2).sum(axis=1)),
        "energy_drift_rel": drift(0.5 * (p**2 / INERTIA).sum(axis=1)),
        "jacobi_defect": result.integrable,
    }


def draw(result: Spin, path: Path) -> None:
    """Draw the momenta over time, and their path on the sphere |p| = constant with lines of equal energy."""
    figure = new_figure(10.5, 4.6)
    over_time = figure.add_subplot(1, 2, 1)
    p = result.trajectory.states
    for i, axis in enumerate(AXES):
        over_time.plot(result.trajectory.times, p[:, i], label=f"$p_{axis}$", linewidth=1.2)
    over_time.plot(result.trajectory.times, np.linalg.norm(p, axis=1), "k:", label="|p|, the Casimir", linewidth=1.0)
    over_time.set_xlabel("t [s]")
    over_time.set_ylabel("momentum [N m s]")
    legend_above(over_time, 4)
    over_time.grid(alpha=0.3)
    ball: Any = figure.add_subplot(1, 2, 2, projection="3d")
    size = float(np.linalg.norm(START))
    for part in np.linspace(0.15, 0.95, 5):
        for i in (0, 2):
            for sign in (-1.0, 1.0):
                line = level(size, i, part) * np.where(np.arange(3) == i, sign, 1.0)
                ball.plot(*line.T, color=f"C{i}", linewidth=0.6, alpha=0.7)
    ball.plot(*p.T, "k-", linewidth=1.2)
    ball.set(xlim=(-size, size), ylim=(-size, size), zlim=(-size, size))
    ball.set_box_aspect((1, 1, 1))
    for axis, name in zip(AXES, ("set_xlabel", "set_ylabel", "set_zlabel"), strict=True):
        getattr(ball, name)(f"$p_{axis}$")
    figure.savefig(path)


def level(size: float, axis: int, part: float) -> Array:
    """Line (k, 3) of equal energy around the axis with the index ``axis``, on the sphere |p| = ``size``.

    The axis is that of the smallest or the largest moment of inertia. ``part`` is 0 for this axis itself and 1 for
    the line through the axis of the middle moment of inertia.
    """
    a, b = (i for i in range(3) if i != axis)
    # 2H − |p|²/I of the axis is Σ p_j² (1/I_j − 1/I_axis) over the other two
    weights = np.abs(1.0 / INERTIA - 1.0 / INERTIA[axis])
    angle = np.linspace(0.0, 2.0 * math.pi, 181)
    path = np.zeros((181, 3))
    radius = part * size * math.sqrt(weights[1])  # part 1 is the line through the axis in the middle
    path[:, a], path[:, b] = (
        radius * np.cos(angle) / math.sqrt(weights[a]),
        radius * np.sin(angle) / math.sqrt(weights[b]),
    )
    path[:, axis] = np.sqrt(np.maximum(size**2 - (path**2).sum(axis=1), 0.0))
    return path


def checks() -> Iterable[Check]:
    """Checks: growth about the middle axis by Euler's equations, stability about the others, and the Casimir |p|².

    The Casimir is conserved by runs with two Hamiltonians.
    """
    result = run(end=20.0)
    a, b, c = INERTIA
    rate = 3.0 * math.sqrt((1.0 / a - 1.0 / b) * (1.0 / b - 1.0 / c))
    yield Check("growth about the middle axis [1/s]", "Euler's equations, linearised", rate,
                result.axes["y"].stability.growth, kind="closed form", tolerance=1e-9)  # fmt: skip
    stable = sum(result.axes[axis].stability.verdict == "stable" for axis in "xz")
    yield Check(
        "axes that the energy-Casimir method finds stable", "theory", 2.0, stable, kind="theorem", tolerance=1e-9
    )
    yield Check(
        "Casimirs", "[survey] example 4.2", 1.0, result.axes["x"].casimirs.count, kind="theorem", tolerance=1e-9
    )
    other = spinning(energy=lambda p: float(np.sum(p**4) + p[0] * p[1]),
                     slope=lambda p: 4.0 * p**3 + np.array([p[1], p[0], 0.0]))  # fmt: skip
    trajectory = integrate(other, START, np.linspace(0.0, 1.0, 401), progress=False)
    for name, run_of in (("free body", result.trajectory), ("another Hamiltonian", trajectory)):
        value = drift((run_of.states**2).sum(axis=1))
        yield vanishes(f"drift of |p|², {name}", value, 1e-12, source="[survey] example 4.2")
    yield vanishes("defect of the Jacobi identity", result.integrable, 1e-9, source="[survey] eq. (7.1)")


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: spinning(3.0 * np.eye(3)[2]))


# --- Casimirs ---------------------------------------------------------------------------------------------------------


def lc_circuit(loads: Array = np.array([1.0, 2.0, 0.5])) -> PortHamiltonian:  # noqa: B008
    """Port-Hamiltonian system of the controlled circuit of [survey] example 2.5, with its states (Q, φ₁, φ₂).

    Its input is the voltage; ``loads`` (3,) are C, L₁ and L₂.
    """
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = -np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    matrix[:3, 3], matrix[3, :3] = [0.0, -1.0, 0.0], [0.0, 1.0, 0.0]
    ports = {"Q": slice(0, 1), "phi1": slice(1, 2), "phi2": slice(2, 3), "source": slice(3, 4)}
    return PortHamiltonian(
        structure=DiracStructure.from_hybrid(matrix, np.arange(4) >= 3, ports),
        H=lambda x: 0.5 * float(x @ (x / loads)),
        gradient=lambda x: x / loads,
        hessian=lambda x: np.diag(1.0 / loads),
        sample=np.array([1.0, 0.5, -0.2]),
    )


def coin() -> KinematicSystem:
    """System of the rolling coin of [survey] example 2.4 with q = (x, y, θ, φ) and torques as inputs.

    All constants are one.
    """
    return KinematicSystem(
        mass=np.eye(4),
        constraints=lambda q: np.array([[1.0, 0.0], [0.0, 1.0], [-math.cos(q[3]), -math.sin(q[3])], [0.0, 0.0]]),
        inputs=np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]),
        potential=lambda q: 0.0,
        gradient=lambda q: np.zeros(4),
        sample=np.array([0.3, -0.2, 0.4, 0.7]),
    )


def pendulum() -> KinematicSystem:
    """System of a point on a circle in a vertical plane: a holonomic constraint written for velocities."""
    return KinematicSystem(
        mass=np.eye(2),
        constraints=lambda q: q[:, None],
        potential=lambda q: 9.81 * float(q[1]),
        gradient=lambda q: np.array([0.0, 9.81]),
        sample=np.array([0.6, -0.8]),
    )


@dataclass(frozen=True)
class CasimirReports:
    """Reports on the Casimirs of several systems by name, and the total flux φ₁ + φ₂ of the circuit over time.

    The flux, a Casimir, is that of a run with other values of capacitance and inductances.
    """

    reports: dict[str, Analysis]
    flux: Array
    times: Array


def run_casimirs(
    *,
    end: Annotated[float, Option("end of the run of the circuit", "s")] = 20.0,
) -> CasimirReports:
    """Casimirs of a circuit, a spinning body, a rolling coin and a pendulum ([survey] ex. 4.2, 4.3)."""
    if not (math.isfinite(end) and end > 0.0):
        raise ValueError(f"end must be positive, got {end}")
    momenta = np.array([1.0, 0.2, -0.4, 0.3])
    systems: dict[str, Any] = {
        "LC circuit": lc_circuit(),
        "spinning body": spinning(),
        "rolling coin": coin().phdae(momenta),
        "pendulum": pendulum().phdae(np.array([0.8, 0.6])),
    }
    rng = np.random.default_rng(0)
    other = lc_circuit(rng.uniform(0.2, 3.0, 3)).phdae()
    trajectory = integrate(other, other.sample, np.linspace(0.0, end, 401), progress=False)
    flux = trajectory["phi1"][:, 0] + trajectory["phi2"][:, 0]
    return CasimirReports({name: analyze(system) for name, system in systems.items()}, flux, trajectory.times)


def write_casimirs(result: CasimirReports, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a table of the co-distributions, the reports as text, and the total flux of the circuit.

    Return the summary numbers.
    """
    columns: dict[str, Any] = {"system": list(result.reports)}
    columns["codistribution"] = [r.casimirs.dimension for r in result.reports.values()]
    columns["casimirs"] = [r.casimirs.count for r in result.reports.values()]
    columns["linear"] = ["; ".join(r.casimirs.expressions) for r in result.reports.values()]
    write_table(folder / "casimirs.csv", columns)
    texts = [f"{name}\n{report}\n" for name, report in result.reports.items()]
    (folder / "reports.txt").write_text("\n".join(texts), encoding="utf-8")
    figure = new_figure(7.0, 3.4)
    axes = figure.subplots()
    axes.plot(result.times, result.flux - result.flux[0], ".-", markersize=3, linewidth=0.6)
    axes.set_xlabel("t [s]")
    axes.set_ylabel("change of φ₁ + φ₂ [Wb]")
    axes.grid(alpha=0.3)
    figure.savefig(folder / "flux.png")
    return {
        "flags": {name: list(r.casimirs.flag) for name, r in result.reports.items()},
        "linear": {name: list(r.casimirs.expressions) for name, r in result.reports.items()},
        "flux_change": float(np.abs(result.flux - result.flux[0]).max()),
    }


def checks_casimirs() -> Iterable[Check]:
    """Checks: numbers of Casimirs against theory, and the constant total flux of a circuit with other elements."""
    result = run_casimirs()
    expected = {"LC circuit": (1, 1), "spinning body": (1, 1), "rolling coin": (2, 0), "pendulum": (1, 1)}
    for name, (dimension, count) in expected.items():
        casimirs = result.reports[name].casimirs
        for word, wanted, got in (
            ("co-distribution", dimension, casimirs.dimension),
            ("Casimirs", count, casimirs.count),
        ):
            yield near(f"{word}, {name}", wanted, got, 1e-9, source="[survey] examples 4.2, 4.3", kind="theorem")
    change = float(np.abs(result.flux - result.flux[0]).max())
    yield vanishes("change of φ₁ + φ₂, other elements", change, 1e-13, source="[survey] example 4.2")


casimirs_case = Case(run_casimirs, write_casimirs, checks_casimirs, needs=("matplotlib",), system=lambda: coin().phdae(
    np.array([1.0, 0.2, -0.4, 0.3])))  # fmt: skip
