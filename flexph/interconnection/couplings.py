"""Power-preserving interconnections of two port-Hamiltonian systems ([flex] sec. 5.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..systems.linear import LinearPHDAE, linear_system
from ..systems.nonlinear import PHDAE
from .coupled_pair import coupled
from .direct_sum import join

System = LinearPHDAE | PHDAE


@checked
def constrain(system: LinearPHDAE, rows: Any, names: tuple[str, ...] = ()) -> LinearPHDAE:
    """Add constraints 0 = rows x to a linear system.

    Parameters
    ----------
    system : LinearPHDAE
        The system; x are its current states, also after a projection.
    rows : matrix
        Constraints (k, n), dense or sparse.
    names : tuple of str, optional
        Names of the constraints; numbers by default.

    Returns
    -------
    LinearPHDAE
        The system with the rows below its G.

    Raises
    ------
    ValueError
        If the width of the rows is not the number of states.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.interconnection import constrain
    >>> masses = LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)))
    >>> constrain(masses, np.array([[1.0, -1.0]]), ("rod",)).constraints
    ('rod',)
    """
    shape = check.two_dimensional("rows", rows)
    if shape[1] != system.size:
        raise ValueError(f"rows must have shape (any, {system.size}): x has {system.size} states, got {shape}")
    rows = check.matrix("rows", rows, shape)
    stack = (lambda b: sparse.vstack(b).tocsr()) if system.is_sparse else np.vstack
    fresh = names or tuple(f"constraint {len(system.constraints) + i}" for i in range(rows.shape[0]))
    rows = sparse.csr_array(rows) if system.is_sparse else (rows.toarray() if sparse.issparse(rows) else rows)
    return replace(system, G=stack([system.G, rows]), constraints=system.constraints + tuple(fresh))


@checked
def gyrator(
    first: System,
    second: System,
    ports: tuple[str, str],
    coupling: Any,
    *,
    slope: Callable[[Array, Array], Any] | None = None,
) -> Any:
    """Gyrator interconnection ``u₁ = −C y₂, u₂ = Cᵀ y₁`` of two systems ([flex] sec. 5.1).

    It preserves power: the result has J₁₂ = −B₁ C B₂ᵀ and the remaining ports.

    Means of a :class:`PHDAE` are carried over, with C in the middle. If only one system has a discrete gradient pair,
    the other gets that of ``gonzalez`` (:func:`flexph.discretisation.with_pair`). Inputs and outputs of a system with
    feed-through become states first (:func:`flexph.interconnection.feedthrough.without_feedthrough`), as each output
    would contain the other.

    Parameters
    ----------
    first, second : LinearPHDAE or PHDAE
        The systems, both linear or both nonlinear.
    ports : tuple of str
        Port of the first and port of the second system.
    coupling : matrix or function
        C (m₁, m₂), or, for :class:`PHDAE`, a function C(x₁, x₂).
    slope : callable, optional
        ∂C/∂(x₁, x₂) (m₁, m₂, n₁ + n₂) as a function of x₁ and x₂; by differences if left out.

    Returns
    -------
    LinearPHDAE or PHDAE
        One system with the states of both.

    Raises
    ------
    ValueError
        For unknown ports, a wrong shape of C, and a function C of linear systems.

    Examples
    --------
    A mass drives a spring:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eigenfrequencies
    >>> from flexph.interconnection import gyrator
    >>> one, none = np.eye(1), np.zeros((1, 1))
    >>> mass = LinearPHDAE(E=2.0 * one, J=none, B=one, ports={"force": slice(0, 1)})
    >>> spring = LinearPHDAE(E=one / 8.0, J=none, B=one, ports={"rate": slice(0, 1)}, causality={"rate": "velocity"})
    >>> oscillator = gyrator(mass, spring, ("force", "rate"), one)
    >>> eigenfrequencies(oscillator).round(9)  # √(8/2)
    array([2.])
    """
    if isinstance(first, LinearPHDAE):
        both, b1, b2 = _joined(first, linear_system(second, "second"), ports, slope)
        off = b1 @ _constant(coupling, b1, b2) @ b2.T
        return _drop_ports(replace(both, J=both.J - off + off.T), ports)
    return coupled(first, second, ports, coupling, slope=slope, with_multiplier=False)


@checked
def transformer(
    first: System,
    second: System,
    ports: tuple[str, str],
    coupling: Any,
    *,
    slope: Callable[[Array, Array], Any] | None = None,
) -> Any:
    """Transformer interconnection ``u₁ = −C u₂, y₂ = Cᵀ y₁`` of two systems ([flex] eq. (41)-(42)).

    The force u₂ = λ is the multiplier of the velocity constraint 0 = Cᵀ y₁ − y₂: a row of G in a :class:`LinearPHDAE`,
    a state in the part ``multipliers`` of a :class:`PHDAE`. Means are carried over as in :func:`gyrator`. If C is
    constant and h ȳ is the change of a position, as at external ports of mechanisms and multibody systems, the
    positions do not drift apart.

    Parameters
    ----------
    first, second : LinearPHDAE or PHDAE
        The systems, both linear or both nonlinear.
    ports : tuple of str
        Port of the first and port of the second system.
    coupling : matrix or function
        C (m₁, m₂), or, for :class:`PHDAE`, a function C(x₁, x₂).
    slope : callable, optional
        ∂C/∂(x₁, x₂) (m₁, m₂, n₁ + n₂) as a function of x₁ and x₂; by differences if left out.

    Returns
    -------
    LinearPHDAE or PHDAE
        One system with the states of both and the multipliers.

    Raises
    ------
    ValueError
        For unknown ports, a wrong shape of C, and a function C of linear systems.

    Examples
    --------
    Two masses on a lever of ratio 3:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eliminate
    >>> from flexph.interconnection import transformer
    >>> one, none = np.eye(1), np.zeros((1, 1))
    >>> left = LinearPHDAE(E=one, J=none, B=one, ports={"left": slice(0, 1)})
    >>> right = LinearPHDAE(E=one, J=none, B=one, ports={"right": slice(0, 1)})
    >>> lever = transformer(left, right, ("left", "right"), 3.0 * one)
    >>> lever.G
    array([[-3.,  1.]])
    >>> eliminate(lever).size
    1
    """
    if isinstance(first, LinearPHDAE):
        both, b1, b2 = _joined(first, linear_system(second, "second"), ports, slope)
        c = _constant(coupling, b1, b2)
        named = tuple(f"{ports[0]} = {ports[1]}: {i}" for i in range(b2.shape[1]))
        return _drop_ports(constrain(both, (b2 - b1 @ c).T, named), ports)
    return coupled(first, second, ports, coupling, slope=slope, with_multiplier=True)


def _joined(
    first: LinearPHDAE, second: LinearPHDAE, ports: tuple[str, str], slope: Any
) -> tuple[LinearPHDAE, Any, Any]:
    """Direct sum of two linear systems, and the columns (n, m) of its B for the given port of each system.

    Raises ValueError for unknown ports, and if a ``slope`` is given, which only nonlinear systems support.
    """
    if slope is not None:
        raise ValueError(
            "slope= needs a function C of two PHDAE, but the C of linear systems is constant: leave slope= out"
        )
    check.lookup("port", ports[0], first.ports)
    check.lookup("port", ports[1], second.ports)
    both = join(first, second)
    return both, both.inputs(ports[0]), both.inputs(ports[1])


def _constant(coupling: Any, b1: Any, b2: Any) -> Any:
    if callable(coupling):
        raise ValueError("C must be constant for linear systems: a function of the states needs PHDAE")
    c = check.matrix("C", coupling, (b1.shape[1], b2.shape[1]))
    if sparse.issparse(b1):
        return sparse.csr_array(c)
    return dense(c)


def _drop_ports(system: LinearPHDAE, used: tuple[str, str]) -> LinearPHDAE:
    kept = {name: span for name, span in system.ports.items() if name not in used}
    causality = {name: kind for name, kind in system.causality.items() if name in kept}
    B, ports = system.B[:, spans.indices(kept.values())], spans.consecutive(spans.widths(kept))
    return replace(system, B=B, ports=ports, causality=causality)
