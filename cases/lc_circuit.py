"""Two capacitors and an inductor in parallel, in three equivalent formulations ([survey] sec. 1.1).

The formulations are a system with a multiplier, the kernel form of the Dirac structure, and the graph of the circuit.
Values are chosen here; [survey] states none. A first capacitor that hardens, v₁ = Q₁/C₁ (1 + β(Q₁/Q₀)²),
is an example of eq. (1.9)-(1.10).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import PHDAE, Trajectory, eigenfrequencies, eliminate, integrate
from flexph.case import Case, Check, Option
from flexph.circuits import Circuit, Energy, capacitor, circuit, inductor
from flexph.export.tables import write_table
from flexph.methods import DiscreteGradient, Gauss, GeneralMethod
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes

CAPACITY = np.array([1e-6, 2e-6, 1e-3])  # C₁, C₂ [F], L [H]
VOLTAGE = 5.0  # of both capacitors at the start [V]
CHARGES = CAPACITY[:2] * VOLTAGE  # Q₀ of linear ones [C]
OMEGA = 1.0 / math.sqrt(CAPACITY[2] * CAPACITY[:2].sum())  # of the linear circuit [rad/s]
F = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])
K = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, -1.0, 0.0]])  # F f + K e = 0, [survey] eq. (1.7)
MEAN_VALUE = DiscreteGradient("mean_value")
ROUTES = {"multiplier": "(1.5)", "kernel form": "(1.6), (1.10)", "graph": "(2.27)"}


@dataclass(frozen=True)
class Laws:
    """Constitutive laws of the circuit: the energy H of x = (Q₁, Q₂, φ) and its derivatives, [survey] eq. (1.9).

    ``hardening`` is β of the first capacitor.
    """

    hardening: float

    @property
    def bend(self) -> Array:
        """Coefficients (3,) of the cubic terms of ∇H relative to the linear ones: β/Q₀² for Q₁, else zero."""
        return np.array([self.hardening / CHARGES[0] ** 2, 0.0, 0.0])

    def slopes(self, x: Array) -> Array:
        """Gradient ∇H (3,) of the energy at the states x: voltages and current."""
        return x / CAPACITY * (1.0 + self.bend * x**2)

    def curvatures(self, x: Array) -> Array:
        """Diagonal (3,) of the Hessian ∂²H of the energy at the states x."""
        return (1.0 + 3.0 * self.bend * x**2) / CAPACITY

    def energy(self, x: Array) -> float:
        """Energy H [J] at the states x."""
        return float(np.sum(0.5 * x**2 / CAPACITY * (1.0 + 0.5 * self.bend * x**2)))

    def first(self) -> Energy:
        """Energy of the first capacitor as a function of its charge, with two derivatives."""
        c, b = float(CAPACITY[0]), float(self.bend[0])
        return Energy(
            lambda q: 0.5 * q * q / c * (1.0 + 0.5 * b * q * q),
            lambda q: q / c * (1.0 + b * q * q),
            lambda q: (1.0 + 3.0 * b * q * q) / c,
            scale=float(CHARGES[0]),
        )


def graph(hardening: float) -> Circuit:
    """Circuit of C₁, C₂ and L in parallel; ``hardening`` is β of C₁.

    C₂ is listed before C₁, so that the current I₁ becomes the multiplier, as in [survey] eq. (1.5).
    """
    laws = Laws(hardening)
    first = laws.first() if hardening else float(CAPACITY[0])
    return circuit(
        {
            "C2": capacitor("a", "gnd", float(CAPACITY[1])),
            "C1": capacitor("a", "gnd", first),
            "L": inductor("a", "gnd", float(CAPACITY[2])),
        }
    )


def multiplier(hardening: float) -> PHDAE:
    """System in x = (Q₁, Q₂, φ, λ) of [survey] eq. (1.5): λ = I₁ is the multiplier of ∂H/∂Q₁ = ∂H/∂Q₂."""
    laws, J = Laws(hardening), np.zeros((4, 4))
    J[1, 2], J[2, 1] = -1.0, 1.0
    J[:3, 3], J[3, :3] = (1.0, -1.0, 0.0), (-1.0, 1.0, 0.0)
    parts = {name: slice(k, k + 1) for k, name in enumerate(("C1", "C2", "L", "lam"))}
    return PHDAE(
        E=np.diag([1.0, 1.0, 1.0, 0.0]),
        J=J,
        z=lambda x: np.append(laws.slopes(x[:3]), x[3]),
        H=lambda x: laws.energy(x[:3]),
        sample=np.append(CAPACITY * VOLTAGE, 1.0),
        parts=parts,
    )


def kernel_form(hardening: float, start: Array, times: Array) -> Array:
    """States (k, 3) by steps ``F Δx = h K ∇̄H`` from ``start``, [survey] eq. (1.6) and (1.10).

    F and K (3, 3) are the matrices of the kernel representation. ∇̄H is the mean-value gradient, which two Gauss points
    integrate exactly, as ∇H is cubic. Newton's method measures its increments relative to the sizes of the states.
    """
    laws, states = Laws(hardening), [start]
    parts, weights = 0.5 + 0.5 * np.array([-1.0, 1.0]) / math.sqrt(3.0), (0.5, 0.5)
    size = CAPACITY * VOLTAGE
    for h in np.diff(times):
        step = np.zeros(3)
        for _ in range(20):
            along = [states[-1] + part * step for part in parts]
            mean = sum(w * laws.slopes(x) for w, x in zip(weights, along, strict=True))
            slope = sum(w * p * laws.curvatures(x) for w, p, x in zip(weights, parts, along, strict=True))
            matrix = (F - h * K * slope) * size
            rows = np.abs(matrix).max(axis=1)
            change = size * np.linalg.solve(matrix / rows[:, None], (h * K @ mean - F @ step) / rows)
            step = step + change
            if np.abs(change / size).max() < 1e-15:
                break
        states.append(states[-1] + step)
    return np.array(states)


@dataclass(frozen=True)
class Result:
    """The motion of the circuit by three formulations: multiplier, eq. (1.5), kernel form, eq. (1.6), and graph."""

    multiplier: Trajectory
    kernel: Array
    graph: Trajectory
    hardening: float

    @property
    def states(self) -> dict[str, Array]:
        """States (Q₁, Q₂, φ) over time (k, 3), by the name of the formulation."""
        of = lambda trajectory: np.hstack([trajectory[name] for name in ("C1", "C2", "L")])  # noqa: E731
        return dict(zip(ROUTES, (of(self.multiplier), self.kernel, of(self.graph)), strict=True))

    @property
    def apart(self) -> float:
        """Largest difference of a state between two formulations, divided by the largest magnitude of this state."""
        first, *others = self.states.values()
        return float(max((np.abs(other - first) / np.abs(first).max(axis=0)).max() for other in others))


def solve(hardening: float, periods: float, steps: int, method: GeneralMethod = MEAN_VALUE) -> Result:
    """Runs of all three formulations, from both capacitors at VOLTAGE and no current."""
    built = graph(hardening)
    times = np.linspace(0.0, periods * 2.0 * math.pi / OMEGA, round(periods * steps) + 1)
    system, start = built.phdae(), built.state({"C1": VOLTAGE})
    charges = np.array([start[system.parts[name]][0] for name in ("C1", "C2", "L")])
    return Result(
        integrate(multiplier(hardening), np.append(charges, 0.0), times, method=method),
        kernel_form(hardening, charges, times),
        integrate(system, start, times, method=method),
        hardening,
    )


def run(
    *,
    periods: Annotated[float, Option("length of the run in periods of the linear circuit")] = 3.0,
    steps: Annotated[int, Option("steps per period")] = 64,
    hardening: Annotated[float, Option("hardening β of the first capacitor, v = Q/C (1 + β(Q/Q₀)²)")] = 0.5,
) -> Result:
    """Two capacitors in parallel with an inductor: multiplier, kernel form and graph ([survey] eq. (1.1)-(1.10))."""
    if not (math.isfinite(hardening) and hardening >= 0.0):
        raise ValueError(f"hardening must not be negative, got {hardening}")
    if steps < 8:
        raise ValueError(f"steps must be at least 8 a period, got {steps}")
    if not (math.isfinite(periods) and periods * steps >= 1.0):
        raise ValueError(f"periods must be at least one step, got {periods}")
    return solve(hardening, periods, steps)


def voltages(states: Array, hardening: float) -> Array:
    """Voltages v₁ and v₂ of both capacitors (k, 2) [V] at the states (k, 3)."""
    return np.array([Laws(hardening).slopes(x)[:2] for x in states])


def kernel_defect() -> float:
    """Sine of the largest angle between two Dirac structures: that of the graph and that of [survey] eq. (1.7)."""
    built = graph(0.0)
    currents, efforts = built.kirchhoff
    order = [list(built.elements).index(name) for name in ("C1", "C2", "L")]
    currents, efforts = currents[:, order], efforts[:, order]
    # f = (−i₁, −i₂, −v_L), e = (v₁, v₂, i_L)
    kernel = np.hstack([-currents[:, :2], -efforts[:, 2:], efforts[:, :2], currents[:, 2:]])
    one, other = (np.linalg.qr(matrix.T)[0] for matrix in (kernel, np.hstack([F, K])))
    return float(np.linalg.norm(one - other @ (other.T @ one), 2))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: difference of the formulations, defect of the constraint, energy, Dirac structure."""
    states = result.states["graph"]
    gap = np.abs(np.diff(voltages(states, result.hardening), axis=1)).max()
    return {
        "largest_difference_of_formulations": result.apart,
        "voltages_apart_max_V": gap,
        "balance_residual_max_rel": result.graph.ledger.largest_residual,
        "dirac_structure_off_eq_1_7": kernel_defect(),
        "constraint": str(graph(result.hardening).constraints[0]),
        "omega_linear_rad_s": OMEGA,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the motion by all formulations, and a picture; return the summary numbers."""
    columns = {"t_s": result.graph.times}
    for route, states in result.states.items():
        word = route.replace(" ", "_")
        columns |= {f"{name}_{word}": states[:, k] for k, name in enumerate(("Q1_C", "Q2_C", "phi_Vs"))}
    write_table(folder / "motion.csv", columns)
    draw(result, folder / "routes.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw the charges and flux by all formulations, their differences, and the multiplier."""
    figure = new_figure(12.0, 4.4)
    motion, apart = figure.subplots(1, 2)
    times, size = 1e3 * result.graph.times, CAPACITY * VOLTAGE
    labels = (r"$Q_1/C_1V_0$", r"$Q_2/C_2V_0$", r"$\varphi/LV_0$")
    for (route, states), style in zip(result.states.items(), ("-", "x", "+"), strict=True):
        for k, label in enumerate(labels):
            scale = size[k] if k < 2 else np.abs(states[:, 2]).max()
            motion.plot(times, states[:, k] / scale, style, color=f"C{k}", markersize=4, linewidth=0.9,
                        label=f"{label if k < 2 else r'$φ/φ_{max}$'}, {route} {ROUTES[route]}")  # fmt: skip
    motion.set_ylabel("charges and flux")
    first, *others = result.states.items()
    for route, states in others:
        away = (np.abs(states - first[1]) / np.abs(first[1]).max(axis=0)).max(axis=1)
        apart.semilogy(times, np.maximum(away, 1e-17), ".-", linewidth=0.7, label=f"{route} from {first[0]}")
    apart.set_ylabel("relative difference of routes")
    for axes in (motion, apart):
        axes.set_xlabel("t [ms]")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="x-small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=3, frameon=False)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: motions of the formulations against each other, and of the linear circuit against the closed form.

    The Dirac structure of the graph is compared with the published one.
    """
    for hardening in (0.0, 0.5):
        result = solve(hardening, 3.0, 64)
        name = f"β = {hardening:g}"
        yield vanishes(f"routes apart, {name}", result.apart, 1e-12, source="[survey] eq. (1.5), (1.6), (1.10)")
        yield vanishes(f"balance / energy, {name}", result.graph.ledger.largest_residual, 1e-14)
    yield vanishes("graph and eq. (1.7), sine of the angle", kernel_defect(), 1e-14, source="[survey] eq. (1.7)")
    frequency = float(eigenfrequencies(eliminate(graph(0.0).linear()))[0])
    yield Check("ω [rad/s]", "1/√(L(C₁ + C₂))", OMEGA, frequency, kind="closed form", tolerance=1e-12)
    exact = solve(0.0, 1.25, 64, Gauss(6)).states["graph"][-1]
    yield vanishes("Q₁/C₁V₀ after 1.25 periods", exact[0] / CHARGES[0], 1e-8, source="cos ωt", kind="closed form")
    yield Check(
        "flux after 1.25 periods [V s]",
        "V₀ sin(ωt)/ω",
        VOLTAGE / OMEGA,
        float(exact[2]),
        kind="closed form",
        tolerance=1e-8,
    )


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: multiplier(0.0))
