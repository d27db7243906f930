"""Connections between ports of substructures: ties, clamps, couples, and the columns of these ports."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, Numbers
from ..systems.linear import LinearPHDAE


@dataclass(frozen=True, eq=False)
class Tie:
    """Connection of ports with equal velocities, made by :func:`tie`."""

    ports: tuple[str, ...]
    components: tuple[int, ...] | None
    turn: Array | None

    def __str__(self) -> str:
        return f"tie {'–'.join(self.ports)}"


@dataclass(frozen=True)
class Clamp:
    """Connection that keeps the velocity of a port at zero, made by :func:`clamp`."""

    port: str
    components: tuple[int, ...] | None

    @property
    def ports(self) -> tuple[str, ...]:
        """Name of the only port of the connection, as a tuple."""
        return (self.port,)

    def __str__(self) -> str:
        return f"clamp {self.port}"


@dataclass(frozen=True, eq=False)
class Couple:
    """Couple of two ports, each driven by the output of the other; see :func:`couple`."""

    ports: tuple[str, str]
    components: tuple[int, ...] | None
    gain: Array | None
    gyroscopic: bool

    def __str__(self) -> str:
        return f"couple {'–'.join(self.ports)}"


Link = Tie | Clamp | Couple


@checked
def tie(first: str, *others: str, components: Sequence[int] | None = None, turn: Any = None) -> Tie:
    """Tie ports of one causality: equal velocities, and forces that add to zero ([flex] eq. (41), (45)).

    For ports with forces as inputs: u₁ = λ, u₂ = −Tᵀλ, with a multiplier and a constraint ``0 = y₁ − T y₂`` for each
    component. For ports with velocities as inputs: u₁ = T λ, u₂ = λ, ``0 = Tᵀy₁ + y₂`` (forces).

    Parameters
    ----------
    first : str
        Port ``block.port``.
    *others : str
        Ports of other blocks, each tied to the first.
    components : sequence of int, optional
        Tied components of each port, e.g. (0, 1) of (x, y, rotation) for a hinge; all by default.
    turn : array_like, optional
        T (m₁, m₂), which maps velocities of the second port to the axes of the first; the identity by default.

    Returns
    -------
    Tie
        Connection for :func:`substructure`.
    """
    if not others or len({first, *others}) != 1 + len(others):
        raise ValueError(f"a tie needs two or more different ports, got {', '.join(map(repr, (first, *others)))}")
    if turn is not None and len(others) > 1:
        raise ValueError(f"turn= needs a tie of two ports, got {len(others) + 1}: tie them in pairs")
    return Tie((first, *others), _places(components), None if turn is None else check.array("turn", turn, (None, None)))


@checked
def clamp(port: str, *, components: Sequence[int] | None = None) -> Clamp:
    """Clamp a port: zero velocity, ``0 = y`` with a multiplier, or u = 0 for a port with a velocity as input.

    Parameters
    ----------
    port : str
        Port ``block.port``.
    components : sequence of int, optional
        Clamped components; all by default.

    Returns
    -------
    Clamp
        Connection for :func:`substructure`.
    """
    return Clamp(port, _places(components))


@checked
def couple(
    first: str,
    second: str,
    *,
    gain: Numbers | None = None,
    components: Sequence[int] | None = None,
    gyroscopic: bool = False,
) -> Couple:
    """Couple a force port f and a velocity port v: ``u_f = −C y_v, u_v = Cᵀ y_f``.

    This is the gyrator of [flex] sec. 5.1, without a multiplier. If C is the identity, both ports have one velocity.
    Between two ports of one causality it is a gyroscopic force, ``u₁ = −C y₂, u₂ = Cᵀ y₁``, proportional to velocities.

    Parameters
    ----------
    first : str
        Port ``block.port``.
    second : str
        Port of another block.
    gain : array_like, optional
        C or Cᵀ (m₁, m₂), in the order of the given ports; the identity by default.
    components : sequence of int, optional
        Coupled components of each port; all by default.
    gyroscopic : bool
        True allows two ports of one causality.

    Returns
    -------
    Couple
        Connection for :func:`substructure`.
    """
    if first == second:
        raise ValueError(f"a couple needs two different ports, got {first!r} twice")
    matrix = None if gain is None else check.array("gain", np.atleast_2d(gain), (None, None))
    return Couple((first, second), _places(components), matrix, gyroscopic)


def _places(components: Sequence[int] | None) -> tuple[int, ...] | None:
    if components is None:
        return None
    places = tuple(check.count(f"components[{k}]", i, 0) for k, i in enumerate(components))
    if not places or len(set(places)) != len(places):
        raise ValueError(f"components must be different indices, at least one, got {tuple(components)}")
    return places


class Wiring:
    """Ports of all blocks as columns of one matrix B, and the connections of these ports added so far."""

    def __init__(self, blocks: Mapping[str, LinearPHDAE]) -> None:
        self.blocks = blocks
        self.columns: dict[str, Array] = {}
        self.causality: dict[str, Literal["force", "velocity"]] = {}
        self.block_of: dict[str, int] = {}
        self.row_names: list[str] = []
        self._used: dict[int, Link] = {}
        self._links: list[tuple[int, int]] = []
        self._rows: list[tuple[Array, Array, Array]] = []  # entries of S
        self._gains: list[tuple[Array, Array, Array]] = []  # entries of K
        at = 0
        for i, (name, block) in enumerate(blocks.items()):
            for port, s in block.ports.items():
                full = f"{name}.{port}"
                if full in self.columns:
                    raise ValueError(f"two blocks have a port {full!r}: rename block {name!r} or the other")
                self.columns[full] = at + np.arange(s.start or 0, s.stop)
                self.causality[full] = block.causality.get(port, "force")
                self.block_of[full] = i
            at += block.B.shape[1]
        self.width = at

    def connect(self, link: Link) -> None:
        """Add a connection. Raises ValueError for ports that are unknown, already connected, or do not match."""
        columns = [self._take(port, link) for port in link.ports]
        self._links += [(self.block_of[link.ports[0]], self.block_of[port]) for port in link.ports[1:]]
        kinds = {self.causality[port] for port in link.ports}
        if isinstance(link, Couple):
            self._couple(link, columns, kinds)
        elif len(kinds) == 2:
            kinds_of_ports = ", ".join(f"{port!r} takes a {self.causality[port]}" for port in link.ports)
            raise ValueError(f"{link}: conflicting causality, {kinds_of_ports}; join such ports with couple")
        elif isinstance(link, Tie):
            self._tie(link, columns, kinds.pop())
        elif kinds == {"force"}:
            self._add_rows(link, [(columns[0], np.eye(columns[0].size))])

    def _take(self, port: str, link: Link) -> Array:
        """Mark the columns of a port that a connection uses as connected, and return their indices."""
        columns = self._find(port)
        places = range(columns.size) if link.components is None else link.components
        if max(places, default=0) >= columns.size:
            raise ValueError(f"{link}: no component {max(places)}, as port {port!r} has width {columns.size}")
        for place in places:
            other = self._used.setdefault(int(columns[place]), link)
            if other is not link:
                raise ValueError(f"component {place} of port {port!r} is connected twice: by {other} and by {link}")
        return columns[list(places)]

    def _find(self, port: str) -> Array:
        if port in self.columns:
            return self.columns[port]
        owners = [name for name in self.blocks if isinstance(port, str) and port.startswith(f"{name}.")]
        if not owners:
            raise ValueError(f"no block of port {port!r}: there are {', '.join(map(repr, self.blocks))}")
        owner = max(owners, key=len)
        check.lookup("port", port[len(owner) + 1 :], self.blocks[owner].ports, owner)
        raise AssertionError("ports of blocks are in the table of columns")

    def _tie(self, link: Tie, columns: list[Array], kind: str) -> None:
        first = columns[0]
        if kind == "velocity":  # the multiplier is the common velocity, and the forces add to zero
            turn = self._matrix(link, link.turn, "turn", (first.size, columns[1].size))
            others = [(c, self._matrix(link, None, "turn", (columns[1].size, c.size))) for c in columns[1:]]
            self._add_rows(link, [(first, turn.T), *others])
            return
        for port, other in zip(link.ports[1:], columns[1:], strict=True):
            turn = self._matrix(link, link.turn, "turn", (first.size, other.size))
            pair = link if len(columns) == 2 else Tie((link.ports[0], port), link.components, None)
            self._add_rows(pair, [(first, np.eye(first.size)), (other, -turn)])

    def _couple(self, link: Couple, columns: list[Array], kinds: set[Literal["force", "velocity"]]) -> None:
        (first, second), (a, b) = columns, link.ports
        if len(kinds) == 1 and not link.gyroscopic:
            raise ValueError(
                f"{link}: conflicting causality, both {a!r} and {b!r} take a {kinds.pop()}; "
                "tie them, or set gyroscopic=True for forces proportional to velocities"
            )
        gain = self._matrix(link, link.gain, "gain", (first.size, second.size))
        if len(kinds) == 2 and self.causality[a] == "velocity":
            gain = -gain
        rows, cols = (x.ravel() for x in np.meshgrid(first, second, indexing="ij"))
        self._gains += [(rows, cols, -gain.ravel()), (cols, rows, gain.ravel())]

    def _matrix(self, link: Link, given: Array | None, name: str, shape: tuple[int, int]) -> Array:
        """Matrix ``turn`` or ``gain`` of a connection with a given shape; by default the identity.

        A gain (1, 1) multiplies the identity. Raises ValueError for another shape, or without a matrix if it is not
        square.
        """
        if given is None and shape[0] != shape[1]:
            raise ValueError(
                f"{link}: the widths do not match, {shape[0]} and {shape[1]}; select components= or a {name}="
            )
        if given is not None and given.shape == (1, 1) and name == "gain" and shape[0] == shape[1]:
            return given[0, 0] * np.eye(shape[0])
        if given is not None and given.shape != shape:
            raise ValueError(f"{link}: {name} must have shape {shape} for ports of these widths, got {given.shape}")
        return np.eye(shape[0]) if given is None else given

    def _add_rows(self, link: Link, terms: list[tuple[Array, Array]]) -> None:
        at = len(self.row_names)
        count = terms[0][1].shape[0]
        for columns, weight in terms:
            i, j = np.indices(weight.shape)
            self._rows.append((at + i.ravel(), columns[j.ravel()], weight.ravel()))
        places = link.components if link.components is not None and len(link.components) == count else range(count)
        self.row_names += [f"{link}: {place}" for place in places]

    def rows(self) -> Any:
        """Constraint matrix S, sparse (constraints, inputs of all blocks)."""
        return self._assembled(self._rows, (len(self.row_names), self.width))

    def coupling(self) -> Any:
        """Coupling matrix K, sparse and skew-symmetric, with a row and a column for each input of the blocks."""
        return self._assembled(self._gains, (self.width, self.width))

    def _assembled(self, entries: list[tuple[Array, Array, Array]], shape: tuple[int, int]) -> Any:
        if not entries:
            return sparse.csr_array(shape)
        rows, columns, values = (np.concatenate(x) for x in zip(*entries, strict=True))
        matrix = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def external(self, keep: Collection[str]) -> tuple[dict[str, slice], Array]:
        """Slices of the external ports by name in the inputs that remain, and their indices in all inputs.

        Inputs that no connection uses are external, and so are all inputs of the ports in ``keep``.
        """
        for port in keep:
            self._find(port)
        ports: dict[str, slice] = {}
        columns: list[int] = []
        for port, of_port in self.columns.items():
            left = [int(i) for i in of_port if port in keep or int(i) not in self._used]
            if left:
                ports[port] = slice(len(columns), len(columns) + len(left))
                columns += left
        return ports, np.array(columns, dtype=int)

    def check_connected(self) -> None:
        """Raise ValueError unless connections join all blocks into one group."""
        count = len(self.blocks)
        first, second = np.array(self._links, dtype=int).reshape(-1, 2).T
        link = sparse.coo_array((np.ones(first.size), (first, second)), shape=(count, count))
        groups, label = connected_components(link, directed=False)
        if groups > 1:
            names = list(self.blocks)
            least = np.argmin(np.bincount(label))
            apart = ", ".join(repr(names[i]) for i in np.flatnonzero(label == least)[:8])
            raise ValueError(
                f"no connection joins {apart} to the other blocks ({groups} groups); disconnected=True allows this"
            )
