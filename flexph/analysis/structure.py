"""Dirac structure of a system, covectors along which its storage cannot move, and sparsity patterns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dirac.graph import Graph
from ..dirac.structure import DiracStructure
from ..dirac.system import PortHamiltonian
from ..mechanisms.model.state import State
from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import null_space
from .view import System, SystemView, state_names, view


@checked
def structure_of(
    system: System, state: Sequence[float] | Array | State | None = None, *, algebraic: bool = False
) -> DiracStructure:
    """Dirac structure of a system at a state, by default its sample.

    For a :class:`PortHamiltonian` it is D(x). For a :class:`flexph.PHDAE` it is ``f̃ = −Eẋ = −J z − g_R f_R − B u``,
    ``e_R = g_Rᵀz``, ``y = Bᵀz`` with g_R a basis of the range of R = g_R R̃ g_Rᵀ and f_R = −R̃ e_R. Algebraic rows have
    f̃ = 0 and free costates (multipliers); with E = U₁E₁₁V₁ᵀ the storage has f = −V₁ᵀẋ, e = V₁ᵀ∇H ([survey] eq.
    (2.42)).

    The ports are the parts of the differential states, ``resistive``, and the inputs by their names. With
    ``algebraic=True`` the algebraic states are ports as well, at which f̃ = 0 is still to be imposed.

    Parameters
    ----------
    system : PHDAE, LinearPHDAE, PortHamiltonian or Mechanism
        The system.
    state : array_like or State, optional
        State (n,); the sample by default.
    algebraic : bool
        True to keep the ports of the algebraic states.

    Returns
    -------
    DiracStructure
        The structure with the ports named above.
    """
    if isinstance(system, PortHamiltonian):
        x = check.array("state", system.sample if state is None else state, (system.size,))
        return system.at(x)
    return structure_at(view(system, state), algebraic=algebraic)


def structure_at(here: SystemView, *, algebraic: bool = False) -> DiracStructure:
    """Dirac structure of a system that has been evaluated at a state; see :func:`structure_of`."""
    system, x, s = here.system, here.x, here.equations.split
    n, J, B = x.size, dense(system.J(x)), dense(system.B(x))
    outer = np.hstack([here.resistive_basis, B])
    k = outer.shape[1]
    E11 = s.U1.T @ dense(system.E(x)) @ s.V1
    # f̃ = U₁E₁₁f_S on the rows of U₁ and zero on the rows of U₂; z = U₁E₁₁⁻ᵀe_S + U₂e₂
    r = E11.shape[0]
    left = np.linalg.solve(E11, s.U1.T) if r else np.zeros((0, n))
    change = np.vstack([left, s.U2.T])
    inner, outer = -change @ J @ change.T, -change @ outer
    inner = 0.5 * (inner - inner.T)
    matrix = np.block([[inner, outer], [-outer.T, np.zeros((k, k))]])
    sizes = {"storage": r, "algebraic": n - r, "resistive": here.resistive_basis.shape[1]}
    ports, at = spans.consecutive(sizes), sum(sizes.values())
    taken = {f"port {name}" if name in ports else name: p for name, p in system.ports.items()}
    ports |= {name: slice(at + p.start, at + p.stop) for name, p in taken.items()}
    graph = Graph(0.5 * (matrix - matrix.T), np.arange(len(matrix)) >= n)
    D = DiracStructure.from_graph(graph, {p: q for p, q in ports.items() if q.stop > q.start})
    if n > r and algebraic:
        D = _split_by_parts(D, "algebraic", state_names(here.system, here.V2))
    elif n > r:
        D = D.closed(flows=["algebraic"])
    return _split_by_parts(D, "storage", here.names) if r else D


def _split_by_parts(D: DiracStructure, port: str, names: list[str]) -> DiracStructure:
    """Split a port into ports for the parts of its states, whose ``names`` are given, one for each entry.

    The structure is unchanged if the states of a part are not contiguous, or a name is used by another port.
    """
    owners = [name.partition("[")[0] for name in names]
    parts: dict[str, int] = {}
    for i, owner in enumerate(owners):
        if owner in parts and owners[i - 1] != owner:
            return D
        parts[owner] = parts.get(owner, 0) + 1
    return D if set(parts) & (set(D.ports) - {port}) else D.split(port, parts)


def codistribution(here: SystemView, x: Array) -> Array:
    """Orthonormal basis of ``{α : f_S = 0, e_S = α, f_R = 0, e_R = 0, u = 0}`` ([survey] eq. (4.30), (4.33)), (r, k).

    Entries are those of α times ``scales``, so that units do not decide on ranks.
    """
    s, J = here.equations.split, dense(here.system.J(x))
    r = here.V1.shape[1]
    E11 = s.U1.T @ dense(here.system.E(x)) @ s.V1
    inner = s.U1 @ np.linalg.solve(E11.T, np.diag(1.0 / here.scales)) if r else np.zeros((x.size, 0))
    costates = np.hstack([inner, s.U2])  # z of (α̂, z₂)
    size = np.abs(costates).max(axis=0, initial=0.0)
    rows = np.vstack([J @ costates, here.resistive_basis.T @ costates])
    column = np.where(np.arange(rows.shape[1]) < r, 1.0, 1.0 / np.maximum(np.linalg.norm(rows, axis=0), 1e-300 + size))
    kernel = null_space(rows * column)[:r]
    return singular_vectors(kernel, tolerance=1e-9, size=1.0, economy=True).range


NOTHING = 1e-12
"""Entry of J, relative to the largest of its row, below which the pattern has a zero."""
WIDEST = 64
"""Largest number of entries for which the pattern has a character for each entry of J; above it, there is one for each
pair of ports."""


def sparsity(structure: DiracStructure) -> tuple[Array, list[str], list[str]]:
    """Pattern (n, n) of ``w = J v`` (−1, 0, 1 by sign), and the names of w and v: ``f`` or ``e``, and the port."""
    J, G = structure.graph.J, structure.graph.flow_inputs
    size = np.abs(J).max(axis=1, keepdims=True, initial=0.0)
    pattern = np.where(np.abs(J) > NOTHING * size, np.sign(J), 0.0)
    names = [f"{i}" for i in range(structure.size)]
    for port, span in structure.ports.items():
        inside = range(*span.indices(structure.size))
        for i in inside:
            names[i] = port if len(inside) == 1 else f"{port}[{i - inside[0]}]"
    outputs = [f"{'e' if swapped else 'f'} {name}" for swapped, name in zip(G, names, strict=True)]
    inputs = [f"{'f' if swapped else 'e'} {name}" for swapped, name in zip(G, names, strict=True)]
    return pattern, outputs, inputs


@checked
def sparsity_text(structure: DiracStructure) -> str:
    """Sparsity pattern as text: rows are outputs, columns inputs, ``+`` and ``-`` signs of J, ``.`` zeros.

    Structures of more than WIDEST entries are shown by blocks of ports, with the number of entries of each block.

    Parameters
    ----------
    structure : DiracStructure
        A Dirac structure, as ``analyze(...).whole``.

    Returns
    -------
    str
        The pattern, one row per line.
    """
    if structure.size > WIDEST:
        return _blocks(structure)
    pattern, outputs, inputs = sparsity(structure)
    width = max(map(len, outputs), default=0)
    signs = {0.0: ".", 1.0: "+", -1.0: "-"}
    rows = [
        f"{name:<{width}} = {' '.join(signs[float(v)] for v in row)}"
        for name, row in zip(outputs, pattern, strict=True)
    ]
    spans = [f"{inputs[i]}" for i in range(len(inputs))]
    lines = [f"w = J v, v in the order {', '.join(_merged_names(spans))}", *rows]
    return "\n".join(lines)


def _merged_names(names: list[str]) -> list[str]:
    """Names of the entries of ports, in which consecutive entries of one port are one range, as ``f q[0..3]``."""
    ranges: list[str] = []
    for name in names:
        head, bracket, rest = name.partition("[")
        index = rest.rstrip("]")
        last = ranges[-1] if ranges else ""
        if bracket and last.startswith(head + "[") and index != "0":
            first = last.partition("[")[2].rstrip("]").partition("..")[0]
            ranges[-1] = f"{head}[{first}..{index}]"
        else:
            ranges.append(name)
    return ranges


def _blocks(structure: DiracStructure) -> str:
    pattern, _, _ = sparsity(structure)
    lines = ["entries of J by ports (rows: outputs, columns: inputs)"]
    width = max((len(name) for name in structure.ports), default=0)
    for name, row in structure.ports.items():
        counts = [f"{other}: {int(np.abs(pattern[row, column]).sum())}" for other, column in structure.ports.items()
                  if np.any(pattern[row, column])]  # fmt: skip
        exchanged = int(structure.graph.flow_inputs[row].sum())
        swapped = f" ({exchanged} flows as inputs)" if exchanged else ""
        lines.append(f"{name:<{width}}{swapped}  {', '.join(counts) or 'nothing'}")
    return "\n".join(lines)
