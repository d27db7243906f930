"""A slender bar meshed as a solid: frequencies against beam theory, and their convergence ([flex] sec. 4.1).

A bar of 1 × 0.1 × 0.1 m is welded to the ground at one end. Bending is compared with Timoshenko's beam, which has shear
and rotary inertia, and with Euler-Bernoulli's; stretching with a rod with lateral inertia (Love), torsion with
St. Venant's.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq
from tqdm import tqdm

import fem
from fem.materials.materials import rectangle_torsion
from flexph import GROUND, Body, Mechanism, Pose, connect, modes, weld
from flexph.case import Case, Check, Option
from flexph.export import write_modes
from flexph.export.tables import write_table
from flexph.linear import Eigenmodes
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.scenes import Scene, mode_scene

LENGTH, SIDE = 1.0, 0.1  # [m]
MATERIAL = fem.Material(young=2.1e9, density=7800.0, poisson=0.3)
FAMILIES = {"bending": 3, "torsion": 1, "axial": 1}
"""Number of compared frequencies of each family; each bending one stands for both planes."""
COUNT = 12
Cells = Literal["hexahedron", "tetra"]


def bar(cells: str, degree: int, across: int) -> Body:
    """Solid bar along x with ``across`` cells over its height and ten times as many along it.

    The port ``root`` is rigid and held, the port ``tip`` is the mean motion of the end.
    """
    mesh = fem.box_mesh((LENGTH, SIDE, SIDE), (10 * across, across, across), simplices=cells == "tetra")
    ports = {"root": fem.Tie("left", "rigid"), "tip": fem.Tie("right", "mean")}
    return fem.solid(mesh, MATERIAL, degree=degree, ports=ports, reference="root")


def clamped(body: Body) -> tuple[Mechanism, Pose]:
    """Mechanism of a bar clamped to the ground at its root, and its pose."""
    mechanism = connect({"bar": body}, [weld("bar.root", GROUND)])
    return mechanism, mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))})


def families(body: Body, vibration: Eigenmodes) -> dict[str, Array]:
    """Frequencies [rad/s] of modes by family: bending, axial or torsion, by the direction of the tip's motion."""
    deforming = vibration.shapes[6 : 6 + body.size].real
    tip = body.ports["tip"]
    across = np.linalg.norm((tip.shape @ deforming)[1:], axis=0)
    along = np.abs((tip.shape @ deforming)[0])
    turned = SIDE * np.abs((tip.rotation @ deforming)[0])
    kind = np.argmax([across, turned, along], axis=0)
    values = {name: vibration.frequencies[kind == k] for k, name in enumerate(FAMILIES)}
    return {**values, "bending": values["bending"][::2]}  # of a square both planes have the same


def theory() -> dict[str, Array]:
    """Frequencies [rad/s] of a clamped-free beam by family; "euler" are those of bending by Euler-Bernoulli.

    Otherwise bending is by Timoshenko, torsion by St. Venant, and stretching that of a rod with lateral inertia.
    """
    E, rho, G, nu = MATERIAL.young, MATERIAL.density, MATERIAL.shear_modulus, 0.3
    area, second = SIDE**2, SIDE**4 / 12.0
    euler = np.array([1.87510407, 4.69409113, 7.85475744]) ** 2 * math.sqrt(E * second / (rho * area)) / LENGTH**2
    wave = 0.5 * np.pi / LENGTH
    lateral = 1.0 + (nu * wave) ** 2 * (2.0 * second) / area  # Love: the sides move by νε
    return {
        "bending": timoshenko(euler),
        "euler": euler,
        "torsion": np.array([wave * math.sqrt(G * rectangle_torsion(SIDE, SIDE) / (2.0 * rho * second))]),
        "axial": np.array([wave * math.sqrt(E / rho / lateral)]),
    }


def timoshenko(euler: Array) -> Array:
    """Bending frequencies of a clamped-free Timoshenko beam [rad/s], each a little below Euler-Bernoulli's, ``euler``.

    ``(w, ψ, M, V)' = A (w, ψ, M, V)``: M and V of the motions from the clamp vanish at the end. The shear
    coefficient of a square is 10(1 + ν)/(12 + 11ν) (G. R. Cowper, J. Appl. Mech. 33 (1966)).
    """
    E, rho, G, nu = MATERIAL.young, MATERIAL.density, MATERIAL.shear_modulus, 0.3
    area, second = SIDE**2, SIDE**4 / 12.0
    shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * G * area
    scale = np.array([1.0, 1.0, E * second, E * second])

    def closing(omega: float) -> float:
        a = np.zeros((4, 4))
        a[0, 1], a[0, 3], a[1, 2] = 1.0, 1.0 / shear, 1.0 / (E * second)
        a[2, 1], a[2, 3], a[3, 0] = -rho * second * omega**2, -1.0, -rho * area * omega**2
        return float(np.linalg.det(expm(LENGTH * a * scale / scale[:, None])[2:, 2:]))

    frequencies = []
    for k, upper in enumerate(euler):
        grid = np.linspace(0.75 * upper, upper, 40)
        values = [closing(w) for w in grid]
        at = next(i for i in range(39) if values[i] * values[i + 1] < 0.0)
        frequencies.append(brentq(closing, grid[at], grid[at + 1], xtol=1e-12 * upper, rtol=1e-14))
        assert k < len(euler)
    return np.array(frequencies)


@dataclass(frozen=True)
class Level:
    """Results for one mesh of the bar.

    ``across`` are the cells over the height, ``size`` and ``stresses`` the numbers of deformation and of stress
    coordinates, ``omega`` the frequencies by family [rad/s], ``seconds`` the computing time.
    """

    across: int
    size: int
    stresses: int
    omega: dict[str, Array]
    seconds: float


@dataclass(frozen=True)
class Result:
    """Results for all meshes in the order of refinement, the modes of the finest one, and beam theory."""

    cells: str
    degree: int
    levels: tuple[Level, ...]
    mechanism: Mechanism
    pose: Pose
    modes: Eigenmodes
    theory: dict[str, Array]


def run(
    *,
    degree: Annotated[int, Option("degree of the velocities: 1 or 2")] = 2,
    refine: Annotated[int, Option("cells over the height of the finest mesh")] = 3,
    cells: Annotated[Cells, Option("kind of cell")] = "hexahedron",
) -> Result:
    """A slender bar meshed as a solid: frequencies against beam theory, mesh by mesh ([flex] sec. 4.1)."""
    if degree not in (1, 2):
        raise ValueError(f"degree must be 1 or 2, got {degree}")
    if refine < 1:
        raise ValueError(f"refine must be at least 1, got {refine}")
    levels = []
    for across in tqdm(range(1, refine + 1), desc="solid-cantilever", delay=1.0, disable=None):
        clock = time.perf_counter()
        body = bar(cells, degree, across)
        mechanism, pose = clamped(body)
        vibration = modes(mechanism.linearize(pose), COUNT)
        omega = families(body, vibration)
        levels.append(Level(across, body.size, body.stress_size, omega, time.perf_counter() - clock))
    return Result(cells, degree, tuple(levels), mechanism, pose, vibration, theory())


def deviations(result: Result, level: Level) -> dict[str, Array]:
    """Relative deviations of the frequencies of one mesh from beam theory, by family."""
    by_family = {}
    for name, count in FAMILIES.items():
        computed = level.omega[name][:count]
        by_family[name] = computed / result.theory[name][: len(computed)] - 1.0
    return by_family


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the convergence, and the modes of the finest mesh as VTU.

    Return the summary numbers.
    """
    table: dict[str, Any] = {
        "cells_over_height": [level.across for level in result.levels],
        "coordinates": [level.size for level in result.levels],
        "seconds": [level.seconds for level in result.levels],
    }
    for name, count in FAMILIES.items():
        for k in range(count):
            values = [level.omega[name][k] if len(level.omega[name]) > k else np.nan for level in result.levels]
            table[f"{name}_{k + 1}_hz"] = np.array(values) / (2.0 * np.pi)
            table[f"{name}_{k + 1}_deviation"] = np.array(values) / result.theory[name][k] - 1.0
    write_table(folder / "convergence.csv", table)
    write_modes(folder / "modes.vtu", result.mechanism, result.pose, result.modes)
    draw(result, folder / "convergence.png")
    finest = result.levels[-1]
    return {
        "cells": result.cells,
        "degree": result.degree,
        "coordinates": finest.size,
        "stresses": finest.stresses,
        "frequencies_hz": {name: (finest.omega[name][:n] / (2.0 * np.pi)).tolist() for name, n in FAMILIES.items()},
        "theory_hz": {name: (values / (2.0 * np.pi)).tolist() for name, values in result.theory.items()},
        "deviation": {name: values.tolist() for name, values in deviations(result, finest).items()},
    }


def draw(result: Result, path: Path) -> None:
    """Draw the deviation of each frequency from beam theory against the mesh."""
    figure = new_figure(7.0, 4.5)
    axes = figure.subplots()
    across = [level.across for level in result.levels]
    for name, count in FAMILIES.items():
        for k in range(count):
            values = [d[k] if len(d := deviations(result, level)[name]) > k else np.nan for level in result.levels]
            axes.plot(across, 100.0 * np.array(values), "o-", linewidth=1.0, label=f"{name} {k + 1}")
    axes.axhline(0.0, color="k", linewidth=0.6)
    axes.set_xlabel("cells over the height")
    axes.set_ylabel("deviation from beam theory [%]")
    axes.set_xticks(across)
    axes.set_title(f"{result.cells}, degree {result.degree}", fontsize="medium")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: frequencies of a mesh of degree 2 in bending, torsion and stretching against beam theory."""
    result = run(degree=2, refine=2)
    source = {"bending": "Timoshenko, Cowper's κ", "torsion": "St. Venant", "axial": "Love"}
    for name, count in FAMILIES.items():
        for k in range(count):
            want, computed = float(result.theory[name][k]), float(result.levels[-1].omega[name][k])
            # unlike a beam, the clamp of a solid also restrains lateral contraction and warping
            yield Check(f"{name} {k + 1} [rad/s]", source[name], want, computed, kind="closed form", tolerance=1e-2)


def scenes(result: Result) -> dict[str, Scene]:
    """Scene of the modes of the finest mesh for viewers, by the name "modes"."""
    return {"modes": mode_scene(result.mechanism, result.pose, result.modes)}


case = Case(run, write, checks, needs=("matplotlib",), scenes=scenes)
