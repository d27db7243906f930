"""Frequencies of a rotating cantilever with and without geometric stiffening by von Kármán strain.

The reference numbers are flapwise frequencies of a slender cantilever on a hub without radius, see ``REFERENCE``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from scipy.linalg import qr, svd
from tqdm import tqdm

import fem
from flexph import GROUND, Body, Mechanism, Pose, connect, drive, hinge
from flexph.case import Case, Check, Option
from flexph.export import write_modes
from flexph.export.tables import write_table
from flexph.linear import Eigenmodes
from flexph.mechanisms import Spectrum
from flexph.numerics.arrays import Array
from flexph.plot.axes import legend_above, new_figure
from flexph.scenes import Scene, mode_scene

REFERENCE: Mapping[float, float] = {
    0: 3.5160,
    1: 3.6816,
    2: 4.1373,
    3: 4.7973,
    4: 5.5850,
    5: 6.4495,
    6: 7.3604,
    7: 8.2996,
    8: 9.2568,
    9: 10.2257,
    10: 11.2023,
    11: 12.1843,
    12: 13.1702,
}
"""First flapwise frequency ω√(ρAL⁴/EI) by speed Ω√(ρAL⁴/EI), hub radius 0, slenderness → ∞ by an
independent code; the chordwise frequency follows from chord² = flap² − Ω²."""

AT_REST = (3.516015, 22.034492, 61.697214)
"""Clamped-free beam at rest, ω√(ρAL⁴/EI), in both planes."""

SPEEDS = sorted({*map(float, REFERENCE), 3.25, 3.5})
"""Speeds of the table: those of the reference, and some before linear strain loses its first chordwise motion."""
COUNT = 3  # frequencies of each family
MAX_STRAIN_SPEED = 0.5
"""Largest ratio of speed and slenderness, Ω√(ρL²/E): the root strain is half its square."""
EQUAL = 1e-6
"""Relative difference up to which two s² count as equal, so that their shapes are known as a space only."""
OSCILLATES = 1e-6
"""Ratio |Re s|/|s| up to which a motion counts as oscillation: far above round-off, which leaves 1e-10."""
FAMILIES = ("chord", "flap", "axial", "torsion")
Strain = Literal["linear", "von_karman"]


@dataclass(frozen=True)
class Frequencies:
    """Lowest small motions of a rotating beam by family at one speed, in units of √(EI/ρAL⁴).

    ``flap`` and ``chord`` (3,) are frequencies, NaN if the motion does not oscillate; ``chord_growth`` (3,) are growth
    rates. ``shapes`` are real deformation coordinates (n, 3) by family, with the largest entry 1, and ``message`` is
    that of the spectrum.
    """

    flap: Array
    chord: Array
    chord_growth: Array
    shapes: Mapping[str, Array]
    message: str


@dataclass(frozen=True)
class Result:
    """Frequencies by strain, at one ``speed`` in ``at_speed``, and at all ``speeds`` in ``table``."""

    speed: float
    mechanism: Mechanism
    pose: Pose
    at_speed: Mapping[str, Frequencies]
    speeds: Array
    table: Mapping[str, list[Frequencies]]


def rotating_beam(
    speed: float, slenderness: float, elements: int, strain: Strain, *, pair: str = "quadratic"
) -> Mechanism:
    """Cantilever along x on a hub that turns about z: E = ρ = A = L = 1, I = 1/slenderness² in both planes.

    The unit of frequencies, √(EI/ρAL⁴), is then 1/slenderness. The sections have only the polar rotary inertia. The
    axial force that stiffens the beam, ½ρAΩ²(L² − x²), requires quadratic axial displacements, which the ``pair`` of
    shape functions "quadratic" has.
    """
    second = 1.0 / slenderness**2
    section = fem.Section(area=1.0, second_moment=second, second_moment_y=second, torsion_constant=2.0 * second)
    material = fem.Material(young=1.0, density=1.0, poisson=0.3)  # ν enters torsion only
    beam = fem.beam(1.0, material, section, elements=elements, dim=3, strain=strain, pair=pair)
    spin, vertical = speed / slenderness, (0.0, 0.0, 1.0)
    return connect(
        {"beam": beam},
        [
            hinge("beam.root", GROUND.at(0.0, 0.0, 0.0), axis=vertical),
            drive("beam.root", angle=lambda t: spin * t, axis=vertical),
        ],
    )


def pose_of(mechanism: Mechanism) -> Pose:
    """Pose of the undeformed beam along x."""
    return mechanism.assemble({"beam": (0.0, 0.0, 0.0)})


def solve(speed: float, slenderness: float, elements: int, strain: Strain, *, pair: str = "quadratic") -> Frequencies:
    """Frequencies of small motions about the stretched beam in steady rotation, in the rotating frame.

    ``speed`` is Ω√(ρAL⁴/EI), ``slenderness`` L√(A/I).
    """
    mechanism = rotating_beam(speed, slenderness, elements, strain, pair=pair)
    spin = (0.0, 0.0, speed / slenderness)
    spectrum = mechanism.spectrum(mechanism.equilibrium(pose_of(mechanism), spin=spin))
    families = by_family(mechanism.bodies["beam"], spectrum)
    s = {name: slenderness * np.array([value for value, _ in families[name][:COUNT]]) for name in ("flap", "chord")}
    steady = {name: np.abs(values.real) <= OSCILLATES * np.abs(values) for name, values in s.items()}
    return Frequencies(
        flap=np.where(steady["flap"], s["flap"].imag, np.nan),
        chord=np.where(steady["chord"], s["chord"].imag, np.nan),
        chord_growth=np.where(steady["chord"], 0.0, s["chord"].real),
        shapes={name: np.column_stack([shape for _, shape in families[name][:COUNT]]) for name in ("flap", "chord")},
        message=spectrum.message,
    )


def by_family(body: Body, spectrum: Spectrum) -> dict[str, list[tuple[complex, Array]]]:
    """Values s and shapes of the motions of a rotating beam, by family.

    Families are chordwise (in the plane of rotation), flapwise (out of it), axial and torsional. Of each pair s, s* or
    ±s one motion is kept (Im s > 0, or s > 0), by ascending −s². A motion belongs to the family with the largest share
    of its displacements u_x, u_y, u_z, Lθ_x.

    Shapes of motions of equal s are known up to linear combinations. How many of them belong to a family then follows
    from the share of all of them in its displacements; its shapes are the combinations with the largest share.
    """
    half = (spectrum.values.imag > 0.0) | ((spectrum.values.imag == 0.0) & (spectrum.values.real > 0.0))
    values, shapes = spectrum.values[half], spectrum.part("beam.deformation")[:, half]
    order = np.argsort(-((values**2).real))
    values, shapes = values[order], shapes[:, order]
    rows = _displacements(body)
    families: dict[str, list[tuple[complex, Array]]] = {name: [] for name in FAMILIES}
    for group in _equal(values):
        triangle = qr(np.vstack([part @ shapes[:, group] for part in rows.values()]), mode="economic")[1]
        space = np.linalg.solve(triangle.T, shapes[:, group].T).T  # orthonormal in the displacements of all families
        owned = {name: svd(part @ space, full_matrices=False)[1:] for name, part in rows.items()}
        share = np.array([np.sum(owned[name][0] ** 2) for name in FAMILIES])
        for name, count in zip(FAMILIES, _rounded(share), strict=True):
            for direction in owned[name][1][:count].conj():
                families[name].append((complex(values[group].mean()), _real(space @ direction)))
    return families


def _displacements(body: Body) -> dict[str, Array]:
    """Matrices from the deformation coordinates of a beam to u_y, u_z, u_x and Lθ_x along it, by family."""
    assert body.view is not None and body.section_rotation is not None
    moved, turned = body.view.shape.toarray(), body.section_rotation.toarray()
    length = float(np.ptp(body.view.points[:, 0]))
    return {"chord": moved[1::3], "flap": moved[2::3], "axial": moved[0::3], "torsion": length * turned[0::3]}


def _equal(values: Array) -> list[Array]:
    """Groups of consecutive indices, in each of which the squares of the ``values`` are equal to round-off."""
    square = (values**2).real
    apart = np.abs(np.diff(square)) > EQUAL * np.abs(square[1:])
    return np.split(np.arange(len(values)), 1 + np.flatnonzero(apart))


def _rounded(share: Array) -> Array:
    """Whole numbers nearest to the entries of ``share``, with the same sum: the largest remainders are rounded up."""
    whole = np.floor(share).astype(int)
    raised = np.argsort(whole - share)[: round(float(share.sum())) - int(whole.sum())]
    whole[raised] += 1
    return whole


def _real(shape: Array) -> Array:
    """Real part of a complex shape, which is first divided by its entry of largest magnitude.

    The axial part of a chordwise motion has a phase of a quarter period and drops out.
    """
    return (shape / shape[np.abs(shape).argmax()]).real


def run(
    *,
    speed: Annotated[float, Option("Ω√(ρAL⁴/EI) of the summary and the mode shapes")] = 6.0,
    slenderness: Annotated[float, Option("L√(A/I)")] = 1000.0,
    elements: Annotated[int, Option("finite elements")] = 16,
) -> Result:
    """Rotating cantilever: flapwise and chordwise frequencies over the speed, with and without geometric stiffening."""
    if not (slenderness >= 10.0 and math.isfinite(slenderness)):
        raise ValueError(f"slenderness must be at least 10 for a beam without shear, got {slenderness}")
    fastest = max(REFERENCE)
    if not 0.0 <= speed < math.inf:
        raise ValueError(f"speed must not be negative, got {speed}")
    if max(speed, fastest) > MAX_STRAIN_SPEED * slenderness:
        raise ValueError(
            f"slenderness must be at least {max(speed, fastest) / MAX_STRAIN_SPEED:g} for speeds up to "
            f"{max(speed, fastest):g}: the strain of the root is ½(speed/slenderness)², got {slenderness:g}"
        )
    if elements < COUNT:
        raise ValueError(f"elements must be at least {COUNT} for {COUNT} frequencies, got {elements}")
    mechanism = rotating_beam(speed, slenderness, elements, "von_karman")
    speeds = np.array(SPEEDS)
    bar = tqdm(total=2 * len(speeds), delay=1.0, disable=None, unit="speed")
    table: dict[str, list[Frequencies]] = {"von_karman": [], "linear": []}
    with bar:
        for strain, rows in table.items():
            for value in speeds:
                rows.append(solve(float(value), slenderness, elements, strain))  # type: ignore[arg-type]
                bar.update()
    at_speed = {strain: solve(speed, slenderness, elements, strain) for strain in table}  # type: ignore[arg-type]
    return Result(speed, mechanism, pose_of(mechanism), at_speed, speeds, table)


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and plot against the speed; shapes at the requested speed, as VTU and picture.

    Return the summary numbers.
    """
    stiffened, plain = result.at_speed["von_karman"], result.at_speed["linear"]
    columns: dict[str, Any] = {"speed": result.speeds, "flap1_reference": [REFERENCE.get(v, np.nan) for v in SPEEDS]}
    for strain, suffix in (("von_karman", ""), ("linear", "_linear")):
        for name in ("flap", "chord"):
            values = np.array([getattr(row, name) for row in result.table[strain]])
            columns |= {f"{name}{k + 1}{suffix}": values[:, k] for k in range(COUNT)}
    write_table(folder / "speeds.csv", columns)
    write_modes(folder / "modes.vtu", result.mechanism, result.pose, as_modes(result.mechanism, stiffened))
    draw_speeds(result, folder / "frequencies.png")
    draw_modes(result, folder / "modes.png")
    return {
        "flap": stiffened.flap,
        "chord": stiffened.chord,
        "flap_linear": plain.flap,
        "chord_linear": plain.chord,
        "chord_growth_linear": plain.chord_growth,
        "flap1_reference": REFERENCE.get(result.speed),
        "chord_identity_defect_rel": identity_defect(result.speed, stiffened),
        "message": stiffened.message,
        "message_linear": plain.message,
        "modes": [f"{name} {k + 1}" for name in ("flap", "chord") for k in range(COUNT)],
    }


def identity_defect(speed: float, frequencies: Frequencies) -> float:
    """Relative defect of the identity chord² = flap² − Ω² between the first frequencies of both families."""
    expected = frequencies.flap[0] ** 2 - speed**2
    return float((frequencies.chord[0] ** 2 - expected) / expected)


def as_modes(mechanism: Mechanism, frequencies: Frequencies) -> Eigenmodes:
    """Eigenmodes of the mechanism with the flapwise, then the chordwise shapes; the frame of the beam does not move."""
    shapes = np.hstack([frequencies.shapes[name] for name in ("flap", "chord")])
    beam = mechanism.bodies["beam"]
    whole = np.vstack([np.zeros((6, shapes.shape[1])), shapes, np.zeros((beam.stress_size, shapes.shape[1]))])
    return Eigenmodes(
        np.concatenate([frequencies.flap, frequencies.chord]), whole.astype(complex), rigid=0, self_stress=0
    )


def draw_speeds(result: Result, path: Path) -> None:
    """Draw over the speed the first frequencies with their reference, and the first three of each family."""
    figure = new_figure(11.0, 4.8)
    first, all_of_them = figure.subplots(1, 2)
    for axes, count in ((first, 1), (all_of_them, COUNT)):
        for name, colour in (("flap", "C0"), ("chord", "C1")):
            for strain, style in (("von_karman", "-"), ("linear", "--")):
                values = np.array([getattr(row, name) for row in result.table[strain]])[:, :count]
                label = f"{name}wise, {'von Kármán' if strain == 'von_karman' else 'linear'}"
                axes.plot(
                    result.speeds, values, style, color=colour, linewidth=1.4, label=[label] + [None] * (count - 1)
                )
        axes.set_xlabel(r"speed $\Omega\,\sqrt{\rho A L^4/EI}$")
        axes.set_ylim(bottom=0.0)
        axes.set_xlim(result.speeds[0], result.speeds[-1])
        axes.grid(alpha=0.3)
    speed, flap = np.array(list(REFERENCE.items())).T
    first.plot(speed, flap, "ko", markersize=4, markerfacecolor="none", label="reference, slender limit")
    first.plot(speed, np.sqrt(flap**2 - speed**2), "ko", markersize=4, markerfacecolor="none")
    lost = 0.5 * (AT_REST[0] + result.speeds[-1])
    first.text(lost, 0.25, "linear strain: chordwise motion grows", color="C1", fontsize="small", ha="center")
    first.set_ylabel(r"first frequency $\omega\,\sqrt{\rho A L^4/EI}$")
    first.legend(fontsize="small")
    all_of_them.set_ylabel(r"first three frequencies $\omega\,\sqrt{\rho A L^4/EI}$")
    figure.savefig(path)


def draw_modes(result: Result, path: Path) -> None:
    """Draw the deflections of the flapwise and chordwise shapes along the beam, at the requested speed."""
    stiffened, body = result.at_speed["von_karman"], result.mechanism.bodies["beam"]
    assert body.view is not None
    x = body.view.points[:, 0]
    figure = new_figure(10.0, 4.4)
    for axes, (name, across, values) in zip(
        figure.subplots(1, 2, sharey=True), (("flap", 2, stiffened.flap), ("chord", 1, stiffened.chord)), strict=True
    ):
        for k in range(COUNT):
            bent = body.view.shape[across::3] @ stiffened.shapes[name][:, k]
            axes.plot(x, bent / bent[np.abs(bent).argmax()], linewidth=1.6, label=f"mode {k + 1}: {values[k]:.3f}")
        axes.set_xlabel("x / L")
        axes.set_ylabel(f"{name}wise, $u_{'xyz'[across]}$ over its largest")
        legend_above(axes, 3, title=r"frequency $\omega\,\sqrt{\rho A L^4/EI}$", title_fontsize="small")
        axes.grid(alpha=0.3)
    figure.suptitle(f"mode shapes at the speed {result.speed:g}, von Kármán strain")
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: frequencies against ``REFERENCE`` with von Kármán strain; no stiffening with linear strain.

    The beam has 16 elements and slenderness 1000. With linear strain the flapwise frequencies are those at rest.
    """
    for speed, published in REFERENCE.items():
        frequencies = solve(float(speed), 1000.0, 16, "von_karman")
        yield Check(
            f"flapwise, speed {speed}",
            "slender limit",
            published,
            float(frequencies.flap[0]),
            kind="independent code",
            tolerance=1e-4,
        )
        yield Check(
            f"chordwise squared, speed {speed}",
            "flap² − Ω²",
            float(frequencies.flap[0] ** 2 - speed**2),
            float(frequencies.chord[0] ** 2),
            kind="theorem",
            tolerance=1e-3,
        )
    plain = solve(6.0, 1000.0, 16, "linear")
    for k, published in enumerate(AT_REST):  # without stiffening: chordwise, λ² = ω² − Ω²
        yield Check(
            f"flapwise {k + 1}, linear, speed 6",
            "beam at rest",
            published,
            float(plain.flap[k]),
            kind="closed form",
            tolerance=1e-3,
        )
        square = float(plain.chord[k] ** 2 if plain.chord_growth[k] == 0.0 else -(plain.chord_growth[k] ** 2))
        yield Check(
            f"chordwise {k + 1} squared, linear, speed 6",
            "ω² − Ω²",
            published**2 - 36.0,
            square,
            kind="closed form",
            tolerance=1e-3,
        )


def scenes(result: Result) -> dict[str, Scene]:
    """Scene of the flapwise and chordwise shapes at the requested speed for viewers, by the name "modes"."""
    vibrations = as_modes(result.mechanism, result.at_speed["von_karman"])
    return {"modes": mode_scene(result.mechanism, result.pose, vibrations)}


case = Case(run, write, checks, needs=("matplotlib",), scenes=scenes)
