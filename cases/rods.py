"""Functions that cases with geometrically exact rods share: sections, clamped rods, errors, pictures of axes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

import fem
from flexph import GROUND, Mechanism, Pose, Solution, connect, weld
from flexph.bodies import NodalBody
from flexph.joints import Connection
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure

ROOT = (0.0, 0.0, 0.0)


def rod_section(axial: float, bending: float, *, mass: float, inertia: tuple[float, float, float]) -> fem.RodSection:
    """Section of a rod with the stiffnesses EA = GA, ``axial`` [N], and EI = GJ, ``bending`` [N m²], in all directions.

    ``mass`` [kg/m] and ``inertia`` [kg m] are per length.
    """
    return fem.RodSection(
        axial=axial, shear=(axial, axial), torsion=bending, bending=(bending, bending), mass=mass, inertia=inertia
    )


def clamped(rod: NodalBody, load: Connection) -> tuple[Mechanism, Pose]:
    """Mechanism of a rod welded to the ground at its root, with a load, and its pose along x."""
    mechanism = connect({"rod": rod}, [weld("rod.root", GROUND.at(*ROOT)), load])
    return mechanism, mechanism.assemble({"rod": (ROOT, np.eye(3))})


def drift(values: Array) -> float:
    """Largest difference of the rows of ``values`` from the first one, divided by the largest entry."""
    return float(np.abs(values - values[0]).max() / np.abs(values).max())


def kept(solution: Solution, since: float = 0.0) -> dict[str, float]:
    """Largest errors of what the scheme conserves, and mean and largest number of iterations of a step, by name.

    Changes of the momenta count from the time ``since`` on only, when no load acts any more.
    """
    ledger, free = solution.ledger, solution.times >= min(since, solution.times[-1]) - 1e-9
    return {
        "energy_residual_max_rel": float(np.abs(ledger.residual).max() / ledger.total_energy.max()),
        "linear_momentum_drift_rel": drift(solution.linear_momentum()[free]),
        "angular_momentum_drift_rel": drift(solution.angular_momentum()[free]),
        "joint_drift_max_m": float(ledger.position_residual.max(initial=0.0)),
        "orthogonality_max": solution.orthogonality(),
        "newton_iterations_mean": float(ledger.iterations.mean()),
        "newton_iterations_max": float(ledger.iterations.max()),
    }


def draw_axes(
    path: Path,
    pictures: Mapping[str, Array],
    views: tuple[str, ...] = ("xy", "xz"),
    *,
    stacked: bool = False,
    bodies: Mapping[str, Array] | None = None,
) -> None:
    """Draw the axes of several rods, seen along the world axes: the view ``xy`` has x to the right and y up.

    ``pictures`` are points (n, 3) [m] by label, ``bodies`` centres (2, 3) [m] of bodies at the ends of rods, by label.
    The views are next to each other, or on top of each other if ``stacked``.
    """
    rows, columns = (len(views), 1) if stacked else (1, len(views))
    figure = new_figure(8.0 if stacked else 4.8 * columns, 5.8 if stacked else 4.8)
    for k, view in enumerate(views):
        axes = figure.add_subplot(rows, columns, k + 1)
        i, j = ("xyz".index(letter) for letter in view)
        for label, line in pictures.items():
            (curve,) = axes.plot(line[:, i], line[:, j], linewidth=1.4, label=label)
            for end, centre in zip(line[[0, -1]], (bodies or {}).get(label, ()), strict=False):
                axes.plot(*np.array([end, centre])[:, [i, j]].T, color=curve.get_color(), linewidth=0.8)
                axes.plot(centre[i], centre[j], "o", color=curve.get_color(), markersize=8.0)
        axes.set(xlabel=f"{view[0]} [m]", ylabel=f"{view[1]} [m]", aspect="equal")
        axes.grid(alpha=0.3)
    legend_above(figure.axes[0], columns=len(pictures))
    figure.savefig(path)


def axis_of(mechanism: Mechanism, x: Array) -> Array:
    """Positions (n, 3) [m] of the nodes of the rod at the state vector ``x``."""
    return x[mechanism.layout.parts["rod.centre"]].reshape(-1, 3)
