"""Switching systems of circuits with switches and diodes, with a mode for each combination of positions.

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..switching import Every, Mode, SwitchingPHDAE, SwitchingTrajectory, Transition
from ..switching.transition import Function
from ..systems.inputs import Forcing, Input
from .elements import Pulse, Switch
from .equations import Assembly
from .model import Model, Readings
from .systems import to_phdae

JUST_AFTER = 1e-6
"""Delay after the instant of a switching, relative to the shortest pulse or pause, at which schedules are evaluated to
find the new positions."""
SAME = 1e-12
"""Difference of two switching instants, relative to their period, up to which they are one."""
MOST = 12
"""Largest number of switches and diodes for which all combinations of positions are tried."""


class CircuitMode:
    """Circuit in one mode, with the states ``names`` that all modes share, its system and its voltages and currents."""

    def __init__(self, circuit: Model, names: Sequence[str]) -> None:
        self.circuit = circuit
        self.assembly = Assembly(circuit.tree, circuit.elements, names=list(names))
        self.readings = Readings(self.assembly, circuit.reduced_incidence)
        self.system = to_phdae(self.assembly)

    def mode(self, diodes: Sequence[str], inputs: Mapping[str, Input], candidates: Sequence[str]) -> Mode:
        """Mode of the circuit with the conditions i ≥ 0 for closed diodes and −v ≥ 0 for open ones.

        ``candidates`` are the names of modes to which it can change if a condition is violated.
        """
        forcing, valid = Forcing(self.system.ports, inputs), {}
        for name in diodes:
            edge = next(k for k, edge in enumerate(self.circuit.edges) if edge.name == name)
            closed = self.circuit.positions[name]
            row = self.readings.currents[edge] if closed else -self.readings.voltages[edge]
            valid[f"{'i' if closed else '-v'}({name})"] = partial(self._value, row, forcing)
        return Mode(self.system, valid, candidates)

    def _value(self, row: Array, forcing: Forcing, time: float, x: Array) -> float:
        z = self.system.z(x)
        value = float(row[: z.size] @ z)
        return value + float(row[z.size :] @ forcing.at(time)) if row[z.size :].any() else value


def positioned(circuit: Model, positions: Sequence[Mapping[str, bool]] | None) -> dict[str, CircuitMode]:
    """Circuits in all possible modes, by the names of the modes; the given positions, or else all combinations.

    Raises ValueError if no mode is possible, if no switch or diode is free, or if there are too many for all
    combinations.
    """
    free = [name for name in circuit.switches if name not in circuit.positions]
    if not free:
        raise ValueError("the circuit has no switches or diodes without a position: see phdae()")
    if positions is None:
        if len(free) > MOST:
            raise ValueError(
                f"{len(free)} switches and diodes have {2 ** len(free)} combinations: choose some by positions="
            )
        positions = [dict(zip(free, closed, strict=True)) for closed in product((True, False), repeat=len(free))]
    possible, reason = [], ""
    for chosen in positions:
        try:
            one = circuit.at(chosen)
            _ = one.assembly
            possible.append(one)
        except ValueError as error:
            reason = f"; {error}"
    if not possible:
        raise ValueError(f"no position of the switches and diodes is possible{reason}")
    names = dict.fromkeys(name for one in possible for name in one.assembly.names)
    return {one.at_text: CircuitMode(one, list(names)) for one in possible}


def switching(
    circuit: Model, inputs: Mapping[str, Input], positions: Sequence[Mapping[str, bool]] | None
) -> SwitchingPHDAE:
    """Switching system; see :meth:`flexph.circuits.Circuit.switching`."""
    by_mode = positioned(circuit, positions)
    for name in inputs:
        check.lookup("source", name, next(iter(by_mode.values())).system.ports)
    free = [name for name in circuit.switches if name not in circuit.positions]
    diodes = [name for name in free if circuit.elements[name].kind == "diode"]
    modes = {}
    for name, one in by_mode.items():
        others = [
            text for text, other in by_mode.items() if other is not one and _same(one, other, set(free) - {*diodes})
        ]
        modes[name] = one.mode(diodes, inputs, others) if others else Mode(one.system)
    return SwitchingPHDAE(modes, _transitions(circuit, by_mode, free))


def _same(one: CircuitMode, other: CircuitMode, switches: set[str]) -> bool:
    """True if the given switches have the same positions in both modes, so that only diodes differ."""
    return all(one.circuit.positions[name] == other.circuit.positions[name] for name in switches)


def _transitions(circuit: Model, modes: Mapping[str, CircuitMode], free: Sequence[str]) -> list[Transition]:
    """Transitions at the instants of schedules, to the modes whose switches have the positions scheduled just after.

    Each leads from all other modes; ``free`` are the names of switches and diodes without a fixed position.
    """
    schedules = _schedules(circuit, free)
    if not schedules:
        return []
    instants = _instants(schedules.values())
    delay = JUST_AFTER * min(min(p.duty, 1.0 - p.duty) * p.period for p in schedules.values())
    transitions = []
    for wanted in product((True, False), repeat=len(schedules)):
        scheduled = dict(zip(schedules, wanted, strict=True))
        target = [text for text, one in modes.items() if scheduled.items() <= one.circuit.positions.items()]
        source = [text for text in modes if text not in target]
        if not target or not source:
            continue
        for period, first in instants:
            transitions.append(
                Transition(
                    source=source,
                    target=target,
                    when=Every(period, first),
                    condition=_condition(schedules, scheduled, delay),
                    name=", ".join(f"{name} {'closes' if closed else 'opens'}" for name, closed in scheduled.items()),
                )
            )
    return transitions


def _instants(schedules: Iterable[Pulse]) -> list[tuple[float, float]]:
    """Instants at which switches open or close, as pairs of period and first time, each only once."""
    instants: list[tuple[float, float]] = []
    for pulse in schedules:
        for part in (0.0, pulse.duty):
            first = pulse.start + part * pulse.period
            turns = [(first - other) / period for period, other in instants if period == pulse.period]
            if all(abs(turn - round(turn)) > SAME for turn in turns):
                instants.append((pulse.period, first))
    return instants


def _schedules(circuit: Model, free: Sequence[str]) -> dict[str, Pulse]:
    switches = {name: element for name in free if isinstance(element := circuit.elements[name], Switch)}
    return {name: switch.schedule for name, switch in switches.items() if switch.schedule is not None}


def _condition(schedules: Mapping[str, Pulse], asked: Mapping[str, bool], delay: float) -> Function:
    """Condition, a function of time and state, that all schedules have the positions ``asked`` after a delay [s]."""
    return lambda time, x: all(schedules[name](time + delay) == closed for name, closed in asked.items())


def along(circuit: Model, trajectory: SwitchingTrajectory, inputs: Mapping[str, Input]) -> list[dict[str, Any]]:
    """Voltages and currents along a run; see :meth:`flexph.circuits.Circuit.along`."""
    names = [name for name in trajectory.system.parts if name != "algebraic"]
    free = [name for name in circuit.switches if name not in circuit.positions]
    both: list[dict[str, Any]] = [
        {name: np.full(len(trajectory.times), np.nan) for name in circuit.elements} for _ in range(2)
    ]
    for mode in dict.fromkeys(trajectory.modes.tolist()):
        closed = dict(zip(free, _positions(mode, circuit, free), strict=True))
        one, at = CircuitMode(circuit.at(closed), names), trajectory.modes == mode
        forcing = Forcing(one.system.ports, inputs)
        u = np.array([forcing.at(float(t)) for t in trajectory.times[at]])
        for values, rows in zip(both, (one.readings.voltages, one.readings.currents), strict=True):
            read = one.readings.of(rows, trajectory.states[at], u)
            for k, edge in enumerate(one.circuit.edges):
                if edge.pair == 0:
                    values[edge.name][at] = read[:, k]
    return both


def _positions(mode: str, circuit: Model, free: Sequence[str]) -> list[bool]:
    """Positions of the switches and diodes ``free`` in a mode, True for closed, from the name of the mode."""
    words = dict(text.rsplit(" ", 1) for text in mode.split(", "))
    return [words[name] == "closed" for name in free]
