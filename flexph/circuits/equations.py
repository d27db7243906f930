"""Equations of a circuit in the efforts of its tree: tree voltages and link currents ([survey] eq. (2.26)).

Q are charges, φ fluxes, v voltages and i currents of elements, e potentials of nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics.arrays import Array
from ..numerics.memo import read_only
from ..numerics.subspaces import echelon, null_space
from .elements import Element, Resistor, Source, Storage, TwoPort
from .tree import Edge, Tree


@dataclass(frozen=True, eq=False)
class Constraint:
    """Constraint by a loop of capacitors and voltage sources, a cutset of inductors and current sources, or gyrators.

    ``0 = Σ ± v`` of the loop or ``0 = Σ ± i`` of the cutset relates charges or fluxes to each other and to inputs; its
    multiplier, of index 2, is the current of the dependent capacitor or the voltage of the dependent inductor. A
    constraint of kind "gyrator" is a sum of algebraic equations without algebraic states: ``v₁ = −r i₂`` with v₁ of a
    capacitor and i₂ of an inductor.

    Attributes
    ----------
    kind : str
        Kind of constraint: "loop", "cutset" or "gyrator".
    state : str
        Name of the multiplier.
    elements : tuple of str
        Elements whose charges or fluxes are related.
    sources : tuple of str
        Sources whose inputs are part of the constraint.
    switches : tuple of str
        Closed switches in the loop, open ones in the cutset.
    gyrators : tuple of str
        Gyrators in the constraint.
    weights : mapping
        Weight of each equation in the sum of the kind "gyrator", by the name of the state in whose row it is.
    """

    kind: str
    state: str
    elements: tuple[str, ...]
    sources: tuple[str, ...]
    switches: tuple[str, ...]
    gyrators: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", read_only(dict(self.weights) or {self.state: 1.0}))

    def __str__(self) -> str:
        if self.kind == "gyrator":
            given = f", given by {', '.join(self.sources)}" if self.sources else ""
            tied = f"charges and fluxes of {', '.join(self.elements)} are dependent{given}"
            return f"gyrator {', '.join(self.gyrators)}: {tied}"
        others = [*self.sources, *self.switches]
        with_others = f" with {', '.join(others)}" if others else ""
        tied = "charges" if self.kind == "loop" else "fluxes"
        given = f", given by {', '.join(self.sources)}" if self.sources else ""
        return f"{self.kind} of {', '.join(self.elements)}{with_others}: {tied} depend on each other{given}"


@dataclass(frozen=True)
class Loss:
    """Diagonal entry (row, row) of R for a resistor: a resistance or conductance.

    It is constant, or the quotient ρ(s)/s with the state s of this row and the relation ρ.
    """

    name: str
    row: int
    relation: Relation

    @property
    def constant(self) -> float | None:
        """Value of the entry, or None if it depends on the state."""
        return self.relation.parameters[0] if self.relation.kind == "viscous" else None


@dataclass(frozen=True)
class Effort:
    """Effort of an edge, given by the index of a state or of an input; it is zero if both are None."""

    state: int | None = None
    input: int | None = None


@dataclass(eq=False)
class Assembly:
    """Equations ``E ẋ = (J − R(x)) z + B u`` of a circuit, assembled from its tree and elements.

    ``entries`` are the entries (row, column, value) of J, ``storages`` the storage elements by state, ``losses`` the
    entries of R, ``efforts`` the voltages of tree edges and currents of links. If ``names`` are given, such as the
    state names of all modes of a circuit with switches, states have their indices in ``names``, and states that this
    circuit does not use are held at zero, 0 = −x.
    """

    tree: Tree
    elements: Mapping[str, Element]
    names: list[str] = field(default_factory=list)
    entries: list[tuple[int, int, float]] = field(default_factory=list)
    storages: dict[int, str] = field(default_factory=dict)
    losses: list[Loss] = field(default_factory=list)
    efforts: dict[int, Effort] = field(default_factory=dict)
    constraints: list[Constraint] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._used: set[str] = set()
        self.inputs = [name for name, element in self.elements.items() if isinstance(element, Source)]
        self._outer: list[tuple[int, int, float]] = []
        self._relays: dict[int, int] = {}
        for name, element in self.elements.items():  # charges and fluxes come first
            if isinstance(element, Storage):
                self.storages[self._state(name)] = name
        for row, edge in enumerate(self.tree.tree):
            self.efforts[edge] = self._effort(row, self.tree.edges[edge], in_tree=True)
        for column, edge in enumerate(self.tree.links):
            self.efforts[edge] = self._effort(column, self.tree.edges[edge], in_tree=False)
        self._couple_gyrators()
        self._connect()
        idle = [k for k, name in enumerate(self.names) if name not in self._used]
        self._tie_by_gyrators(idle)
        self.losses += [Loss("", row, Relation("viscous", (1.0,))) for row in idle]

    @property
    def size(self) -> int:
        """Number of states."""
        return len(self.names)

    @property
    def J(self) -> Array:
        """Skew-symmetric matrix J (n, n) of the network."""
        J = np.zeros((self.size, self.size))
        for row, column, value in self.entries:
            J[row, column] += value
            J[column, row] -= value
        return J

    @property
    def B(self) -> Array:
        """Input matrix B (n, m)."""
        B = np.zeros((self.size, len(self.inputs)))
        for row, column, value in self._outer:
            B[row, column] += value
        return B

    def _state(self, name: str) -> int:
        self._used.add(name)
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _effort(self, place: int, edge: Edge, *, in_tree: bool) -> Effort:
        """Effort of an edge: the voltage of a tree edge, or the current of a link.

        ``place`` is the index of the edge among all tree edges, or all links. An effort that is neither a stored state
        nor an input becomes an algebraic state with 0 = (network) − (law).
        """
        element = self.elements[edge.name]
        kind, stored, dependent = (
            ("voltage", "capacitor", "inductor") if in_tree else ("current", "inductor", "capacitor")
        )
        letter = "v" if in_tree else "i"
        if edge.role == stored:
            return Effort(self.names.index(edge.name))
        if edge.role == dependent:
            others = self.tree.cutset(place) if in_tree else self.tree.loop(place)
            return self._multiplier(edge, f"{letter}({edge.name})", others, "cutset" if in_tree else "loop")
        if isinstance(element, Resistor):
            state = self._state(f"{letter}({edge.name})")
            self._add_loss(edge, element, state, kind)
            return Effort(state)
        if isinstance(element, TwoPort) and element.kind == "gyrator":
            return Effort(self._state(f"{letter}({edge.name}.{edge.pair + 1})"))
        return Effort(input=self.inputs.index(edge.name)) if edge.role == f"{kind} source" else Effort()

    def _add_conjugate_state(self, state: int, name: str) -> int:
        """Add an algebraic state for the variable that is conjugate to the effort of an edge.

        The row of the effort, ``state``, becomes 0 = (network) − (new state). The law of the element belongs to the row
        of the new state, whose index is returned.
        """
        other = self._state(name)
        self.entries.append((state, other, -1.0))
        return other

    def _add_loss(self, edge: Edge, element: Resistor, state: int, kind: str) -> None:
        """Add the entry of R of a resistor, in the row of its effort ``state`` if the relation depends on this effort.

        Otherwise the conjugate effort becomes another state, and the entry is in its row. ``kind`` of the effort is
        "voltage" or "current".
        """
        if element.control == "either":
            value = element.relation.parameters[0]
            relation = element.relation if kind == "current" else Relation("viscous", (1.0 / value,))
            self.losses.append(Loss(edge.name, state, relation))
            return
        if element.control != kind:
            letter = "i" if kind == "voltage" else "v"
            state = self._add_conjugate_state(state, f"{letter}({edge.name})")
        self.losses.append(Loss(edge.name, state, element.relation))

    def _multiplier(self, edge: Edge, name: str, others: Sequence[Edge], kind: str) -> Effort:
        """Add the constraint 0 = (network) − H′ of a dependent storage element, with a multiplier.

        The multiplier, which is returned as the effort of the edge, is in Q̇ = i or φ̇ = v of this element. ``others``
        are the edges of the loop or cutset (``kind``).
        """
        stored, state = self.names.index(edge.name), self._state(name)
        self.entries.append((stored, state, 1.0))
        storing = tuple(e.name for e in others if isinstance(self.elements[e.name], Storage))
        sources = tuple(e.name for e in others if isinstance(self.elements[e.name], Source))
        switches = tuple(e.name for e in others if e.role in ("closed", "open"))
        self.constraints.append(Constraint(kind, name, storing, sources, switches))
        return Effort(state)

    def _couple_gyrators(self) -> None:
        """Enter the laws v₁ = −r i₂, v₂ = r i₁ of gyrators in J, between their voltages if both are tree voltages.

        Otherwise they are entered between the currents, with additional states for currents of tree edges.
        """
        for name, element in self.elements.items():
            if not (isinstance(element, TwoPort) and element.kind == "gyrator"):
                continue
            both = [k for k, edge in enumerate(self.tree.edges) if edge.name == name]
            rows = [self.efforts[k].state for k in both]
            in_tree = [k in self.tree.tree for k in both]
            first, second = (row for row in rows if row is not None)
            if all(in_tree):
                self.entries.append((first, second, -1.0 / element.ratio))
                continue
            if in_tree[0]:
                first = self._add_conjugate_state(first, f"i({name}.1)")
            if in_tree[1]:
                second = self._add_conjugate_state(second, f"i({name}.2)")
            self.entries.append((first, second, element.ratio))

    def _tie_by_gyrators(self, idle: Sequence[int]) -> None:
        """Add the constraints that gyrators cause: sums of algebraic equations in which no algebraic state occurs.

        ``idle`` are the states that this circuit does not use.
        """
        gyrators = [n for n, e in self.elements.items() if isinstance(e, TwoPort) and e.kind == "gyrator"]
        if not gyrators:
            return
        known = {self.names.index(c.state) for c in self.constraints}
        rows = [k for k in range(self.size) if k not in self.storages and k not in known and k not in idle]
        J, lossy = self.J, {loss.row for loss in self.losses}
        inner = J[np.ix_(rows, rows)] - np.diag([1.0 if k in lossy else 0.0 for k in rows])
        kernel = null_space(inner)  # kernel of rows and columns alike, as J is skew and the lossy part must vanish
        for weights in echelon(kernel)[0].T if kernel.shape[1] else ():
            self._tied({rows[i]: float(w) for i, w in enumerate(weights) if w}, gyrators)

    def _tied(self, weights: Mapping[int, float], gyrators: Sequence[str]) -> None:
        row = sum((w * self.J[k] for k, w in weights.items()), np.zeros(self.size))
        fed = sum((w * self.B[k] for k, w in weights.items()), np.zeros(len(self.inputs)))
        level = 1e-10 * max(np.abs(row).max(initial=0.0), np.abs(fed).max(initial=0.0))
        storing = tuple(name for k, name in self.storages.items() if abs(row[k]) > level)
        sources = tuple(name for name, value in zip(self.inputs, fed, strict=True) if abs(value) > level)
        names = {self.names[k]: w for k, w in weights.items()}
        through = tuple(g for g in gyrators if any(f"({g}." in name for name in names))
        if not storing:
            given = f"inputs of {', '.join(map(repr, sources))} are tied" if sources else "their currents are left open"
            raise ValueError(f"the circuit has no unique solution: by gyrator {', '.join(map(repr, through))} {given}")
        state = max(names, key=lambda name: abs(names[name]))
        self.constraints.append(Constraint("gyrator", state, storing, sources, (), through, names))

    def _connect(self) -> None:
        """Enter Kirchhoff's laws ``v_links = Mᵀ v_tree, i_tree = −M i_links`` in J and B."""
        for (row, column), value in np.ndenumerate(self.tree.M):
            voltage, current = self.efforts[self.tree.tree[row]], self.efforts[self.tree.links[column]]
            if value == 0.0:
                continue
            if voltage.state is not None and current.state is not None:
                self.entries.append((voltage.state, current.state, -float(value)))
            elif voltage.input is not None and current.state is not None:
                self._outer.append((current.state, voltage.input, float(value)))
            elif voltage.state is not None and current.input is not None:
                self._outer.append((voltage.state, current.input, float(value)))  # it delivers: −i = u
            elif voltage.input is not None and current.input is not None:
                self._outer.append((self._source_state(voltage.input), current.input, float(value)))

    def _source_state(self, source: int) -> int:
        """Index of the algebraic state u of a voltage source that carries currents of current sources.

        It is added at its first use, with its current i as a second state and the equations 0 = i − Σ currents, 0 = u −
        v. They are needed because power flows from one input to another, which y = Bᵀz does not contain.
        """
        name = self.inputs[source]
        if source not in self._relays:
            state = self._relays[source] = self._state(f"v({name})")
            self._outer.append((self._add_conjugate_state(state, f"i({name})"), source, -1.0))
        return self._relays[source]
