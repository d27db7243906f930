"""Concatenation of consecutive runs of one mechanism, or of mechanisms of the same bodies with different joints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..joints.rows.connection import measures
from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors, law_values, laws
from ..mechanisms.poses.passage import JointChangeBalance
from ..numerics.arrays import Array
from .ledger import Ledger, join_ledgers
from .result import Occurrences


def joined(runs: Sequence[Any], union: Model) -> Any:
    """One solution of consecutive runs, in the layout of ``union``, a mechanism with the connections of all of them.

    Each run begins with the last saved state of the previous run; this state occurs only once in the result. A joint
    that a run lacks has zero multipliers, and zero in the mask ``holding``, during this run.
    """
    changes = any(_names(run.mechanism) != _names(union) or run.holding.size for run in runs)
    parts = [_in_layout(run, union) if changes else run for run in runs]
    last = parts[-1]
    whole: dict[str, Any] = {"ledger": join_ledgers([part.ledger for part in parts])}
    for name in ("multiplier_times", "multipliers", "stage_multipliers"):
        whole[name] = np.concatenate([getattr(part, name) for part in parts])
    for name in ("times", "states", "holding", "observations"):
        pieces = [getattr(part, name) for part in parts]
        if all(len(piece) for piece in pieces) and len({piece.shape[1:] for piece in pieces}) == 1:
            kept = [piece[: None if part is last else -1] for part, piece in zip(parts, pieces, strict=True)]
            # at a common instant the state is that of the earlier run, the active joints are those of the later run
            early = [pieces[0], *(piece[1:] for piece in pieces[1:])]
            whole[name] = np.concatenate(kept if name == "holding" else early)
        else:
            whole[name] = pieces[-1] if name == "holding" else np.zeros(0)
    ports = dict.fromkeys(port for part in parts for port in part.controls)
    whole["controls"] = {port: np.concatenate([_set_inputs(part, port, parts) for part in parts]) for port in ports}
    everywhere = [n for n in last.controller_states if all(n in part.controller_states for part in parts)]
    whole["controller_states"] = {
        name: np.vstack([parts[0].controller_states[name], *(part.controller_states[name][1:] for part in parts[1:])])
        for name in everywhere
    }
    whole["sliders"] = {}
    for part in parts:
        before = whole["sliders"]
        whole["sliders"] = before | {
            port: before[port].followed_by(given) if port in before else given for port, given in part.sliders.items()
        }
    whole["events"] = _joined_events([part.events for part in parts])
    if changes:
        whole["anchors"] = _merged(union, [part.anchors for part in parts])
    return replace(last, **whole)


def booked(ledger: Ledger, joint_change: JointChangeBalance) -> Ledger:
    """Copy of the ledger of a run whose first row includes the energy balance of a change of joints before the run.

    The losses, work and impulses of ``joint_change`` are added to those of the first row; the residual of this row is
    replaced by that of ``joint_change`` if that is larger.
    """
    accounts: dict[str, Any] = {}
    given = {"dissipation": joint_change.loss, "work": joint_change.work, "impulses": joint_change.impulses}
    for account, values in given.items():
        rows = dict(getattr(ledger, account))
        for name, value in values.items():
            rows[name] = np.array(rows.get(name, np.zeros(len(ledger.residual))))
            rows[name][0] += value
        accounts[account] = rows
    residual = np.array(ledger.residual)
    residual[0] = max(residual[0], joint_change.residual)
    return replace(ledger, **accounts, residual=residual)


def with_first_state(whole: Any, before: Any) -> Any:
    """Solution with its first saved state, and the energies there, replaced by those of ``before``.

    ``before`` is a solution with one saved time. Both solutions have the layout of the same mechanism.
    """
    states, energy = whole.states.copy(), {}
    states[0] = before.states[0]
    for name in dict.fromkeys([*whole.ledger.energy, *before.ledger.energy]):
        energy[name] = np.array(whole.ledger.energy.get(name, np.zeros(len(whole.times))))
        energy[name][0] = before.ledger.energy.get(name, np.zeros(1))[0]
    return replace(whole, states=states, ledger=replace(whole.ledger, energy=energy))


def restricted(union: Any, holds: Array) -> Any:
    """Mechanism with those connections of ``union`` for which the mask ``holds`` (connections,) is true."""
    return union.replace(joints=[c for c, holds_it in zip(union.connections, holds, strict=True) if holds_it])


def narrowed(own: Model, union: Model, at: tuple[Array, Array, Anchors]) -> tuple[Array, Array, Anchors]:
    """State, multipliers and anchors of the mechanism ``union``, in the layout of ``own`` with fewer connections."""
    x, multipliers, anchors = at
    places = dict(zip(union.constraint_names, law_values(union), strict=True))
    values = [anchors.rows[places[name]] for name in own.constraint_names]
    order = [name for name, _ in measures(union.connections)]
    springs = anchors.springs[[order.index(name) for name, _ in measures(own.connections)]]
    rows = [union.constraint_names.index(name) for name in own.constraint_names]
    return x[_places(own, union)], multipliers[rows], Anchors(np.concatenate([np.zeros(0), *values]), springs)


def _names(mechanism: Model) -> list[str]:
    return [c.name for c in mechanism.connections]


def _in_layout(run: Any, union: Model) -> Any:
    """Run of a mechanism with fewer connections than ``union``, in the layout of ``union``.

    A run without a mask ``holding`` gets one, with ones for its connections.
    """
    mechanism = run.mechanism
    if mechanism is union and run.holding.size:
        return run
    holding = run.holding if run.holding.size else np.ones((len(run.times), len(mechanism.connections)))
    states, names = _places(mechanism, union), union.constraint_names
    rows = [names.index(name) for name in mechanism.constraint_names]
    return replace(
        run,
        mechanism=union,
        states=_put(run.states, states, union.layout.size),
        multipliers=_put(run.multipliers, rows, len(names)),
        stage_multipliers=_put(run.stage_multipliers, rows, len(names)),
        holding=_put(holding, [_names(union).index(name) for name in _names(mechanism)], len(union.connections)),
        anchors=_anchors(mechanism, union, run.anchors),
        events={
            name: Occurrences(event.times, _put(event.states, states, union.layout.size))
            for name, event in run.events.items()
        },
    )


def _places(model: Model, union: Model) -> list[int]:
    """Index, in the state of ``union``, of each state of the mechanism ``model``, which has fewer connections."""
    parts = union.layout.parts
    return [
        i
        for name, part in model.layout.parts.items()
        if part.start < model.layout.size
        for i in range(parts[name].start, parts[name].stop)
    ]


def _put(values: Array, columns: Sequence[int], width: int) -> Array:
    """Matrix (k, width) with the columns of ``values`` (k, c) at the indices ``columns``, and zeros elsewhere."""
    whole = np.zeros((len(values), width))
    whole[:, columns] = values
    return whole


def _anchors(model: Model, union: Model, anchors: Anchors) -> Anchors:
    """Anchors of a run of the mechanism ``model`` in the layout of ``union``; NaN for connections that it lacks."""
    places = dict(zip(union.constraint_names, law_values(union), strict=True))
    rows = np.full(sum(part.stop - part.start for part in places.values()), np.nan)
    for name, part in zip(model.constraint_names, law_values(model), strict=True):
        rows[places[name]] = anchors.rows[part]
    order = [name for name, _ in measures(union.connections)]
    springs = np.full(len(order), np.nan)
    springs[[order.index(name) for name, _ in measures(model.connections)]] = anchors.springs
    return Anchors(rows, springs)


def _merged(union: Model, anchors: Sequence[Anchors]) -> Anchors:
    """Anchors of all connections of ``union``, each from the last run that has the connection.

    ``anchors`` are the anchors of the runs, NaN for connections that a run lacks. A connection without an anchor in any
    run gets the anchor zero, or NaN if it is driven.
    """
    rows, springs = anchors[0].rows.copy(), anchors[0].springs.copy()
    for later in anchors[1:]:
        rows = np.where(np.isnan(later.rows), rows, later.rows)
        springs = np.where(np.isnan(later.springs), springs, later.springs)
    for law, part in zip(laws(union), law_values(union), strict=True):
        if not callable(law.value):
            rows[part] = np.nan_to_num(rows[part])
    still = [not measure.is_driven for _, measure in measures(union.connections)]
    springs[still] = np.nan_to_num(springs[still])
    return Anchors(rows, springs)


def _set_inputs(run: Any, port: str, runs: Sequence[Any]) -> Array:
    """Inputs (steps, components) that controllers set at a port in a run; zeros if it has no controller for the port.

    The number of components is that in one of the ``runs`` whose controllers set the port.
    """
    width = next(part.controls[port].shape[1] for part in runs if port in part.controls)
    held: Array = run.controls.get(port, np.zeros((len(run.times) - 1, width)))
    return held


def _joined_events(runs: Sequence[Mapping[str, Occurrences]]) -> dict[str, Occurrences]:
    """Events of consecutive runs by name, each with times and states of all runs; some runs may lack an event."""
    whole: dict[str, Occurrences] = {}
    for name in dict.fromkeys(name for events in runs for name in events):
        occurrences = [events[name] for events in runs if name in events]
        whole[name] = Occurrences(
            np.concatenate([event.times for event in occurrences]), np.vstack([event.states for event in occurrences])
        )
    return whole
