"""Wiring of substructures: columns of their ports, and connections between them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE
from .links import Couple, Link, Tie


class Wiring:
    """Columns of B of all blocks, and the connections so far."""

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
        """Add a connection; ValueError if its ports are unknown, already connected, or do not match."""
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
        """Columns of a port that a connection uses, marked as taken."""
        own = self._find(port)
        places = range(own.size) if link.components is None else link.components
        if max(places, default=0) >= own.size:
            raise ValueError(f"{link}: no component {max(places)}, as port {port!r} has width {own.size}")
        for place in places:
            other = self._used.setdefault(int(own[place]), link)
            if other is not link:
                raise ValueError(f"component {place} of port {port!r} is connected twice: by {other} and by {link}")
        return own[list(places)]

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
        """Given matrix ``turn`` or ``gain`` checked for its shape, by default the identity."""
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
        """Constraint matrix S, sparse (rows, width)."""
        return self._assembled(self._rows, (len(self.row_names), self.width))

    def coupling(self) -> Any:
        """Coupling matrix K, sparse (width, width), skew-symmetric."""
        return self._assembled(self._gains, (self.width, self.width))

    def _assembled(self, entries: list[tuple[Array, Array, Array]], shape: tuple[int, int]) -> Any:
        if not entries:
            return sparse.csr_array(shape)
        rows, columns, values = (np.concatenate(x) for x in zip(*entries, strict=True))
        matrix = sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
        matrix.eliminate_zeros()
        return matrix

    def external(self, keep: Collection[str]) -> tuple[dict[str, slice], Array]:
        """Slices of the external ports by name, and their columns among those of all blocks."""
        for port in keep:
            self._find(port)
        ports: dict[str, slice] = {}
        columns: list[int] = []
        for port, own in self.columns.items():
            left = [int(i) for i in own if port in keep or int(i) not in self._used]
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
