"""Three free-vibration benchmarks of NAFEMS: a free thin plate, a tapered membrane, a simply supported solid plate.

Targets: F. Abbassian, D. J. Dawswell, N. C. Knowles, Selected Benchmarks for Natural Frequency Analysis, NAFEMS R0015
(1987), tests 12, 32 and 52, as vendors of finite-element programs print them. All are of steel, E = 200 GPa, ν = 0.3,
ρ = 8000 kg/m³.

- FV12: square of 10 m, 50 mm thick, free. The targets of modes 7 to 9, 4.233 and 7.416 Hz, are 1.0 % and 0.8 % above
  the limits of a Ritz series, 4.190 and 7.357 Hz; both are compared.
- FV32: 10 m long, 5 m wide at the clamp and 1 m at the end, 50 mm thick, in its plane.
- FV52: 10 × 10 × 1 m, w = 0 along the four edges of the lower face. The targets of its bending modes are those of
  Mindlin's plate with k = π²/12 whose normals turn about the edges only. Line supports have no limit in
  three-dimensional elasticity: frequencies fall with every refinement. Held at its sides like that plate, the solid
  has these frequencies.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
from scipy import sparse
from tqdm import tqdm

import fem
from flexph import GROUND, Body, LinearPHDAE, Pose, connect, eliminate, modes, plot, weld
from flexph.bodies import linear_body
from flexph.case import Case, Check, Kind, Option
from flexph.export import write_modes
from flexph.export.tables import write_table
from flexph.interconnection import constrain
from flexph.linear import Eigenmodes
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.scenes import Scene, mode_scene

from .plate_series import POISSON, thin_ritz

STEEL = fem.Material(young=200e9, density=8000.0, poisson=POISSON)
SIDE = 10.0  # [m]
THIN, THICK = 0.05, 1.0  # [m]
TARGETS = {
    "fv12": (1.622, 2.360, 2.922, 4.233, 4.233, 7.416),
    "fv32": (44.623, 130.03, 162.70, 246.05, 379.90, 391.44),
    "fv52": (45.897, 109.44, 109.44, 167.89, 193.59, 206.19, 206.19),
}
"""Published frequencies [Hz]: modes 4 to 9 of FV12 and 4 to 10 of FV52, after the rigid motions."""
BENDING = 4
"""Number of bending modes of FV52, which come first; the others are in the plane."""


class Row(NamedTuple):
    """One frequency of a test: published mode number, value and source of the reference, computed value.

    Frequencies are in [Hz].
    """

    test: str
    model: str
    mode: int
    source: str
    target: float
    computed: float


@dataclass(frozen=True)
class Shown:
    """A body and its modes beyond the rigid ones, for pictures and viewers.

    ``shapes`` are the velocities of the drawn points (points, d, modes), ``hertz`` the frequencies [Hz].
    """

    body: Body
    shapes: Array
    hertz: Array
    vibration: Eigenmodes


@dataclass(frozen=True)
class Result:
    """Rows of all tests, and the drawn body of each test by its name."""

    rows: tuple[Row, ...]
    shown: dict[str, Shown]


def hertz(frequencies: Array) -> Array:
    """Frequencies in [Hz] from frequencies in [rad/s]."""
    return frequencies / (2.0 * np.pi)


def moved(body: Body, vibration: Eigenmodes) -> Array:
    """Velocities v + ω × X + φu̇ of all drawn points of a body in each mode, (points, d, modes)."""
    assert body.view is not None
    shapes, d = vibration.shapes.real, body.dim
    rigid = _rigid_rows(body.view.points) @ shapes[: _rigid(body)]
    deforming = body.view.shape @ shapes[_rigid(body) : _rigid(body) + body.size]
    return (rigid + deforming).reshape(-1, d, shapes.shape[1])


def _rigid(body: Body) -> int:
    return 3 if body.dim == 2 else 6


def _rigid_rows(points: Array) -> Array:
    """Matrix (points · d, 3 or 6) from the rigid motion (v, ω) to the velocities v + ω × X of points (points, d)."""
    d = points.shape[1]
    if d == 2:
        turn = np.stack([-points[:, 1], points[:, 0]], axis=1)[:, :, None]
    else:
        turn = np.stack([np.cross(e, points) for e in np.eye(3)], axis=2)
    fixed = np.broadcast_to(np.eye(d), (len(points), d, d))
    return np.concatenate([fixed, turn], axis=2).reshape(len(points) * d, -1)


def held(body: Body, nodes: Iterable[tuple[Array, int]]) -> LinearPHDAE:
    """Linear system of a free body with some velocities of its nodes held at zero.

    ``nodes`` are pairs of node numbers (k,) and the axis of the velocity.
    """
    assert body.view is not None
    rigid = _rigid_rows(body.view.points)
    at = np.concatenate([body.dim * numbers + axis for numbers, axis in nodes])
    none = sparse.csr_array((len(at), body.stress_size))
    rows = sparse.hstack([sparse.csr_array(rigid[at]), sparse.csr_array(body.view.shape)[at], none])
    return constrain(linear_body(body, "plate"), sparse.csr_array(rows))


# --- the tests


def fv12(cells: int) -> tuple[list[Row], Shown]:
    """Rows and modes of test FV12, the free thin square plate, by Kirchhoff-Love, with ``cells`` along each side.

    References are the published targets and a Ritz series.
    """
    mesh = fem.box_mesh((SIDE, SIDE), (cells, cells))
    body = fem.plate(mesh, STEEL, thickness=THIN, ports={"corner": fem.Tie([0])}, reference="corner")
    vibration = modes(linear_body(body, "plate"), 6)
    values = hertz(vibration.frequencies)
    rigidity = STEEL.young * THIN**3 / (12.0 * (1.0 - POISSON**2))
    series = hertz(thin_ritz("free", 6) * math.sqrt(rigidity / (STEEL.density * THIN)) / SIDE**2)
    rows = [
        Row("fv12", "plate", 4 + k, "NAFEMS R0015", t, f)
        for k, (t, f) in enumerate(zip(TARGETS["fv12"], values, strict=True))
    ]
    rows += [
        Row("fv12", "plate", 4 + k, "Ritz series", t, f) for k, (t, f) in enumerate(zip(series, values, strict=True))
    ]
    return rows, Shown(body, moved(body, vibration), values, vibration)


def tapered(cells: int) -> Any:
    """Mesh of the membrane FV32, symmetric about y = 0, with ``cells`` across and twice as many along it."""
    square = fem.box_mesh((SIDE, 1.0), (2 * cells, cells))
    points = square.p.copy()
    points[1] = (points[1] - 0.5) * (5.0 - 0.4 * points[0])
    return type(square)(points, square.t).with_boundaries({"root": lambda x: x[0] < 1e-9})


def fv32(cells: int) -> tuple[list[Row], Shown]:
    """Rows and modes of test FV32, the tapered cantilever membrane, in plane stress with cells of degree 2."""
    body = fem.solid(
        tapered(cells), STEEL, plane="stress", thickness=THIN, degree=2, ports={"root": "root"}, reference="root"
    )
    mechanism = connect({"plate": body}, [weld("plate.root", GROUND)])
    vibration = modes(mechanism.linearize(_rest(mechanism)), 6)
    values = hertz(vibration.frequencies)
    rows = [
        Row("fv32", "plane stress", 1 + k, "NAFEMS R0015", t, f)
        for k, (t, f) in enumerate(zip(TARGETS["fv32"], values, strict=True))
    ]
    return rows, Shown(body, moved(body, vibration), values, vibration)


def _rest(mechanism: Any) -> Pose:
    d = next(iter(mechanism.bodies.values())).dim
    return mechanism.assemble({"plate": (0.0,) * 3 if d == 3 else (0.0, 0.0, 0.0)})


def fv52(cells: int) -> tuple[list[Row], Shown]:
    """Rows and modes of test FV52, the simply supported thick square plate.

    Models are a solid held at lines, a solid held at its sides, and a plate with shear.
    """
    mesh = fem.box_mesh((SIDE, SIDE, THICK), (cells, cells, max(1, cells // 4)))
    body = fem.solid(mesh, STEEL, degree=2, ports={"corner": fem.Tie([0], "mean")}, reference="corner")
    assert body.view is not None
    X = body.view.points
    x, y = (np.flatnonzero((X[:, i] < 1e-9) | (X[:, i] > SIDE - 1e-9)) for i in (0, 1))
    sides = np.union1d(x, y)
    lines = modes(held(body, [(sides[X[sides, 2] < 1e-9], 2)]), 12)
    shapes, values = moved(body, lines), hertz(lines.frequencies)
    bends = (shapes[:, 2] ** 2).sum(axis=0) > 0.5 * (shapes**2).sum(axis=(0, 1))
    faces = hertz(modes(held(body, [(sides, 2), (x, 1), (y, 0)]), 8).frequencies)
    bent, flat = TARGETS["fv52"][:BENDING], TARGETS["fv52"][BENDING:]
    rows = []
    for model, computed in (
        ("solid, lines", values[bends]),
        ("solid, sides", _near(faces, bent)),
        ("plate", sheared(cells)),
    ):
        rows += [
            Row("fv52", model, 4 + k, "NAFEMS R0015", t, f)
            for k, (t, f) in enumerate(zip(bent, computed, strict=False))
        ]
    rows += [
        Row("fv52", "solid, lines", 4 + BENDING + k, "NAFEMS R0015", t, f)
        for k, (t, f) in enumerate(zip(flat, values[~bends], strict=False))
    ]
    return rows, Shown(body, shapes, values, lines)


def _near(values: Array, targets: tuple[float, ...]) -> Array:
    """Value nearest to each of the ``targets`` in turn; each value is used once."""
    left, nearest = list(values), []
    for target in targets:
        nearest.append(left.pop(int(np.argmin(np.abs(np.array(left) - target)))))
    return np.array(nearest)


def sheared(cells: int) -> Array:
    """Bending frequencies [Hz] of the plate of test FV52 with shear, k = π²/12."""
    body = fem.plate(
        fem.box_mesh((SIDE, SIDE), (cells, cells)),
        STEEL,
        thickness=THICK,
        theory="reissner_mindlin",
        shear_correction=math.pi**2 / 12.0,
        supports=[fem.Support(side, "hinged") for side in ("left", "right", "front", "back")],
    )
    mechanism = connect({"plate": body}, [weld("plate.frame", GROUND)])
    vibration = modes(eliminate(mechanism.linearize(_rest(mechanism))), BENDING)
    return hertz(vibration.frequencies)


def run(
    *,
    refine: Annotated[int, Option("cells along the side: FV12 and FV52; across the root: FV32")] = 8,
) -> Result:
    """NAFEMS benchmarks FV12, FV32 and FV52: natural frequencies against the published targets."""
    if not 4 <= refine <= 16:
        raise ValueError(f"refine must be from 4 to 16, got {refine}")
    rows, shown = [], {}
    for name, test in tqdm({"fv12": fv12, "fv32": fv32, "fv52": fv52}.items(), desc="nafems", delay=1.0, disable=None):
        of_test, shown[name] = test(refine)
        rows += of_test
    return Result(tuple(rows), shown)


# --- files


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of all frequencies, pictures of the modes, and the modes as VTU.

    Return the summary numbers.
    """
    table: dict[str, Any] = {k: [getattr(r, k) for r in result.rows] for k in ("test", "model", "mode", "source")}
    table |= {"target_hz": [r.target for r in result.rows], "found_hz": [r.computed for r in result.rows]}
    table["deviation"] = [r.computed / r.target - 1.0 for r in result.rows]
    write_table(folder / "frequencies.csv", table)
    for name, shown in result.shown.items():
        draw(shown, name, folder / f"{name}.png")
        mechanism = connect({"plate": shown.body}, [])
        write_modes(folder / f"{name}.vtu", mechanism, _rest(mechanism), shown.vibration)
    figures: dict[str, Any] = {}
    for r in result.rows:
        key = f"{r.test}_{r.model}_{r.source}".replace(", ", "_").replace(" ", "_").lower()
        figures.setdefault(key, []).append(r.computed / r.target - 1.0)
    return {f"{key}_deviation": values for key, values in figures.items()}


def draw(shown: Shown, name: str, path: Path) -> None:
    """Draw the first six modes: a membrane by its deformed mesh, a plate by its coloured middle or upper surface."""
    view = shown.body.view
    assert view is not None
    figure = new_figure(11.0, 6.0)
    panels = figure.subplots(2, 3).ravel()
    if shown.body.dim == 2:
        mechanism = connect({"plate": shown.body}, [])
        plot.modes(mechanism, _rest(mechanism), shown.vibration, panels, scale=0.08)
        drawn = {"displacement over its largest": panels[0].collections[-1]}
    else:
        drawn = {k: v for n, axes in enumerate(panels) for k, v in [_draw_surface(axes, view.points, shown, n)]}
    for label, surface in drawn.items():
        figure.colorbar(surface, ax=panels, label=label, shrink=0.8, ticks=np.linspace(-1.0, 1.0, 9))
    figure.suptitle(f"NAFEMS {name.upper()}")
    figure.savefig(path)


def _draw_surface(axes: Any, X: Array, shown: Shown, mode: int) -> tuple[str, Any]:
    """Draw a surface of a plate, coloured by its deflection or by the magnitude of its in-plane displacement.

    ``X`` are the drawn points, ``mode`` is the index of the mode. Returns the caption of the colours and the drawn
    surface.
    """
    top = np.flatnonzero(X[:, 2] > X[:, 2].max() - 1e-9) if X.shape[1] == 3 else np.arange(len(X))
    shape = shown.shapes[:, :, mode] / np.abs(shown.shapes[:, :, mode]).max()
    bent = (shape[:, 2] ** 2).sum() > 0.5 * (shape**2).sum()
    values = shape[top, 2] if bent else np.linalg.norm(shape[top], axis=1) / np.linalg.norm(shape, axis=1).max()
    look: dict[str, Any] = {"cmap": "RdBu_r" if bent else "viridis"}
    drawn = axes.tricontourf(*X[top, :2].T, values, levels=np.linspace(-1.0 if bent else 0.0, 1.0, 21), **look)
    axes.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axes.set_title(f"{shown.hertz[mode]:.4g} Hz{'' if bent else ', in its plane'}", fontsize="medium")
    return ("deflection" if bent else "displacement in the plane") + " over its largest", drawn


def checks() -> Iterable[Check]:
    """Checks: all targets within 1 % and the Ritz series within 0.1 %.

    Bending modes of the solid held at lines are left out, as a line support has no limit.
    """
    for r in run(refine=8).rows:
        if r.test == "fv52" and r.model == "solid, lines" and r.mode < 4 + BENDING:
            continue  # a line support has no limit
        tolerance = 1e-3 if r.source == "Ritz series" else 1e-2
        name = f"{r.test.upper()} mode {r.mode}, {r.model} [Hz]"
        kind: Kind = "closed form" if r.source == "Ritz series" else "published"
        yield Check(name, r.source, float(r.target), float(r.computed), kind=kind, tolerance=tolerance)


def scenes(result: Result) -> dict[str, Scene]:
    """Scene of the modes of each test for viewers, by the name of the test."""
    mechanisms = {name: connect({"plate": shown.body}, []) for name, shown in result.shown.items()}
    return {n: mode_scene(m, _rest(m), result.shown[n].vibration) for n, m in mechanisms.items()}


case = Case(run, write, checks, needs=("matplotlib",), scenes=scenes)
