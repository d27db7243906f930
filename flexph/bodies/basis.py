"""Bases of the deformation of a body: static responses, vibration modes, modal derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .body import Body
from .held_body import HeldBody


def port_names(static: Any) -> tuple[str, ...]:
    """Port names in ``static``; raises ValueError unless it is a sequence of names."""
    if isinstance(static, str) or not isinstance(static, Iterable):
        raise ValueError(f"static must be a sequence of port names, such as ('tip',), got {static!r}")
    return tuple(static)


def refuse_others(body: Any) -> None:
    """Raise ValueError if ``body`` is not a :class:`~flexph.bodies.Body`."""
    if not isinstance(body, Body):
        raise ValueError(
            f"body must be a Body, got {type(body).__name__}; bodies of a mechanism are in mechanism.bodies, and "
            "flexph.reduce reduces linear systems"
        )


@checked
def body_basis(
    body: Body, *, modes: int, derivatives: int = 0, static: Sequence[str] = (), inertia: bool = False
) -> Array:
    """Basis T (n, k) of the deformation of a body, ``u = T û``, with TᵀMT = m1, TᵀKT = m diag(ω²), ω ascending.

    M is the mass matrix of the deformation with the frame at rest, K = D₀ᵀC⁻¹D₀ the stiffness at u = 0, m the mass of
    the body, and ω are angular frequencies. The coordinates û are lengths [m]: root mean square displacements, weighted
    by mass. T spans, in this order (dependent vectors are left out):

    - ``static``: the static responses to unit forces and torques at named ports (equivalently, to unit displacements
      and rotations: constraint modes), and to uniform loads at named load ports;
    - ``inertia``: the static responses to the inertia forces of rigid motions (:func:`inertia_forces`), i.e. to unit
      accelerations and angular accelerations (inertia relief), and to the centrifugal loads of unit spins. With von
      Kármán strain they represent the stress that stiffens a body that turns, accelerates or hangs under its weight
      (geometric stiffness, O. Wallrapp, Mech. Struct. Mach. 22 (1994));
    - ``modes``: the lowest vibration modes;
    - ``derivatives``: for a body with von Kármán strain, the static responses to the quadratic strains of pairs of the
      vectors above, ``K u_ij = −D₀ᵀC⁻¹W(s_i ∘ s_j)`` with their slopes s_i and the weights W of :class:`Elasticity`,
      compressed to the given number of vectors (modal derivatives: S. R. Idelsohn, A. Cardona, Comput. Methods Appl.
      Mech. Engrg. 49 (1985)). They describe the shortening due to bending.

    Parameters
    ----------
    body : Body
        A flexible body.
    modes : int
        Number of vibration modes.
    derivatives : int
        Number of modal derivatives.
    static : sequence of str
        Names of ports and load ports.
    inertia : bool
        True includes the static responses to inertia forces.

    Returns
    -------
    array
        Basis T (n, k), sorted by ω.

    Raises
    ------
    ValueError
        For anything but a body, unknown ports, more modes than coordinates, derivatives of a body with linear strain or
        more than are independent, and a body that deforms without stress.
    """
    refuse_others(body)
    modes, derivatives = check.count("modes", modes, 0), check.count("derivatives", derivatives, 0)
    static = port_names(static)
    for name in static:
        check.lookup("port", name, {**body.ports, **body.loads})
    if not isinstance(inertia, bool):
        raise ValueError(f"inertia must be True or False, got {inertia!r}")
    if body.elasticity is None:
        if modes or derivatives:
            raise ValueError(f"modes and derivatives must be 0 for a rigid body, got {modes} and {derivatives}")
        return np.zeros((0, 0))
    if derivatives and not body.elasticity.slopes.shape[0]:
        raise ValueError(f"derivatives must be 0 for a body with linear strain, got {derivatives}")
    held = HeldBody(body)
    loaded = [held.static(static), held.inertia()] if inertia else [held.static(static)]
    base = np.column_stack([*loaded, held.modes(modes)])
    if derivatives and not base.shape[1]:
        raise ValueError(f"derivatives need modes, static ports or inertia to derive from, got {derivatives} without")
    base = held.ritz(base)
    return held.ritz(np.column_stack([base, held.derivatives(base, derivatives)])) if derivatives else base
