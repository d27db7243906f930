"""Which flows and efforts of a Dirac structure are inputs where the storage gives efforts, and others flows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.subspaces import RANK
from .forms import ConstrainedForm
from .graph import Graph


@dataclass(frozen=True)
class Partition:
    """Which flows are inputs, (n + m,), of the storage's first ``inner`` entries and of the others.

    Those of the storage are multipliers; of other ports flows are inputs ordinarily. ``direct`` says that efforts of
    the other ports follow from the storage's alone.
    """

    flow_inputs: Array
    inner: int
    direct: bool

    def form(self, graph: Graph, resistive: int) -> ConstrainedForm:
        """The constrained form of a structure in this partition."""
        J = graph.exchanged(np.flatnonzero(graph.flow_inputs != self.flow_inputs)).J
        n, free = self.inner, self.flow_inputs[: self.inner]
        kept = ~free
        inside, outside = np.zeros((n, n)), np.zeros((n, len(J) - n))
        inside[np.ix_(kept, kept)] = -J[:n, :n][np.ix_(kept, kept)]
        outside[kept] = -J[:n, n:][kept]
        b = np.zeros((n, int(free.sum())))
        b[kept], b[free] = -J[:n, :n][np.ix_(kept, free)], -np.eye(b.shape[1])
        return ConstrainedForm(inside, outside[:, :resistive], outside[:, resistive:], b)


def partition(graph: Graph, inner: int) -> Partition:
    """The partition in which as few flows of the storage as possible are multipliers, and others' flows are inputs."""
    outer = np.arange(len(graph.J)) >= inner
    made = Graph(graph.J.copy(), graph.flow_inputs ^ outer)  # f and e of the other ports exchanged
    made = made.settled(np.flatnonzero(made.flow_inputs))
    for port in np.flatnonzero(made.flow_inputs & outer):
        swap = np.abs(made.J[port]) * ~(made.flow_inputs | outer)
        best = int(np.argmax(swap))
        if swap[best] > RANK * max(float(np.abs(made.J).max()), 1.0):
            made = made.exchanged(np.array([port, best]))
    free = made.flow_inputs
    fed = np.abs(made.J[np.ix_(outer, outer | free)]).max(initial=0.0)
    direct = not (free & outer).any() and fed <= RANK * max(float(np.abs(made.J).max(initial=0.0)), 1.0)
    return Partition(free ^ outer, inner, bool(direct))
