"""Recorded columns of a run of a mechanism, and its solution."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...mechanisms.model.consistency import resolution
from ...results.ledger import Ledger, make_ledger
from ...results.result import Occurrences
from ...results.solution import Solution
from ..times.events import Observer
from ..times.recorder import COUNTS, Column, Recorder
from .scheme import StepStart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...control.control_loops import ControlLoops
    from ...control.joined import Joined
    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.time_table import Anchors
    from ...numerics.arrays import Array
    from ...systems.piecewise import Recorded


def recorder_of(
    accounts: Accounts, start: StepStart, expected: int, folder: Path | None, loops: ControlLoops | None = None
) -> Recorder:
    """Recorder of a run of a mechanism from its start, see :class:`Recorder` and :class:`StepResult`."""
    g = accounts.mechanism.layout.multipliers
    columns = {
        "time": Column(1, "last"),
        "middle": Column(1, "last"),
        "state": Column(accounts.mechanism.layout.size, "last"),
        "energy": Column(len(accounts.energy), "last"),
        "multipliers": Column(g, "last"),
        "stage": Column(g, "last"),
        "flows": Column(accounts.flow_count, "sum"),
        "residuals": Column(4, "largest"),
        "counts": COUNTS,
    }
    if accounts.judges:
        columns["complementarity"] = Column(1, "largest")
    if loops is not None:
        columns["held"] = Column(loops.held.size, "last")
    first = {"time": start.time, "state": start.x, "energy": start.energy}
    if loops is not None and loops.joined is not None:
        energies, flows, work = loops.joined.widths
        columns["controller_energy"] = Column(energies, "last")
        columns["controller_flows"], columns["controller_work"] = Column(flows, "sum"), Column(work, "sum")
        columns["controller_held"] = Column(loops.joined.held.size, "last")
        first["controller_energy"] = loops.joined.energy
        first["controller_state"] = np.concatenate([np.zeros(0), *loops.joined.states])
        columns["controller_state"] = Column(sum(x.size for x in loops.joined.states), "last")
    return Recorder(columns, first, expected, folder=folder)


def solution_of(
    mechanism: Mechanism,
    accounts: Accounts,
    recorder: Recorder,
    *,
    anchors: Anchors,
    history: Array,
    events: Mapping[str, Occurrences],
    weight: float | None = None,
    observer: Observer | None = None,
    loops: ControlLoops | None = None,
    sliders: Mapping[str, Recorded] | None = None,
) -> Solution:
    """Solution with the finished steps of a run; ``history`` is that of the last step, from which another run goes on.

    ``weight`` is the work of the weights (see :class:`Resolution`), if known.
    """
    rows = recorder.rows()
    times, states, counts = rows["time"][:, 0], rows["state"], rows["counts"][1:]
    audit = [*rows["residuals"][1:].T, *counts.T]
    resolved = resolution(mechanism, states, (times[1:] - times[:-1]) / counts[:, 1], weight=weight)
    ledger = make_ledger(accounts, rows["energy"], rows["flows"][1:], audit, resolution=resolved)
    if loops is not None:
        ledger = ledger if loops.joined is None else _with_joined(ledger, loops.joined, rows)
        ledger = replace(ledger, controllers={**_given(ledger, loops), **ledger.controllers})
    if "complementarity" in rows:
        ledger = replace(ledger, complementarity_residual=rows["complementarity"][1:, 0])
    return Solution(
        mechanism=mechanism,
        times=times,
        states=states,
        multiplier_times=rows["middle"][1:, 0],
        multipliers=rows["multipliers"][1:],
        stage_multipliers=rows["stage"][1:],
        ledger=ledger,
        anchors=anchors,
        memory=history,
        events=events,
        controls={} if loops is None else _controls(mechanism, loops, rows),
        sliders=sliders or {},
        observations=np.zeros(0) if observer is None else observer.observations(len(times)),
        controller_states={} if loops is None or loops.joined is None else _states(loops.joined, rows),
        controller_memories={} if loops is None else loops.memories(),
    )


def _given(ledger: Ledger, loops: ControlLoops) -> dict[str, Array]:
    """Work of each controller at its ports."""
    none = np.zeros(len(ledger.residual))
    return {name: sum((ledger.work[port] for port in ports), none) for name, ports in loops.ports.items()}


def _with_joined(ledger: Ledger, joined: Joined, rows: Mapping[str, Array]) -> Ledger:
    """Ledger of mechanism and continuous controllers; energy that they exchange is no external work."""
    energy, flows, given = rows["controller_energy"].T, rows["controller_flows"][1:].T, rows["controller_work"][1:].T
    work, controllers, dissipation = dict(ledger.work), dict(ledger.controllers), dict(ledger.dissipation)
    works, accounts = iter(given), iter(flows)
    for c in joined.controllers:
        dissipation[c.name] = next(accounts)
        work |= {f"{c.name}: {port}": next(accounts) for port in c.outside}
        controllers[c.name] = np.zeros(len(ledger.residual))
        for port in c.given.ports.values():
            done = next(works)
            work[port] = work[port] - done
            controllers[c.name] = controllers[c.name] + done
    stored = {f"stored {c.name}": own for c, own in zip(joined.controllers, energy, strict=True)}
    return replace(
        ledger, energy={**ledger.energy, **stored}, work=work, controllers=controllers, dissipation=dissipation
    )


def _states(joined: Joined, rows: Mapping[str, Array]) -> dict[str, Array]:
    """States of continuous controllers at the saved times."""
    ends = np.cumsum([0, *(x.size for x in joined.states)]).tolist()
    spans = zip(joined.controllers, ends[:-1], ends[1:], strict=True)
    return {c.name: rows["controller_state"][:, first:last].copy() for c, first, last in spans}


def _controls(mechanism: Mechanism, loops: ControlLoops, rows: Mapping[str, Array]) -> dict[str, Array]:
    """Held inputs by port: ports of the mechanism that controllers set, and free ports of continuous controllers."""
    slices, ports = mechanism.network.input_slices, [port for ports in loops.ports.values() for port in ports]
    if loops.joined is not None:
        ports += [port for c in loops.joined.controllers for port in c.given.ports.values()]
    held = {port: rows["held"][1:, slices[port]].copy() for port in ports if port in slices}
    if loops.joined is None:
        return held
    ends = np.cumsum([0, *(c.size for c in loops.joined.controllers)])
    for c, first in zip(loops.joined.controllers, ends[:-1].tolist(), strict=True):
        for port in c.free:
            if (name := f"{c.name}: {port}") in ports:
                part = c.given.system.ports[port]
                held[name] = rows["controller_held"][1:, first + part.start : first + part.stop].copy()
    return held
