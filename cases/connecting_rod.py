"""The connecting rod of the crank-slider of [flex] sec. 6.2 as a solid and as a beam: frequencies and stresses.

``eyes`` is cut from steel plate: two eyes and a shank (``meshes/connecting_rod.msh``, made by gmsh from the ``.geo``
file there), 0.30 m from bore to bore. The rectangular shank has area and second moment of the circle of 6 mm of
[flex]; so has ``bar``, a prism of 0.30 m without eyes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

import fem
from flexph import GROUND, Body, Solution, connect, hinge, modes
from flexph.bodies import tensors, von_mises
from flexph.numerics.arrays import Array

from . import crank_slider as planar
from .crank_slider import DIAMETER, ROD

STEEL = fem.Material(young=planar.STEEL.young, density=planar.STEEL.density, poisson=0.3)
HEIGHT = 0.5 * math.sqrt(3.0) * DIAMETER  # of the shank, in the plane of motion [m]
THICKNESS = 0.25 * math.pi * DIAMETER**2 / HEIGHT  # [m]
SHANK = fem.Section(width=THICKNESS, height=HEIGHT)
MESH = Path(__file__).with_name("meshes") / "connecting_rod.msh"
Z = (0.0, 0.0, 1.0)
AT_ONCE = 64  # instants whose stresses are evaluated together

Rod = Literal["eyes", "bar"]


def solid_rod(rod: Rod, along: int = 48, across: int = 2) -> Body:
    """Solid rod with the ports ``crank``, ``slider`` and ``middle``.

    The bores, or the ends of the bar, are rigid and together define the frame, which is close to the chord. ``along``
    and ``across`` are the numbers of cells of the bar in these directions.
    """
    if rod == "eyes":
        return _solid(MESH, {"crank": "big eye", "slider": "small eye"}, {"ends": "eyes", "middle": "middle"})
    at = lambda *places: lambda x: np.min([np.abs(x[0] - place) for place in places], axis=0) < 1e-9  # noqa: E731
    box = fem.box_mesh((ROD, HEIGHT, THICKNESS), (along, across, 1))
    return _solid(box, {"crank": "left", "slider": "right"}, {"ends": at(0.0, ROD), "middle": at(0.5 * ROD)})


def _solid(mesh: Any, rigid: Mapping[str, Any], mean: Mapping[str, Any]) -> Body:
    ports = {name: fem.Tie(region, "rigid") for name, region in rigid.items()}
    ports |= {name: fem.Tie(region, "mean") for name, region in mean.items()}
    return fem.solid(mesh, STEEL, degree=2, ports=ports, reference="ends")


def beam_rod(rod: Body, elements: int = 16, section: fem.Section = SHANK) -> Body:
    """The shank of a rod as a beam from pin to pin, with lumped masses for the eyes.

    At each pin they add the mass and inertia by which ``rod`` exceeds the shank.
    """
    beam = planar.beam(elements, "linear", section)
    for port, pin in (("root", "crank"), ("tip", "slider")):
        mass, inertia = surplus(rod, pin)
        beam = beam.with_mass(port, mass, inertia)
    return beam


def surplus(rod: Body, pin: str) -> tuple[float, float]:
    """Mass [kg] and inertia about the pin [kg m²] by which the half of a rod near ``pin`` exceeds half of the shank."""
    assert rod.view is not None
    field, at = rod.view.tensors["stress"], rod.ports[pin].position
    lever = field.positions - at
    near = np.abs(lever[:, 0]) < 0.5 * ROD
    weights = STEEL.density * field.weights[near]
    line, half = STEEL.density * SHANK.area, 0.5 * ROD
    mass = float(weights.sum()) - line * half
    inertia = float(weights @ (lever[near, :2] ** 2).sum(axis=1)) - line * half**3 / 3.0
    polar = STEEL.density * SHANK.second_moment * half  # of the sections of the shank, which beams have not
    return max(mass, 0.0), max(inertia - polar, 0.0)  # of the bar, round-off of either sign


def bending(rod: Body, count: int = 3) -> Array:
    """Lowest bending frequencies (count,) [rad/s] of a rod in its plane of motion, hinged at both pins."""
    ends = ("rod.root", "rod.tip") if rod.dim == 2 else ("rod.crank", "rod.slider")
    axis: dict[str, Any] = {} if rod.dim == 2 else {"axis": Z}
    ground = (GROUND.at(*(x, 0.0, 0.0)[: rod.dim]) for x in (0.0, ROD))
    mechanism = connect({"rod": rod}, [hinge(end, on, **axis) for end, on in zip(ends, ground, strict=True)])
    place: Any = (0.0, 0.0, 0.0) if rod.dim == 2 else (-rod.ports["crank"].position, np.eye(3))
    lowest = modes(mechanism.linearize(mechanism.assemble(guess={"rod": place})), 3 * count)
    rigid_motion = rod.dim + (1 if rod.dim == 2 else 3)
    assert rod.view is not None
    moved = rod.view.shape @ lowest.shapes[rigid_motion : rigid_motion + rod.size].real
    sizes = np.linalg.norm(moved.reshape(-1, rod.dim, moved.shape[1]), axis=0)
    return lowest.frequencies[sizes.argmax(axis=0) == 1][:count]


def euler_bernoulli(count: int = 3) -> Array:
    """Bending frequencies (count,) [rad/s] of the bar hinged at both ends, without shear and rotary inertia."""
    k = np.pi * np.arange(1, count + 1) / ROD
    return k**2 * math.sqrt(STEEL.young * SHANK.second_moment / (STEEL.density * SHANK.area))


def timoshenko(count: int = 3) -> Array:
    """Bending frequencies (count,) [rad/s] of the hinged bar with shear and rotary inertia, in closed form.

    (ρI/κGA) ρA ω⁴ − (ρA + ρI k² + EI k² ρA/κGA) ω² + EI k⁴ = 0,  k = nπ/L (G. R. Cowper, J. Appl. Mech. 33 (1966)).
    """
    k, nu = np.pi * np.arange(1, count + 1) / ROD, STEEL.young / (2.0 * STEEL.shear_modulus) - 1.0
    mass, spin = STEEL.density * SHANK.area, STEEL.density * SHANK.second_moment
    bend = STEEL.young * SHANK.second_moment
    shear = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu) * STEEL.shear_modulus * SHANK.area
    a, b, c = spin * mass / shear, mass + spin * k**2 + bend * k**2 * mass / shear, bend * k**4
    return np.sqrt(2.0 * c / (b + np.sqrt(b**2 - 4.0 * a * c)))


def softened() -> fem.Section:
    """Section of the shank with a reduced second moment, for an Euler-Bernoulli beam.

    The first frequency of this beam is that of a Timoshenko beam with the section of the shank.
    """
    factor = float(timoshenko(1)[0] / euler_bernoulli(1)[0]) ** 2
    return fem.Section(area=SHANK.area, second_moment=factor * SHANK.second_moment)


class Peaks(NamedTuple):
    """Largest von Mises stress (k,) [Pa] of a rod at each time, and the point where it occurs (k, 3) [m].

    Points are in the axes of the rod, with the crank pin as origin.
    """

    stress: Array
    places: Array

    @property
    def worst(self) -> int:
        """Index of the saved time at which the stress is largest."""
        return int(self.stress.argmax())


def stress_peaks(solution: Solution) -> Peaks:
    """Largest von Mises stress of a solid rod over its points, and that point, at each saved time."""
    body = solution.mechanism.bodies["rod"]
    assert body.view is not None
    field, sigma = body.view.tensors["stress"], solution["rod.stress"]
    peaks, points = [], []
    for some in np.array_split(sigma, math.ceil(len(sigma) / AT_ONCE)):
        stress = von_mises(tensors(field.at, some))
        points.append(stress.argmax(axis=1))
        peaks.append(stress.max(axis=1))
    return Peaks(np.concatenate(peaks), field.positions[np.concatenate(points)] - body.ports["crank"].position)


def beam_stress(beam: Solution, places: Array) -> Array:
    """Stress N/A − M y/I (k,) [Pa] of the beam at the k saved times, at one point (3,) of the rod for each.

    Each piece of the beam has its mean N and M.
    """
    body, sigma = beam.mechanism.bodies["rod"], beam["rod.stress"]
    assert body.view is not None
    at = (np.arange(len(places)), np.clip(places[:, 0] / ROD * len(body.view.cells), 0, len(body.view.cells) - 1))
    force, moment = (
        (body.view.stresses[name].cells @ sigma.T).T[at[0], at[1].astype(int)]
        for name in ("axial_force", "bending_moment")
    )
    return force / SHANK.area - moment * places[:, 1] / SHANK.second_moment
