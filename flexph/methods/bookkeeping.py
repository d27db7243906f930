"""What a run of prescribed steps keeps: the rows that are saved, sums and maxima between them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..phdae import PHDAE
from ..space import Array
from ..trajectory import Balance, Occurrences, Trajectory


class Steps(NamedTuple):
    """k steps one after another: times (k + 1,), inputs and outputs (k, m), states (k, n) and H (k,) at their ends,
    the energy that each dissipates and its iterations (k,)."""

    times: Array
    inputs: Array
    states: Array
    outputs: Array
    energy: Array
    dissipated: Array
    iterations: Array


class Saved(NamedTuple):
    """k saved times after the first: times, states (k, n) and H there, and of the steps that lead to each

    the middle and the output of the last one, and ``flows`` of all: work by port, dissipation, iterations and the
    largest residual.
    """

    times: Array
    states: Array
    energy: Array
    middles: Array
    outputs: Array
    flows: Array


class Book:
    """The accounts of a run from (t₀, x₀): every ``save_every``-th step is kept, and the last."""

    def __init__(self, system: PHDAE, t0: float, x0: Array, save_every: int) -> None:
        self.system, self.save_every = system, save_every
        self._first = (t0, x0, float(system.H(x0)))
        self._energy, self._count = self._first[2], 0
        self._saved: list[Saved] = []
        self._pending: Saved | None = None

    def add(self, steps: Steps) -> None:
        """Book further steps."""
        k, flows = len(steps.states), self._flows(steps)
        if self._pending is not None:
            flows[:1] = _merged(np.vstack([self._pending.flows, flows[:1]]), np.zeros(1, dtype=int))
        ends = np.flatnonzero((self._count + 1 + np.arange(k)) % self.save_every == 0)
        firsts = np.append(0, ends + 1)
        merged = _merged(flows, firsts[firsts < k])
        under_way = len(merged) > len(ends)
        self._saved.append(_rows(steps, ends, merged[: len(ends)]))
        self._pending = _rows(steps, np.array([k - 1]), merged[-1:]) if under_way else None
        self._energy, self._count = float(steps.energy[-1]), self._count + k

    def _flows(self, steps: Steps) -> Array:
        """Work by port, dissipation, iterations and residual of each step."""
        ports = self.system.ports.values()
        made, h = np.empty((len(steps.states), len(ports) + 3)), np.diff(steps.times)
        for i, port in enumerate(ports):
            made[:, i] = h * np.einsum("ij,ij->i", steps.outputs[:, port], steps.inputs[:, port])
        change = np.diff(steps.energy, prepend=self._energy)
        made[:, -3], made[:, -2] = steps.dissipated, steps.iterations
        made[:, -1] = np.abs(change - made[:, :-3].sum(axis=1) + steps.dissipated)
        return made

    def trajectory(self, method: str, events: Mapping[str, Occurrences]) -> Trajectory:
        """What is booked; the last step is always kept."""
        system, (t0, x0, h0) = self.system, self._first
        shapes = ((), x0.shape, (), (), (system.inputs_size,), (len(system.ports) + 3,))
        parts = [Saved(*(np.empty((0, *shape)) for shape in shapes)), *self._saved]
        rows = Saved(*map(np.concatenate, zip(*parts, *([self._pending] if self._pending else []), strict=True)))
        return Trajectory(
            system=system,
            times=np.append(t0, rows.times),
            states=np.vstack([x0, rows.states]),
            output_times=rows.middles,
            outputs={name: rows.outputs[:, part] for name, part in system.ports.items()},
            balance=Balance(
                energy=np.append(h0, rows.energy),
                work={name: rows.flows[:, i] for i, name in enumerate(system.ports)},
                dissipation=rows.flows[:, -3],
                residual=rows.flows[:, -1],
                iterations=rows.flows[:, -2],
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
