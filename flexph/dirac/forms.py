"""Kernel form and constrained form of port-Hamiltonian systems at a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.subspaces import RANK, left_null, unit_columns
from .graph import Graph
from .structure import DiracStructure


@dataclass(frozen=True, eq=False)
class KernelForm:
    """Kernel form ``F_S ẋ = E_S ∇H + F_R f_R + E_R e_R + F u + E y`` at a state ([survey] eq. (3.11)).

    It has n + m_R + m rows; u and y are flows and efforts of the external ports.

    Attributes
    ----------
    storage : tuple of array
        (F_S, E_S).
    resistive : tuple of array
        (F_R, E_R).
    external : tuple of array
        (F, E).
    """

    storage: tuple[Array, Array]
    resistive: tuple[Array, Array]
    external: tuple[Array, Array]

    def residual(
        self, rate: Array, gradient: Array, resistive: tuple[Array, Array], outer: tuple[Array, Array]
    ) -> Array:
        """Residual of the equations for ẋ, ∇H, (f_R, e_R) and (u, y)."""
        residual: Array = -self.storage[0] @ rate + self.storage[1] @ gradient
        for matrices, pair in ((self.resistive, resistive), (self.external, outer)):
            residual = residual + sum((m @ v for m, v in zip(matrices, pair, strict=True)), np.zeros(len(residual)))
        return residual

    @property
    def algebraic(self) -> Array:
        """Matrix A of full rank with A F_S = 0: A times the equations are those that do not contain ẋ."""
        return left_null(unit_columns(self.storage[0]))


@dataclass(frozen=True, eq=False)
class ConstrainedForm:
    """Form ``ẋ = J ∇H + g_R f_R + g u + b λ``, ``e_R = g_Rᵀ∇H``, ``y = gᵀ∇H``, ``0 = bᵀ∇H`` ([survey] (3.16)).

    Attributes
    ----------
    J : array
        (n, n).
    resistive : array
        g_R (n, m_R).
    inputs : array
        g (n, m).
    b : array
        (n, k), of full rank.
    """

    J: Array
    resistive: Array
    inputs: Array
    b: Array

    def without_multipliers(self) -> tuple[Array, Array, Array, Array]:
        """Matrices b^⊥, b^⊥J, b^⊥g_R, b^⊥g of ``b^⊥ẋ = b^⊥J ∇H + b^⊥g_R f_R + b^⊥g u``, b^⊥b = 0 ([survey] eq. (3.21)).

        Together with ``0 = bᵀ∇H`` they are a kernel form.
        """
        rows = left_null(unit_columns(self.b))
        return rows, rows @ self.J, rows @ self.resistive, rows @ self.inputs

    def kernel(self) -> KernelForm:
        """Kernel form of these equations, without multipliers.

        It has the equations of :meth:`without_multipliers`, ``0 = bᵀ∇H``, ``e_R = g_Rᵀ∇H`` and ``y = gᵀ∇H``.
        """
        rows, J, resistive, inputs = self.without_multipliers()
        n, k = self.b.shape
        m_r, m = self.resistive.shape[1], self.inputs.shape[1]
        F_S = np.vstack([rows, np.zeros((k + m_r + m, n))])
        E_S = np.vstack([J, self.b.T, self.resistive.T, self.inputs.T])
        zero = np.zeros
        F_R = np.vstack([resistive, zero((k + m_r + m, m_r))])
        F = np.vstack([inputs, zero((k + m_r + m, m))])
        E_R = np.vstack([zero((n, m_r)), -np.eye(m_r), zero((m, m_r))])
        E = np.vstack([zero((n + m_r, m)), -np.eye(m)])
        return KernelForm((F_S, E_S), (F_R, E_R), (F, E))

    def structure(self, storage: str = "storage") -> DiracStructure:
        """Dirac structure of these equations, with the ports storage, ``resistive`` and ``external`` (if any).

        ``storage`` is the name of the first port.
        """
        n, outer = len(self.J), np.hstack([self.resistive, self.inputs])
        J = np.block([[-self.J, -outer], [outer.T, np.zeros((outer.shape[1],) * 2)]])
        sizes = {storage: n, "resistive": self.resistive.shape[1], "external": self.inputs.shape[1]}
        ends = np.cumsum(list(sizes.values())).tolist()
        ports = {k: slice(e - s, e) for (k, s), e in zip(sizes.items(), ends, strict=True) if s}
        rows = np.vstack([self.b, np.zeros((outer.shape[1], self.b.shape[1]))]).T
        # flows of the outer ports are inputs: the rows do not involve their efforts
        flows = np.arange(len(J)) >= n
        graph = DiracStructure.from_hybrid(J, np.zeros(len(J), dtype=bool)).constrained(rows)
        F, E = np.where(flows, graph.E, graph.F), np.where(flows, graph.F, graph.E)
        return DiracStructure(F, E, ports)


@dataclass(frozen=True, eq=False)
class Partition:
    """Choice of the inputs among flows and efforts: the mask ``flow_inputs`` (n + m,) is True for flows as inputs.

    The first n = ``inner`` entries are those of the storage, m belong to all other ports. A flow of the storage that is
    an input is a multiplier; flows of other ports are usually inputs. ``direct`` is True if the efforts of the other
    ports depend only on the efforts of the storage.
    """

    flow_inputs: Array
    inner: int
    direct: bool

    def form(self, graph: Graph, resistive: int) -> ConstrainedForm:
        """Constrained form of a structure with the inputs of this partition.

        ``resistive`` is the number of entries of resistive ports. Raises ValueError if the structure cannot have these
        inputs.
        """
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
    """Choose inputs: as few flows of the storage, which become multipliers, and as many of other ports as possible.

    The first ``inner`` entries of the graph belong to the storage.
    """
    outer = np.arange(len(graph.J)) >= inner
    pivoted = Graph(graph.J.copy(), graph.flow_inputs ^ outer)  # f and e of the other ports exchanged
    pivoted = pivoted.settled(np.flatnonzero(pivoted.flow_inputs))
    for port in np.flatnonzero(pivoted.flow_inputs & outer):
        swap = np.abs(pivoted.J[port]) * ~(pivoted.flow_inputs | outer)
        best = int(np.argmax(swap))
        if swap[best] > RANK * max(float(np.abs(pivoted.J).max()), 1.0):
            pivoted = pivoted.exchanged(np.array([port, best]))
    free = pivoted.flow_inputs
    fed = np.abs(pivoted.J[np.ix_(outer, outer | free)]).max(initial=0.0)
    direct = not (free & outer).any() and fed <= RANK * max(float(np.abs(pivoted.J).max(initial=0.0)), 1.0)
    return Partition(free ^ outer, inner, bool(direct))
