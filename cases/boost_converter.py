"""A boost converter with an ideal switch and diode, its four modes, and its mean output ([survey] example 5.1).

The switch is closed during the part D of each period T. Conduction is continuous if 2L/(RT) > D(1 − D)². The mean of
the output while the switch is open is then V/(1 − D), as the mean voltage of the inductor over a period is zero. With a
light load the diode opens before the period ends (φ = 0). For small ripple the mean output is then MV with M = ½(1 +
√(1 + 4D²RT/(2L))) (R. W. Erickson, D. Maksimović, Fundamentals of Power Electronics, ch. 5). Values are chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from flexph import integrate
from flexph.case import Case, Check, Option
from flexph.circuits import Circuit, Pulse, capacitor, circuit, diode, inductor, resistor, switch, voltage_source
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.switching import SwitchingPHDAE, SwitchingTrajectory

from .checks import at_most, near, vanishes

VOLTAGE = 12.0  # of the source [V]
PERIOD = 50e-6  # of the switch [s]
INDUCTANCE, CAPACITANCE = 0.5e-3, 220e-6  # [H], [F]
LIGHT_INDUCTANCE, LIGHT_CAPACITANCE = 0.2e-3, 10e-6  # [H], [F]
MODES = ("S closed, D closed", "S closed, D open", "S open, D closed", "S open, D open")


@dataclass(frozen=True)
class Converter:
    """A boost converter: inductance [H], capacitance [F], load resistance [Ω] and duty D of its switch."""

    inductance: float
    capacitance: float
    resistance: float
    duty: float

    @cached_property
    def circuit(self) -> Circuit:
        """Circuit of the converter: source, inductor, switch, diode, capacitor and load, as in [survey] fig. 4."""
        return circuit(
            {
                "V": voltage_source("in", "gnd", VOLTAGE),
                "L": inductor("in", "sw", self.inductance),
                "S": switch("sw", "gnd", Pulse(PERIOD, self.duty)),
                "D": diode("sw", "out"),
                "C": capacitor("out", "gnd", self.capacitance),
                "R": resistor("out", "gnd", self.resistance),
            }
        )

    @cached_property
    def system(self) -> SwitchingPHDAE:
        """Switching system with the four modes of switch and diode."""
        return self.circuit.switching()

    @property
    def load(self) -> float:
        """Conduction parameter 2L/(RT) of the converter, with the period T."""
        return 2.0 * self.inductance / (self.resistance * PERIOD)

    @property
    def conducts(self) -> bool:
        """True if the inductor current never vanishes (continuous conduction), which is so for 2L/(RT) > D(1 − D)²."""
        return self.load > self.duty * (1.0 - self.duty) ** 2

    @property
    def ripple(self) -> float:
        """Ripple DT/(RC) of the output in continuous conduction, relative to its mean."""
        return self.duty * PERIOD / (self.resistance * self.capacitance)

    @property
    def ideal(self) -> float:
        """Mean output for small ripple [V]."""
        if self.conducts:
            return VOLTAGE / (1.0 - self.duty)
        return 0.5 * VOLTAGE * (1.0 + math.sqrt(1.0 + 4.0 * self.duty**2 / self.load))

    def run(self, start: Array, periods: int, steps: int, mode: str) -> SwitchingTrajectory:
        """Run for a number of periods from the state ``start`` at the beginning of a period, in a switch mode.

        ``steps`` are the time steps of a period, ``mode`` is the first mode.
        """
        times = np.linspace(0.0, periods * PERIOD, periods * steps + 1)
        return integrate(self.system, start, times, mode=mode, inputs=self.circuit.inputs, progress=False)

    def state(self, output: float, current: float) -> Array:
        """State of the converter with a given output voltage [V] and inductor current [A]."""
        return self.circuit.stored(self.system, {"C": output}, {"L": current})

    def periodic(self, steps: int) -> Array:
        """State at the beginning of a period of the periodic motion.

        Newton's method finds it as the fixed point of the map over one period, which is smooth.
        """
        names = ("C", "L") if self.conducts else ("C",)
        current = self.ideal**2 / self.resistance / VOLTAGE - 0.5 * VOLTAGE * self.duty * PERIOD / self.inductance
        x = self.state(self.ideal, current if self.conducts else 0.0)
        places = [self.system.parts[name].start for name in names]
        for _ in range(8):
            away = self._after(x, steps)[places] - x[places]
            if np.all(np.abs(away) <= 1e-12 * np.abs(x[places])):
                break
            slope = np.empty((len(places), len(places)))
            for k, place in enumerate(places):
                moved = x.copy()
                moved[place] *= 1.0 + 1e-4
                slope[:, k] = (self._after(moved, steps)[places] - moved[places] - away) / (moved[place] - x[place])
            x = x.copy()
            x[places] -= np.linalg.solve(slope, away)
        return x

    def _after(self, x: Array, steps: int) -> Array:
        return self.run(x, 1, steps, MODES[1]).final


@dataclass(frozen=True)
class Result:
    """Three runs: steady conduction under a heavy load, and a light load from rest and in periodic motion."""

    heavy: Converter
    light: Converter
    steady: SwitchingTrajectory
    started: SwitchingTrajectory
    discontinuous: SwitchingTrajectory


def output(converter: Converter, trajectory: SwitchingTrajectory) -> Array:
    """Output voltage, that of the capacitor, at the saved times (k,) [V]."""
    return trajectory["C"][:, 0] / converter.capacitance


def mean(converter: Converter, trajectory: SwitchingTrajectory, begin: float, end: float) -> float:
    """Mean output voltage [V] between the times ``begin`` and ``end``, which are ends of steps.

    It is computed by the trapezoidal rule, by which the scheme also integrates φ.
    """
    inside = (trajectory.times >= begin - 1e-9 * PERIOD) & (trajectory.times <= end + 1e-9 * PERIOD)
    times = trajectory.times[inside]
    return float(np.trapezoid(output(converter, trajectory)[inside], times) / (times[-1] - times[0]))


def ripple(converter: Converter, trajectory: SwitchingTrajectory) -> float:
    """Largest less smallest output voltage in the first period, divided by the mean of this period."""
    first = output(converter, trajectory)[trajectory.times <= PERIOD]
    return float((first.max() - first.min()) / mean(converter, trajectory, 0.0, PERIOD))


def current(converter: Converter, trajectory: SwitchingTrajectory) -> Array:
    """Current of the inductor at the saved times (k,) [A]."""
    return trajectory["L"][:, 0] / converter.inductance


def swing(converter: Converter) -> float:
    """Rise of the inductor current while the switch is closed, V D T/L [A]."""
    return VOLTAGE * converter.duty * PERIOD / converter.inductance


def visited(trajectory: SwitchingTrajectory) -> dict[str, int]:
    """Number of times that a run entered each mode, by the name of the mode; the initial mode counts once."""
    entered = [str(trajectory.modes[0]), *(switch.target for switch in trajectory.switches)]
    return {mode: entered.count(mode) for mode in MODES}


def complementarity(converter: Converter, trajectory: SwitchingTrajectory) -> tuple[float, float, float]:
    """Relative residuals of the ideal diode, with voltage v ≤ 0, current i ≥ 0 and v i = 0.

    They are the largest |v i|, the largest v above zero and the largest −i, divided by the largest |v| |i|, |v| and
    |i|.
    """
    voltages, currents = converter.circuit.along(trajectory)
    v, i = voltages["D"], currents["D"]
    largest, through = np.abs(v).max(), np.abs(i).max()
    return (
        float(np.abs(v * i).max() / (largest * through)),
        float(max(v.max(), 0.0) / largest),
        float(max(-i.min(), 0.0) / through),
    )


def run(
    *,
    duty: Annotated[float, Option("part of each period in which the switch is closed")] = 0.4,
    resistance: Annotated[float, Option("load of the run in continuous conduction", "Ω")] = 20.0,
    light: Annotated[float, Option("load of the run in discontinuous conduction", "Ω")] = 200.0,
    steps: Annotated[int, Option("steps per period")] = 40,
    periods: Annotated[int, Option("periods of the start from rest")] = 60,
) -> Result:
    """A boost converter of ideal switch and diode: conduction, its mean output, four modes ([survey] example 5.1)."""
    if not 0.0 < duty < 1.0:
        raise ValueError(f"duty must be between 0 and 1, got {duty}")
    if steps < 10 or periods < 1:
        raise ValueError(f"steps must be at least 10 and periods at least 1, got {steps} and {periods}")
    heavy = Converter(INDUCTANCE, CAPACITANCE, resistance, duty)
    other = Converter(LIGHT_INDUCTANCE, LIGHT_CAPACITANCE, light, duty)
    if not heavy.conducts:
        raise ValueError(f"resistance must be below {_limit(heavy):.6g} Ω for continuous conduction, got {resistance}")
    if other.conducts:
        raise ValueError(f"light must be above {_limit(other):.6g} Ω for discontinuous conduction, got {light}")
    return Result(
        heavy,
        other,
        heavy.run(heavy.periodic(steps), 3, steps, MODES[1]),
        other.run(other.state(0.0, 0.0), periods, steps, MODES[0]),
        other.run(other.periodic(steps), 3, steps, MODES[1]),
    )


def _limit(converter: Converter) -> float:
    """Load resistance [Ω] at the limit between continuous and discontinuous conduction."""
    return 2.0 * converter.inductance / (PERIOD * converter.duty * (1.0 - converter.duty) ** 2)


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers of three runs: mean outputs, ripple, modes entered, and residuals of diode and energy balance.

    Also the ideal means, the conduction parameter and the energy lost at switches [J].
    """
    heavy, light = result.heavy, result.light
    return {
        "mean_output_V": mean(heavy, result.steady, 0.0, PERIOD),
        "ideal_output_V": heavy.ideal,
        "mean_output_switch_open_V": mean(heavy, result.steady, heavy.duty * PERIOD, PERIOD),
        "ripple": ripple(heavy, result.steady),
        "conduction": {"2L/(RT)": heavy.load, "D(1-D)^2": heavy.duty * (1.0 - heavy.duty) ** 2},
        "mean_output_light_V": mean(light, result.discontinuous, 0.0, PERIOD),
        "ideal_output_light_V": light.ideal,
        "modes_entered": {name: visited(trajectory) for name, trajectory in _runs(result).items()},
        "diode_vi_max_rel": {name: complementarity(*pair)[0] for name, pair in _pairs(result).items()},
        "balance_residual_max_rel": {
            name: trajectory.ledger.largest_residual for name, trajectory in _runs(result).items()
        },
        "lost_at_switches_J": {name: trajectory.lost_at_switches for name, trajectory in _runs(result).items()},
    }


def _runs(result: Result) -> Mapping[str, SwitchingTrajectory]:
    return {"steady": result.steady, "started": result.started, "discontinuous": result.discontinuous}


def _pairs(result: Result) -> Mapping[str, tuple[Converter, SwitchingTrajectory]]:
    converters = {"steady": result.heavy, "started": result.light, "discontinuous": result.light}
    return {name: (converters[name], trajectory) for name, trajectory in _runs(result).items()}


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables of the three runs, and a picture; return the summary numbers."""
    for name, (converter, trajectory) in _pairs(result).items():
        columns = {"t_s": trajectory.times, "v_out_V": output(converter, trajectory)}
        columns |= {"i_L_A": trajectory["L"][:, 0] / converter.inductance}
        columns |= {"mode": np.array([MODES.index(mode) + 1.0 for mode in trajectory.modes.tolist()])}
        write_table(folder / f"{name}.csv", columns)
    draw(result, folder / "converter.png")
    return figures(result)


COLORS = dict(zip(MODES, ("C3", "C0", "C1", "C2"), strict=True))


def draw(result: Result, path: Path) -> None:
    """Draw the output and current of the three runs; colours are modes."""
    figure = new_figure(13.0, 6.0)
    axes = figure.subplots(2, 3, sharex="col")
    titles = {"steady": "continuous conduction", "started": "light load, from rest",
              "discontinuous": "light load, steady"}  # fmt: skip
    for column, (name, (converter, trajectory)) in enumerate(_pairs(result).items()):
        times, current = 1e3 * trajectory.times, trajectory["L"][:, 0] / converter.inductance
        for row, values in zip(axes[:, column], (output(converter, trajectory), current), strict=True):
            for mode in MODES:
                inside = np.where(trajectory.modes == mode, values, np.nan)
                row.plot(times, inside, color=COLORS[mode], linewidth=1.4, label=mode)
            row.grid(alpha=0.3)
        axes[0, column].axhline(
            converter.ideal, color="k", linewidth=0.8, linestyle="--", label="mean for small ripple"
        )
        axes[0, column].set_title(titles[name], fontsize="medium")
        axes[1, column].set_xlabel("t [ms]")
    axes[0, 0].set_ylabel("output [V]")
    axes[1, 0].set_ylabel("current of the inductor [A]")
    axes[0, 1].legend(fontsize="small", loc="lower right")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: mean outputs, currents and ripple against formulas, the modes that occur, the diode, and the balance."""
    result = run()
    heavy, light = result.heavy, result.light
    least = VOLTAGE / (heavy.resistance * (1.0 - heavy.duty) ** 2) - 0.5 * swing(heavy)
    yield Check("least current in continuous conduction [A]", "V/(R(1 − D)²) − VDT/(2L)", least,
                float(current(heavy, result.steady).min()), kind="closed form", tolerance=1e-2)  # fmt: skip
    # in discontinuous conduction the current is a triangle from zero with the height of its swing
    yield Check("largest current in discontinuous conduction [A]", "VDT/L", swing(light),
                float(current(light, result.discontinuous).max()), kind="closed form", tolerance=1e-2)  # fmt: skip
    yield at_most("ripple of the output", 1e-2, ripple(heavy, result.steady), source="small ripple: below 1 %")
    source = "[survey] example 5.1; V/(1 − D)"
    average = mean(heavy, result.steady, 0.0, PERIOD)
    yield Check("mean output over one period [V]", source, heavy.ideal, average, kind="closed form", tolerance=1e-2)
    open_ = mean(heavy, result.steady, heavy.duty * PERIOD, PERIOD)
    yield Check(
        "mean output, switch open [V]", "no mean voltage of L", heavy.ideal, open_, kind="closed form", tolerance=1e-9
    )
    average = mean(light, result.discontinuous, 0.0, PERIOD)
    yield Check(
        "mean output, light load [V]",
        "Erickson & Maksimović ch. 5",
        light.ideal,
        average,
        kind="closed form",
        tolerance=2e-2,
    )
    entered = {switch.target for switch in result.started.switches}
    yield near(
        "modes that the run from rest switches to",
        3,
        len(entered),
        0.5,
        source="[survey] example 5.1: all but the first",
        kind="theorem",
    )
    for name, (converter, trajectory) in _pairs(result).items():
        _, forward, backward = complementarity(
            converter, trajectory
        )  # v i vanishes because one factor is zero in every mode
        yield at_most(f"largest v of the diode, {name}", 0.0, forward, source="v ≤ 0", excess=1e-10)
        yield at_most(f"largest −i of the diode, {name}", 0.0, backward, source="i ≥ 0", excess=1e-10)
        # from zero, sizes of states grow with every step, and Newton's method stops at 3e-12 instead of round-off
        tolerance = 1e-11 if name == "started" else 1e-13
        yield vanishes(f"balance / energy, {name}", trajectory.ledger.largest_residual, tolerance)


def analysed() -> tuple[SwitchingPHDAE, Mapping[str, Any]]:
    """Switching system of the converter in continuous conduction, and its inputs."""
    converter = Converter(INDUCTANCE, CAPACITANCE, 20.0, 0.4)
    return converter.system, converter.circuit.inputs


case = Case(run, write, checks, needs=("matplotlib",), system=analysed)
