"""What a run of prescribed steps keeps: the rows that are saved, sums and maxima between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...results.exchanged_energy import exchanged_energy
from ...results.ledger import system_ledger
from ...results.result import Occurrences
from ...results.trajectory import Trajectory
from ...systems.nonlinear import PHDAE


class Steps(NamedTuple):
    """k steps one after another: times (k + 1,), inputs and outputs (k, m), states (k, n) and H (k,) at their ends,

    the energy that each dissipates, its iterations, and how many step control rejected before it (k,), None for none.
    """

    times: Array
    inputs: Array
    states: Array
    outputs: Array
    energy: Array
    dissipated: Array
    iterations: Array
    rejected: Array | None = None


class Saved(NamedTuple):
    """k saved times after the first: times, states (k, n) and H there, and of the steps that lead to each

    the middle and the output of the last one, and ``flows`` of all: work by port, then what OTHERS counts.
    """

    times: Array
    states: Array
    energy: Array
    middles: Array
    outputs: Array
    flows: Array


OTHERS = ("dissipation", "iterations", "steps", "rejected", "residual")
"""The accounts beside work: sums but for the last, the largest residual."""


class Book:
    """The accounts of a run from (t₀, x₀): every ``save_every``-th step is kept, or those that end at ``times``.

    The last step is always kept.
    """

    def __init__(self, system: PHDAE, t0: float, x0: Array, save_every: int, times: Array | None = None) -> None:
        self.system, self.save_every, self.times = system, save_every, times
        self.start = t0
        self._first = (t0, x0, float(system.H(x0)))
        self._energy, self._count = self._first[2], 0
        self._saved: list[Saved] = []
        self._pending: Saved | None = None

    def begin(self, x0: Array) -> None:
        """The first state, with algebraic states that the first step has redefined."""
        self._first = (self._first[0], x0, self._first[2])

    def add(self, steps: Steps) -> None:
        """Book further steps."""
        k, flows = len(steps.states), self._flows(steps)
        if self._pending is not None:
            flows[:1] = _merged(np.vstack([self._pending.flows, flows[:1]]), np.zeros(1, dtype=int))
        ends = np.flatnonzero(self._kept(steps.times[1:]))
        firsts = np.append(0, ends + 1)
        merged = _merged(flows, firsts[firsts < k])
        under_way = len(merged) > len(ends)
        self._saved.append(_rows(steps, ends, merged[: len(ends)]))
        self._pending = _rows(steps, np.array([k - 1]), merged[-1:]) if under_way else None
        self._energy, self._count = float(steps.energy[-1]), self._count + k

    def _kept(self, ends: Array) -> Array:
        """Which of the steps that end at these times (k,) are kept."""
        if self.times is not None:
            return np.isin(ends, self.times)
        made: Array = (self._count + 1 + np.arange(ends.size)) % self.save_every == 0
        return made

    def _flows(self, steps: Steps) -> Array:
        """Work by port and OTHERS of each step."""
        ports = self.system.ports.values()
        made, h = np.empty((len(steps.states), len(ports) + len(OTHERS))), np.diff(steps.times)
        for i, port in enumerate(ports):
            made[:, i] = h * np.einsum("ij,ij->i", steps.outputs[:, port], steps.inputs[:, port])
        change = np.diff(steps.energy, prepend=self._energy)
        residual = np.abs(change - made[:, : len(ports)].sum(axis=1) + steps.dissipated)
        rejected = 0.0 if steps.rejected is None else steps.rejected
        for column, values in zip(
            range(-5, 0), (steps.dissipated, steps.iterations, 1.0, rejected, residual), strict=True
        ):
            made[:, column] = values
        return made

    def trajectory(self, method: str, events: Mapping[str, Occurrences]) -> Trajectory:
        """What is booked; the last step is always kept."""
        system, (t0, x0, h0) = self.system, self._first
        shapes = ((), x0.shape, (), (), (system.inputs_size,), (len(system.ports) + len(OTHERS),))
        parts = [Saved(*(np.empty((0, *shape)) for shape in shapes)), *self._saved]
        rows = Saved(*map(np.concatenate, zip(*parts, *([self._pending] if self._pending else []), strict=True)))
        states = np.vstack([x0, rows.states])
        return Trajectory(
            system=system,
            times=np.append(t0, rows.times),
            states=states,
            output_times=rows.middles,
            outputs={name: rows.outputs[:, part] for name, part in system.ports.items()},
            ledger=system_ledger(
                energy=np.append(h0, rows.energy),
                exchanged=exchanged_energy(system, states),
                work={name: rows.flows[:, i] for i, name in enumerate(system.ports)},
                **dict(zip(OTHERS, rows.flows[:, len(system.ports) :].T, strict=True)),
            ),
            method=method,
            events=events,
        )


def _rows(steps: Steps, last: Array, flows: Array) -> Saved:
    """Saved rows that end with the steps of the indices ``last``."""
    middles = 0.5 * (steps.times[last] + steps.times[last + 1])
    return Saved(steps.times[last + 1], steps.states[last], steps.energy[last], middles, steps.outputs[last], flows)


def _merged(flows: Array, firsts: Array) -> Array:
    """Rows that begin at ``firsts`` as one each: sums, and the maximum of the last column."""
    made: Array = np.add.reduceat(flows, firsts, axis=0)
    made[:, -1] = np.maximum.reduceat(flows[:, -1], firsts)
    return made
