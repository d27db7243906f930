"""Linear port-Hamiltonian descriptor systems with constant coefficients and constraints; their conversion to PHDAE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from ..display.tables import html_table, listed
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, BoolArray, ComplexArray
from ..numerics.factors.signature import check_semi_definite
from ..numerics.memo import read_only
from .derivatives import Derivatives
from .nonlinear import PHDAE
from .ports import NamedPorts


@checked
@dataclass(frozen=True, eq=False, repr=False)
class LinearPHDAE(NamedPorts):
    """Linear pH descriptor system ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x, y = Bᵀx``, H = ½ xᵀE x ([flex] eq. (45)).

    Conditions, enforced here: E = Eᵀ ⪰ 0, J = −Jᵀ, R = Rᵀ ⪰ 0, matching shapes, finite entries. Then
    dH/dt = yᵀu − xᵀR x. Matrices are all dense or all sparse; x (n,), u (m,), λ (g,).

    Parameters
    ----------
    E : matrix
        Energy matrix (n, n).
    J : matrix
        Structure matrix (n, n).
    R : matrix, optional
        Dissipation matrix (n, n); zero by default.
    B : matrix, optional
        Input matrix (n, m); no inputs by default.
    G : matrix, optional
        Constraint matrix (g, n); no constraints by default.
    ports : mapping
        Columns of B by name, as slices: ``yᵀu`` is the power into the system.
    causality : mapping
        "velocity" for ports whose input is a velocity and output a force; all others are "force" ports.
    parts : mapping
        Slices by name of the states *before* any elimination or reduction; see :meth:`expand`.
    constraints : tuple of str
        Names of the rows of G.
    kinetic : BoolArray or array, optional
        True for states that are velocities (the others are stresses); None if states are not split in this way.
    lift : matrix, optional
        Map from x to the states that ``parts`` names; None for the identity.

    Examples
    --------
    A mass of 2 kg on a spring of 8 N/m, with the velocity and the force of the spring as states:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eigenfrequencies
    >>> J, ports = np.array([[0.0, -1.0], [1.0, 0.0]]), {"push": slice(0, 1)}
    >>> system = LinearPHDAE(E=np.diag([2.0, 1.0 / 8.0]), J=J, B=np.eye(2)[:, :1], ports=ports)
    >>> eigenfrequencies(system, 1)
    array([2.])
    """

    E: Any
    J: Any
    R: Any = None
    B: Any = None
    G: Any = None
    ports: Mapping[str, slice] = field(default_factory=dict)
    causality: Mapping[str, Literal["force", "velocity"]] = field(default_factory=dict)
    parts: Mapping[str, slice] = field(default_factory=dict)
    constraints: tuple[str, ...] = ()
    kinetic: BoolArray | Array | None = None
    lift: Any = None
    remedy: ClassVar[str] = "see mechanism.linearize(pose), and of a body linear_body and reduce_body"

    def __post_init__(self) -> None:
        n = check.two_dimensional("E", self.E)[0]
        make = sparse.csr_array if sparse.issparse(self.E) else np.zeros
        for name, default in (("R", (n, n)), ("B", (n, 0)), ("G", (0, n))):
            if getattr(self, name) is None:
                object.__setattr__(self, name, make(default))
        inputs, rows = check.two_dimensional("B", self.B)[1], check.two_dimensional("G", self.G)[0]
        shapes = {"E": (n, n), "J": (n, n), "R": (n, n), "B": (n, inputs), "G": (rows, n)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if sparse.issparse(value) != sparse.issparse(self.E):
                raise ValueError(f"{name} must be {'sparse' if sparse.issparse(self.E) else 'dense'} like E")
            object.__setattr__(self, name, check.matrix(name, value, shape))
        check.symmetric("E", self.E)
        check_semi_definite("E", self.E)
        check.skew("J", self.J)
        check.symmetric("R", self.R)
        check_semi_definite("R", self.R)
        self._check_names()

    def _check_names(self) -> None:
        inputs = self.B.shape[1]
        ports = self.ports or ({"u": slice(0, inputs)} if inputs else {})
        check.spans("ports", ports, f"{inputs} columns of B")
        check.covering(ports, inputs)
        check.spans("parts", self.parts, "states")
        if not isinstance(self.causality, Mapping):
            raise ValueError(
                f"causality must be a dict of ports with 'force' or 'velocity', got {check.shown(self.causality)}"
            )
        for name, kind in self.causality.items():
            check.lookup("port", name, ports)
            check.choice(f"causality of port {name!r}", kind, ("force", "velocity"))
        names = self.constraints or tuple(f"constraint {i}" for i in range(self.G.shape[0]))
        if len(names) != self.G.shape[0]:
            raise ValueError(f"constraints must name the {self.G.shape[0]} rows of G, got {len(names)} names")
        if self.kinetic is not None and np.shape(self.kinetic) != (self.size,):
            raise ValueError(f"kinetic must have shape ({self.size},), got {np.shape(self.kinetic)}")
        if self.kinetic is not None:
            object.__setattr__(self, "kinetic", np.array(self.kinetic, dtype=bool))
        if self.lift is not None:
            if check.two_dimensional("lift", self.lift)[1] != self.size:
                raise ValueError(f"lift must have shape (any, {self.size}), got {np.shape(self.lift)}")
            given = check.numbers("lift", self.lift.data if sparse.issparse(self.lift) else self.lift)
            object.__setattr__(self, "lift", self.lift if hasattr(self.lift, "dtype") else given)
        object.__setattr__(self, "ports", read_only(ports))
        others = {name: kind for name, kind in self.causality.items() if kind != "force"}
        object.__setattr__(self, "causality", read_only(others))
        object.__setattr__(self, "parts", read_only(self.parts))
        object.__setattr__(self, "constraints", tuple(names))

    def __repr__(self) -> str:
        kind = "sparse" if self.is_sparse else "dense"
        return (
            f"LinearPHDAE({self.size} states, {self.G.shape[0]} constraints, {self.B.shape[1]} inputs, "
            f"ports {list(self.ports)}, {kind})"
        )

    def _repr_html_(self) -> str:
        """HTML table of sizes, ports and parts for notebooks."""
        matrices = [(name, " × ".join(map(str, np.shape(getattr(self, name))))) for name in ("E", "J", "R", "B", "G")]
        rows = [
            ("states", f"{self.size}, {'sparse' if self.is_sparse else 'dense'}"),
            ("constraints", listed(self.constraints) or "none"),
            ("ports", _described_slices(self.ports) or "none"),
            ("parts", _described_slices(self.parts) or "not named"),
            ("matrices", ", ".join(f"{name} {shape}" for name, shape in matrices)),
        ]
        return html_table(("LinearPHDAE", "E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x, y = Bᵀx"), rows)

    @property
    def size(self) -> int:
        """Number n of states."""
        return int(self.E.shape[0])

    @property
    def is_sparse(self) -> bool:
        """True if the matrices are sparse."""
        return sparse.issparse(self.E)

    @checked
    def energy(self, x: Array) -> float:
        """Energy H = ½ xᵀE x.

        Parameters
        ----------
        x : array
            State (n,).

        Returns
        -------
        float
            Energy [J].
        """
        x = check.array("x", x, (self.size,))
        return 0.5 * float(x @ (self.E @ x))

    @checked
    def inputs(self, port: str) -> Any:
        """Columns of B of a port.

        Parameters
        ----------
        port : str
            Name of a port.

        Returns
        -------
        array or sparse matrix
            Columns (n, m_port).
        """
        return self.B[:, check.lookup("port", port, self.ports)]

    def _split_too(self, port: str, parts: Mapping[str, int]) -> dict[str, Any]:
        kinds = {name: kind for name, kind in self.causality.items() if name != port}
        return {"causality": kinds | dict.fromkeys(parts, self.causality.get(port, "force"))}

    @checked
    def expand(self, x: Array | ComplexArray) -> Array:
        """States as they were before elimination or reduction, from states x (n,) or (n, k) of this system.

        ``parts`` are slices of these original states.

        Parameters
        ----------
        x : array or ComplexArray
            States (n,) or (n, k) of this system.

        Returns
        -------
        array
            States of the original system.
        """
        return x if self.lift is None else self.lift @ x

    def part(self, name: str, x: Array | ComplexArray) -> Array:
        """Named part of a state.

        Parameters
        ----------
        name : str
            Name of a part.
        x : array or ComplexArray
            State (n,) or (n, k).

        Returns
        -------
        array
            Rows of the part.
        """
        return self.expand(x)[check.lookup("part", name, self.parts)]


def unknowns(system: LinearPHDAE) -> int:
    """Number of unknowns of a system, from which computations choose their number of threads."""
    return system.size


def _described_slices(spans: Mapping[str, slice]) -> str:
    """Text with the names of slices, each with its number of entries in parentheses."""
    return listed(f"{name} ({at.stop - (at.start or 0)})" for name, at in spans.items())


def linear_system(system: Any, name: str = "system") -> LinearPHDAE:
    """Return the system unchanged; raises ValueError unless it is a :class:`LinearPHDAE`."""
    if not isinstance(system, LinearPHDAE):
        raise ValueError(f"{name} must be a LinearPHDAE, see mechanism.linearize(pose), got {type(system).__name__}")
    return system


@checked
def from_linear(system: LinearPHDAE) -> PHDAE:
    """Convert a linear system to a :class:`PHDAE`; its multipliers become states (part ``multipliers``).

    Parameters
    ----------
    system : LinearPHDAE
        A linear system, with or without constraints.

    Returns
    -------
    PHDAE
        System with the same equations as functions of the state.
    """
    whole = with_multipliers(system)
    parts = {**whole.parts, "multipliers": slice(system.size, whole.size)} if system.lift is None else {}
    identity = np.eye(whole.size)
    return PHDAE(
        E=whole.E,
        J=whole.J,
        R=whole.R,
        B=whole.B,
        z=lambda x: x,
        H=whole.energy,
        sample=np.ones(whole.size),
        ports=whole.ports,
        parts=parts,
        derivatives=Derivatives(costate=lambda x: identity),
    )


@checked
def with_multipliers(system: LinearPHDAE) -> LinearPHDAE:
    """Equivalent system with (x, λ) as states and no G: E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]].

    Parameters
    ----------
    system : LinearPHDAE
        A linear system with constraints ``0 = G x``.

    Returns
    -------
    LinearPHDAE
        System without constraints, with n + k states.
    """
    rows = system.G.shape[0]
    if not rows:
        return system
    n = system.size
    as_matrix = sparse.csr_array if system.is_sparse else (lambda a: a.toarray())
    return LinearPHDAE(
        E=as_matrix(sparse.block_diag([sparse.csr_array(system.E), sparse.csr_array((rows, rows))]).tocsr()),
        J=as_matrix(sparse.block_array([[system.J, system.G.T], [-system.G, None]]).tocsr()),
        R=as_matrix(sparse.block_diag([sparse.csr_array(system.R), sparse.csr_array((rows, rows))]).tocsr()),
        B=as_matrix(sparse.vstack([sparse.csr_array(system.B), sparse.csr_array((rows, system.B.shape[1]))]).tocsr()),
        ports=system.ports,
        causality=system.causality,
        parts=system.parts,
        kinetic=None if system.kinetic is None else np.append(system.kinetic, np.zeros(rows, dtype=bool)),
        lift=None
        if system.lift is None
        else sparse.hstack([system.lift, sparse.csr_array((len(system.expand(np.zeros(n))), rows))]),
    )
