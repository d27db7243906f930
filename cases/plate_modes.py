"""Square plates, simply supported and clamped: frequencies against series, over meshes and thicknesses.

Plates are thin (Kirchhoff-Love) or with shear (Reissner-Mindlin); with shear the thickness goes down to the thin limit,
in which elements must not lock. The series are those of :mod:`cases.plate_series`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from tqdm import tqdm

import fem
from flexph import GROUND, Body, Mechanism, Pose, connect, modes, weld
from flexph.case import Case, Check, Option
from flexph.export import write_modes
from flexph.export.tables import write_table
from flexph.linear import Eigenmodes
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.scenes import Scene, mode_scene

from .plate_series import POISSON, YOUNG, mindlin, navier, thick_ritz, thin_ritz

MATERIAL = fem.Material(young=YOUNG, density=1.0, poisson=POISSON)
COUNT = 6
SUPPORTS = {"hinged": "simply supported", "clamped": "clamped"}
THEORIES = {"kirchhoff": "Kirchhoff-Love", "reissner_mindlin": "Reissner-Mindlin"}
THICK = {"kirchhoff": 1e-2, "reissner_mindlin": 1e-1}  # of the convergence, over the side
THICKNESSES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
THIN_SERIES_BELOW = 2e-3
"""Thickness below which frequencies of the clamped plate with shear are those of the thin plate, within 4e-5."""
Cells = Literal["quad", "triangle"]


def plate(cells: str, n: int, support: str, **options: Any) -> Body:
    """Unit square plate of n × n quadrilaterals, or twice as many triangles, with all edges "hinged" or "clamped"."""
    mesh = fem.box_mesh((1.0, 1.0), (n, n), simplices=cells == "triangle")
    rim = [fem.Support(side, support) for side in ("left", "right", "front", "back")]  # type: ignore[arg-type]
    return fem.plate(mesh, MATERIAL, supports=rim, **options)


def held(body: Body) -> tuple[Mechanism, Pose]:
    """Mechanism and pose of a plate whose frame is welded to the ground."""
    mechanism = connect({"plate": body}, [weld("plate.frame", GROUND)])
    return mechanism, mechanism.assemble({"plate": (0.0, 0.0, 0.0)})


def found_modes(body: Body) -> Eigenmodes:
    """Lowest COUNT modes of a plate with its frame welded to the ground."""
    mechanism, pose = held(body)
    return modes(mechanism.linearize(pose), COUNT)


def series(support: str, theory: str, thickness: float) -> Array:
    """Lowest frequencies [rad/s] of a square plate with a support by series, for a theory and a thickness.

    Frequencies of the thin theory, "kirchhoff", are without rotary inertia.
    """
    if theory == "kirchhoff":
        thin = navier(COUNT) if support == "hinged" else thin_ritz("clamped", COUNT)
        return thickness * thin
    if support == "hinged":
        return mindlin(thickness, COUNT)
    if thickness < THIN_SERIES_BELOW:
        return thickness * thin_ritz("clamped", COUNT)
    return thick_ritz(thickness, COUNT)


@dataclass(frozen=True)
class Result:
    """Relative errors of the lowest frequencies of square plates.

    ``errors`` (levels, 6) are by mesh, for each (support, theory), ``thin`` (6, 6) by thickness, for each support.
    ``modes`` are those of the finest thin plates, ``counts`` the cells along each side.
    """

    cells: str
    counts: tuple[int, ...]
    sizes: dict[tuple[str, str], list[int]]
    errors: dict[tuple[str, str], Array]
    thin: dict[str, Array]
    modes: dict[str, Eigenmodes]


def run(
    *,
    cells: Annotated[Cells, Option("kind of cell")] = "quad",
    refine: Annotated[int, Option("number of meshes, of 2, 4, 8, … cells along each side")] = 3,
) -> Result:
    """Square plates, simply supported and clamped, thin and with shear: frequencies against series solutions."""
    if not 2 <= refine <= 5:
        raise ValueError(f"refine must be from 2 to 5, got {refine}")
    counts = tuple(2 ** (k + 1) for k in range(refine))
    errors, sizes, thin, shown = {}, {}, {}, {}
    for support in tqdm(SUPPORTS, desc="plate-modes", delay=1.0, disable=None):
        for theory in THEORIES:
            options = {"theory": theory, "thickness": THICK[theory], "rotary_inertia": theory != "kirchhoff"}
            bodies = [plate(cells, n, support, **options) for n in counts]
            vibrations = [found_modes(b) for b in bodies]
            want = series(support, theory, THICK[theory])
            errors[support, theory] = np.array([f.frequencies / want - 1.0 for f in vibrations])
            sizes[support, theory] = [b.size for b in bodies]
            if theory == "kirchhoff":
                shown[support] = vibrations[-1]
        rows = []
        for t in THICKNESSES:
            body = plate(cells, counts[-1], support, theory="reissner_mindlin", thickness=t)
            rows.append(found_modes(body).frequencies / series(support, "reissner_mindlin", t) - 1.0)
        thin[support] = np.array(rows)
    return Result(cells, counts, sizes, errors, thin, shown)


def orders(result: Result) -> dict[str, float]:
    """Order of convergence of the first frequency from the two finest meshes, by the names ``support_theory``."""
    slopes = {}
    for (support, theory), values in result.errors.items():
        slopes[f"{support}_{theory}"] = float(np.log2(np.abs(values[-2, 0] / values[-1, 0])))
    return slopes


def finest(result: Result, support: str) -> Body:
    """Thin plate on the finest mesh, with a given support."""
    return plate(result.cells, result.counts[-1], support, thickness=THICK["kirchhoff"], rotary_inertia=False)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables and pictures of the convergence and of the thin limit, mode shapes, also as VTU.

    Return the summary numbers.
    """
    table: dict[str, Any] = {"cells_along_side": result.counts}
    for (support, theory), values in result.errors.items():
        for k in range(COUNT):
            table[f"{support}_{theory}_{k + 1}"] = values[:, k]
    write_table(folder / "convergence.csv", table)
    limit: dict[str, Any] = {"thickness_over_side": THICKNESSES}
    for support, values in result.thin.items():
        limit |= {f"{support}_{k + 1}": values[:, k] for k in range(COUNT)}
    write_table(folder / "thin_limit.csv", limit)
    for support, vibration in result.modes.items():
        body = finest(result, support)
        mechanism, pose = held(body)
        write_modes(folder / f"modes_{support}.vtu", mechanism, pose, vibration)
        draw_modes(body, vibration, support, folder / f"modes_{support}.png")
    draw_errors(result, folder / "errors.png")
    return {
        "cells": result.cells,
        "cells_along_side": result.counts[-1],
        "coordinates": {f"{s}_{t}": n[-1] for (s, t), n in result.sizes.items()},
        "error_max": {f"{s}_{t}": float(np.abs(e[-1]).max()) for (s, t), e in result.errors.items()},
        "order_of_first": orders(result),
        "thin_limit_error_max": {s: float(np.abs(e).max()) for s, e in result.thin.items()},
        "thinnest": THICKNESSES[-1],
    }


def draw_errors(result: Result, path: Path) -> None:
    """Draw the errors of the first four frequencies against the mesh and against the thickness."""
    figure = new_figure(11.0, 4.4)
    left, right = figure.subplots(1, 2)
    h = 1.0 / np.array(result.counts)
    for k, ((support, theory), values) in enumerate(result.errors.items()):
        mark, label = ("o-", "s--")[k % 2], f"{SUPPORTS[support]}, {THEORIES[theory]}"
        for j in (0, 3):
            name = label if j == 0 else None
            left.loglog(h, np.abs(values[:, j]), mark, color=f"C{k}", linewidth=1.0, markersize=4, label=name)
    first = np.abs(result.errors["hinged", "kirchhoff"][-1, 0])
    left.loglog(h, 0.4 * first * (h / h[-1]) ** 4, "k:", linewidth=1.0, label="h⁴")
    left.set_xticks(h, [f"1/{n}" for n in result.counts])
    left.minorticks_off()
    left.set_xlabel("cell over side")
    left.set_ylabel("relative error")
    left.set_title("frequencies 1 and 4 over the mesh", fontsize="medium")
    for k, (support, values) in enumerate(result.thin.items()):
        for j in range(4):
            name = SUPPORTS[support] if j == 0 else None
            right.loglog(
                THICKNESSES, np.abs(values[:, j]), "o-", color=f"C{k}", linewidth=1.0, markersize=4, label=name
            )
    right.axhline(5e-3, color="k", linestyle=":", linewidth=1.0)
    right.set_xlabel("thickness over side")
    n = result.counts[-1]
    right.set_title(f"Reissner-Mindlin, {n} × {n}: frequencies 1 to 4 over the thickness", fontsize="medium")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    figure.savefig(path)


def draw_modes(body: Body, vibration: Eigenmodes, support: str, path: Path) -> None:
    """Draw the deflection of a plate in its first modes; ``support`` is named in the title."""
    figure = new_figure(9.0, 6.2)
    assert body.view is not None
    shapes = body.view.shape @ vibration.shapes[6 : 6 + body.size].real
    x, y = body.view.points[:, 0], body.view.points[:, 1]
    values = vibration.frequencies / THICK["kirchhoff"]
    for k, axes in enumerate(figure.subplots(2, 3).ravel()):
        w = shapes[2::3, k]
        w = w / w[np.argmax(np.abs(w))]
        axes.tricontourf(x, y, w, levels=np.linspace(-1.0, 1.0, 21), cmap="RdBu_r")
        axes.set_aspect("equal")
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_title(f"ωa²√(ρt/D) = {values[k]:.3f}", fontsize="medium")
    figure.suptitle(f"thin square plate, {SUPPORTS[support]}: deflection from −1 (blue) to 1 (red) of its largest")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: frequencies of 8 × 8 quadrilaterals within 0.5 % of series, at thicknesses from 0.1 to 1e-5."""
    result = run(cells="quad", refine=3)
    source = {
        ("hinged", "kirchhoff"): "Navier's series",
        ("hinged", "reissner_mindlin"): "series with shear, exact",
        ("clamped", "kirchhoff"): "Ritz, 14 × 14 polynomials",
        ("clamped", "reissner_mindlin"): "Ritz with shear",
    }
    for (support, theory), errors in result.errors.items():
        want = series(support, theory, THICK[theory])
        for k in (0, 1, 3):
            name = f"{SUPPORTS[support]}, {THEORIES[theory]}, t/a = {THICK[theory]}, mode {k + 1} [rad/s]"
            value = float(want[k])
            yield Check(
                name,
                source[support, theory],
                value,
                value * (1.0 + float(errors[-1, k])),
                kind="closed form",
                tolerance=5e-3,
            )
    for support, rows in result.thin.items():
        for t, row in zip(THICKNESSES[2:], rows[2:], strict=True):
            value = float(series(support, "reissner_mindlin", t)[0])
            name = f"{SUPPORTS[support]}, Reissner-Mindlin, t/a = {t:g}, mode 1 [rad/s]"
            yield Check(name, "thin limit", value, value * (1.0 + float(row[0])), kind="closed form", tolerance=5e-3)


def scenes(result: Result) -> dict[str, Scene]:
    """Scene of the modes of the finest thin plate for viewers, by its support."""
    plates = {support: held(finest(result, support)) for support in result.modes}
    return {support: mode_scene(*held_so, result.modes[support]) for support, held_so in plates.items()}


case = Case(run, write, checks, needs=("matplotlib",), scenes=scenes)
