"""Modulated Dirac structures: ranks and integrability ([survey] sec. 2.7, 7; [rigid] def. 4, remark 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import ACCURACY, complex_derivative, derivative, state_sizes
from .graph import Graph
from .structure import DiracStructure

DISTANCES = (1e-6, 1e-6, 1e-2, 1e-2)
"""Distances of random states from the sample, relative to the size of each state, at which a structure or relation that
depends on the state is checked."""


@dataclass(frozen=True, eq=False)
class Regularity:
    """Dimensions of ``G_D(x) = {f : ∃e, (f, e) ∈ D(x)}`` and ``P_D(x) = {e : ∃f, (f, e) ∈ D(x)}`` at some states.

    Its truth value (``bool``) is True if both dimensions are the same at all points: near regular points they are
    constant ([survey] sec. 7).

    Attributes
    ----------
    points : array
        States (k, n).
    flows : tuple of int
        Dimension of G_D at each point.
    efforts : tuple of int
        Dimension of P_D at each point.
    """

    points: Array
    flows: tuple[int, ...]
    efforts: tuple[int, ...]

    def __bool__(self) -> bool:
        return len(set(self.flows)) <= 1 and len(set(self.efforts)) <= 1

    def __str__(self) -> str:
        rows = zip(self.points, self.flows, self.efforts, strict=True)
        return "; ".join(f"(dim G, dim P) = ({f}, {e}) at x = {_short(x)}" for x, f, e in rows)


@checked
def regularity(structure: Callable[[Array], DiracStructure], points: Sequence[Sequence[float]] | Array) -> Regularity:
    """Dimensions of flows and efforts of D(x) at states (k, n).

    Ranks are determined by principal pivots of the skew form of D(x), relative to its largest entry.

    Parameters
    ----------
    structure : callable
        Function from x to D(x).
    points : array_like
        States (k, n).

    Returns
    -------
    Regularity
        Dimensions at each state; its truth value is True if they are equal at all states.
    """
    states = check.array("points", points, (None, None))
    ranks = [dimensions(structure(x)) for x in states]
    return Regularity(states, tuple(f for f, _ in ranks), tuple(e for _, e in ranks))


def dimensions(D: DiracStructure) -> tuple[int, int]:
    """Dimensions of the spaces of possible flows G_D and possible efforts P_D of a structure ([survey] sec. 7)."""
    graph = D.graph
    free_flows = graph.settled(np.flatnonzero(graph.flow_inputs)).flow_inputs
    free_efforts = ~graph.settled(np.flatnonzero(~graph.flow_inputs)).flow_inputs
    return D.size - int(free_efforts.sum()), D.size - int(free_flows.sum())


def check_continuous(structure: Callable[[Array], DiracStructure], sample: Array) -> None:
    """Raise ValueError, with states and ranks, unless ``x ↦ D(x)`` is a modulated Dirac structure near the sample.

    [rigid] definition 4 (b) requires bases of D(x) that are continuous in x. Then the flows and efforts that are inputs
    v of D(sample) (:meth:`DiracStructure.hybrid`) are independent nearby, too, which is checked at random states. The
    check fails if constraints lose rank at the sample, as in remark 5. Ranks of G_D and P_D may change in a modulated
    structure (:func:`regularity`): the rank of J(x) in f = J(x) e does not matter.
    """
    D, rng = structure(sample), np.random.default_rng(0)
    for distance in DISTANCES:
        x = sample + distance * state_sizes(sample) * rng.uniform(-1.0, 1.0, sample.size)
        try:
            here = structure(x)
        except ValueError as error:
            raise ValueError(f"no Dirac structure at x = {_short(x)}, near the sample: {error}") from error
        if list(here.ports) != list(D.ports) or here.size != D.size:
            raise ValueError(
                f"a modulated structure must have the same ports at all states: {here!r} at x = {_short(x)}, {D!r} at "
                f"x = {_short(sample)}"
            )
        try:
            here.hybrid(D.graph.flow_inputs)
        except ValueError:
            ranks = regularity(structure, np.array([sample, x]))
            raise ValueError(
                "D(x) must be continuous at the sample ([rigid] definition 4 (b)): its rank changes there, as with "
                f"constraints of varying rank (remark 5): {ranks}. Choose another sample, or constraints "
                "of constant rank"
            ) from None


def _short(x: Array) -> str:
    return np.array2string(x, precision=9, threshold=12, max_line_width=1000)


Slope = Callable[[Array], Any] | str | None
INTEGRABLE = 1e-7
"""Largest relative defect with which a condition by differences is satisfied. It leaves room for a thousand errors of
differences."""


@checked
@dataclass(frozen=True, eq=False)
class ModulatedDirac:
    """Modulated Dirac structure ``x ↦ D(x)``: at each state x (n,) a structure of the same ports ([survey] def. 2.2).

    Parameters
    ----------
    at : callable
        Function from x to D(x).
    sample : array
        State (n,) at which D(x) is checked to be continuous.
    storage : tuple of str
        Ports whose flows are −ẋ and whose efforts are ∇H, in the order of x; by default the first ports that cover x.
        The other ports are resistive or external.

    Raises
    ------
    ValueError
        If the structure at the sample has no such ports, or D(x) is not continuous there ([rigid] definition 4 (b));
        the message has states and ranks.
    """

    at: Callable[[Array], DiracStructure]
    sample: Array
    storage: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        D = self.at(self.sample)
        object.__setattr__(self, "storage", storage_of(D, self.sample.size, self.storage))
        check_continuous(self.at, self.sample)

    def __call__(self, x: Array) -> DiracStructure:
        """Structure D(x)."""
        return self.at(np.asarray(x, dtype=float))

    def of_storage(self, x: Array) -> DiracStructure:
        """Structure of the storage at x, with zero flow at all other ports: no inputs and no dissipation."""
        D = self(x)
        return D.closed(flows=[name for name in D.ports if name not in self.storage]).reordered(self.storage)


def storage_of(D: DiracStructure, states: int, names: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the storage ports, by default the first ports of D whose entries add up to the number of ``states``.

    Raises ValueError if the entries of the given ports do not add up to that number.
    """
    if isinstance(names, str):
        raise ValueError(f"storage must be a list of names of ports, got {check.shown(names)}")
    sizes = {name: s.stop - (s.start or 0) for name, s in D.ports.items()}
    if names:
        ports, total = tuple(names), sum(check.lookup("port", name, sizes) for name in names)
        if total != states:
            raise ValueError(f"storage must have an entry for each of the {states} states, {list(names)} have {total}")
        return ports
    covering: list[str] = []
    for name, size in sizes.items():
        if states == 0:
            break
        covering, states = [*covering, name], states - size
    if states:
        raise ValueError(f"storage must name ports that cover the states; there are {sizes}")
    return tuple(covering)


@dataclass(frozen=True)
class Integrability:
    """Result of a test for coordinates in which a structure is constant; True (``bool``) if there are any.

    See [survey] sec. 7.

    Attributes
    ----------
    defect : float
        Largest left-hand side of the tested condition, which is zero for an integrable structure, divided by the
        largest sum of the magnitudes of its terms.
    where : tuple of int
        Indices (i, j, k) of the largest left-hand side.
    accuracy : float
        Relative accuracy of the derivatives.
    """

    defect: float
    where: tuple[int, ...]
    accuracy: float

    def __bool__(self) -> bool:
        return self.defect <= max(INTEGRABLE, 1e3 * self.accuracy) if self.accuracy else self.defect <= 1e-12

    def __str__(self) -> str:
        word = "integrable" if self else "not integrable"
        rest = "" if self else f" at (i, j, k) = {self.where}"
        return f"{word}: relative defect {self.defect:.1e}{rest}, derivatives accurate to {self.accuracy:.0e}"


@checked
def integrability(structure: ModulatedDirac, x: Array, *, slopes: Slope = None) -> Integrability:
    """Check ``⟨L_{Y_i}β_j | Y_k⟩ + ⟨L_{Y_j}β_k | Y_i⟩ + ⟨L_{Y_k}β_i | Y_j⟩ = 0`` at a state ([survey] eq. (7.12)).

    L is the Lie derivative; Y_i and β_i are the rows of E and F of the storage's structure, with zero flow at all other
    ports and the same inputs v around x. At a regular point (P_D and G_D of constant dimension nearby) an integrable
    structure is constant in some coordinates.

    Parameters
    ----------
    structure : ModulatedDirac
        Modulated Dirac structure.
    x : array
        State (n,).
    slopes : callable or "complex", optional
        ∂J/∂x (n, n, n) of ``w = J v``, see :meth:`DiracStructure.hybrid`; by default by differences.

    Returns
    -------
    Integrability
        Largest defect, and the indices of its terms.
    """
    x = check.array("x", x, (structure.sample.size,))
    flows = structure.of_storage(x).graph.flow_inputs
    J = structure.of_storage(x).graph.J

    def nearby(at: Array) -> Array:
        return structure.of_storage(at).hybrid(flows)

    dJ, accuracy = _slopes(nearby, x, slopes)
    n = len(J)
    F, E = Graph(J.copy(), flows.copy()).kernel()
    # F and E are constant except −J in the columns of the inputs
    dF, dE = np.where(flows[None, :, None], -dJ, 0.0), np.where(flows[None, :, None], 0.0, -dJ)
    first = np.einsum("ka,jac,ic->ijk", E, dF, E)
    second = np.einsum("jc,ica,ka->ijk", F, dE, E)
    size = np.einsum("ka,jac,ic->ijk", *(np.abs(m) for m in (E, dF, E)))
    size += np.einsum("jc,ica,ka->ijk", *(np.abs(m) for m in (F, dE, E)))
    one = first + second
    return _integrability(one + one.transpose(2, 0, 1) + one.transpose(1, 2, 0), size, accuracy, n)


@checked
def jacobi_identity(J: Callable[[Array], Any], x: Array, *, slopes: Slope = None) -> Integrability:
    """Check ``Σ_l J_lj ∂_l J_ik + J_li ∂_l J_kj + J_lk ∂_l J_ji = 0`` for the graph of J(x) ([survey] eq. (7.1)).

    Parameters
    ----------
    J : callable
        J(x) (n, n), skew-symmetric.
    x : array
        State (n,).
    slopes : callable or "complex", optional
        ∂J/∂x (n, n, n) as a function of the state; ``"complex"`` uses complex steps, for functions that accept complex
        numbers; by default by differences.

    Returns
    -------
    Integrability
        Largest defect, and the indices of its terms.
    """
    here, dJ, accuracy = _of_graph("J", J, x, slopes)
    one = np.einsum("lj,ikl->ijk", here, dJ)
    size = np.einsum("lj,ikl->ijk", np.abs(here), np.abs(dJ))
    # the other two terms are the first with (i, j, k) → (k, i, j) and (j, k, i)
    return _integrability(one + one.transpose(1, 2, 0) + one.transpose(2, 0, 1), size, accuracy, len(here))


@checked
def closedness(omega: Callable[[Array], Any], x: Array, *, slopes: Slope = None) -> Integrability:
    """Check ``∂_k ω_ij + ∂_j ω_ki + ∂_i ω_jk = 0`` for the graph of ω(x) ([survey] eq. (7.6)).

    Parameters
    ----------
    omega : callable
        ω(x) (n, n), skew-symmetric.
    x : array
        State (n,).
    slopes : callable or "complex", optional
        ∂ω/∂x (n, n, n) as a function of the state; ``"complex"`` uses complex steps; by default by differences.

    Returns
    -------
    Integrability
        Largest defect, and the indices of its terms.
    """
    here, dw, accuracy = _of_graph("omega", omega, x, slopes)
    return _integrability(dw + dw.transpose(1, 2, 0) + dw.transpose(2, 0, 1), np.abs(dw), accuracy, len(here))


def _of_graph(name: str, function: Callable[[Array], Any], x: Array, slopes: Slope) -> tuple[Array, Array, float]:
    x = check.array("x", x, (None,))
    here = check.array(f"{name}(x)", function(x), (x.size, x.size))
    check.skew(name, here)
    return here, *_slopes(function, x, slopes)


def _slopes(function: Callable[[Array], Any], x: Array, slopes: Slope) -> tuple[Array, float]:
    n = np.shape(function(x))[0]
    if callable(slopes):
        return check.array("slopes", slopes(x), (n, n, x.size)), 0.0
    if slopes == "complex":
        return complex_derivative(function, x), 0.0
    if slopes is not None:
        raise ValueError(
            f"slopes must be a function of the state, 'complex' or None (differences), got {check.shown(slopes)}"
        )
    return derivative(function, x), ACCURACY


def _integrability(total: Array, size: Array, accuracy: float, n: int) -> Integrability:
    if not n:
        return Integrability(0.0, (), accuracy)
    scale = float(size.max(initial=0.0))
    where = np.unravel_index(int(np.argmax(np.abs(total))), total.shape)
    # if nothing depends on the state, slopes by differences are only round-off
    noise = accuracy * 1e-2
    defect = float(np.abs(total[where])) / max(scale, 1e-300) if scale > noise else 0.0
    return Integrability(defect, tuple(map(int, where)), accuracy)
