"""Dirac structures over named ports and their canonical form ([survey] sec. 2.1 and 3.1, [rigid] definitions 3-4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arguments import checked
from ..numerics.arrays import Array, BoolArray
from ..numerics.memo import read_only
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import MEMBER, RANK, left_null, principal_angles, relative, unit_columns, unit_rows
from .graph import LARGEST, Graph, check_power, graph_of
from .named_ports import NamedPorts, Values


@checked
@dataclass(frozen=True, eq=False)
class CanonicalForm:
    """Coordinates ``f = T (f_q, f_p, f_r, f_s)``, ``e = T⁻ᵀ (e_q, e_p, e_r, e_s)`` with ([survey] eq. (3.7))

        f_q = −e_p,  f_p = e_q,  f_r = 0,  e_s = 0

    Attributes
    ----------
    basis : array
        T (n, n).
    pairs : int
        Number of entries of q and of p.
    fixed : int
        Number of entries of r.
    free : int
        Number of entries of s.
    """

    basis: Array
    pairs: int
    fixed: int
    free: int

    def __post_init__(self) -> None:
        n = 2 * self.pairs + self.fixed + self.free
        object.__setattr__(self, "basis", check.array("basis", self.basis, (n, n)))

    def image(self) -> tuple[Array, Array]:
        """Matrices K and L of the image form ``{(K λ, L λ)}`` with λ = (e_q, e_p, e_r, f_s)."""
        n, k, r = len(self.basis), self.pairs, self.fixed
        flows, efforts = np.zeros((n, n)), np.zeros((n, n))
        one = np.arange(k)
        flows[one, k + one], flows[k + one, one] = -1.0, 1.0
        s = np.arange(2 * k + r, n)
        flows[s, s] = 1.0
        inputs = np.arange(2 * k + r)
        efforts[inputs, inputs] = 1.0
        return self.basis @ flows, np.linalg.solve(self.basis.T, efforts)


def canonical_form(J: Array, G: Array) -> CanonicalForm:
    """Canonical coordinates of ``{f = J e + G λ, Gᵀe = 0}``.

    The columns of T for s span im G. In the orthogonal complement of im G, the columns for r span the kernel of J, and
    each pair for q and p a plane in which J rotates, scaled by the square root of the frequency of this rotation. T is
    orthogonal up to this scaling.
    """
    of_G = singular_vectors(G, tolerance=RANK)
    s, kept = of_G.range, of_G.left_null
    inner = kept.T @ J @ kept
    turning, vectors = np.linalg.eigh(1j * (0.5 * (inner - inner.T)))
    level = RANK * max(float(np.abs(turning).max(initial=0.0)), 1e-300)
    planes = np.flatnonzero(turning > level)
    # i J v = ω v with v = (a + ib)/√2 means J a = ω b, J b = −ω a
    scaled = kept @ vectors[:, planes] * np.sqrt(2.0 * turning[planes])
    q, p = scaled.real, scaled.imag
    rest = np.linalg.svd(inner)[0][:, 2 * planes.size :] if inner.size else np.zeros((0, 0))
    return CanonicalForm(np.hstack([q, p, kept @ rest, s]), planes.size, rest.shape[1], of_G.rank)


@checked
@dataclass(frozen=True, eq=False)
class DiracStructure(NamedPorts):
    """Structure ``D = {(f, e) : F f + E e = 0}``, ``F Eᵀ + E Fᵀ = 0``, ``rank [F E] = n`` ([survey] eq. (3.1)-(3.4)).

    All members satisfy fᵀe = 0, and D is maximal with this property: it equals its orthogonal complement under
    ⟨f₁, e₂⟩ + ⟨f₂, e₁⟩ ([rigid] definition 3). A structure that depends on the state ([rigid] definition 4) is a
    :class:`flexph.dirac.ModulatedDirac`.

    The internal form is ``graph``. F and E are computed from it, (n, n) with an identity in the columns of w, whatever
    rows were given. Convert other forms by :meth:`from_image`, :meth:`from_skew`, :meth:`from_constrained`,
    :meth:`from_hybrid` and :meth:`from_canonical`, and to them by :meth:`image`, :meth:`constrained_form`,
    :meth:`hybrid` and :meth:`canonical`.

    Parameters
    ----------
    F : array_like
        Coefficients of the flows (n,), (k, n) with k ≥ n (relaxed for k > n).
    E : array_like
        Coefficients of the efforts (n,), (k, n).
    ports : mapping
        Slices of f and e by name; each entry belongs to one port.
    graph : Graph
        Skew matrix J of ``w = J v`` with the flow or the effort of each pair as input v ([survey] eq. (3.6)).

    Raises
    ------
    ValueError
        If power is not conserved or the rank is less than n; the message has the defect.
    """

    F: Any
    E: Any
    ports: Mapping[str, slice] = field(default_factory=dict)
    graph: Graph = field(init=False, repr=False)

    def __post_init__(self) -> None:
        k, n = check.two_dimensional("F", self.F)
        if k < n:
            raise ValueError(f"F must have at least as many rows as columns, got shape {(k, n)}")
        F, E = (check.array(name, getattr(self, name), (k, n)) for name in "FE")
        self._set(graph_of(F, E), self.ports)

    def _set(self, graph: Graph, ports: Mapping[str, slice]) -> None:
        object.__setattr__(self, "graph", graph)
        for name, matrix in zip("FE", graph.kernel(), strict=True):
            matrix.setflags(write=False)
            object.__setattr__(self, name, matrix)
        check.spans("ports", ports, "flows and efforts")
        covered = sorted(spans.indices(ports.values()).tolist())
        if ports and covered != list(range(self.size)):
            raise ValueError(f"ports must cover the {self.size} flows and efforts once each, got {covered}")
        object.__setattr__(self, "ports", read_only(ports))

    def __repr__(self) -> str:
        named = ", ".join(f"{name!r} ({width})" for name, width in spans.widths(self.ports).items())
        return f"DiracStructure({self.size} flows and efforts{', ports ' + named if named else ''})"

    def __reduce__(self) -> tuple[Any, ...]:
        return DiracStructure.from_graph, (self.graph, dict(self.ports))

    @classmethod
    def from_graph(cls, graph: Graph, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure of a graph whose matrix is exactly skew, without elimination and without checks of power."""
        structure = object.__new__(cls)
        structure._set(graph, ports or {})
        return structure

    @classmethod
    @checked
    def from_image(cls, flows: Any, efforts: Any, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure ``D = {(K λ, L λ)}`` with K, L (n, k), k ≥ n: F = Lᵀ, E = Kᵀ ([survey] eq. (3.3))."""
        return cls(check.numbers("efforts", _dense(efforts)).T, check.numbers("flows", _dense(flows)).T, ports or {})

    @classmethod
    @checked
    def from_skew(cls, J: Any, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure ``D = {(f, e) : f = J e}``, J = −Jᵀ: flows are outputs, efforts inputs."""
        return cls._of_matrix("J", J, flows=False, ports=ports)

    @classmethod
    @checked
    def from_presymplectic(cls, omega: Any, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure ``D = {(f, e) : e = ω f}``, ω = −ωᵀ ([survey] sec. 2.1 (ii))."""
        return cls._of_matrix("omega", omega, flows=True, ports=ports)

    @classmethod
    @checked
    def from_constrained(cls, J: Any, G: Any, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure ``D = {(f, e) : f = J e + G λ, Gᵀe = 0}``, J = −Jᵀ, G (n, l) of any rank ([survey] eq. (3.5))."""
        return cls.from_skew(J, ports).constrained(check.numbers("G", _dense(G)).T)

    @classmethod
    @checked
    def from_hybrid(
        cls, J: Any, flow_inputs: Sequence[bool] | Array, ports: Mapping[str, slice] | None = None
    ) -> DiracStructure:
        """Structure ``w = J v`` with inputs v_i = f_i where ``flow_inputs`` (n,), else e_i ([survey] eq. (3.6))."""
        matrix, swapped = check.array("J", _dense(J), (None, None)), np.asarray(flow_inputs)
        n = len(matrix)
        if swapped.dtype != bool or swapped.shape != (n,):
            raise ValueError(f"flow_inputs must be {n} truth values, got {check.shown(flow_inputs)}")
        check.array("J", matrix, (n, n))
        check.skew("J", matrix)
        return cls._of_skew(matrix, swapped, ports)

    @classmethod
    def _of_matrix(cls, name: str, matrix: Array, *, flows: bool, ports: Mapping[str, slice] | None) -> DiracStructure:
        given = check.array(name, _dense(matrix), (None, None))
        check.array(name, given, (len(given),) * 2)
        return cls._of_skew(given, np.full(len(given), flows), ports)

    @classmethod
    def _of_skew(cls, matrix: Array, swapped: Array, ports: Mapping[str, slice] | None) -> DiracStructure:
        """Structure of ``w = J v`` for a matrix J, skew up to round-off; v_i is a flow where ``swapped`` is True.

        If an entry of J exceeds LARGEST, flows and efforts are exchanged at some ports so that J has small entries.
        Raises ValueError if J is not skew.
        """
        size = np.sqrt(1.0 + np.sum(matrix**2, axis=1))
        check_power((matrix + matrix.T) / np.outer(size, size))
        graph = Graph(0.5 * (matrix - matrix.T), swapped.copy())
        if np.abs(matrix).max(initial=0.0) <= LARGEST:
            return cls.from_graph(graph, ports)
        return cls(*graph.kernel(), ports or {})

    @classmethod
    def from_canonical(cls, form: CanonicalForm, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """Structure of canonical coordinates ([survey] eq. (3.7))."""
        return cls.from_image(*form.image(), ports)

    @property
    def condition(self) -> float:
        """Condition number of the basis [J; 1] of D, which bounds the digits lost in conversions."""
        values = np.linalg.svd(self.graph.J, compute_uv=False)
        return float(np.sqrt((1.0 + values[0] ** 2) / (1.0 + values[-1] ** 2))) if values.size else 1.0

    def image(self) -> tuple[Array, Array]:
        """Matrices K = Eᵀ and L = Fᵀ of the image form ``D = {(K λ, L λ)}`` ([survey] eq. (3.3))."""
        return self.E.T.copy(), self.F.T.copy()

    def constrained_form(self) -> tuple[Array, Array]:
        """Matrices J (n, n) and G (n, l) of full rank of ``D = {f = J e + G λ, Gᵀe = 0}`` ([survey] eq. (3.5)).

        As many flows f₁ as possible are outputs. The other flows f₂ = λ are free, and their efforts e₂ depend on the
        efforts e₁ of the outputs: e₂ = J₂₁ e₁, ``G = [J₁₂; 1]``.
        """
        graph = self.graph.settled(np.flatnonzero(self.graph.flow_inputs))
        free = graph.flow_inputs
        J = np.where(free[:, None] | free[None, :], 0.0, graph.J)
        G = graph.J[:, free].copy()
        G[free] = np.eye(int(free.sum()))
        return J, G

    @checked
    def hybrid(self, flow_inputs: Iterable[str] | BoolArray) -> Array:
        """Matrix J (n, n) of ``w = J v`` with flows of the given ports (or of a mask (n,) of entries) as inputs v.

        The efforts of the other ports are also inputs, and the conjugate variables are outputs ([survey] eq. (3.6)).
        Raises ValueError if these variables cannot be inputs together.
        """
        wanted = self.mask(flow_inputs)
        return self.graph.exchanged(np.flatnonzero(wanted != self.graph.flow_inputs)).J

    def canonical(self) -> CanonicalForm:
        """Canonical coordinates ``f_q = −e_p, f_p = e_q, f_r = 0, e_s = 0`` ([survey] eq. (3.7))."""
        return canonical_form(*self.constrained_form())

    @checked
    def defect(self, flows: Values, efforts: Values) -> float:
        """Largest residual of the rows of F f + E e = 0, relative to the magnitudes of their terms.

        f and e are arrays (n,) or mappings of port names to arrays. The defect is zero if (f, e) ∈ D, whatever
        the units, and about one for arbitrary (f, e).
        """
        f, e = self.vector("flows", flows), self.vector("efforts", efforts)
        size_f, size_e = (self.sizes(v) for v in (f, e))
        return relative(self.F @ f + self.E @ e, np.abs(self.F) @ size_f + np.abs(self.E) @ size_e)

    @checked
    def contains(self, flows: Values, efforts: Values, *, tolerance: float = MEMBER) -> bool:
        """True if (f, e) ∈ D, with :meth:`defect` up to a tolerance."""
        return self.defect(flows, efforts) <= tolerance

    @checked
    def constrained(self, rows: Any) -> DiracStructure:
        """Subset ``{(f, e) : C e = 0, ∃μ : (f + Cᵀμ, e) ∈ D}`` with ``rows`` C (l, n), again Dirac ([rigid] prop. 4).

        μ is eliminated by an annihilator of F Cᵀ; dependent rows of C are allowed. As a function of the state it is
        continuous where the rank of C on D is constant ([rigid] remark 5).
        """
        c = unit_rows(check.array("rows", rows, (None, self.size)))
        scaled = unit_rows(np.hstack([self.F, self.E]))
        kept = left_null(unit_columns(scaled[:, : self.size] @ c.T, floor=1e-14 * max(1.0, len(scaled)))) @ scaled
        F = np.vstack([kept[:, : self.size], np.zeros_like(c)])
        E = np.vstack([kept[:, self.size :], c])
        return DiracStructure(F, E, self.ports)

    @checked
    def closed(self, *, flows: Iterable[str] = (), efforts: Iterable[str] = ()) -> DiracStructure:
        """Structure with the flows, or the efforts, of some ports set to zero, and without those ports; again Dirac.

        The conjugate variables are free: for an external port with f = u, zero flow is zero input.
        """
        flows, efforts = _listed("flows", flows), _listed("efforts", efforts)
        at_rest, free = self.mask(flows), self.mask(efforts)
        if (at_rest & free).any():
            raise ValueError("a port cannot have zero flow and zero effort: got both for the same port")
        scaled = unit_rows(np.hstack([self.F, self.E]))
        F, E = scaled[:, : self.size], scaled[:, self.size :]
        rows = left_null(np.hstack([E[:, at_rest], F[:, free]]))
        kept = ~(at_rest | free)
        gone = {*flows, *efforts}
        names = [name for name in self.ports if name not in gone]
        return DiracStructure(rows @ F[:, kept], rows @ E[:, kept], spans.consecutive_of(self.ports, names))

    def angles(self, other: DiracStructure) -> Array:
        """Principal angles (n,) to another structure of the same size [rad], largest first; all zero if it is the same.

        Ports of equal names are compared, whatever their order. The angles depend on the units of flows and efforts.
        """
        if self.ports and other.ports and list(self.ports) != list(other.ports):
            other = other.reordered(self.ports)
        return principal_angles(np.vstack(self.image()), np.vstack(other.image()))

    @checked
    def distance(self, other: DiracStructure) -> float:
        """Largest principal angle to another structure [rad], zero if it is the same."""
        return float(self.angles(other).max(initial=0.0))

    @checked
    def equals(self, other: DiracStructure, *, tolerance: float = MEMBER) -> bool:
        """True if both are the same subspace: their :meth:`distance` is at most the tolerance [rad]."""
        return self.size == other.size and self.distance(other) <= tolerance


def _dense(a: Any) -> Any:
    return a.toarray() if sparse.issparse(a) else a


def _listed(name: str, names: Iterable[str]) -> list[str]:
    if isinstance(names, str):
        raise ValueError(f"{name} must be a list of names of ports, got {check.shown(names)}")
    return list(names)
