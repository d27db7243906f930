"""Power-preserving interconnections of two port-Hamiltonian systems ([flex] sec. 5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from ..discretisation.over_a_step import AtState, OverStep, View, all_paired, middle_of
from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .feedthrough import PART as FED
from .feedthrough import without_feedthrough

MULTIPLIERS = "multipliers"
"""Part of the states of a :class:`PHDAE` that are multipliers of an interconnection."""
Coupling = Callable[[Array, Array], Any]


def join(*systems: LinearPHDAE) -> LinearPHDAE:
    """Systems side by side, not yet connected.

    Parameters
    ----------
    *systems : LinearPHDAE
        Systems that are all dense or all sparse, with different names of ports and parts.

    Returns
    -------
    LinearPHDAE
        Block-diagonal E, J, R, B and G, and the lifts of those that were projected.

    Raises
    ------
    ValueError
        For dense systems beside sparse ones, and where two have a port or a part of one name.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE, join
    >>> cart = LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), parts={"cart": slice(0, 1)})
    >>> wagon = LinearPHDAE(E=2.0 * np.eye(1), J=np.zeros((1, 1)), parts={"wagon": slice(0, 1)})
    >>> join(cart, wagon).E.diagonal()
    array([1., 2.])
    """
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
    """Multipliers and feed-through of several systems are numbered; every other name stays as it is."""
    if not name.startswith((MULTIPLIERS, FED)):
        return name
    number, base = 1, name
    while name in taken:
        number += 1
        name = f"{base} {number}"
    return name


def constrain(system: LinearPHDAE, rows: Any, names: tuple[str, ...] = ()) -> LinearPHDAE:
    """The system with further constraints 0 = rows x.

    Parameters
    ----------
    system : LinearPHDAE
        The system; x are its own states, also where it was projected before.
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
        For rows of another width than the states.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE, constrain
    >>> masses = LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)))
    >>> constrain(masses, np.array([[1.0, -1.0]]), ("rod",)).constraints
    ('rod',)
    """
    if rows.shape[1:] != (system.size,):
        raise ValueError(f"rows must have shape (any, {system.size}): x has {system.size} states, got {rows.shape}")
    stack = (lambda b: sparse.vstack(b).tocsr()) if system.is_sparse else np.vstack
    fresh = names or tuple(f"constraint {len(system.constraints) + i}" for i in range(rows.shape[0]))
    rows = sparse.csr_array(rows) if system.is_sparse else (rows.toarray() if sparse.issparse(rows) else rows)
    return replace(system, G=stack([system.G, rows]), constraints=system.constraints + tuple(fresh))


def gyrator(first: Any, second: Any, ports: tuple[str, str], coupling: Any) -> Any:
    """Gyrator interconnection ``u₁ = −C y₂, u₂ = Cᵀ y₁`` of two systems of one kind ([flex] sec. 5.1).

    The interconnection keeps the power: the result has J₁₂ = −B₁ C B₂ᵀ and the other ports.

    Means of :class:`PHDAE` go along, C in the middle; where one system has a discrete gradient pair of its own and the
    other has none, that takes the one of ``gonzalez`` (:func:`flexph.with_pair`). Inputs and outputs of a system with
    feed-through become states first (:func:`flexph.interconnection.feedthrough.without_feedthrough`): each output
    contains the other's.

    Parameters
    ----------
    first, second : LinearPHDAE or PHDAE
        The systems, both of one kind.
    ports : tuple of str
        The port of the first and that of the second system.
    coupling : matrix or function
        C (m₁, m₂), or, for :class:`PHDAE`, a function C(x₁, x₂).

    Returns
    -------
    LinearPHDAE or PHDAE
        One system with the states of both.

    Raises
    ------
    ValueError
        For unknown ports, for C of another shape, and for a function C of linear systems.

    Examples
    --------
    A mass moves a spring; power goes from one to the other:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eigenfrequencies, gyrator
    >>> one, none = np.eye(1), np.zeros((1, 1))
    >>> mass = LinearPHDAE(E=2.0 * one, J=none, B=one, ports={"force": slice(0, 1)})
    >>> spring = LinearPHDAE(E=one / 8.0, J=none, B=one, ports={"rate": slice(0, 1)}, causality={"rate": "velocity"})
    >>> oscillator = gyrator(mass, spring, ("force", "rate"), one)
    >>> eigenfrequencies(oscillator).round(9)  # √(8/2)
    array([2.])
    """
    if isinstance(first, LinearPHDAE):
        both, b1, b2 = _side_by_side(first, second, ports)
        off = b1 @ _constant(coupling, b1, b2) @ b2.T
        return _drop_ports(replace(both, J=both.J - off + off.T), ports)
    return _nonlinear(first, second, ports, coupling, with_multiplier=False)


def transformer(first: Any, second: Any, ports: tuple[str, str], coupling: Any) -> Any:
    """Transformer interconnection ``u₁ = −C u₂, y₂ = Cᵀ y₁`` of two systems of one kind ([flex] eq. (41)-(42)).

    The force u₂ = λ is the multiplier of the velocity constraint 0 = Cᵀ y₁ − y₂: a row of G of a :class:`LinearPHDAE`,
    the states ``multipliers`` of a :class:`PHDAE`. Means go along as of :func:`gyrator`: where C is constant and h ȳ
    are the changes of places, as of external ports of mechanisms and of multibody systems, the places do not drift
    apart.

    Parameters
    ----------
    first, second : LinearPHDAE or PHDAE
        The systems, both of one kind.
    ports : tuple of str
        The port of the first and that of the second system.
    coupling : matrix or function
        C (m₁, m₂), or, for :class:`PHDAE`, a function C(x₁, x₂).

    Returns
    -------
    LinearPHDAE or PHDAE
        One system with the states of both and the multipliers.

    Raises
    ------
    ValueError
        For unknown ports, for C of another shape, and for a function C of linear systems.

    Examples
    --------
    Two masses on a lever of ratio 3:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eliminate, transformer
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
    which enters an algebraic row: the system is improper until it is interconnected, unless it feeds through there.
    """
    system = without_feedthrough(system)
    n, m = system.inputs(system.sample, port).shape
    others = [i for k, s in system.ports.items() if k != port for i in range(s.start, s.stop)]
    middle = middle_of(system)

    def made(name: str, view: View, lam: Array) -> Array:
        if name == "z":
            return np.concatenate([view("z"), lam])
        if name == "J":
            b = view("B")[:, system.ports[port]]
            return np.block([[view("J"), b], [-b.T, np.zeros((m, m))]])
        if name == "B":
            return _block_diag(view("B")[:, others], np.eye(m))
        return _block_diag(view(name), np.zeros((m, m)))

    def at(name: str, x: Array) -> Array:
        return made(name, AtState(system, x[:n]), x[n:])

    def over(name: str, x0: Array, x1: Array) -> Array:
        return made(name, OverStep(system, middle, x0[:n], x1[:n]), x1[n:])

    names = {k: s for k, s in system.ports.items() if k != port}
    names[port] = slice(0, m)
    return PHDAE(
        E=partial(at, "E"),
        J=partial(at, "J"),
        R=partial(at, "R"),
        B=partial(at, "B"),
        z=partial(at, "z"),
        H=lambda x: system.H(x[:n]),
        sample=np.concatenate([system.sample, np.zeros(m)]),
        ports=_renumber(names),
        parts={**system.parts, f"{port} multiplier": slice(n, n + m)},
        means={name: partial(over, name) for name in _with_structure(system.means)},
        cautions=tuple(partial(_of_part, caution, slice(0, n)) for caution in system.cautions),
        start_defects=tuple(partial(_of_part, defect, slice(0, n)) for defect in system.start_defects),
    )


def _with_structure(means: Iterable[str]) -> list[str]:
    """The means of a joined system: B̄ of a port that is joined is in its J̄."""
    return sorted({*means, "J"} if "B" in means else {*means})


def _nonlinear(first: PHDAE, second: PHDAE, ports: tuple[str, str], coupling: Any, *, with_multiplier: bool) -> PHDAE:
    first, second = without_feedthrough(first), without_feedthrough(second)
    shape = (first.inputs(first.sample, ports[0]).shape[1], second.inputs(second.sample, ports[1]).shape[1])
    c: Coupling = coupling if callable(coupling) else (lambda a, b: coupling)
    check.matrix("C", c(first.sample, second.sample), shape)
    joint = _Joint(first, second, ports, c, shape[1] if with_multiplier else 0)
    n1, n2, m = first.size, second.size, joint.multipliers
    kept = [
        ({k: s for k, s in system.ports.items() if k != p}) for system, p in zip((first, second), ports, strict=True)
    ]
    widths = [sum(s.stop - s.start for s in own.values()) for own in kept]
    external = _merge("port", [_renumber(own) for own in kept], widths)
    named = _merge("part", [first.parts, second.parts], [n1, n2])
    return PHDAE(
        E=partial(joint.at, "E"),
        J=partial(joint.at, "J"),
        R=partial(joint.at, "R"),
        B=partial(joint.at, "B"),
        z=partial(joint.at, "z"),
        H=lambda x: first.H(x[:n1]) + second.H(x[n1 : n1 + n2]),
        sample=np.concatenate([first.sample, second.sample, np.zeros(m)]),
        ports=external,
        parts={**named, _fresh(MULTIPLIERS, named): slice(n1 + n2, n1 + n2 + m)} if m else named,
        means=joint.means(),
        cautions=(
            *(partial(_of_part, caution, slice(0, n1)) for caution in first.cautions),
            *(partial(_of_part, caution, slice(n1, n1 + n2)) for caution in second.cautions),
        ),
        start_defects=(
            *(partial(_of_part, defect, slice(0, n1)) for defect in first.start_defects),
            *(partial(_of_part, defect, slice(n1, n1 + n2)) for defect in second.start_defects),
        ),
    )


def _of_part(of: Callable[..., str | None], part: slice, x: Array, *others: float) -> str | None:
    return of(x[part], *others)


class _Joint:
    """Two systems joined at a port of each: the matrices of the whole from those of both, at a state or over a step."""

    def __init__(
        self, first: PHDAE, second: PHDAE, ports: tuple[str, str], coupling: Coupling, multipliers: int
    ) -> None:
        self.systems, self.ports, self.coupling, self.multipliers = (first, second), ports, coupling, multipliers
        self.paired = all_paired(self.systems)
        self.middles = tuple(middle_of(s) for s in self.paired)

    def means(self) -> dict[str, Callable[[Array, Array], Any]]:
        """Means of all that one of the systems has a mean of."""
        names = _with_structure({name for s in self.paired for name in s.means})
        return {name: partial(self.over, name) for name in names}

    def at(self, name: str, x: Array) -> Any:
        """E, J, R, B or z at a state."""
        one, two, lam = self._split(x)
        return self.made(name, (AtState(self.systems[0], one), AtState(self.systems[1], two)), lam)

    def over(self, name: str, x0: Array, x1: Array) -> Any:
        """Their means over a step; multipliers are stage values."""
        (a0, b0, _), (a1, b1, lam) = self._split(x0), self._split(x1)
        one, two = OverStep(self.paired[0], self.middles[0], a0, a1), OverStep(self.paired[1], self.middles[1], b0, b1)
        return self.made(name, (one, two), lam)

    def _split(self, x: Array) -> tuple[Array, Array, Array]:
        n1, n2 = (s.size for s in self.systems)
        return x[:n1], x[n1 : n1 + n2], x[n1 + n2 :]

    def made(self, name: str, views: tuple[View, View], lam: Array) -> Any:
        """A matrix of the whole, or z."""
        m = self.multipliers
        if name == "z":
            return np.concatenate([views[0]("z"), views[1]("z"), lam])
        if name == "J":
            return self._structure(*views)
        if name == "B":
            inner = [v("B")[:, self._others(k)] for k, v in enumerate(views)]
            return np.vstack([_block_diag(*inner), np.zeros((m, sum(b.shape[1] for b in inner)))])
        return _block_diag(views[0](name), views[1](name), np.zeros((m, m)))

    def _structure(self, one: View, two: View) -> Array:
        b1, b2 = (v("B")[:, s.ports[p]] for v, s, p in zip((one, two), self.systems, self.ports, strict=True))
        b1 = b1 @ dense(self.coupling(one.place, two.place))
        j1, j2, m = one("J"), two("J"), self.multipliers
        if not m:
            return np.block([[j1, -b1 @ b2.T], [b2 @ b1.T, j2]])
        zero = np.zeros((len(j1), len(j2)))
        return np.block([[j1, zero, -b1], [zero.T, j2, b2], [b1.T, -b2.T, np.zeros((m, m))]])

    def _others(self, k: int) -> list[int]:
        """Columns of B of the ports that are left."""
        spans = [s for name, s in self.systems[k].ports.items() if name != self.ports[k]]
        return [i for s in spans for i in range(s.start, s.stop)]


def _block_diag(*blocks: Array) -> Array:
    made = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for b in blocks:
        made[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return made
