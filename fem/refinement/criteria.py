"""Accuracy up to which a mesh is refined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

MOST_CELLS = 100_000
MOST_ROUNDS = 30
"""Largest number of refinements of one mesh."""


@dataclass(frozen=True, eq=False)
class Round:
    """One round of a refinement: the numbers of cells and unknowns, and k criteria with their values and errors.

    ``names`` are the criteria in words; ``values`` (k,) are frequencies [Hz], or compliances [m/N, 1/(N m)].
    ``estimates`` (k,) are relative errors estimated from smooth stresses alone, ``errors`` (k,) these times safety
    factors. Both are inf on
    a mesh that is too coarse.
    """

    cells: int
    unknowns: int
    names: tuple[str, ...]
    values: Array
    estimates: Array
    errors: Array

    @property
    def worst(self) -> float:
        """Largest of the conservative relative errors of the criteria."""
        return float(self.errors.max())

    def __str__(self) -> str:
        known = np.isfinite(self.worst)
        error = f"{100.0 * self.worst:.3g} % in {self.names[int(np.argmax(self.errors))]}" if known else "no estimate"
        return f"{self.cells} cells, {self.unknowns} unknowns, {error}"


@checked
@dataclass(frozen=True)
class Refinement:
    """Refinement of a mesh until frequencies or compliances are within a relative tolerance.

        |ω_h − ω| / ω ≈ ½ κη²/a(u, u),  |c_h − c| / c ≈ κη²/a(u, u),  η² = ∫ (σ* − σ_h) : S (σ* − σ_h)

    σ_h are the stresses of a mode or of a unit load at a port, a(u, u) = ∫σ_h : S σ_h, and σ* is the smooth stress
    through σ_h on the cells around each corner (O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng 33 (1992)).
    The estimate equals the error where solutions are smooth, and is smaller near re-entrant corners: κ corrects it. κ
    is the change of the value since an earlier mesh over the decrease of the estimate, at least 1, times a margin of
    1.25. The earlier mesh is one whose estimate was three times as large; without such a mesh κ = 4. The cells with
    half of the error are refined, until all errors are at most the tolerance (W. Dörfler, SIAM J. Numer. Anal. 33
    (1996)). This is no bound: it needs meshes that resolve the modes.

    Parameters
    ----------
    tolerance : float
        Largest relative error, 0.01 for 1 %.
    modes : int, optional
        Number of the lowest modes of the body with its frame at rest: free ones about mean axes, else those of the body
        that is held at its reference or supports. By default 6, or 0 if ports are given.
    ports : sequence of str, optional
        Ports, or loads, with unit forces and torques whose compliances count.
    max_cells : int, optional
        Largest number of cells.
    share : float, optional
        Share of the squared error that the refined cells have.
    watch : callable, optional
        Function of each round, such as ``print``: its cells, unknowns, values and errors.

    Raises
    ------
    ValueError
        For numbers out of range, and without modes and ports; where a body is made, if the tolerance is not reached
        with ``max_cells``.

    Examples
    --------
    >>> import fem
    >>> steel = fem.Material(young=210e9, density=7850.0, poisson=0.3)
    >>> mesh = fem.box_mesh((0.2, 0.02), (4, 1), simplices=True)
    >>> body = fem.plate(mesh, steel, thickness=1e-3, refine=fem.Refinement(0.001, modes=2))
    >>> body.size > fem.plate(mesh, steel, thickness=1e-3).size
    True
    """

    tolerance: float
    modes: int | None = None
    ports: Sequence[str] = ()
    max_cells: int = MOST_CELLS
    share: float = 0.5
    watch: Callable[[Round], None] | None = None

    def __post_init__(self) -> None:
        check.positive("tolerance", self.tolerance)
        if self.tolerance >= 1.0:
            raise ValueError(f"tolerance must be below 1, 0.01 for 1 %, got {self.tolerance:g}")
        check.count("max_cells", self.max_cells)
        if self.modes is not None:
            check.count("modes", self.modes, least=0)
        if not 0.0 < check.positive("share", self.share) <= 1.0:
            raise ValueError(f"share must be at most 1, got {self.share:g}")
        if not self.count and not self.ports:
            raise ValueError("modes must be 1 or more without ports, got 0")

    @property
    def count(self) -> int:
        """Number of modes whose frequencies are criteria; by default 6, or 0 if ports are given."""
        return self.modes if self.modes is not None else 0 if self.ports else 6
