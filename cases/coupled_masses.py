"""Mass and spring in kernel form, and masses that are coupled rigidly: [survey] examples 3.1, 3.2 and 3.3."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import Trajectory, integrate, plot
from flexph.analysis import Analysis, analyze, eliminate_index_one
from flexph.case import Case, Check, Option
from flexph.consistency import consistent
from flexph.dirac import (
    DiracStructure,
    PortHamiltonian,
    compose,
    interconnect,
    symplectic_gyrator,
    transformer_structure,
)
from flexph.export.tables import write_table

from .checks import vanishes
from .times import equal_steps

MASSES = (2.0, 3.0)  # [kg]
STIFFNESS = 50.0  # [N/m]
SHARED = DiracStructure(
    np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, -1.0]])
)  # (3.12), (3.13), (3.23)


def store(state: str, port: str, weight: float) -> PortHamiltonian:
    """Port-Hamiltonian system of an energy storage ½ w x² with one port.

    It is a spring (3.12) with w = k, or a mass (3.13) with w = 1/m.
    """
    return PortHamiltonian(
        structure=DiracStructure(SHARED.F, SHARED.E, {state: slice(0, 1), port: slice(1, 2)}),
        H=lambda x: 0.5 * weight * float(x[0] ** 2),
        gradient=lambda x: weight * x,
        hessian=lambda x: np.array([[weight]]),
        sample=np.ones(1),
    )


def mass_spring(mass: float = MASSES[0], stiffness: float = STIFFNESS) -> PortHamiltonian:
    """Port-Hamiltonian system of a spring and a mass, joined by the symplectic gyrator (3.14).

    v_s = v_m, F_m = −F_s.
    """
    return interconnect(store("q", "spring", stiffness), store("p", "mass", 1.0 / mass), ports={"spring": "mass"},
                        gyrative=True)  # fmt: skip


@dataclass(frozen=True)
class Oscillation:
    """Dirac structure of mass and spring, a run, and angles [rad] between the structure and the published one (3.15).

    The ``distances`` are these angles, by the name of the derivation of the structure.
    """

    structure: DiracStructure
    distances: dict[str, float]
    trajectory: Trajectory


def run_spring(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.01,
    end: Annotated[float, Option("end of the run", "s")] = 5.0,
) -> Oscillation:
    """Mass and spring from kernel forms and a gyrator by composition ([survey] example 3.1)."""
    times = equal_steps(step, end)
    system = mass_spring()
    D = system.at(system.sample)
    published = DiracStructure(np.eye(2), np.array([[0.0, 1.0], [-1.0, 0.0]]), {"q": slice(0, 1), "p": slice(1, 2)})
    spring, mass = store("q", "s", 1.0).at(np.ones(1)), store("p", "m", 1.0).at(np.ones(1))
    through = compose(compose(spring, symplectic_gyrator(("s", "m"))), mass)
    trajectory = integrate(system.phdae(), [0.1, 0.0], times, progress=False)
    return Oscillation(D, {"gyrative": D.distance(published), "by element": through.distance(published)}, trajectory)


def write_spring(result: Oscillation, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: a picture of the matrices of the structure, and a table of the motion.

    Return the summary numbers.
    """
    trajectory = result.trajectory
    write_table(
        folder / "motion.csv", {"t_s": trajectory.times, "q_m": trajectory["q"][:, 0], "p_Ns": trajectory["p"][:, 0]}
    )
    plot.save(plot.structure(result.structure), folder / "structure.png")
    return {
        "angles_to_3_15": result.distances,
        "period_off_rel": abs(period(trajectory) / (2.0 * math.pi * math.sqrt(MASSES[0] / STIFFNESS)) - 1.0),
        "balance_residual_max_rel": trajectory.ledger.largest_residual,
    }


def period(trajectory: Trajectory) -> float:
    """Period [s] of a run: twice the mean time between zeros of q, which are interpolated linearly."""
    q, t = trajectory["q"][:, 0], trajectory.times
    i = np.flatnonzero(q[:-1] * q[1:] < 0.0)
    zeros = t[i] - q[i] * (t[i + 1] - t[i]) / (q[i + 1] - q[i])
    return 2.0 * float(np.diff(zeros).mean())


def checks_spring() -> Iterable[Check]:
    """Checks: the published structure, and the period of the midpoint rule on the harmonic oscillator."""
    step = 0.01
    result = run_spring(step=step)
    for name, value in result.distances.items():
        yield vanishes(f"angle to (3.15), {name} [rad]", value, 1e-12, source="[survey] eq. (3.15)")
    omega = math.sqrt(STIFFNESS / MASSES[0])
    turned = 2.0 * math.atan(0.5 * step * omega)  # angle of a step of the midpoint rule
    yield Check("period [s]", "midpoint rule, exact", 2.0 * math.pi * step / turned, period(result.trajectory),
                kind="closed form", tolerance=2e-5)  # fmt: skip
    yield vanishes("balance residual", result.trajectory.ledger.largest_residual, 1e-13)


spring_case = Case(run_spring, write_spring, checks_spring, needs=("matplotlib",), system=mass_spring)


# --- coupled masses ---------------------------------------------------------------------------------------------------


def coupled(*, driven: bool = True) -> PortHamiltonian:
    """Port-Hamiltonian system of two masses with v₁ = v₂ and F₁ = −F₂, eq. (3.18).

    If ``driven``, an external force acts on the first mass, eq. (3.20). The positions q₁, q₂ are states in addition to
    the momenta (remark 3.2): q̇ = p/m.
    """
    one, two = (_mass(f"{i}", driven=driven and i == 1) for i in (1, 2))
    # the rigid link v₁ = v₂, F₁ = −F₂ is the transformer with C = 1
    link = transformer_structure(("F1", "F2"), [[1.0]])
    D = compose(compose(one, link), two)

    def gradient(x: Any) -> Any:
        return np.array([0.0, x[1] / MASSES[0], 0.0, x[3] / MASSES[1]])

    return PortHamiltonian(
        structure=D,
        H=lambda x: 0.5 * float(x[1] ** 2 / MASSES[0] + x[3] ** 2 / MASSES[1]),
        gradient=gradient,
        hessian=lambda x: np.diag([0.0, 1.0 / MASSES[0], 0.0, 1.0 / MASSES[1]]),
        sample=np.array([0.0, MASSES[0], 1.0, MASSES[1]]),
        storage=("q1", "p1", "q2", "p2"),
    )


def _mass(name: str, *, driven: bool) -> DiracStructure:
    """Dirac structure of one mass with q̇ = v and ṗ = F; the effort of its ports is v.

    The ports are F and, if ``driven``, an external force; the sum of both moves the mass.
    """
    forces = [f"F{name}", *(["force"] if driven else [])]
    size = 2 + len(forces)
    matrix = np.zeros((size, size))
    matrix[0, 1], matrix[1, 0] = -1.0, 1.0
    matrix[1, 2:], matrix[2:, 1] = -1.0, 1.0
    names = [f"q{name}", f"p{name}", *forces]
    ports = {n: slice(i, i + 1) for i, n in enumerate(names)}
    return DiracStructure.from_hybrid(matrix, np.arange(size) >= 2, ports)


@dataclass(frozen=True)
class Coupling:
    """Report on the analysis of the coupled masses, a run under a force, and the mass of the reduced system [kg]."""

    report: Analysis
    trajectory: Trajectory
    reduced_mass: float


def run_coupled(
    *,
    load: Annotated[float, Option("outer force on the first mass", "N")] = 4.0,
    end: Annotated[float, Option("end of the run", "s")] = 2.0,
) -> Coupling:
    """Two masses coupled rigidly: constraint, index, kernel form, conserved distance ([survey] ex. 3.2, 3.3)."""
    if not math.isfinite(load):
        raise ValueError(f"load must be finite, got {load}")
    times, system = equal_steps(0.01, end), coupled()
    equations = system.phdae()
    start = consistent(equations, equations.sample, inputs={"force": load})
    trajectory = integrate(equations, start, times, inputs={"force": load}, progress=False)
    G = np.array([[1.0], [-1.0]])  # of (3.19)
    reduced = eliminate_index_one(np.zeros((2, 2)), np.diag(1.0 / np.array(MASSES)), G)
    # z₁ is a multiple of p₁ + p₂, and H = ½ Q z₁²
    multiple = float(reduced.project[0, 0])
    return Coupling(analyze(system), trajectory, 1.0 / (float(reduced.Q[0, 0]) * multiple**2))


def write_coupled(result: Coupling, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: the report on the composed system, a picture of its equations, and a table of the motion.

    Return the summary numbers.
    """
    trajectory = result.trajectory
    columns = {"t_s": trajectory.times} | {name: trajectory[name][:, 0] for name in ("q1", "p1", "q2", "p2")}
    write_table(folder / "motion.csv", columns)
    (folder / "report.txt").write_text(f"{result.report}\n", encoding="utf-8")
    plot.save(plot.structure(result.report.whole), folder / "structure.png")
    apart = trajectory["q1"][:, 0] - trajectory["q2"][:, 0]
    return {
        "casimirs": list(result.report.casimirs.expressions),
        "index": [result.report.index.index, result.report.index.index_eliminated],
        "distance_drift_m": float(np.abs(apart - apart[0]).max()),
        "velocity_at_end_m_s": float(trajectory["p1"][-1, 0] / MASSES[0]),
        "balance_residual_max_rel": trajectory.ledger.largest_residual,
    }


def checks_coupled() -> Iterable[Check]:
    """Checks: velocity of the pair, drift of its distance, index, Casimir, published kernel form, reduced mass."""
    load, end = 4.0, 2.0
    result = run_coupled(load=load, end=end)
    v = result.trajectory["p1"][-1, 0] / MASSES[0]
    yield Check(
        "velocity at the end [m/s]",
        "F t/(m₁ + m₂)",
        1.0 + load * end / sum(MASSES),
        v,
        kind="closed form",
        tolerance=1e-12,
    )
    apart = result.trajectory["q1"][:, 0] - result.trajectory["q2"][:, 0]
    yield vanishes("drift of q₁ − q₂ [m]", np.abs(apart - apart[0]).max(), 1e-13, source="[survey] remark 3.2")
    yield Check("index without multipliers", "[survey] proposition 4.1", 1.0, result.report.index.index_eliminated,
                kind="theorem", tolerance=1e-9)  # fmt: skip
    yield Check("Casimirs", "[survey] remark 3.2", 1.0, result.report.casimirs.count, kind="theorem", tolerance=1e-9)
    D = coupled(driven=False).at(np.zeros(4)).closed(efforts=["q1", "q2"])
    yield vanishes(
        "angle to the kernel form (3.23) [rad]",
        DiracStructure(D.F, D.E).distance(SHARED),
        1e-12,
        source="[survey] eq. (3.23)",
    )
    yield Check("mass of the reduced system [kg]", "[survey] eq. (4.8)", sum(MASSES), result.reduced_mass,
                kind="closed form", tolerance=1e-12)  # fmt: skip


case = Case(run_coupled, write_coupled, checks_coupled, needs=("matplotlib",), system=coupled)
