"""Natural frequencies of a four-bar mechanism over the crank angle ([flex] sec. 6.1)."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

import fem
from cases.units import deg, inch
from flexph import GROUND, PHDAE, Mechanism, Pose, connect, eigenfrequencies, hinge, modes, plot, torque, weld
from flexph.case import Case, Check, Option
from flexph.export import write_modes
from flexph.linear import Eigenmodes
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.scenes import Scene, mode_scene

from .checks import near


class Data(NamedTuple):
    """Published data of the four links: ground, crank, coupler and follower.

    ``lengths`` [m] are of all four, ``areas`` [m²] and ``second_moments`` [m⁴] of all but the ground. ``young`` [Pa]
    and ``density`` [kg/m³] are those of the material, ``pin_mass`` [kg] is the lumped mass of a pin.
    """

    lengths: tuple[float, float, float, float]
    areas: tuple[float, float, float]
    second_moments: tuple[float, float, float]
    young: float
    density: float
    pin_mass: float


DATA = {
    # [flex] table 1
    "si": Data(
        (0.254, 0.108, 0.2794, 0.2705),
        (1.0774e-4, 4.0645e-5, 4.0645e-5),
        (11.472 / 7.1e10, 0.616 / 7.1e10, 0.616 / 7.1e10),
        7.1e10,
        2714.0,
        0.042,
    ),
    # the source data behind the published figure
    "inch": Data(
        (10.0 * inch, 4.25 * inch, 11.0 * inch, 10.65 * inch),
        (0.167 * inch**2, 0.063 * inch**2, 0.063 * inch**2),
        (3.881e-4 * inch**4, 2.084e-5 * inch**4, 2.084e-5 * inch**4),
        71016000000.0,
        2714.4716,
        0.0419430,
    ),
}


@dataclass(frozen=True)
class Result:
    """Lowest frequencies (k, 3) [rad/s] at crank angles (k,) [deg], and the modes at one of these poses.

    ``mode_angle`` [deg] is the crank angle of the modes.
    """

    angles: Array
    frequencies: Array
    mechanism: Mechanism
    pose: Pose
    modes: Eigenmodes
    mode_angle: float


UNDAMPED = fem.Damping()


def four_bar(
    data: Data, elements: int, pair: str = "compatible", *, damping: fem.Damping = UNDAMPED, motor: str = ""
) -> Mechanism:
    """Mechanism of a crank clamped at its root, a coupler, and a follower hinged to the ground, with lumped pin masses.

    If ``motor`` names a motor, the crank is hinged instead and the motor's torque acts on its root.
    """
    material = fem.Material(young=data.young, density=data.density)
    given: dict[str, Any] = {"elements": elements, "pair": pair, "damping": damping}
    crank, coupler, follower = (
        fem.beam(length, material, fem.Section(area=area, second_moment=second), **given)
        for length, area, second in zip(data.lengths[1:], data.areas, data.second_moments, strict=True)
    )
    root = [hinge("crank.root", GROUND), torque("crank.root", name=motor)] if motor else [weld("crank.root", GROUND)]
    return connect(
        {
            "crank": crank,
            "coupler": coupler.with_mass("root", data.pin_mass),
            "follower": follower.with_mass("root", data.pin_mass),
        },
        [
            *root,
            hinge("crank.tip", "coupler.root"),
            hinge("coupler.tip", "follower.root"),
            hinge("follower.tip", GROUND.at(data.lengths[0], 0.0)),
        ],
    )


def pose_at(mechanism: Mechanism, data: Data, crank: float) -> Pose:
    """Pose at the crank angle ``crank`` [rad], with the moving pin above the line of the ground pivots."""
    return poses_at(mechanism, data, np.array([crank]))[0]


def poses_at(mechanism: Mechanism, data: Data, crank: Array) -> Sequence[Pose]:
    """Poses at the crank angles ``crank`` (k,) [rad], with the moving pin above the line of the ground pivots."""
    ground, l1, l2, l3 = data.lengths
    pin = l1 * np.array([np.cos(crank), np.sin(crank)])
    x, y = np.array([[ground], [0.0]]) - pin
    reach = np.hypot(x, y)
    coupler = np.arctan2(y, x) + np.arccos((l2**2 + reach**2 - l3**2) / (2.0 * l2 * reach))
    px, py = pin + l2 * np.array([np.cos(coupler), np.sin(coupler)])
    guess = {"coupler": coupler, "follower": np.arctan2(-py, ground - px)}
    return mechanism.assemble_all({"crank": [(0.0, 0.0, angle) for angle in crank]}, guess=guess)


def parse_angles(text: str) -> Array:
    """Angles [deg] from a text ``start:stop:step``, with the stop if the steps reach it, or from a single number."""
    try:
        values = [float(part) for part in text.split(":")]
    except ValueError:
        values = []
    if len(values) not in (1, 3) or not np.all(np.isfinite(values)):
        raise ValueError(f"angles must be start:stop:step in degrees, such as 0:360:10, got {text!r}")
    if len(values) == 1:
        return np.array(values)
    start, stop, step = values
    if step <= 0.0 or stop < start:
        raise ValueError(f"angles need step > 0 and stop >= start, got {text!r}")
    return start + step * np.arange(math.floor((stop - start) / step + 1e-9) + 1)


def run(
    *,
    angles: Annotated[str, Option("crank angles start:stop:step, stop included", "deg")] = "0:360:10",
    elements: Annotated[int, Option("finite elements per link")] = 8,
    data: Annotated[Literal["si", "inch"], Option("[flex] table 1, or the source data behind its figure")] = "si",
    pair: Annotated[
        Literal["compatible", "quadratic", "hermite", "paper"], Option("mixed finite-element pair")
    ] = "compatible",
    mode_angle: Annotated[float, Option("crank angle of the exported mode shapes", "deg")] = 90.0,
) -> Result:
    """Natural frequencies of a four-bar mechanism over the crank angle ([flex] sec. 6.1)."""
    values, given = parse_angles(angles), DATA[data]
    mechanism = four_bar(given, elements, pair)
    frequencies = mechanism.eigenfrequencies(poses_at(mechanism, given, values * deg), 3)
    pose = pose_at(mechanism, given, mode_angle * deg)
    return Result(values, np.array(frequencies), mechanism, pose, modes(mechanism.linearize(pose), 3), mode_angle)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and plot of the frequencies, mode shapes as VTU and as a picture.

    Return the summary numbers.
    """
    with open(folder / "frequencies.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["angle_deg", "omega1_rad_s", "omega2_rad_s", "omega3_rad_s"])
        table.writerows(np.column_stack([result.angles, result.frequencies]).tolist())
    write_modes(folder / "modes.vtu", result.mechanism, result.pose, result.modes)
    draw_frequencies(result, folder / "frequencies.png")
    draw_modes(result, folder / "modes.png")
    lowest, highest = result.frequencies.min(axis=0), result.frequencies.max(axis=0)
    return {
        "angles": len(result.angles),
        "omega_min_rad_s": lowest,
        "omega_max_rad_s": highest,
        "mode_angle_deg": result.mode_angle,
        "mode_omega_rad_s": result.modes.frequencies,
    }


def draw_frequencies(result: Result, path: Path) -> None:
    """Draw the three lowest frequencies over the crank angle in the manner of [flex] fig. 6."""
    from matplotlib.ticker import MultipleLocator

    figure = new_figure(7.0, 4.5)
    axes = figure.subplots()
    for k in range(3):
        axes.plot(result.angles, result.frequencies[:, k], marker="o", markersize=3, label=f"$\\omega_{k + 1}$")
    axes.set_xlabel("crank angle [deg]")
    axes.set_ylabel("eigenfrequency [rad/s]")
    axes.set_ylim(bottom=0.0)
    if np.ptp(result.angles) >= 180.0:
        axes.xaxis.set_major_locator(MultipleLocator(45.0))
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path)


def draw_modes(result: Result, path: Path) -> None:
    """Draw the first three mode shapes over the undeformed mechanism."""
    figure = new_figure(11.0, 4.6)
    plot.modes(result.mechanism, result.pose, result.modes, figure.subplots(1, 3), scale=0.15)
    figure.suptitle(f"crank at {result.mode_angle:g}°")
    figure.savefig(path)


REFERENCE = {
    0: (269.6183, 305.7164, 383.3525),
    90: (292.7676, 314.9078, 508.5935),
    180: (297.1404, 315.9855, 545.2409),
    270: (294.5464, 318.6216, 707.9292),
}
"""Converged displacement finite elements (Richardson from 16 and 32 elements per link, checked by a transcendental
dynamic stiffness), SI data, rad/s by crank angle in degrees."""

SWEEP = {2: 270.2347, 4: 269.6576, 8: 269.6207, 16: 269.6184}
"""ω1 at 0° by elements per link, displacement finite elements, rad/s."""


def checks() -> Iterable[Check]:
    """Checks: frequencies against converged values, and their convergence with the number of elements."""
    data = DATA["si"]
    fine = four_bar(data, 16)
    source = "displacement FE, converged"
    for angle, published in REFERENCE.items():
        computed = eigenfrequencies(fine.linearize(pose_at(fine, data, angle * deg)), count=3)
        for k in range(3):
            yield Check(
                f"ω{k + 1} at {angle}° [rad/s]",
                source,
                published[k],
                float(computed[k]),
                kind="independent code",
                tolerance=1e-5,
            )
    for elements, value in SWEEP.items():
        mechanism = four_bar(data, elements)
        computed = eigenfrequencies(mechanism.linearize(pose_at(mechanism, data, 0.0)), count=1)
        # half a unit of the last printed digit
        name = f"ω1 at 0°, {elements} elements [rad/s]"
        yield near(name, value, computed[0], 5.1e-5, source="displacement FE", kind="independent code")


def analysed() -> PHDAE:
    """Equations of the mechanism with two elements for each link, at rest at a crank angle of 90°."""
    data = DATA["si"]
    mechanism = four_bar(data, 2)
    return mechanism.phdae(mechanism.consistent_state(pose_at(mechanism, data, 90.0 * deg)))


def scenes(result: Result) -> dict[str, Scene]:
    """Scene of the mode shapes for viewers, by the name "modes"."""
    return {"modes": mode_scene(result.mechanism, result.pose, result.modes)}


case = Case(run, write, checks, needs=("matplotlib",), system=analysed, scenes=scenes)
