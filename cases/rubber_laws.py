"""Rubber of finite strain: stored energies, and their uniaxial tension in closed form.

With the axial stretch λ, zero lateral stress gives the lateral stretch b and the nominal stress P,

    St. Venant-Kirchhoff   b² = 1 − ν(λ² − 1),   P = ½E(λ³ − λ),
    otherwise              ∂ψ/∂b = 0,            P = ∂ψ/∂λ of ψ(λ, b, b), per undeformed area.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy.optimize import brentq

import fem
from flexph import GROUND, connect, distance, distributed_load, slider, spherical
from flexph.bodies import NodalBody
from flexph.numerics.arrays import Array
from flexph.results.state_view import MechanismView

LENGTH, SIDE = 0.4, 0.1  # [m]
YOUNG, POISSON = 1e6, 0.4  # of all laws at zero strain [Pa]
RUBBER = fem.Material(young=YOUNG, density=1000.0, poisson=POISSON)
SHEAR, BULK = YOUNG / (2.0 + 2.0 * POISSON), YOUNG / (3.0 - 6.0 * POISSON)
STRETCHES = (0.8, 1.25, 1.5)
Law = Literal["st-venant-kirchhoff", "neo-hooke", "mooney-rivlin", "user"]


def logarithmic(C: Array) -> Array:
    """Energies ψ = ½μ(I₁ − 3 − 2 ln J) + ½λ(J − 1)² (k,) of tensors C (k, 3, 3), for ``fem.StoredEnergy``.

    λ and μ are Lamé's constants.
    """
    volume, lame = np.sqrt(np.linalg.det(C)), BULK - 2.0 / 3.0 * SHEAR
    bent: Array = 0.5 * SHEAR * (np.trace(C, axis1=1, axis2=2) - 3.0 - 2.0 * np.log(volume))
    return bent + 0.5 * lame * (volume - 1.0) ** 2


def by_logarithmic(C: Array) -> Array:
    """Derivatives ∂ψ/∂C (k, 3, 3) of :func:`logarithmic` at tensors C (k, 3, 3), for ``fem.StoredEnergy``."""
    volume, inverse, lame = np.sqrt(np.linalg.det(C))[:, None, None], np.linalg.inv(C), BULK - 2.0 / 3.0 * SHEAR
    return np.asarray(0.5 * SHEAR * (np.eye(3) - inverse) + 0.5 * lame * (volume - 1.0) * volume * inverse)


LAWS: dict[str, Any] = {
    "st-venant-kirchhoff": None,
    "neo-hooke": fem.NeoHooke(SHEAR, BULK - 2.0 / 3.0 * SHEAR),
    "mooney-rivlin": fem.MooneyRivlin(0.3 * SHEAR, 0.2 * SHEAR, BULK),
    "user": fem.StoredEnergy(logarithmic, by_logarithmic),
}


def block(law: str, cells: tuple[int, int, int], **options: Any) -> NodalBody:
    """Rubber block along x with the stored energy ``law``, of hexahedra with 27 nodes, ``cells`` along x, y and z."""
    mesh = fem.box_mesh((LENGTH, SIDE, SIDE), cells)
    return fem.solid(mesh, RUBBER, degree=2, strain="finite", law=LAWS[law], **options)


def energy_of_stretches(law: str) -> Callable[[Any, Any], Any]:
    """Function of two principal stretches (λ, b) that gives the stored energy ψ(λ, b, b) of a law."""
    lame = BULK - 2.0 / 3.0 * SHEAR
    forms: dict[str, Callable[[Any, Any], Any]] = {
        "neo-hooke": lambda a, b: (
            0.5 * SHEAR * (a * a + 2 * b * b - 3 - 2 * np.log(a * b * b)) + 0.5 * lame * np.log(a * b * b) ** 2
        ),
        "mooney-rivlin": lambda a, b: (
            0.3 * SHEAR * ((a * a + 2 * b * b) * (a * b * b) ** (-2 / 3) - 3)
            + 0.2 * SHEAR * ((2 * a * a * b * b + b**4) * (a * b * b) ** (-4 / 3) - 3)
            + 0.5 * BULK * (a * b * b - 1) ** 2
        ),
        "user": lambda a, b: (
            0.5 * SHEAR * (a * a + 2 * b * b - 3 - 2 * np.log(a * b * b)) + 0.5 * lame * (a * b * b - 1) ** 2
        ),
    }
    return forms[law]


def uniaxial(law: str, stretch: float) -> tuple[float, float]:
    """Lateral stretch, and force per undeformed area [Pa], of a law in uniaxial tension at an axial stretch."""
    if law == "st-venant-kirchhoff":
        return np.sqrt(1.0 - POISSON * (stretch**2 - 1.0)), 0.5 * YOUNG * (stretch**3 - stretch)
    energy, small = energy_of_stretches(law), 1e-30
    side = brentq(lambda b: energy(stretch, b + small * 1j).imag, 0.3, 1.5, xtol=1e-15)
    return side, energy(stretch + small * 1j, side).imag / small


def stretched(law: str, traction: float) -> tuple[float, float]:
    """Axial and lateral stretch of the block in equilibrium under tractions [Pa] at both ends."""
    corners = {"a": (0.0, 0.0, 0.0), "b": (LENGTH, 0.0, 0.0), "c": (0.0, SIDE, 0.0)}
    ports = {name: _node_at(place) for name, place in corners.items()}
    body = block(law, (1, 1, 1), ports=ports, loads={"left": "left", "right": "right"})
    held = [
        spherical("block.a", GROUND),
        slider("block.b", GROUND, direction=(1.0, 0.0, 0.0), turning=True),
        distance("block.c", GROUND.at(0.0, SIDE, 10.0 * SIDE)),
    ]
    mechanism = connect({"block": body}, [*held, *(distributed_load(f"block.{k}", name=k) for k in ("left", "right"))])
    along = [traction, 0.0, 0.0]
    against = [-traction, 0.0, 0.0]
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"left": against, "right": along})
    a, b, c = (MechanismView(mechanism, state.x).position(f"block.{k}") for k in "abc")
    return float(np.linalg.norm(b - a) / LENGTH), float(np.linalg.norm(c - a) / SIDE)


def _node_at(place: tuple[float, ...]) -> Callable[[Array], Array]:
    return lambda x: np.linalg.norm(x - np.array(place)[:, None], axis=0) < 1e-9


def uniaxial_error(law: str) -> float:
    """Largest relative error of the axial and lateral stretches of the block, over several stretches.

    References are the closed forms of :func:`uniaxial`.
    """
    errors = []
    for stretch in STRETCHES:
        side, traction = uniaxial(law, stretch)
        along, across = stretched(law, traction)
        errors += [abs(along / stretch - 1.0), abs(across / side - 1.0)]
    return max(errors)
