"""Composition of Dirac structures over shared ports, and interconnection of systems ([survey] sec. 6.1 and 6.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from scipy.linalg import block_diag

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.subspaces import left_null, unit_rows
from .graph import Graph
from .resistance import ModulatedResistance, Resistance
from .storage import side_by_side
from .structure import DiracStructure
from .system import PortHamiltonian


@checked
def product(*structures: DiracStructure) -> DiracStructure:
    """Direct product of structures, without connections; raises ValueError if two ports have the same name.

    Parameters
    ----------
    *structures : DiracStructure
        Structures whose ports have different names.

    Returns
    -------
    DiracStructure
        Structure with all ports of all structures.

    Raises
    ------
    ValueError
        If two ports have the same name.
    """
    ports: dict[str, slice] = {}
    at = 0
    for D in structures:
        _check_named(D)
        twice = sorted(set(ports) & set(D.ports))
        if twice:
            raise ValueError(f"ports of all structures must have different names, repeated are {twice}")
        ports |= spans.moved(D.ports, at)
        at += D.size
    J = block_diag(*(D.graph.J for D in structures))[:at, :at]
    flows = np.concatenate([np.zeros(0, dtype=bool), *(D.graph.flow_inputs for D in structures)])
    return DiracStructure.from_graph(Graph(J, flows), ports)


@checked
def compose(
    first: DiracStructure,
    second: DiracStructure,
    *,
    ports: Mapping[str, str] | None = None,
    gyrative: bool = False,
) -> DiracStructure:
    """The composition ``D_A ∥ D_B`` of two Dirac structures at shared ports, ``f_A = −f_B, e_A = e_B``.

    [survey] eq. (6.1)-(6.2). With the kernel forms ``F₁f₁ + E₁e₁ + F₂A f_A + E₂A e_A = 0`` of D_A and
    ``F₂B f_B + E₂B e_B + F₃f₃ + E₃e₃ = 0`` of D_B, ``M = [[F₂A, E₂A], [−F₂B, E₂B]]``, and rows L = [L_A, L_B] that span
    all solutions of ``L M = 0``, the composition is (theorem 6.2)

        F = [L_A F₁, L_B F₃],  E = [L_A E₁, L_B E₃]

    Parameters
    ----------
    first, second : DiracStructure
        The structures A and B, with named ports.
    ports : mapping, optional
        Shared ports, from names of A to names of B; by default ports of equal names.
    gyrative : bool
        True to connect by ``f_A = e_B, f_B = −e_A`` (eq. (6.8)) instead.

    Returns
    -------
    DiracStructure
        Structure of the remaining ports, those of A before those of B.

    Raises
    ------
    ValueError
        If no ports are shared, sizes differ, or remaining ports share a name; the message names them.

    Examples
    --------
    Two transformers in series are one with the product of their ratios:

    >>> from flexph.dirac import compose, transformer_structure
    >>> first = transformer_structure(("a", "shaft"), [[2.0]])
    >>> second = transformer_structure(("shaft", "b"), [[3.0]])
    >>> gears = compose(first, second)
    >>> list(gears.ports), gears.contains({"a": [-6.0], "b": [1.0]}, {"a": [1.0], "b": [6.0]})
    (['a', 'b'], True)
    """
    pairs = _pairs(first, second, ports)
    entries, other = _entries(first, pairs), _entries(second, pairs.values())
    FA, EA = _scaled(first)
    FB, EB = _scaled(second)
    # with f_A = x, e_A = y: f_B = −x, e_B = y, or gyrative e_B = x, f_B = −y
    shared = [EB[:, other], -FB[:, other]] if gyrative else [-FB[:, other], EB[:, other]]
    M = np.vstack([np.hstack([FA[:, entries], EA[:, entries]]), np.hstack(shared)])
    L = left_null(M)
    LA, LB = L[:, : first.size], L[:, first.size :]
    one, three = (np.setdiff1d(np.arange(D.size), used) for D, used in ((first, entries), (second, other)))
    names = [name for name in first.ports if name not in pairs]
    others = [name for name in second.ports if name not in set(pairs.values())]
    named = spans.consecutive_of(first.ports, names) | spans.consecutive_of(second.ports, others, one.size)
    F = np.hstack([LA @ FA[:, one], LB @ FB[:, three]])
    E = np.hstack([LA @ EA[:, one], LB @ EB[:, three]])
    return DiracStructure(F, E, named)


def _entries(D: DiracStructure, names: Iterable[str]) -> Array:
    return spans.indices(D.ports[name] for name in names)


def _pairs(first: DiracStructure, second: DiracStructure, ports: Mapping[str, str] | None) -> dict[str, str]:
    for D in (first, second):
        _check_named(D)
    pairs = {name: name for name in first.ports if name in second.ports} if ports is None else dict(ports)
    if not pairs:
        raise ValueError(
            f"no ports are shared: the first structure has {_listed(first)}, the second {_listed(second)}; "
            "name pairs with ports={'a': 'b'}, or combine them without connection by product(...)"
        )
    for one, two in pairs.items():
        a = check.lookup("port", one, first.ports, "the first structure")
        b = check.lookup("port", two, second.ports, "the second structure")
        if a.stop - a.start != b.stop - b.start:
            raise ValueError(
                f"shared ports must have one size: {one!r} has {a.stop - a.start} entries, {two!r} has "
                f"{b.stop - b.start}"
            )
    if len(set(pairs.values())) < len(pairs):
        raise ValueError(f"a port can be shared once, got {sorted(pairs.values())}")
    left = {n for n in first.ports if n not in pairs} & {n for n in second.ports if n not in set(pairs.values())}
    if left:
        raise ValueError(f"ports that are not shared must have different names, both structures have {sorted(left)}")
    return pairs


def _scaled(D: DiracStructure) -> tuple[Array, Array]:
    rows = unit_rows(np.hstack([D.F, D.E]))
    return rows[:, : D.size], rows[:, D.size :]


def _check_named(D: DiracStructure) -> None:
    if not D.ports:
        raise ValueError("a structure to connect must have named ports: DiracStructure(F, E, ports={...})")


def _listed(D: DiracStructure) -> str:
    return ", ".join(map(repr, D.ports)) or "none"


@checked
def interconnect(
    first: PortHamiltonian,
    second: PortHamiltonian,
    *,
    ports: Mapping[str, str] | None = None,
    gyrative: bool = False,
) -> PortHamiltonian:
    """Interconnection of two systems: ``D(x₁, x₂) = D₁(x₁) ∥ D₂(x₂)``, H = H₁ + H₂ ([survey] sec. 6.2).

    External ports are connected by ``u₁ = −u₂, y₁ = y₂``, or gyrative by ``u₁ = y₂, u₂ = −y₁``; names are given as in
    :func:`flexph.dirac.compose`. To interconnect through an element, compose it first with one of the two structures.

    Parameters
    ----------
    first : PortHamiltonian
        System with the energy H₁(x₁).
    second : PortHamiltonian
        System with the energy H₂(x₂).
    ports : mapping, optional
        External ports of the second system by those of the first; by default ports of equal names.
    gyrative : bool
        True to connect by ``u₁ = y₂, u₂ = −y₁``.

    Returns
    -------
    PortHamiltonian
        Combined system, with the remaining external ports.
    """
    n = first.size
    inner = {*first.storage, *first.resistive} | {*second.storage, *second.resistive}
    for name in inner & ({*(ports or {})} | {*(ports or {}).values()}):
        raise ValueError(f"port {name!r} is not external: it stores energy or resists")
    if ports is None:
        ports = {name: name for name in first.external if name in second.external}

    def whole(x: Array) -> DiracStructure:
        return compose(first.at(x[:n]), second.at(x[n:]), ports=ports, gyrative=gyrative)

    def relation(given: Resistance, own: slice) -> Resistance:
        """Resistive relation of a subsystem; if modulated, as a function of the energy variables of both subsystems.

        ``own`` is the slice of the energy variables of the subsystem.
        """
        if not isinstance(given, ModulatedResistance):
            return given
        return ModulatedResistance(lambda x: given.at(x[own]), energy.states(sample))

    energy = side_by_side(first.energy, second.energy, n)
    sample = np.concatenate([first.sample, second.sample])
    usual = first.lagrangian is None and second.lagrangian is None
    stored = {"H": energy.H, "gradient": energy.efforts, "hessian": energy.slopes} if usual else {"lagrangian": energy}
    return PortHamiltonian(
        structure=whole(energy.states(sample)) if first.is_constant and second.is_constant else whole,
        sample=sample,
        storage=(*first.storage, *second.storage),
        resistive={
            **{name: relation(r, slice(0, n)) for name, r in first.resistive.items()},
            **{name: relation(r, slice(n, None)) for name, r in second.resistive.items()},
        },
        **stored,
    )
