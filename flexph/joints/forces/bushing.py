"""Bushing: an elastic joint between two sections."""

from collections.abc import Sequence

from ...laws.resistive_relations import Relation
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.axis_rates import Laws, component_measures, damping_of_axes, laws_of_axes, stiffness_of_axes
from ..rows.connection import Connection, Form, Measure, relative_angle
from ..rows.signs import Solid
from ..rows.vectors import PortName, along, axis, between, body_port


@quantities(damping="N*s/m", stiffness="N/m", torsional_damping="N*m*s/rad", torsional_stiffness="N*m/rad")
@checked
def bushing(
    first: str,
    second: PortName,
    *,
    stiffness: float | Sequence[float] = 0.0,
    damping: float | Relation | Sequence[float | Relation] = 0.0,
    torsional_stiffness: float | Sequence[float] = 0.0,
    torsional_damping: float | Relation | Sequence[float | Relation] = 0.0,
    law: Laws = None,
    torsional_law: Laws = None,
    name: str | None = None,
) -> Connection:
    """Bushing: springs and dampers along and about the axes of the second section, without force in the assembled pose.

    Its forces are −k_i d_i − c_i ḋ_i with ``d_i = e_i·(p₁ − p₂)``, its torques −κ_i α_i − γ_i α̇_i with α_i the angle
    of the first section about axis i, seen along that axis (for small rotations, the components of the rotation
    vector). Each coefficient is one number for all axes or one for each: (x, y) and a single torsional one in the
    plane, (x, y, z) in space.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    stiffness : float or array_like
        k [N/m].
    damping : float, Relation or a sequence of both
        c [N s/m], or a :class:`flexph.laws.Relation` ρ(ḋ_i).
    torsional_stiffness : float or array_like
        κ [N m/rad].
    torsional_damping : float, Relation or a sequence of both
        γ [N m s/rad], or relations ρ(α̇_i).
    law : a law of flexph.laws or a sequence of laws, optional
        Laws V'(d_i) in place of the stiffness (see :mod:`flexph.laws`); None for axes without one.
    torsional_law : a law of flexph.laws or a sequence of laws, optional
        Laws V'(α_i) in place of the torsional stiffness.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`.
    """
    body_port(first)

    def make(dim: int) -> Form:
        turns = 1 if dim == 2 else 3
        k, c = stiffness_of_axes("stiffness", stiffness, dim), damping_of_axes("damping", damping, dim)
        kt = stiffness_of_axes("torsional_stiffness", torsional_stiffness, turns)
        ct = damping_of_axes("torsional_damping", torsional_damping, turns)
        laws, turning_laws = laws_of_axes("law", law, k), laws_of_axes("torsional_law", torsional_law, kt)
        if not any((*k, *c, *kt, *ct, *laws, *turning_laws)):
            raise ValueError("a bushing needs a positive stiffness or damping or a law, got none")
        axes = [along(second, axis(i, dim)) for i in range(dim)]
        sliding = component_measures(between(first, second), axes, k, c, laws=laws)
        about = [None] if dim == 2 else [(axis(i, 3), axis(i, 3)) for i in range(3)]
        names = ["angle"] if dim == 2 else ["about x", "about y", "about z"]
        turning = tuple(
            Measure(
                "angle", relative_angle(first, second, dim, about[i]), float(kt[i]), ct[i], None, name, law=law_about
            )
            for i, (name, law_about) in enumerate(zip(names, turning_laws, strict=True))
            if kt[i] or ct[i] or law_about
        )
        return Form(measures=(*sliding, *turning), signs=(Solid("ball", first), Solid("block", second)))

    return Connection("bushing", (first, second), make, label=name)
