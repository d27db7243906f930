"""Power-preserving interconnections of two port-Hamiltonian systems ([flex] sec. 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from . import checks as check
from .linear import LinearPHDAE
from .phdae import PHDAE
from .space import Array, dense

MULTIPLIERS = "multipliers"
"""Part of the states of a :class:`PHDAE` that are multipliers of an interconnection."""
Coupling = Callable[[Array, Array], Any]


def join(*systems: LinearPHDAE) -> LinearPHDAE:
    """Systems side by side, not yet connected: block-diagonal E, J, R, B, G, and lifts of those that were projected."""
    if len({s.is_sparse for s in systems}) != 1:
        raise ValueError("systems to join must be all dense or all sparse, and at least one")
    return LinearPHDAE(
        **side_by_side(systems, lean=systems[0].is_sparse),
        ports=_merge("port", [s.ports for s in systems], [s.B.shape[1] for s in systems]),
        causality={name: kind for s in systems for name, kind in s.causality.items()},
        parts=_merge("part", [s.parts for s in systems], [lifted_size(s) for s in systems]),
        constraints=tuple(name for s in systems for name in s.constraints),
    )


def side_by_side(systems: Sequence[LinearPHDAE], *, lean: bool) -> dict[str, Any]:
    """E, J, R, B, G, ``kinetic`` and ``lift`` of systems side by side, all sparse or all dense, whatever they were."""
    made = {name: _diagonal([getattr(s, name) for s in systems], lean) for name in "EJRBG"}
    masks = [s.kinetic for s in systems if s.kinetic is not None]
    made["kinetic"] = np.concatenate(masks) if len(masks) == len(systems) else None
    if any(s.lift is not None for s in systems):
        made["lift"] = _diagonal([sparse.eye_array(s.size) if s.lift is None else s.lift for s in systems], lean)
    return made


def lifted_size(system: LinearPHDAE) -> int:
    """Number of the states that ``parts`` names."""
    return int(system.size if system.lift is None else system.lift.shape[0])


def _diagonal(blocks: list[Any], lean: bool) -> Any:
    made = sparse.block_diag([sparse.csr_array(b) for b in blocks]).tocsr()
    return made if lean else made.toarray()


def _merge(kind: str, names: list[Mapping[str, slice]], sizes: list[int]) -> dict[str, slice]:
    merged: dict[str, slice] = {}
    at = 0
    for own, size in zip(names, sizes, strict=True):
        own = {_fresh(name, merged): s for name, s in own.items()}
        twice = set(own) & set(merged)
        if twice:
            raise ValueError(f"{kind} names must differ between the systems, several have {sorted(twice)}")
        merged.update({name: slice(s.start + at, s.stop + at) for name, s in own.items()})
        at += size
    return merged


def _fresh(name: str, taken: Mapping[str, slice]) -> str:
    """Multipliers of several interconnections are numbered; every other name stays as it is."""
    if not name.startswith(MULTIPLIERS):
        return name
    number, base = 1, name
    while name in taken:
        number += 1
        name = f"{base} {number}"
    return name


def constrain(system: LinearPHDAE, rows: Any, names: tuple[str, ...] = ()) -> LinearPHDAE:
    """The system with further constraints 0 = rows x; x are its own states, also where it was projected before."""
    if rows.shape[1:] != (system.size,):
        raise ValueError(f"rows must have shape (any, {system.size}): x has {system.size} states, got {rows.shape}")
    stack = (lambda b: sparse.vstack(b).tocsr()) if system.is_sparse else np.vstack
    fresh = names or tuple(f"constraint {len(system.constraints) + i}" for i in range(rows.shape[0]))
    rows = sparse.csr_array(rows) if system.is_sparse else (rows.toarray() if sparse.issparse(rows) else rows)
    return replace(system, G=stack([system.G, rows]), constraints=system.constraints + tuple(fresh))


def gyrator(first: Any, second: Any, ports: tuple[str, str], coupling: Any) -> Any:
    """Gyrator interconnection ``u₁ = −C y₂, u₂ = Cᵀ y₁`` of two systems of one kind ([flex] sec. 5.1).

    ``ports`` names the port of the first and of the second system; C (m₁, m₂) is a matrix or, for :class:`PHDAE`, a
    function C(x₁, x₂). The interconnection keeps the power: the result has J₁₂ = −B₁ C B₂ᵀ and the other ports.
    """
    if isinstance(first, LinearPHDAE):
        both, b1, b2 = _side_by_side(first, second, ports)
        off = b1 @ _constant(coupling, b1, b2) @ b2.T
        return _drop_ports(replace(both, J=both.J - off + off.T), ports)
    return _nonlinear(first, second, ports, coupling, with_multiplier=False)


def transformer(first: Any, second: Any, ports: tuple[str, str], coupling: Any) -> Any:
    """Transformer interconnection ``u₁ = −C u₂, y₂ = Cᵀ y₁`` of two systems of one kind ([flex] eq. (41)-(42)).

    The force u₂ = λ is the multiplier of the velocity constraint 0 = Cᵀ y₁ − y₂: a row of G of a
    :class:`LinearPHDAE`, the states ``multipliers`` of a :class:`PHDAE`. C as in :func:`gyrator`.
    """
    if isinstance(first, LinearPHDAE):
        both, b1, b2 = _side_by_side(first, second, ports)
        c = _constant(coupling, b1, b2)
        named = tuple(f"{ports[0]} = {ports[1]}: {i}" for i in range(b2.shape[1]))
        return _drop_ports(constrain(both, (b2 - b1 @ c).T, named), ports)
    return _nonlinear(first, second, ports, coupling, with_multiplier=True)


def _side_by_side(first: LinearPHDAE, second: LinearPHDAE, ports: tuple[str, str]) -> tuple[LinearPHDAE, Any, Any]:
    """Both systems joined, and the inputs of the port of each; a port is looked up in its own system."""
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
    kept = {name: s for name, s in system.ports.items() if name not in used}
    columns = [i for s in kept.values() for i in range(s.start, s.stop)]
    causality = {name: kind for name, kind in system.causality.items() if name in kept}
    return replace(system, B=system.B[:, columns], ports=_renumber(kept), causality=causality)


def _renumber(ports: Mapping[str, slice]) -> dict[str, slice]:
    made, at = {}, 0
    for name, s in ports.items():
        made[name] = slice(at, at + s.stop - s.start)
        at += s.stop - s.start
    return made


def interchange(system: PHDAE, port: str) -> PHDAE:
    """The system with input and output of one port exchanged ([flex] eq. (43)).

    The former input becomes the multiplier and the new output; the former output is prescribed by the new input,
    which enters an algebraic row: the system is improper until it is interconnected.
    """
    inside = system.inputs(system.sample, port)
    n, m = inside.shape
    others = [k for k in system.ports if k != port]

    def outer(x: Array) -> Any:
        return np.hstack([dense(system.inputs(x[:n], k)) for k in others] or [np.zeros((n, 0))])

    def structure(x: Array) -> Array:
        b = dense(system.inputs(x[:n], port))
        return np.block([[dense(system.J(x[:n])), b], [-b.T, np.zeros((m, m))]])

    def inputs(x: Array) -> Array:
        return np.block([[outer(x), np.zeros((n, m))], [np.zeros((m, outer(x).shape[1])), np.eye(m)]])

    names = {k: system.ports[k] for k in others}
    names[port] = slice(0, m)
    return PHDAE(
        E=lambda x: _block_diag(system.E(x[:n]), np.zeros((m, m))),
        J=structure,
        R=lambda x: _block_diag(system.R(x[:n]), np.zeros((m, m))),
        B=inputs,
        z=lambda x: np.concatenate([system.z(x[:n]), x[n:]]),
        H=lambda x: system.H(x[:n]),
        sample=np.concatenate([system.sample, np.zeros(m)]),
        ports=_renumber(names),
        parts={**system.parts, f"{port} multiplier": slice(n, n + m)},
    )


def _nonlinear(first: PHDAE, second: PHDAE, ports: tuple[str, str], coupling: Any, *, with_multiplier: bool) -> PHDAE:
    n1, n2 = first.size, second.size
    c: Coupling = coupling if callable(coupling) else (lambda a, b: coupling)
    shape = (first.inputs(first.sample, ports[0]).shape[1], second.inputs(second.sample, ports[1]).shape[1])
    check.matrix("C", c(first.sample, second.sample), shape)
    m = shape[1] if with_multiplier else 0
    split = lambda x: (x[:n1], x[n1 : n1 + n2], x[n1 + n2 :])  # noqa: E731 - names the blocks once

    def structure(x: Array) -> Array:
        x1, x2, _ = split(x)
        b1 = dense(first.inputs(x1, ports[0])) @ dense(c(x1, x2))
        b2 = dense(second.inputs(x2, ports[1]))
        j1, j2 = dense(first.J(x1)), dense(second.J(x2))
        if not with_multiplier:
            return np.block([[j1, -b1 @ b2.T], [b2 @ b1.T, j2]])
        zero = np.zeros((n1, n2))
        return np.block([[j1, zero, -b1], [zero.T, j2, b2], [b1.T, -b2.T, np.zeros((m, m))]])

    def inputs(x: Array) -> Array:
        x1, x2, _ = split(x)
        left = [dense(first.inputs(x1, k)) for k in first.ports if k != ports[0]]
        right = [dense(second.inputs(x2, k)) for k in second.ports if k != ports[1]]
        blocks = _block_diag(np.hstack([np.zeros((n1, 0)), *left]), np.hstack([np.zeros((n2, 0)), *right]))
        return np.vstack([blocks, np.zeros((m, blocks.shape[1]))])

    def diagonal(name: str) -> Callable[[Array], Array]:
        return lambda x: _block_diag(
            getattr(first, name)(split(x)[0]), getattr(second, name)(split(x)[1]), np.zeros((m, m))
        )

    kept = [
        ({k: s for k, s in system.ports.items() if k != p}) for system, p in zip((first, second), ports, strict=True)
    ]
    widths = [sum(s.stop - s.start for s in own.values()) for own in kept]
    external = _merge("port", [_renumber(own) for own in kept], widths)
    named = _merge("part", [first.parts, second.parts], [n1, n2])
    return PHDAE(
        E=diagonal("E"),
        J=structure,
        R=diagonal("R"),
        B=inputs,
        z=lambda x: np.concatenate([first.z(split(x)[0]), second.z(split(x)[1]), split(x)[2]]),
        H=lambda x: first.H(split(x)[0]) + second.H(split(x)[1]),
        sample=np.concatenate([first.sample, second.sample, np.zeros(m)]),
        ports=external,
        parts={**named, _fresh(MULTIPLIERS, named): slice(n1 + n2, n1 + n2 + m)} if m else named,
    )


def _block_diag(*blocks: Any) -> Array:
    return sparse.block_diag([sparse.csr_array(dense(b)) for b in blocks]).toarray()
