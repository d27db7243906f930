"""Elements for composition: gyrators, transformers, feedback, common efforts and flows ([survey] sec. 6.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .structure import DiracStructure

Names = tuple[str, str]


@checked
def gyrator_structure(ports: Names, coupling: Any) -> DiracStructure:
    """Gyrator ``f₁ = C e₂, f₂ = −Cᵀ e₁``, C (m₁, m₂).

    If it connects two systems with flows u as inputs and efforts y as outputs, its efforts are e = y and its flows
    f = −u: then ``u₁ = −C y₂, u₂ = Cᵀ y₁``, the interconnection of :func:`flexph.interconnection.gyrator`.

    Parameters
    ----------
    ports : pair of str
        Names of both ports.
    coupling : array_like
        C (m₁, m₂); its shape gives the sizes of the ports.

    Returns
    -------
    DiracStructure
        Structure with two ports.
    """
    c, names = _two(ports, coupling)
    zero = np.zeros
    J = np.block([[zero((len(c), len(c))), c], [-c.T, zero((c.shape[1], c.shape[1]))]])
    return DiracStructure.from_skew(J, names)


@checked
def transformer_structure(ports: Names, coupling: Any) -> DiracStructure:
    """Transformer ``f₁ = −C f₂, e₂ = Cᵀ e₁``, C (m₁, m₂).

    Between external ports (f, e) = (u, y) it is ``u₁ = −C u₂, y₂ = Cᵀ y₁``, the interconnection of
    :func:`flexph.interconnection.transformer`.

    Parameters
    ----------
    ports : pair of str
        Names of both ports.
    coupling : array_like
        C (m₁, m₂); its shape gives the sizes of the ports.

    Returns
    -------
    DiracStructure
        Structure with two ports.
    """
    c, names = _two(ports, coupling)
    zero = np.zeros
    J = np.block([[zero((len(c), len(c))), -c], [c.T, zero((c.shape[1], c.shape[1]))]])
    return DiracStructure.from_hybrid(J, np.arange(len(J)) >= len(c), names)


@checked
def feedback_structure(ports: Names, size: int = 1) -> DiracStructure:
    """Negative feedback ``u₁ = −y₂, u₂ = y₁`` ([survey] eq. (6.11)): the gyrator with C = 1.

    Parameters
    ----------
    ports : pair of str
        Names of the ports (u, y) of both systems.
    size : int
        Components of each port.

    Returns
    -------
    DiracStructure
        Structure with two ports.
    """
    return gyrator_structure(ports, np.eye(check.count("size", size)))


@checked
def symplectic_gyrator(ports: Names, size: int = 1) -> DiracStructure:
    """Symplectic gyrator ``f₁ = −e₂, f₂ = e₁`` ([survey] eq. (6.9)).

    Between two structures, it makes their composition gyrative (:func:`compose`).

    Parameters
    ----------
    ports : pair of str
        Names of both ports.
    size : int
        Components of each port.

    Returns
    -------
    DiracStructure
        Structure with two ports.
    """
    return gyrator_structure(ports, -np.eye(check.count("size", size)))


@checked
def common_effort(ports: Sequence[str], size: int = 1) -> DiracStructure:
    """Junction with equal efforts and flows that sum to zero: elements in parallel, a node of a circuit.

    Parameters
    ----------
    ports : sequence of str
        Names of the ports.
    size : int
        Components of each port.

    Returns
    -------
    DiracStructure
        Structure with one port for each name.
    """
    return _junction(ports, size, flows=False)


@checked
def common_flow(ports: Sequence[str], size: int = 1) -> DiracStructure:
    """Junction with equal flows and efforts that sum to zero: elements in series, a loop of a circuit.

    Parameters
    ----------
    ports : sequence of str
        Names of the ports.
    size : int
        Components of each port.

    Returns
    -------
    DiracStructure
        Structure with one port for each name.
    """
    return _junction(ports, size, flows=True)


@checked
def kirchhoff(incidence: Any, names: Sequence[str] = ()) -> DiracStructure:
    """Kirchhoff's laws of a graph, ``B I = 0, V = Bᵀλ``, with its incidence matrix ([survey] eq. (2.26)).

    B (nodes, edges) has −1 where an edge leaves a node and 1 where it enters one. Flows are the currents I, efforts the
    voltages V, with a named port for every edge.

    Parameters
    ----------
    incidence : array_like
        B (nodes, edges).
    names : sequence of str
        Names of the edges; by default they are numbered.

    Returns
    -------
    DiracStructure
        Structure with a port for every edge.
    """
    b = check.array("incidence", incidence, (None, None))
    ports = _edges(names or [f"edge {i}" for i in range(b.shape[1])], b.shape[1])
    return _product_of(b, ports)


def _product_of(rows: Array, ports: dict[str, slice]) -> DiracStructure:
    """Dirac structure ``{(f, e) : A f = 0, e ∈ im Aᵀ}`` with A = ``rows``."""
    zero = DiracStructure.from_presymplectic(np.zeros((rows.shape[1],) * 2), ports)  # e = 0, f free
    exchanged = DiracStructure(zero.E, zero.F, ports).constrained(rows)  # of (e, f) in place of (f, e)
    return DiracStructure(exchanged.E, exchanged.F, ports)


def _junction(ports: Sequence[str], size: int, *, flows: bool) -> DiracStructure:
    if len(ports) < 2:
        raise ValueError(f"a junction must have at least two ports, got {list(ports)}")
    one = np.eye(check.count("size", size))
    k = len(ports)
    names = {name: slice(i * size, (i + 1) * size) for i, name in enumerate(ports)}
    if len(names) < k:
        raise ValueError(f"ports must have different names, got {list(ports)}")
    rows = np.kron(np.ones((1, k)), one)
    parallel = _product_of(rows, names)
    return DiracStructure(parallel.E, parallel.F, names) if flows else parallel


def _edges(names: Sequence[str], count: int) -> dict[str, slice]:
    if len(names) != count or len(set(names)) < count:
        raise ValueError(f"names must be {count} different names of edges, got {check.shown(list(names))}")
    return {name: slice(i, i + 1) for i, name in enumerate(names)}


def _two(ports: Names, coupling: Any) -> tuple[Array, dict[str, slice]]:
    c = check.array("coupling", coupling, (None, None))
    if len(ports) != 2 or ports[0] == ports[1]:
        raise ValueError(f"ports must be two different names, got {ports!r}")
    return c, {ports[0]: slice(0, len(c)), ports[1]: slice(len(c), sum(c.shape))}
