"""Ranks of modulated Dirac structures as functions of the state ([rigid] definition 4, remark 5; [survey] sec. 7)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import state_sizes
from .structure import DiracStructure

DISTANCES = (1e-6, 1e-6, 1e-2, 1e-2)
"""Distances of random states from the sample, relative to the size of each state, at which a family is checked."""


@dataclass(frozen=True, eq=False)
class Regularity:
    """Dimensions of ``G_D(x) = {f : ∃e, (f, e) ∈ D(x)}`` and ``P_D(x) = {e : ∃f, (f, e) ∈ D(x)}`` at some states.

    It is true if both are equal at all points: near regular points they are constant ([survey] sec. 7).

    Attributes
    ----------
    points : array
        (k, n).
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
        Dimensions, which are true if equal at all states.
    """
    states = check.array("points", points, (None, None))
    ranks = [dimensions(structure(x)) for x in states]
    return Regularity(states, tuple(f for f, _ in ranks), tuple(e for _, e in ranks))


def dimensions(D: DiracStructure) -> tuple[int, int]:
    """Dimensions of G and P: n minus the number of flows, or efforts, that are zero or depend on others."""
    graph = D.graph
    free_flows = graph.settled(np.flatnonzero(graph.flow_inputs)).flow_inputs
    free_efforts = ~graph.settled(np.flatnonzero(~graph.flow_inputs)).flow_inputs
    return D.size - int(free_efforts.sum()), D.size - int(free_flows.sum())


def check_continuous(structure: Callable[[Array], DiracStructure], sample: Array) -> None:
    """Raise ValueError, with states and ranks, unless ``x ↦ D(x)`` is a modulated Dirac structure near the sample.

    [rigid] definition 4 (b) requires bases of D(x) that are continuous in x. Then the flows and efforts that are inputs
    v of D(sample) (:meth:`DiracStructure.hybrid`) are independent nearby, too, which is checked at random states. It
    fails if constraints lose rank at the sample, as in remark 5. Ranks of G_D and P_D may change in a modulated
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
