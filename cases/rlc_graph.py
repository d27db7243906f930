"""An RLC circuit from its graph: a Butterworth ladder in tree and nodal form, its response, Tellegen's theorem.

[survey] example 2.1, eq. (2.24)-(2.27). The circuit is chosen here: between equal resistors C₁ = C₂ = C and L = 2R²C
make the low-pass filter of third order with |V_out/V| = ½/√(1 + (ωRC)⁶), whose poles lie on a circle (S. Butterworth,
On the theory of filter amplifiers, Wireless Engineer 7 (1930)).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import Trajectory, frequency_response, integrate, poles
from flexph.case import Case, Check, Option
from flexph.circuits import Circuit, capacitor, circuit, inductor, resistor, terminals, voltage_source
from flexph.consistency import consistent
from flexph.export.tables import write_table
from flexph.linear import FrequencyResponse
from flexph.methods import by_name
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes

CORNER = 1e3  # [Hz]
RESISTANCE = 50.0  # [Ω]
OMEGA = 2.0 * math.pi * CORNER  # [rad/s]
PARTS = ("C1", "C2", "L")
FORMS = {"tree": "tree voltages, link currents", "nodal": "node potentials, eq. (2.27)"}


def ladder(resistance: float = RESISTANCE) -> Circuit:
    """Circuit V - R1 - C1 - L - C2 - R2 with equal resistors, and open terminals at the output."""
    c = 1.0 / (OMEGA * resistance)
    return circuit(
        {
            "V": voltage_source("in", "gnd", 1.0),
            "R1": resistor("in", "a", resistance),
            "C1": capacitor("a", "gnd", c),
            "L": inductor("a", "out", 2.0 * resistance**2 * c),
            "C2": capacitor("out", "gnd", c),
            "R2": resistor("out", "gnd", resistance),
            "out": terminals("out", "gnd"),
        }
    )


@dataclass(frozen=True)
class Result:
    """The circuit, its step responses by the form of its equations (tree or nodal), and its frequency response."""

    circuit: Circuit
    steps: dict[str, Trajectory]
    response: FrequencyResponse


def transfer(omega: Any) -> Any:
    """Transfer function V_out/V = ½/((s + 1)(s² + s + 1)) of the ladder at frequencies ω [rad/s], s = iω/ω_c."""
    s = 1j * np.asarray(omega) / OMEGA
    return 0.5 / ((s + 1.0) * (s**2 + s + 1.0))


def step_of(times: Any) -> Any:
    """Voltage V_out (k,) [V] at ``times`` after a step of 1 V, in closed form.

    It is ½(1 − e^{−τ} − (2/√3) e^{−τ/2} sin(√3τ/2)) with τ = ω_c t.
    """
    tau = OMEGA * np.asarray(times)
    wave = 2.0 / math.sqrt(3.0) * np.exp(-0.5 * tau) * np.sin(0.5 * math.sqrt(3.0) * tau)
    return 0.5 * (1.0 - np.exp(-tau) - wave)


def respond(built: Circuit, times: Array, method: str) -> dict[str, Trajectory]:
    """Responses (runs) of the circuit from rest to a step of its source, by the form of its equations."""
    responses = {}
    for form in FORMS:
        system = built.phdae(form)  # type: ignore[arg-type]
        start = consistent(system, np.zeros(system.size), inputs=built.inputs, keep=PARTS)
        responses[form] = integrate(system, start, times, inputs=built.inputs, method=by_name(method))
    return responses


def run(
    *,
    resistance: Annotated[float, Option("resistance at both ends", "Ω")] = RESISTANCE,
    steps: Annotated[int, Option("steps of the step response")] = 200,
) -> Result:
    """An RLC ladder from its graph: both forms, step and frequency response, Tellegen ([survey] example 2.1)."""
    if not (math.isfinite(resistance) and resistance > 0.0):
        raise ValueError(f"resistance must be positive, got {resistance}")
    if steps < 10:
        raise ValueError(f"steps must be at least 10, got {steps}")
    built = ladder(resistance)
    omega = OMEGA * np.logspace(-2, 2, 161)
    response = frequency_response(built.linear(), omega, inputs="V", outputs="out", progress=False)
    return Result(built, respond(built, np.linspace(0.0, 12.0 / OMEGA, steps + 1), "gonzalez"), response)


def apart(steps: dict[str, Trajectory]) -> float:
    """Largest relative difference of any charge or flux between the runs of both forms of :data:`FORMS`.

    Each difference is divided by the largest magnitude of this charge or flux in the first run.
    """
    one, other = (np.hstack([trajectory[name] for name in PARTS]) for trajectory in steps.values())
    return float((np.abs(one - other).max(axis=0) / np.abs(one).max(axis=0)).max())


def tellegen(result: Result) -> float:
    """Largest |v(t)·i(t′)|/Σ|v||i| over all pairs of about 20 saved times ([survey] eq. (2.26)); zero in theory."""
    chosen = result.steps["tree"].states[:: max(1, len(result.steps["tree"].times) // 20)]
    inputs = {"V": 1.0}
    v = np.column_stack(list(result.circuit.voltages(chosen, inputs).values()))
    i = np.column_stack(list(result.circuit.currents(chosen, inputs).values()))
    return float((np.abs(v @ i.T) / np.maximum(np.abs(v) @ np.abs(i).T, 1e-300)).max())


def response_defect(result: Result) -> float:
    """Largest |H − closed form|/|closed form| of the frequency response."""
    exact = transfer(result.response.omega)
    return float((np.abs(result.response.values[:, 0, 0] - exact) / np.abs(exact)).max())


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: sizes of both forms, difference of their runs, Tellegen's theorem, response, balance."""
    corner = frequency_response(result.circuit.linear(), [OMEGA], inputs="V", outputs="out", progress=False)
    return {
        "states": {form: trajectory.system.size for form, trajectory in result.steps.items()},
        "forms_apart": apart(result.steps),
        "tellegen_max_rel": tellegen(result),
        "response_off_closed_form": response_defect(result),
        "gain_at_corner": float(abs(corner.values[0, 0, 0])),
        "balance_residual_max_rel": {
            form: trajectory.ledger.largest_residual for form, trajectory in result.steps.items()
        },
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: incidence matrix, step and frequency response as tables, and a picture.

    Return the summary numbers.
    """
    tree = result.steps["tree"]
    edges = {edge.name: column for edge, column in zip(result.circuit.edges, result.circuit.incidence.T, strict=True)}
    write_table(folder / "incidence.csv", edges)
    output = tree["C2"][:, 0] / result.circuit.elements["C2"].energy.capacity  # type: ignore[union-attr]
    write_table(folder / "step.csv", {"t_s": tree.times, "v_out_V": output, "exact_V": step_of(tree.times)})
    gain = result.response.values[:, 0, 0]
    write_table(
        folder / "response.csv",
        {"omega_rad_s": result.response.omega, "gain": np.abs(gain), "phase_rad": np.unwrap(np.angle(gain))},
    )
    draw(result, output, folder / "ladder.png")
    return figures(result)


def draw(result: Result, output: Array, path: Path) -> None:
    """Draw the Bode curve and step response against their closed forms."""
    figure = new_figure(12.0, 4.2)
    gain, phase, step = figure.subplots(1, 3)
    omega, values = result.response.omega, result.response.values[:, 0, 0]
    hertz, exact = omega / (2.0 * math.pi), transfer(omega)
    for axes, of in (
        (gain, lambda h: 20.0 * np.log10(np.abs(h))),
        (phase, lambda h: np.degrees(np.unwrap(np.angle(h)))),
    ):
        axes.semilogx(hertz, of(exact), "k-", linewidth=0.8, label="closed form")
        axes.semilogx(hertz[::8], of(values)[::8], "o", color="C0", markersize=4, label="circuit")
        axes.set_xlabel("f [Hz]")
    gain.set_ylabel("gain [dB]")
    phase.set_ylabel("phase [deg]")
    times = result.steps["tree"].times
    step.plot(1e3 * times, step_of(times), "k-", linewidth=0.8, label="closed form")
    step.plot(1e3 * times[::8], output[::8], "o", color="C0", markersize=4, label="circuit")
    step.set_xlabel("t [ms]")
    step.set_ylabel("output after a step of 1 V [V]")
    for axes in (gain, phase, step):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: runs in both forms of the equations, Tellegen's theorem, poles, responses against closed forms."""
    result = run()
    yield vanishes("forms apart", apart(result.steps), 1e-12, source="[survey] eq. (2.26), (2.27)")
    yield vanishes("v(t)·i(t′) / Σ|v||i|", tellegen(result), 1e-14, source="Tellegen's theorem")
    yield vanishes(
        "frequency response", response_defect(result), 1e-10, source="½/((s + 1)(s² + s + 1))", kind="closed form"
    )
    for form, trajectory in result.steps.items():
        yield vanishes(f"balance / energy, {form}", trajectory.ledger.largest_residual, 1e-13)
    roots = poles(result.circuit.linear())
    wanted = OMEGA * np.array([-1.0, -0.5 + 0.5j * math.sqrt(3.0), -0.5 - 0.5j * math.sqrt(3.0)])
    off = max(float(np.abs(roots - pole).min()) for pole in wanted) / OMEGA
    yield near("number of poles", 3, len(roots), 0.5, source="Butterworth")
    yield vanishes("poles off the circle", off, 1e-10, source="Butterworth: on a circle", kind="closed form")
    exact = respond(result.circuit, np.linspace(0.0, 6.0 / OMEGA, 61), "gauss6")["tree"]
    value = exact["C2"][-1, 0] * OMEGA * RESISTANCE
    yield Check(
        "output at ω_c t = 6 [V]",
        "closed form",
        float(step_of(6.0 / OMEGA)),
        float(value),
        kind="closed form",
        tolerance=1e-8,
    )


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: ladder().phdae())
