"""Rigid bodies in the plane and in space, of given mass and inertia, or homogeneous boxes, cylinders, spheres."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, Port
from flexph.bodies.fields import View
from flexph.bodies.inertia import rigid_inertia
from flexph.drawing.shapes import Shape, cylinder_shape, sphere_shape
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, Numbers, no_entries
from flexph.numerics.rotations import spins
from flexph.units.arguments import quantities

Point = Sequence[float]


@quantities(about="m", centre="m", inertia="kg*m^2", mass="kg", ports="m")
@checked
def body(
    mass: float,
    *,
    inertia: Numbers,
    ports: Mapping[str, Point],
    centre: Point | None = None,
    about: Point | None = None,
    shape: Shape | None = None,
) -> Body:
    """A rigid body of mass m [kg] with named ports, points of the body axes [m].

    Kinetic energy ``½ m |ṙ|² + ½ ωᵀJω`` with r the centre of mass ([flex] remark 3).

    Parameters
    ----------
    mass : float
        m [kg].
    inertia : array_like
        J [kg m²], which decides the dimension: a number makes a planar body with points (2,); a symmetric (3, 3)
        matrix, with −∫ρxy off its diagonal, or the three principal moments (J_x, J_y, J_z) make a spatial one with
        points (3,), ω in body axes.
    ports : mapping of str to sequence of float
        Points of the body axes [m] by name.
    centre : sequence of float, optional
        Centre of mass in body axes [m], the origin if None.
    about : sequence of float, optional
        Point of the body axes to which ``inertia`` refers, the centre of mass if None;
        ``J = J_centre + m (|d|²1 − ddᵀ)``, d = about − centre.
    shape : Shape, optional
        Surface of the body for drawing, in body axes (:mod:`flexph.drawing`), z out of the plane for planar bodies;
        lines from the centre of mass to the ports if None.

    Returns
    -------
    Body
        A body without deformation.

    Raises
    ------
    ValueError
        For a mass that is not positive, an inertia that is impossible for a body about its centre of mass (not
        symmetric, not positive definite, J₁ + J₂ < J₃ for its principal moments), or points of another dimension.

    Examples
    --------
    >>> import rigid
    >>> slider = rigid.body(0.5, inertia=1e-4, ports={"pin": (0.0, 0.0)})
    >>> slider.dim, slider.size
    (2, 0)
    >>> rigid.body(0.5, inertia=(1e-4, 2e-4, 2e-4), ports={"pin": (0.0, 0.0, 0.0)}).dim
    3
    """
    mass = check.positive("mass", mass, "kg")
    dim = _dimension(inertia)
    c = _place("centre", np.zeros(dim) if centre is None else centre, dim)
    lever = np.zeros(dim) if about is None else _place("about", about, dim) - c
    name = "inertia" if about is None else "inertia, moved from about to the centre of mass,"
    if dim == 3:
        view = None if shape is None else shape_view(shape, 3)
        return spatial(mass, c, _second(name, inertia, mass, lever), ports, view=view)
    given = check.positive("inertia", inertia, "kg m²")  # type: ignore[arg-type]
    moment = check.positive(name, given - mass * float(lever @ lever), "kg m²")
    integrals = rigid_inertia(mass, mass * c, mass * np.outer(c, c), np.array([[moment]]))
    return Body(integrals, _ports(ports, 2), view=_spokes(c, ports) if shape is None else shape_view(shape, 2))


@quantities(inertia="kg*m^2", length="m", mass="kg")
@checked
def bar(length: float, mass: float, *, inertia: float | None = None) -> Body:
    """A planar rigid bar along the body x axis from port ``root`` (the origin) through ``middle`` to ``tip``.

    In space use :func:`rigid.cylinder`.

    Parameters
    ----------
    length : float
        Length [m].
    mass : float
        Mass [kg].
    inertia : float, optional
        Inertia about the centre [kg m²]; by default m L²/12 of a uniform bar.

    Returns
    -------
    Body
        A planar body.

    Raises
    ------
    ValueError
        For a length, a mass or an inertia that is not positive.

    Examples
    --------
    >>> import rigid
    >>> list(rigid.bar(0.3, 1.2).ports)
    ['root', 'middle', 'tip']
    """
    length, mass = check.positive("length", length, "m"), check.positive("mass", mass, "kg")
    j = mass * length**2 / 12.0 if inertia is None else check.positive("inertia", inertia, "kg m²")
    ports = {"root": (0.0, 0.0), "middle": (0.5 * length, 0.0), "tip": (length, 0.0)}
    return body(mass, inertia=j, ports=ports, centre=(0.5 * length, 0.0))


@quantities(mass="kg")
@checked
def point(mass: float, dim: int = 2) -> Body:
    """A point mass [kg] in the plane (dim = 2) or in space (3) with one port, ``point``; it has no rotation.

    Parameters
    ----------
    mass : float
        Mass [kg].
    dim : int
        2 or 3.

    Returns
    -------
    Body
        A body without flexible coordinates.

    Raises
    ------
    ValueError
        For a mass that is not positive, or another dimension.
    """
    mass, s = check.positive("mass", mass, "kg"), spins(dim)
    integrals = rigid_inertia(mass, np.zeros(dim), np.zeros((dim, dim)), np.zeros((s, s)))
    port = Port(check.array("port 'point'", np.zeros(dim), (dim,)), no_entries(dim, 0), None)
    return Body(integrals, {"point": port}, view=_mass_point(np.zeros(dim)), turns=False)


def spatial(mass: float, centre: Array, second: Array, ports: Mapping[str, Point], *, view: View | None = None) -> Body:
    """Spatial rigid body from its mass [kg], its centre of mass c (3,) [m] and ∫ρ(X − c)(X − c)ᵀ (3, 3) [kg m²].

    Without a view it is drawn as lines from the centre of mass to the ports.
    """
    integrals = rigid_inertia(mass, mass * centre, second + mass * np.outer(centre, centre), np.zeros((3, 3)))
    return Body(integrals, _ports(ports, 3), view=view or _spokes(centre, ports))


def no_shape(points: Array) -> sparse.csr_array:
    """Matrix (points · d, 0) of deformation shapes at points (points, d) of a rigid body, which has no such shapes."""
    return no_entries(points.size, 0)


def _dimension(inertia: Numbers) -> int:
    try:
        shape = np.shape(inertia)
    except ValueError:  # rows of different lengths
        shape = (-1,)
    if shape not in ((), (3,), (3, 3)):
        got = "rows of different lengths" if shape == (-1,) else f"shape {shape}"
        raise ValueError(
            f"inertia must be a number (plane), or three principal moments or a (3, 3) matrix (space), got {got}"
        )
    return 3 if shape else 2


def _place(name: str, value: Point | Array, dim: int) -> Array:
    """Point as an array (dim,), after a check; ``name`` names the point in messages.

    Raises ValueError for another number of coordinates; the message says why the body is planar or spatial.
    """
    shape = np.shape(value)
    if len(shape) == 1 and shape != (dim,):
        kind = "a scalar inertia makes a planar body" if dim == 2 else "the body is spatial"
        raise ValueError(f"{name} must have shape ({dim},), got ({shape[0]},): {kind}")
    return check.array(name, value, (dim,))


def _second(name: str, inertia: Numbers, mass: float, lever: Array) -> Array:
    """Second moment ∫ρXXᵀ = ½tr(J)1 − J (3, 3) about the centre of mass, from the given ``inertia``.

    ``lever`` is the vector from the centre of mass to the point to which ``inertia`` refers. Raises ValueError for a J
    that no distribution of mass has; ``name`` names the argument in the message.
    """
    given = check.array("inertia", inertia, (3,) * np.ndim(inertia))
    J = np.diag(given) if given.ndim == 1 else given
    check.symmetric("inertia", J)
    noise = check.ROUND_OFF * abs(np.trace(J))
    J = 0.5 * (J + J.T) - mass * (lever @ lever * np.eye(3) - np.outer(lever, lever))
    moments = np.linalg.eigvalsh(J)
    listed = ", ".join(f"{j:.6g}" for j in moments)
    if moments[0] <= noise:
        raise ValueError(f"{name} must be positive definite, got the principal moments {listed} kg m²")
    short = moments[0] + moments[1] - moments[2]
    if short < -noise:
        raise ValueError(
            f"{name} must have J1 + J2 >= J3 (∫ρXXᵀ positive semi-definite), got the principal moments {listed} kg m²: "
            f"J1 + J2 - J3 = {short:.3g}"
        )
    return 0.5 * np.trace(J) * np.eye(3) - J


def _ports(ports: Mapping[str, Point], dim: int) -> dict[str, Port]:
    shape, rotation = no_entries(dim, 0), no_entries(spins(dim), 0)
    return {name: Port(_place(f"port {name!r}", x, dim), shape, rotation) for name, x in ports.items()}


def shape_view(shape: Shape, dim: int) -> View:
    """View of a rigid body of dimension ``dim`` that is drawn by the triangles of ``shape``."""
    points = shape.points[:, :dim].copy()
    heights = shape.points[:, 2].copy() if dim == 2 else np.zeros(0)
    return View(points, shape.triangles, "triangle", no_shape(points), heights=heights)


def _mass_point(place: Array) -> View:
    return View(place[None, :], np.zeros((1, 1), dtype=int), "vertex", no_shape(place))


def _spokes(centre: Array, ports: Mapping[str, Point]) -> View:
    """View of a rigid body as lines from its centre of mass to its ports, or as a point if all ports are there."""
    ends = [np.array(x, dtype=float) for x in ports.values() if np.any(np.array(x) != centre)]
    if not ends:
        return _mass_point(centre)
    points = np.vstack([centre, *ends])
    cells = np.column_stack([np.zeros(len(ends), dtype=int), np.arange(1, len(ends) + 1)])
    return View(points, cells, "line", no_shape(points))


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
    joint_ports = {"centre": (0.0, 0.0, 0.0)}
    return spatial(mass, np.zeros(3), np.diag(mass * edges**2 / 12.0), _joined(joint_ports, ports), view=view)


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
    joint_ports = {"root": (0.0, 0.0, 0.0), "middle": tuple(middle), "tip": (length, 0.0, 0.0)}
    second = np.diag([mass * length**2 / 12.0, across, across])
    tube = cylinder_shape(length, radius, inner_radius=inner, centre=(0.5 * length, 0.0, 0.0))
    return spatial(mass, middle, second, _joined(joint_ports, ports), view=shape_view(tube, 3))


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
    view = shape_view(sphere_shape(radius), 3)
    joint_ports = {"centre": (0.0, 0.0, 0.0)}
    return spatial(mass, np.zeros(3), mass * radius**2 / 5.0 * np.eye(3), _joined(joint_ports, ports), view=view)


def _joined(own: Mapping[str, Point], given: Mapping[str, Point] | None) -> dict[str, Point]:
    """Ports ``own`` of a shape together with the ports ``given`` by the user.

    Raises ValueError if a name occurs in both.
    """
    twice = sorted(set(own) & set(given or {}))
    if twice:
        raise ValueError(f"ports must not be named {', '.join(map(repr, own))}: these exist, got {twice}")
    return {**own, **(given or {})}
