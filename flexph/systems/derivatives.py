"""Derivatives that a user may give with a system, so that iterations need no differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.differences import STEP, derivative

TOLERANCE = 1e-5
"""Defect of an entry over the largest of its row (each by what a state of its size would do) that is a mistake."""
ROUND_OFF = 1e-9
"""The same over the function itself, or a thousandth of what it may change by: below, differences see nothing."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Derivatives:
    """``∂z/∂x``, ``∂(E w)/∂x``, ``∂((J − R) w)/∂x``, ``∂((B − P) u)/∂x`` of a :class:`flexph.PHDAE`, each (n, n).

    Leave out the others where E, or J and R, or B and P do not depend on x. Row i, column j is the derivative of
    entry i by state j. They speed iterations up and decide nothing: a result never depends on them.

    Parameters
    ----------
    costate : callable
        ∂z/∂x of x.
    descriptor : callable, optional
        ∂(E w)/∂x of x and a fixed vector w (n,).
    structure : callable, optional
        ∂((J − R) w)/∂x of x and w.
    inputs : callable, optional
        ∂((B − P) u)/∂x of x and fixed inputs u (m,).
    outputs : callable, optional
        ∂((B + P)ᵀw)/∂x (m, n) of x and w, for interconnections; without it, of a system without P, that of the inputs
        serves.
    accuracy : float
        Relative error of those that are differences; zero of exact ones.
    """

    costate: Callable[[Array], Any]
    descriptor: Callable[[Array, Array], Any] | None = None
    structure: Callable[[Array, Array], Any] | None = None
    inputs: Callable[[Array, Array], Any] | None = None
    outputs: Callable[[Array, Array], Any] | None = None
    accuracy: float = 0.0

    def of_descriptor(self, x: Array, w: Array) -> Array:
        """∂(E w)/∂x."""
        return _full(self.descriptor, x, w)

    def of_flow(self, x: Array, z: Array, flow: Any, u: Array) -> Array:
        """``∂((J − R)z + (B − P)u)/∂x = ∂((J − R)w)/∂x + (J − R) ∂z/∂x + ∂((B − P)u)/∂x``, w = z; ``flow`` is J − R."""
        slope: Array = _full(self.structure, x, z) + flow @ dense(self.costate(x))
        return slope + _full(self.inputs, x, u) if u.size else slope

    def of_terms(self, x: Array, z: Array, u: Array) -> Array:
        """``∂((J − R)w)/∂x + ∂((B − P)u)/∂x`` at w = z: what the matrices add beside z."""
        slope = _full(self.structure, x, z)
        return slope + _full(self.inputs, x, u) if u.size else slope

    def of_outputs(self, x: Array, w: Array, columns: Array, count: int) -> Array:
        """Rows of ∂(Bᵀw)/∂x, by columns of B, which has ``count`` of them; of a system without P."""
        if self.outputs is not None:
            return dense(self.outputs(x, w))[columns]
        if self.inputs is None:
            return np.zeros((len(columns), x.size))
        units = np.eye(count)[columns]
        return np.array([w @ dense(self.inputs(x, unit)) for unit in units]).reshape(len(columns), x.size)

    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError, naming the derivative and its defect, unless they agree with differences at x."""
        rng = np.random.default_rng(0)
        w, u = rng.uniform(0.5, 1.5, system.size), rng.uniform(0.5, 1.5, system.inputs_size)
        _compare("∂z/∂x", lambda s: system.z(s), self.costate(x), x)
        _compare("∂(E w)/∂x", lambda s: system.E(s) @ w, self.of_descriptor(x, w), x)
        _compare("∂((J − R) w)/∂x", lambda s: system.J(s) @ w - system.R(s) @ w, _full(self.structure, x, w), x)
        if u.size:
            name = "∂((B − P) u)/∂x" if system.has_feedthrough else "∂(B u)/∂x"
            _compare(name, lambda s: system.port_matrices(s).flow(u), _full(self.inputs, x, u), x)
            if self.outputs is not None:
                name = "∂((B + P)ᵀw)/∂x" if system.has_feedthrough else "∂(Bᵀw)/∂x"
                _compare(name, lambda s: system.port_matrices(s).output(w, 0.0 * u), self.outputs(x, w), x)


class KnownDerivatives(Derivatives):
    """Derivatives that the library computes, and tests compare with differences: no system does when it is made."""

    def check(self, system: Any, x: Array) -> None:
        """Compare nothing: four evaluations per state would take longer than many a run."""


def _full(function: Callable[[Array, Array], Any] | None, x: Array, w: Array) -> Array:
    return np.zeros((x.size, x.size)) if function is None else dense(function(x, w))


def _compare(name: str, function: Callable[[Array], Any], given: Any, x: Array) -> None:
    """The given Jacobian against central differences, entry by entry, each by what a state of its size would do."""
    largest = np.abs(np.asarray(function(x), dtype=float))
    given = check.array(name, dense(given), (largest.size, x.size))
    size = np.maximum(np.abs(x), 1e-3 * np.abs(x).max(initial=0.0))
    size = np.where(size > 0.0, size, 1.0)
    numeric = derivative(function, x, sizes=size)
    wrong = np.abs(given - numeric) * size
    scale = (np.maximum(np.abs(given), np.abs(numeric)) * size).max(axis=1, initial=0.0)
    allowed = TOLERANCE * scale + ROUND_OFF * (largest + STEP * scale.max(initial=0.0))
    if np.any(wrong > allowed[:, None]):
        i, j = map(int, np.unravel_index(np.argmax(wrong - allowed[:, None]), wrong.shape))
        raise ValueError(
            f"derivatives: {name} is {given[i, j]:.6g} in row {i}, column {j}; differences give {numeric[i, j]:.6g}"
        )
