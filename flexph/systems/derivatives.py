"""User-supplied derivatives of a system, which replace finite differences in iterations."""

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
"""Error of an entry of a given derivative above which it is wrong, relative to the largest entry of its row. Entries
are multiplied by the sizes of their states before."""
ROUND_OFF = 1e-9
"""Error of a derivative that differences cannot resolve, relative to the function plus 1e-3 of its largest change for
changes of the states by their sizes."""


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Derivatives:
    """Derivatives of a :class:`flexph.PHDAE`: ∂z/∂x, ∂(E w)/∂x, ∂((J − R) w)/∂x, ∂((B − P) u)/∂x, each (n, n).

    Entry (i, j) is the derivative of component i with respect to state j. Leave out those of E, of J and R, or of B and
    P if they do not depend on x. Derivatives speed iterations up; converged results do not depend on them.

    Parameters
    ----------
    costate : callable
        ∂z/∂x as a function of x.
    descriptor : callable, optional
        ∂(E w)/∂x as a function of x and a constant w (n,).
    structure : callable, optional
        ∂((J − R) w)/∂x as a function of x and w.
    inputs : callable, optional
        ∂((B − P) u)/∂x as a function of x and constant inputs u (m,).
    outputs : callable, optional
        ∂((B + P)ᵀw)/∂x (m, n) as a function of x and w, for interconnections. If left out for a system without P,
        ``inputs`` is used.
    accuracy : float
        Relative error of the given derivatives if they are differences; zero if they are exact.
    """

    costate: Callable[[Array], Any]
    descriptor: Callable[[Array, Array], Any] | None = None
    structure: Callable[[Array, Array], Any] | None = None
    inputs: Callable[[Array, Array], Any] | None = None
    outputs: Callable[[Array, Array], Any] | None = None
    accuracy: float = 0.0

    def of_descriptor(self, x: Array, w: Array) -> Array:
        """Derivative ∂(E w)/∂x (n, n) at a constant w (n,); zero if E was given without derivative."""
        return _full(self.descriptor, x, w)

    def of_flow(self, x: Array, z: Array, flow: Any, u: Array) -> Array:
        """Derivative ∂((J − R)z + (B − P)u)/∂x of the flow by the product rule; ``flow`` is J − R."""
        slope: Array = _full(self.structure, x, z) + flow @ dense(self.costate(x))
        return slope + _full(self.inputs, x, u) if u.size else slope

    def of_terms(self, x: Array, z: Array, u: Array) -> Array:
        """Derivative of (J − R)w + (B − P)u with respect to x (n, n), with w = z held constant."""
        slope = _full(self.structure, x, z)
        return slope + _full(self.inputs, x, u) if u.size else slope

    def of_outputs(self, x: Array, w: Array, columns: Array, count: int) -> Array:
        """Derivative (k, n) of outputs Bᵀw with respect to x, for the columns of B with the indices ``columns`` (k,).

        It is for systems without P; ``count`` is the number of all columns of B.
        """
        if self.outputs is not None:
            return dense(self.outputs(x, w))[columns]
        if self.inputs is None:
            return np.zeros((len(columns), x.size))
        units = np.eye(count)[columns]
        return np.array([w @ dense(self.inputs(x, unit)) for unit in units]).reshape(len(columns), x.size)

    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError, with the wrong entry, unless all given derivatives agree with differences at x."""
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
    """Derivatives computed by this package, which are not checked when a system is created (tests check them)."""

    def check(self, system: Any, x: Array) -> None:
        """Skip the comparison with differences, whose four evaluations per state can take longer than a run."""


def _full(function: Callable[[Array, Array], Any] | None, x: Array, w: Array) -> Array:
    return np.zeros((x.size, x.size)) if function is None else dense(function(x, w))


def _compare(name: str, function: Callable[[Array], Any], given: Any, x: Array) -> None:
    """Raise ValueError unless a given Jacobian agrees with central differences of the function at x, entry by entry.

    Columns are scaled by the sizes of the states; ``name`` is the derivative in the message.
    """
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
