"""Loads of a run on the mesh of a body at chosen times, as static steps of Abaqus and CalculiX."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..bodies.body import Body
from ..bodies.nodal_mesh import NodalMesh
from ..bodies.ports import first_frame
from ..contacts.arrays import refuse_contacts
from ..files.durable import refuse_suffix, staged
from ..joints.rows.connection import Connection, measures
from ..kernels.continuous import elastic_stress, strain_of, world_loads
from ..kernels.state import derive
from ..kernels.stiffness.tangent import generalised_force
from ..mechanisms.model.state import configuration
from ..mechanisms.statics.balance import joint_forces, problem
from ..mechanisms.statics.steady_rotation import Steady
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import rigid_motions, skew
from ..results.solution import Solution
from ..sensors.forces import at_saved_times
from ..systems.inputs import Input
from .abaqus import INDEPENDENT
from .load_decks import LoadSteps, deck_lines

LARGEST = 3000
"""Largest number of flexible coordinates, whose accelerations are solved for by a dense matrix."""
TURNED = 3.0
"""Largest share of the forces that those at ports may leave unbalanced, divided by the rotation of the sections: joints
are exact to first order in it."""
ROUND_OFF = 1e-7
"""Largest such share without rotation, and largest relative error of the sum of the lumped masses: round-off."""


@checked
def write_load_steps(
    path: str | Path,
    solution: Solution,
    body: str,
    *,
    at: float | Sequence[float] | Array,
    inputs: Mapping[str, Input] | None = None,
) -> LoadSteps:
    """Write the mesh of a solid with its loads at chosen times of a run, as an input file for static stress analyses.

    Each time is a ``*STEP`` with nodal forces ``*CLOAD`` in body axes:

        f = Σ Pᵀw + Lᵀβ − m (a₀ + ω̇ × x + ω × (ω × x) + 2ω × φu̇ + φü − Rᵀg),   x = X + φu

    with the wrenches w of all joints, springs and inputs at the ports, the matrices P from nodal motions to port
    motions, distributed loads Lᵀβ, and d'Alembert's inertia forces with the consistent mass m of the mesh. X are the
    nodes of the undeformed body, φ its shapes, u the flexible coordinates, a₀ the acceleration of its origin, ω its
    spin, R its rotation and g gravity. Accelerations are those with which force, moment and the forces on the flexible
    coordinates balance on the undeformed mesh,

        Σ f = 0,   Σ X × f = 0,   φᵀf = Dᵀσ

    with the elastic forces Dᵀσ on the flexible coordinates, so that the six supports of the file have no reactions, and
    the static solution has the stresses of the run. For a reduced body it also has the stresses that its modes cannot
    represent. Damping forces are distributed like inertia forces. Nodes of a rigid port are coupled by ``*COUPLING``
    and ``*KINEMATIC``. Units are m, kg, s.

    Parameters
    ----------
    path : path
        File to write, ``.inp``; it is replaced.
    solution : Solution
        Run of a mechanism with the body.
    body : str
        Name of a body from :func:`fem.solid` in space, reduced or not, whose ports move independently, such as one of
        ``reduce_body(body, modes=6, static=[…])`` with the names of all ports except that of its reference.
    at : float or sequence of float
        Times [s]; the nearest saved times are used. Joint forces are interpolated between the middles of steps.
    inputs : mapping, optional
        Inputs of the run at external ports, as for :func:`flexph.integrate`; inputs of controllers are in the run.

    Returns
    -------
    LoadSteps
        The written loads.

    Raises
    ------
    ValueError
        For a body without such a mesh (a beam, a plate, a body read from a file, a mesh of degree 2 with several types
        of cells), with masses that the mesh does not have, with ports that do not move independently, with contacts,
        dry friction or points on curves; for times outside of the run, and if inputs that did work are missing.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> import numpy as np
    >>> import fem
    >>> from flexph import GROUND, connect, hinge, integrate
    >>> from flexph.bodies import reduce_body
    >>> from flexph.exchange import write_load_steps
    >>> steel = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
    >>> box = fem.box_mesh((0.4, 0.02, 0.02), (4, 1, 1))
    >>> bar = fem.solid(box, steel, degree=2, ports={"root": "left"}, reference="root")
    >>> hanging = connect({"bar": reduce_body(bar, modes=4)}, [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0))],
    ...                   gravity=(0.0, 0.0, -9.81))
    >>> start = hanging.consistent_state(hanging.assemble())
    >>> run = integrate(hanging, start, np.linspace(0.0, 0.1, 51))
    >>> steps = write_load_steps(f"{mkdtemp()}/bar.inp", run, "bar", at=[0.05, 0.1])
    >>> bool(abs(steps.resultant).max() < 1e-9 * abs(steps.forces).sum())
    True
    """
    refuse_suffix("a deck", path, (".inp",))
    flexible_body = check.lookup("body", body, solution.mechanism.bodies)
    mesh = mesh_of(body, flexible_body)
    rows = _rows(solution, at)
    given = _run_inputs(solution, dict(inputs or {}))
    used = _ports(solution, body)
    states = [_balance(solution, (body, flexible_body, mesh), row, inputs=given, ports=used) for row in rows]
    forces, resultants, spin, wrenches = (np.array(column) for column in zip(*states, strict=True))
    turning = resultants[:, 3:] - np.cross(spin, spin @ flexible_body.moments)
    steps = LoadSteps(
        body=body,
        times=solution.times[rows],
        points=flexible_body.view.points,
        ports={name: wrenches[:, i] for i, name in enumerate(used)},
        forces=forces,
        acceleration=resultants[:, :3] / flexible_body.mass,
        spin=spin,
        spin_rate=np.linalg.solve(flexible_body.moments, turning.T).T,
    )
    with staged(Path(path)) as part:
        part.write_text("\n".join(deck_lines(steps, flexible_body, mesh)) + "\n", encoding="ascii")
    return steps


def mesh_of(name: str, body: Any) -> NodalMesh:
    """Mesh of a body; raises ValueError if it has no mesh, further masses, or too many flexible coordinates."""
    mesh: NodalMesh | None = body.view.mesh if isinstance(body, Body) and body.view is not None else None
    if mesh is None:
        raise ValueError(
            f"body {name!r} must be a solid in space with the mesh that it was made from (fem.solid with linear "
            "strain, and one type of cells if they are of degree 2; reduce_body keeps the mesh, a file of a reduced "
            "body does not)"
        )
    if body.size > LARGEST or body.unshifted is not None:
        raise ValueError(
            f"body {name!r} must have at most {LARGEST} flexible coordinates, got {body.size}: reduce it first"
        )
    if abs(mesh.mass.sum() - body.mass) > ROUND_OFF * body.mass or body.inertia.spin.any():
        raise ValueError(
            f"body {name!r} must have the mass of its mesh, {mesh.mass.sum():.6g} kg, got {body.mass:.6g} kg: weld a "
            "rigid body to the port in place of with_mass"
        )
    return mesh


def _rows(solution: Solution, at: Any) -> Array:
    """Indices (k,) of the saved times that are nearest to the given ones ``at``, ascending.

    Raises ValueError for a time outside of the run.
    """
    wanted, times = np.atleast_1d(check.array("at", at, (None,) if np.ndim(at) else ())), solution.times
    if not wanted.size:
        raise ValueError("at must be one time or more, got none")
    if not np.all((wanted >= times[0]) & (wanted <= times[-1])):
        raise ValueError(f"at must be times of the run, from {times[0]:.6g} s to {times[-1]:.6g} s, got {wanted}")
    return np.unique(np.abs(times[:, None] - wanted).argmin(axis=0))


def _run_inputs(solution: Solution, inputs: dict[str, Input]) -> dict[str, Input]:
    """Inputs of the run by external port: the given ones and those of sliders.

    Raises ValueError if an input that did work is missing.
    """
    known = {*inputs, *solution.controls, *solution.sliders}
    for name in solution.mechanism.network.input_slices:
        if name not in known and np.any(solution.ledger.work.get(name, 0.0)):
            raise ValueError(f"inputs must have that of {name!r}, which did work in the run")
    return {**solution.sliders, **inputs}


def _ports(solution: Solution, body: str) -> list[str]:
    """Ports of a body with joints, springs or inputs; raises ValueError for forces that a state does not determine."""
    acting: list[Connection] = [c for c in solution.mechanism.connections if body in c.owners]
    refuse_contacts(acting, "write_load_steps")
    moving = [name for name, measure in measures(acting) if measure.is_driven]
    if moving:
        raise ValueError(f"write_load_steps does not support springs with a moving reference such as {moving[0]!r}")
    if solution.holding.size:
        raise ValueError("solution must be of a mechanism whose joints do not change")
    ports = {p: None for c in acting for p in c.ports if isinstance(p, str) and p.partition(".")[0] == body}
    loads = solution.mechanism.bodies[body].loads
    names = [p.partition(".")[2] for p in ports]
    return [name for name in names if name not in loads]


class _Frame(NamedTuple):
    """Motion of a body and forces on it at a saved time, in body axes.

    ``R``: rotation matrix from body axes to world axes; ``omega``: spin; ``u``, ``du``: flexible coordinates (n,) and
    their rates; ``sigma``: stresses σ; ``forces`` (6 + n,): those conjugate to the velocity of the centre of mass, the
    spin and ``du``; ``densities``: distributed loads of the mechanism.
    """

    R: Array
    omega: Array
    u: Array
    du: Array
    sigma: Array
    forces: Array
    densities: Array


def _frame(solution: Solution, body: str, row: int, inputs: Mapping[str, Input]) -> _Frame:
    """Motion of a body, and forces of joints, springs, dampers and inputs on it, at the saved time of index ``row``.

    Distributed loads are not among the generalised forces.
    """
    mechanism, c = solution.mechanism, configuration(solution.mechanism, solution.states[row])
    a, slices = mechanism.network.arrays, mechanism.network.input_slices
    still = Steady(np.zeros(a.n.shape[0]), np.zeros(a.dim))
    given = problem(mechanism, solution.anchors, float(solution.times[row]), inputs=inputs, steady=still)
    applied = given.applied.copy()
    for name, values in solution.controls.items():
        if name in slices:
            applied[slices[name]] += values[max(row - 1, 0)]
    given = given._replace(applied=applied)
    if len(solution.multiplier_times):
        lam = at_saved_times(solution.times[[row]], solution.multiplier_times, solution.multipliers)[0]
    else:
        lam = joint_forces(given, c).multipliers  # at rest
    d, applied = derive(a, c), applied.copy()
    for connection in mechanism.connections:
        if _is_distributed(connection):
            applied[slices[connection.name]] = 0.0
    forces = generalised_force(a, c, d, given._replace(applied=applied).forces(c, lam))
    forces[: a.weight.size] -= a.weight.ravel()
    forces[forces.size - c.u.size :] += strain_of(a, c.u).T @ elastic_stress(a, c.u)
    frame = first_frame(body, mechanism.bodies)
    entries, R = np.flatnonzero(a.body_u == frame), c.R[frame]
    on_body = [R.T @ forces[a.columns.v[frame]], forces[a.columns.omega[frame]], forces[a.columns.u[entries]]]
    sigma, densities = solution[f"{body}.stress"][row], world_loads(a, d.arm, given.applied)
    return _Frame(R, c.omega[frame], c.u[entries], c.du[entries], sigma, np.concatenate(on_body), densities)


def _is_distributed(connection: Connection) -> bool:
    return connection.input is not None and connection.input.kind == "load"


def _wrenches(name: str, body: Body, at: _Frame, ports: Sequence[str]) -> Array:
    """Wrenches (p, 6), force and moment, at ports of a body that are equivalent to the forces on it, in body axes.

    ``at`` has the generalised forces on centre, rotation and deformation. Raises ValueError if the ports do not move
    independently, or if part of the forces acts elsewhere.
    """
    if not ports:
        return np.zeros((0, 6))
    matrix = np.hstack([_port_motion(body, port, at.u) for port in ports])
    size = np.linalg.norm(matrix, axis=1)
    size[size == 0.0] = 1.0
    scaled, wanted = matrix / size[:, None], at.forces / size
    unit = np.linalg.norm(scaled, axis=0)
    values = np.linalg.svd(scaled / unit, compute_uv=False)
    if matrix.shape[1] > matrix.shape[0] or values[-1] < INDEPENDENT * values[0]:
        raise ValueError(
            f"ports of {name!r} must move independently, got {', '.join(ports)} on {body.size} deformations: reduce "
            "the body with static=[…], the names of all ports but the one that it is held at"
        )
    wrenches = np.linalg.lstsq(scaled / unit, wanted, rcond=None)[0] / unit
    turns = max(float(np.abs(body.ports[port].rotation @ at.u).max(initial=0.0)) for port in ports)
    left = np.linalg.norm(wanted - scaled @ wrenches)
    if left > (TURNED * turns + ROUND_OFF) * np.linalg.norm(np.abs(scaled) @ np.abs(wrenches)):
        share = left / np.linalg.norm(wanted)
        raise ValueError(
            f"forces on {name!r} must act at its ports {', '.join(ports)}, but a share of {share:.1e} acts elsewhere"
        )
    return np.asarray(wrenches.reshape(-1, 6))


def _port_motion(body: Body, name: str, u: Array) -> Array:
    """Matrix (6 + n, 6) from a wrench at a port to the forces on centre of mass, rotation and flexible coordinates.

    ``u`` (n,): flexible coordinates of the body.
    """
    port = body.ports[name]
    if port.rotation is None:
        raise ValueError(f"port {name!r} must have a rotation, got a point without one")
    moved = port.shape.toarray() - body.inertia.mean_shape
    lever = skew((port.position - body.centre + moved @ u)[None], 3)[0]
    on_rigid = [[np.eye(3), np.zeros((3, 3))], [lever, np.eye(3)]]
    return np.block([*on_rigid, [moved.T, port.rotation.toarray().T]])


def _balance(
    solution: Solution, of: tuple[str, Body, NodalMesh], row: int, *, inputs: Mapping[str, Input], ports: Sequence[str]
) -> tuple[Array, ...]:
    """Nodal forces in equilibrium (N, 3), resultant of the outer forces, spin (3,), and wrenches at the ports (p, 6).

    The resultant (6,) is force, and moment about the centre of mass, of the forces without inertia. ``of``: name, body
    and mesh; ``row``: index of the saved time. All are in body axes.
    """
    name, body, mesh = of
    at = _frame(solution, name, row, inputs)
    view: Any = body.view
    X, wrenches = view.points, _wrenches(name, body, at, ports)
    outer = _outer(solution, of, at, dict(zip(ports, wrenches, strict=True)))
    shape = view.shape.toarray()
    x, moved = X + (shape @ at.u).reshape(-1, 3), (shape @ at.du).reshape(-1, 3)
    known = (np.cross(at.omega, np.cross(at.omega, x)) + 2.0 * np.cross(at.omega, moved)).ravel()
    rigid = rigid_motions(X).reshape(X.size, -1)
    tests, motions = np.hstack([rigid, shape]), np.hstack([rigid_motions(x).reshape(X.size, -1), shape])
    internal = np.concatenate([np.zeros(6), _strain(body).T @ at.sigma])
    rates = np.linalg.solve(tests.T @ _weighted(mesh, motions), tests.T @ (outer - _weighted(mesh, known)) - internal)
    forces = (outer - _weighted(mesh, motions @ rates + known)).reshape(-1, 3)
    resultant = rigid_motions(X - body.centre).reshape(X.size, -1).T @ outer
    return forces, resultant, at.omega, wrenches


def _strain(body: Body) -> Any:
    return body.elasticity.strain if body.elasticity is not None else np.zeros((0, 0))


def _outer(solution: Solution, of: tuple[str, Body, NodalMesh], at: _Frame, wrenches: Mapping[str, Array]) -> Array:
    """Nodal forces (N·3,) of the wrenches at ports and of distributed loads, in body axes; without inertia forces.

    ``of``: name, body and mesh; ``at``: motion of the body and its distributed loads; ``wrenches``: (6,) by port.
    """
    name, body, mesh = of
    outer = np.zeros(mesh.mass.shape[0] * 3)
    for port, wrench in wrenches.items():
        outer += mesh.ports[port].rows.T @ wrench
    for connection in solution.mechanism.connections:
        given = connection.input
        if given is None or not _is_distributed(connection) or given.port.partition(".")[0] != name:
            continue
        load, entries = given.port.partition(".")[2], solution.mechanism.network.input_slices[connection.name]
        densities = at.densities[entries].reshape(-1, 3) @ at.R
        outer += mesh.loads[load].T @ (body.loads[load].measures[:, None] * densities).ravel()
    return outer


def _weighted(mesh: NodalMesh, motions: Array) -> Array:
    """Product of the mass matrix of a mesh with accelerations of its nodes, (N·3,) or (N·3, r)."""
    flat = motions.reshape(mesh.mass.shape[0], -1)
    return np.asarray(mesh.mass @ flat).reshape(motions.shape)
