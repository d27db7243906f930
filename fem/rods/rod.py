"""Geometrically exact rods: shear, extension, torsion and bending at any displacement and rotation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, NodalLoad, Port
from flexph.bodies.inertia import rigid_inertia
from flexph.bodies.nodal_body import NodalBody, Pieces
from flexph.laws.elastic_laws import ElasticLaw
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array, no_entries
from flexph.numerics.rotations import rotation, rotation_matrix, spins
from flexph.units.arguments import quantities

from ..materials.damping import Damping
from ..materials.materials import Material
from .elements import RodMesh, rod_mesh
from .flow import Flow, flow_of_rod
from .laws import RESULTANTS, checked_laws
from .ports import ports_along
from .section import RodSection, Shape, section_at
from .strains import rod_strain
from .view import OF_SIX, rod_view

Curve = Callable[[float], tuple[Sequence[float] | Array, Any]]
UNDAMPED = Damping()
STRETCHED = 0.01
"""Deviation of a curve's length between two nodes, relative to the rod length, above which its parameter is refused."""
TURNED = 1.0
"""Rotation of the sections of a curve along an element [rad] above which frames jump."""
SAMPLES = 8
"""Number of parts of an element whose rotations are summed: the ends of a curve alone would miss a full turn."""


@quantities(length="m", ports="m")
@checked
def rod(
    length: float,
    material: Material | None,
    section: Shape,
    *,
    elements: int,
    order: int = 2,
    dim: int = 3,
    curve: Curve | None = None,
    ports: Mapping[str, float | tuple[float, Sequence[float]]] | None = None,
    shear_factors: tuple[float, float] | None = None,
    damping: Damping = UNDAMPED,
    laws: Mapping[str, ElasticLaw] | None = None,
    flow: Flow | None = None,
) -> NodalBody:
    """A geometrically exact rod (Simo and Reissner) in space or in the plane, along x from ``root`` to ``tip``.

    Nodes are rigid sections at positions r with rotations R. With the directors d_i of a section, and primes for
    derivatives in the length s of the undeformed rod, its strains

        Γ_i = d_i·r' − (d_i·r')₀,   K_i = d_j'·d_k − (d_j'·d_k)₀   (i, j, k cyclic)

    are extension and shears, torsion and bendings, of any size; forces (N, Q₂, Q₃) and moments (T, M₂, M₃) are linear
    in them, and are states. In the plane a node has coordinates x, y, θ; Γ₁, Γ₂ and K₃ remain (E. Reissner, ZAMP
    23 (1972) 795). Positions and directors are polynomials on each element, with directors normalised; strains are
    evaluated at ``order`` Gauss points, so that thin rods do not lock. Masses are lumped at the nodes.

    A run preserves energy, momenta, rotations and joints to round-off at any step size, in compiled loops.

    Parameters
    ----------
    length : float
        Length [m].
    material : Material or None
        E, ν or G, and ρ; None for a :class:`RodSection`.
    section : Section, RodSection or function
        Constant, or a function of s, 0 ≤ s ≤ length [m].
    elements : int
        Number of elements, of equal length except near ports that need a node.
    order : int, optional
        Polynomial order 1, 2 or 3; frequencies converge with twice that order. An element of order p has p + 1 nodes.
        Order 1 is poor in dynamics.
    dim : int, optional
        3 for a rod in space, 2 for one in the x-y plane.
    curve : function, optional
        Undeformed shape of a curved rod: s ↦ (position (dim,), frame), with s its length and frame a rotation (matrix)
        with the directors (d₁, d₂, d₃) as columns, in body axes, d₁ along the curve. In the plane the frame is the
        angle of d₁ [rad].
    ports : mapping of str to float or pair, optional
        Further ports by name: s, or s and an offset (dim,) in body axes [m]. Each is rigidly attached to a node at s.
    shear_factors : (float, float), optional
        Shear factors along y and z; by default Cowper's for rectangles and circles. In the plane z does not matter.
    damping : Damping, optional
        Stiffness damping: forces and moments get β times their rates, by the stiffness at rest. Other damping is
        refused.
    laws : mapping of str to ElasticLaw, optional
        Laws of :mod:`flexph.laws` by resultant, N, Q2, Q3, T, M2, M3 (in the plane N, Q2, M3), in place of the
        stiffness of the section: forces against strains, moments against curvatures [1/m], with V the energy per
        length. ``one_sided`` is slack in compression, ``scheduled`` changes with time.
    flow : Flow, optional
        Fluid that flows through the rod, see :class:`fem.Flow`; the mass of the fluid has no rotary inertia.

    Returns
    -------
    NodalBody
        With the ports ``root``, ``tip`` and the given ones, and the load port ``load``, a force per length [N/m] in
        world axes for each node; directions of joints at the ports are in body axes of the undeformed rod. The part
        ``NAME.stress`` of a state has N, Q₂, Q₃, T, M₂, M₃ (in the plane N, Q₂, M₃) at each Gauss point in turn,
        ``view.stresses`` by name.

    Raises
    ------
    ValueError
        For an order other than 1, 2 or 3, a ``dim`` other than 2 or 3, ports off the rod, damping by mass or ratios, a
        curve whose parameter is not its length or whose frames jump, values that are not positive, and laws that have
        a force or no stiffness at rest.

    Examples
    --------
    >>> import fem
    >>> steel = fem.Material(young=210e9, density=7850.0, poisson=0.3)
    >>> blade = fem.rod(3.0, steel, fem.Section(width=0.02, height=0.01), elements=6, ports={"mid": 1.5})
    >>> len(blade.frames), list(blade.ports)
    (13, ['root', 'mid', 'tip'])
    >>> fem.rod(3.0, steel, fem.Section(width=0.02, height=0.01), elements=6, dim=2).stress_size
    36
    """
    spins(check.count("dim", dim))  # raises unless 2 or 3
    length, elements = check.positive("length", length, "m"), check.count("elements", elements)
    if check.count("order", order) not in (1, 2, 3):
        raise ValueError(f"order must be 1, 2 or 3, got {order}")
    beta = stiffness_damping(damping, "rod")
    held = _ports(length, ports or {}, dim)
    mesh = rod_mesh(length, elements, order, np.array([s for s, _ in held.values()]))
    places, directors = _placed(mesh, curve, dim)
    at = section_at(material, section, shear_factors, dim)
    points, sections = ([at(float(s)) for s in places.ravel()] for places in (mesh.points, mesh.nodes))
    stiffness = np.array([rod_section.stiffness for rod_section in points])[:, OF_SIX[dim]]
    own_laws = checked_laws("rod", laws, RESULTANTS[dim], dim)
    for row, law in own_laws.items():
        stiffness[:, row] = law.stiffness(0.0)
    return NodalBody(
        frames=_frames(mesh, directors, sections, held, 0.0 if flow is None else flow.mass_per_length),
        places=places,
        elasticity=rod_strain(mesh, (places, directors), stiffness, beta, own_laws),
        elements=mesh.numbers,
        directors=directors,
        view=rod_view(mesh, (places, directors), sections, points, are_linear=not own_laws),
        loads={"load": NodalLoad(np.arange(len(places)), np.zeros(places.shape), sparse.diags_array(mesh.masses))},
        pieces=_pieces(mesh, stiffness.size),
        flow=flow_of_rod(flow, mesh),
    )


def _pieces(mesh: RodMesh, rows: int) -> Pieces:
    """Elements of a rod with the share (E, ``rows``) of each element in the energy of each strain row."""
    count, points = mesh.lengths.size, mesh.points.size
    shares = sparse.kron(sparse.eye_array(count), np.ones((1, rows // count))).tocsr()
    return Pieces(mesh.borders, shares, np.arange(0, rows, rows // points))


def stiffness_damping(damping: Damping, body: str) -> float:
    """Factor β [s] of stiffness damping; raises ValueError for damping by mass or ratios.

    ``body`` is the word for the body in the message.
    """
    if damping.mass or any(damping.ratios):
        raise ValueError(
            f"damping of a {body} must be by stiffness=: mass damping and ratios are not defined at large rotations"
        )
    return damping.stiffness


def _ports(length: float, ports: Mapping[str, Any], dim: int) -> dict[str, tuple[float, Array]]:
    """Position s [m] along the rod and offset (dim,) [m] in body axes of all ports, by name."""
    offsets = {name: given[1] for name, given in ports.items() if isinstance(given, tuple)}
    along = {name: given[0] if isinstance(given, tuple) else given for name, given in ports.items()}
    return {
        name: (s, check.array(f"offset of port {name!r}", offsets.get(name, np.zeros(dim)), (dim,)))
        for name, s in ports_along("rod", length, along).items()
    }


def _placed(mesh: RodMesh, curve: Curve | None, dim: int) -> tuple[Array, Array]:
    """Positions (N, d) and directors (N, d, d), as columns, of the nodes of an undeformed rod.

    It is straight along x without a ``curve``.
    """
    if curve is None:
        return mesh.nodes[:, None] * np.eye(dim)[0], np.tile(np.eye(dim), (mesh.nodes.size, 1, 1))
    pairs = [_on_curve(curve, s, dim) for s in mesh.nodes]
    places, directors = (np.array(part) for part in zip(*pairs, strict=True))
    _check_curve(mesh, curve, directors)
    return places, directors


def _on_curve(curve: Curve, s: float, dim: int) -> tuple[Array, Array]:
    """Position (d,) [m] and directors (d, d), as columns, of a user's curve at ``s``.

    Raises ValueError if the function does not return these.
    """
    given = check.value_of("the curve of a rod", curve, float(s))
    if not isinstance(given, tuple | list) or len(given) != 2:
        frame = "directors" if dim == 3 else "angle"
        raise ValueError(f"curve must return (place, {frame}), got {type(given).__name__}")
    place = check.array("place on the curve", given[0], (dim,))
    if dim == 2:
        return place, rotation(check.number("angle of the curve", given[1]))
    return place, rotation_matrix("frame of the curve", given[1])


def _check_curve(mesh: RodMesh, curve: Curve, directors: Array) -> None:
    step, dim = 1e-5 * mesh.borders[-1], directors.shape[1]
    for s, frame in zip(mesh.nodes, directors, strict=True):
        low, high = max(s - step, 0.0), min(s + step, float(mesh.borders[-1]))
        tangent = (np.asarray(curve(high)[0]) - np.asarray(curve(low)[0])) / (high - low)
        speed = float(np.linalg.norm(tangent))
        if abs(speed - 1.0) > STRETCHED:
            raise ValueError(f"curve must have its length as parameter: at s = {s:.6g} m it has |dr/ds| = {speed:.4g}")
        if tangent @ frame[:, 0] < 0.5 * speed:
            raise ValueError(f"curve must have frames with d₁ along it, at s = {s:.6g} m it has d₁ = {frame[:, 0]}")
    for at in zip(mesh.borders[:-1], mesh.borders[1:], strict=True):
        frames = np.array([_on_curve(curve, s, dim)[1] for s in np.linspace(*at, SAMPLES + 1)])
        cosines = 0.5 * (np.einsum("qij,qij->q", frames[:-1], frames[1:]) - (dim - 2))
        turn = float(np.arccos(np.clip(cosines, -1.0, 1.0)).sum())
        if turn > TURNED:
            raise ValueError(
                f"frames of the curve turn by {turn:.2g} rad from s = {at[0]:.6g} to {at[1]:.6g} m: they must not "
                f"jump, and an element must not turn by more than {TURNED} rad: use more elements"
            )


def _frames(
    mesh: RodMesh, directors: Array, sections: list[RodSection], held: Mapping[str, tuple[float, Array]], fluid: float
) -> tuple[Body, ...]:
    """Rigid bodies of the nodes of a rod, with lumped masses and the ports that are attached to them.

    ``sections`` are those at the nodes, ``held`` position and offset of the ports by name, and ``fluid`` is the mass
    per length [kg/m] of the fluid, which is added.
    """
    where = {name: int(np.argmin(np.abs(mesh.nodes - s))) for name, (s, _) in held.items()}
    dim = directors.shape[1]
    shape, turn, frames = no_entries(dim, 0), no_entries(spins(dim), 0), []
    for node, (rod_section, measure, F) in enumerate(zip(sections, mesh.masses, directors, strict=True)):
        inertia = F @ np.diag(rod_section.inertia) @ F.T if dim == 3 else np.full((1, 1), rod_section.inertia[2])
        integrals = rigid_inertia(
            (rod_section.mass + fluid) * measure, np.zeros(dim), np.zeros((dim, dim)), measure * inertia
        )
        ports = {name: Port(held[name][1], shape, turn) for name, at in where.items() if at == node}
        frames.append(Body(integrals, ports))
    return tuple(frames)
