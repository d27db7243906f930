"""Coupling of two nonlinear systems at one port of each, with or without a multiplier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..discretisation.own_pair import View
from ..numerics import checks as check
from ..numerics import spans
from ..numerics.arrays import Array, block_diag, dense
from ..numerics.differences import FORWARD
from ..systems.nonlinear import PHDAE
from .assembled import Assembled, PartDerivatives, slope_of, with_structure
from .direct_sum import MULTIPLIERS, merged, numbered
from .feedthrough import without_feedthrough

Coupling = Callable[[Array, Array], Any]


def coupled(
    first: PHDAE, second: Any, ports: tuple[str, str], coupling: Any, *, slope: Any, with_multiplier: bool
) -> PHDAE:
    """Interconnection of two systems by a coupling matrix C: a transformer with a multiplier, or a gyrator without.

    ``ports`` is one port of each system, ``slope`` the derivative of C. Means over a step use C at the middle of the
    step.
    """
    if not isinstance(second, PHDAE):
        raise ValueError(f"second must be a PHDAE like first, got {type(second).__name__}")
    if slope is not None and not callable(coupling):
        raise ValueError("slope= needs a function coupling=, and this one is constant: leave slope= out")
    systems = (without_feedthrough(first), without_feedthrough(second))
    pair = _Pair(systems, ports, coupling, slope, with_multiplier)
    kept = [{n: s for n, s in x.ports.items() if n != port} for x, port in zip(systems, ports, strict=True)]
    whole, m = Assembled(systems, pair.matrix), pair.multipliers
    parts = merged("part", [s.parts for s in systems], [s.size for s in systems])
    if m:
        parts |= spans.consecutive({numbered(MULTIPLIERS, parts): m}, whole.spans[-1].stop)
    return whole.phdae(
        np.zeros(m),
        with_structure({name for s in whole.paired for name in s.means}),
        parts,
        ports=merged(
            "port", [spans.consecutive(spans.widths(x)) for x in kept], [entries.size for entries in pair.others]
        ),
        derivatives=pair.derivatives(),
    )


class _Pair:
    """Pair of systems with ``u₁ = −C u₂``: u₂ = λ is the multiplier of 0 = Cᵀy₁ − y₂.

    Without a multiplier, u₂ = Cᵀy₁ and u₁ = −C y₂.
    """

    def __init__(
        self, systems: tuple[PHDAE, PHDAE], ports: tuple[str, str], coupling: Any, slope: Any, with_multiplier: bool
    ) -> None:
        self.systems, self.constant, self.slope = systems, not callable(coupling), slope
        self.c: Coupling = coupling if callable(coupling) else (lambda a, b: coupling)
        self.own = [check.lookup("port", port, s.ports) for s, port in zip(systems, ports, strict=True)]
        kept = [[span for n, span in s.ports.items() if n != port] for s, port in zip(systems, ports, strict=True)]
        self.others = [spans.indices(each) for each in kept]
        self.widths = [s.inputs(s.sample, port).shape[1] for s, port in zip(systems, ports, strict=True)]
        check.matrix("C", self.c(systems[0].sample, systems[1].sample), (self.widths[0], self.widths[1]))
        self.multipliers = self.widths[1] if with_multiplier else 0
        self.parts = PartDerivatives(systems, self.multipliers)
        self.sizes = [s.size for s in systems]
        if slope is not None:
            check.array("slope", slope(systems[0].sample, systems[1].sample), (*self.widths, sum(self.sizes)))

    # --- the equations

    def matrix(self, name: str, views: Sequence[View], multipliers: Array) -> Any:
        """Matrix E, J, R or B, or costate z, of the pair, from the ``views`` of both systems and the multipliers."""
        m = self.multipliers
        if name == "z":
            return np.concatenate([views[0]("z"), views[1]("z"), multipliers])
        if name == "J":
            return self._structure(*views)
        if name == "B":
            columns = (view("B")[:, entries] for view, entries in zip(views, self.others, strict=True))
            return block_diag(*columns, np.zeros((m, 0)))
        return block_diag(*(view(name) for view in views), np.zeros((m, m)))

    def _structure(self, one: View, two: View) -> Array:
        b1, b2 = (view("B")[:, entries] for view, entries in zip((one, two), self.own, strict=True))
        b1 = b1 @ dense(self.c(one.place, two.place))
        n, both, m = self.sizes[0], sum(self.sizes), self.multipliers
        J = np.zeros((both + m, both + m))
        J[:n, :n], J[n:both, n:both] = one("J"), two("J")
        if m:
            J[:n, both:], J[both:, :n] = -b1, b1.T
            J[n:both, both:], J[both:, n:both] = b2, -b2.T
        else:
            cross = b1 @ b2.T
            J[:n, n:], J[n:, :n] = -cross, cross.T
        return J

    # --- and their derivatives

    def derivatives(self) -> Any:
        """Derivatives of the pair from those of both systems and of C; None if no system has given derivatives."""
        moving = self.parts.varying_ports
        return self.parts.whole(
            self.slopes,
            accuracy=0.0 if self.constant or self.slope is not None else FORWARD,
            inputs=self._inputs if moving else None,
            outputs=self._outputs if moving else None,
        )

    def slopes(self, x: Array, w: Array) -> Array:
        """Derivative ∂((J − R) w)/∂x of the pair for a fixed w."""
        (one, two), parts = self.parts.spans, self.parts
        both, slope = two.stop, parts.structure(x, w)
        b1, b2 = (
            dense(s.B(x[at]))[:, entries] for s, at, entries in zip(self.systems, (one, two), self.own, strict=True)
        )
        C, y1, y2 = dense(self.c(x[one], x[two])), b1.T @ w[one], b2.T @ w[two]
        force = w[both:] if self.multipliers else y2  # u₁ = −C force
        slope[one, one] -= parts.inputs(0, x, self.own[0], C @ force)
        by_y1, by_y2 = (parts.outputs(k, x, self.own[k], w) for k in (0, 1))
        across, back = self._of_coupling(x, force, y1)
        slope[one, :both] -= b1 @ across
        if self.multipliers:
            slope[two, two] += parts.inputs(1, x, self.own[1], force)
            slope[both:, one] += C.T @ by_y1
            slope[both:, two] -= by_y2
            slope[both:, :both] += back
        else:
            slope[two, two] += parts.inputs(1, x, self.own[1], C.T @ y1)
            slope[one, two] -= b1 @ (C @ by_y2)
            slope[two, one] += b2 @ (C.T @ by_y1)
            slope[two, :both] += b2 @ back
        return slope

    def _of_coupling(self, x: Array, force: Array, y1: Array) -> tuple[Array, Array]:
        """Derivatives ∂(C f)/∂(x₁, x₂) and ∂(Cᵀy₁)/∂(x₁, x₂) for fixed f and y₁."""
        (one, two), both = self.parts.spans, sum(self.sizes)
        if self.constant:
            return np.zeros((self.widths[0], both)), np.zeros((self.widths[1], both))
        if self.slope is not None:
            by_states = np.asarray(self.slope(x[one], x[two]))
        else:
            by_first = slope_of(lambda at: dense(self.c(at, x[two])), x[one], self.systems[0])
            by_second = slope_of(lambda at: dense(self.c(x[one], at)), x[two], self.systems[1])
            by_states = np.concatenate([by_first, by_second], axis=-1)
        return np.asarray(force @ by_states), np.tensordot(y1, by_states, 1)

    def _inputs(self, x: Array, u: Array) -> Array:
        """Derivative ∂(B u)/∂x (n, n) for the inputs u of the ports that the coupling leaves free."""
        first = self.others[0].size
        of_each = (self.parts.inputs(k, x, self.others[k], v) for k, v in enumerate((u[:first], u[first:])))
        return block_diag(*of_each, np.zeros((self.multipliers,) * 2))

    def _outputs(self, x: Array, w: Array) -> Array:
        """Derivative ∂(Bᵀw)/∂x (m, n) for the outputs of the ports that the coupling leaves free."""
        of_each = (self.parts.outputs(k, x, self.others[k], w) for k in (0, 1))
        return block_diag(*of_each, np.zeros((0, self.multipliers)))
