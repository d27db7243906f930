"""Homogeneous spatial bodies of simple shape: box, cylinder, sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from flexph.bodies.body import Body
from flexph.bodies.fields import View
from flexph.drawing.shapes import cylinder_shape, sphere_shape
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.units.arguments import quantities

from .bodies import Point, no_shape, seen, spatial


@quantities(density="kg/m^3", ports="m", size="m")
@checked
def box(size: Sequence[float], *, density: float, ports: Mapping[str, Point] | None = None) -> Body:
    """A homogeneous box with edges (l_x, l_y, l_z) [m] along the body axes, its centre at the origin.

    ``m = ρ l_x l_y l_z``, ``J_x = m (l_y² + l_z²)/12`` and so on.

    Parameters
    ----------
    size : array_like
        Edges (l_x, l_y, l_z) [m].
    density : float
        ρ [kg/m³].
    ports : mapping, optional
        Further points (3,) [m] by name; ``centre`` exists.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For an edge or a density that is not positive.
    """
    edges = check.array("size", size, (3,))
    for axis, length in zip("xyz", edges, strict=True):
        check.positive(f"size along {axis}", float(length), "m")
    density = check.positive("density", density, "kg/m³")
    corners = 0.5 * np.array([[x, y, z] for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]) * edges
    mass = density * float(np.prod(edges))
    view = View(corners, np.arange(8)[None, :], "hexahedron", no_shape(corners))
    own = {"centre": (0.0, 0.0, 0.0)}
    return spatial(mass, np.zeros(3), np.diag(mass * edges**2 / 12.0), _joined(own, ports), view=view)


@quantities(density="kg/m^3", inner_radius="m", length="m", ports="m", radius="m")
@checked
def cylinder(
    length: float,
    radius: float,
    *,
    density: float,
    inner_radius: float = 0.0,
    ports: Mapping[str, Point] | None = None,
) -> Body:
    """A homogeneous circular cylinder along the body x axis, a tube if ``inner_radius`` is positive.

    ``m = ρπ(R² − r²)L``, ``J_x = m (R² + r²)/2``, ``J_y = J_z = m (3(R² + r²) + L²)/12`` about the centre.

    Parameters
    ----------
    length : float
        Length L [m].
    radius : float
        Outer radius R [m].
    density : float
        ρ [kg/m³].
    inner_radius : float
        Inner radius r [m].
    ports : mapping, optional
        Further points (3,) [m] by name; ``root`` (the origin), ``middle`` and ``tip`` (L, 0, 0) on the axis exist.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For a length, a radius or a density that is not positive, and for an inner radius that is negative or not below
        the radius.
    """
    length, radius = check.positive("length", length, "m"), check.positive("radius", radius, "m")
    density = check.positive("density", density, "kg/m³")
    inner = check.not_negative("inner_radius", inner_radius, "m")
    if inner >= radius:
        raise ValueError(f"inner_radius must be smaller than the radius {radius} m, got {inner} m")
    mass = density * np.pi * (radius - inner) * (radius + inner) * length
    across = mass * (radius**2 + inner**2) / 4.0
    middle = np.array([0.5 * length, 0.0, 0.0])
    own = {"root": (0.0, 0.0, 0.0), "middle": tuple(middle), "tip": (length, 0.0, 0.0)}
    second = np.diag([mass * length**2 / 12.0, across, across])
    tube = cylinder_shape(length, radius, inner_radius=inner, centre=(0.5 * length, 0.0, 0.0))
    return spatial(mass, middle, second, _joined(own, ports), view=seen(tube, 3))


@quantities(radius="m", density="kg/m^3", ports="m")
@checked
def sphere(radius: float, *, density: float, ports: Mapping[str, Point] | None = None) -> Body:
    """A homogeneous sphere about the origin of the body axes: ``m = 4/3 ρπr³``, ``J = 2/5 m r²`` about every axis.

    Parameters
    ----------
    radius : float
        Radius r [m].
    density : float
        ρ [kg/m³].
    ports : mapping, optional
        Further points (3,) [m] by name; ``centre`` exists.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For a radius or a density that is not positive.
    """
    radius, density = check.positive("radius", radius, "m"), check.positive("density", density, "kg/m³")
    mass = density * 4.0 / 3.0 * np.pi * radius**3
    view = seen(sphere_shape(radius), 3)
    own = {"centre": (0.0, 0.0, 0.0)}
    return spatial(mass, np.zeros(3), mass * radius**2 / 5.0 * np.eye(3), _joined(own, ports), view=view)


def _joined(own: Mapping[str, Point], given: Mapping[str, Point] | None) -> dict[str, Point]:
    """Ports of a shape together with given ones; ValueError if a name occurs in both."""
    twice = sorted(set(own) & set(given or {}))
    if twice:
        raise ValueError(f"ports must not be named {', '.join(map(repr, own))}: these exist, got {twice}")
    return {**own, **(given or {})}
