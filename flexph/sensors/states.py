"""Sensors of states: stresses and strains at points, forces and rotations of sections, energies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from ..bodies.elasticity import StressRows
from ..bodies.fields import StressField, TensorField
from ..bodies.ports import find_port
from ..bodies.stresses import LABELS, body_state, kind_of, largest_in_cells, stress_points
from ..joints.rows.connection import measures
from ..kernels.state import derive, momenta
from ..laws.elastic_laws import ElasticLaw
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from .body_points import inside, nearest_cell, shares
from .quantities import Quantity, Reading, Slopes, no_measures


def _read(
    kind: str, places: Sequence[str], unit: str, of_state: Any, *, scalar: bool = True, slopes: Any = None
) -> Quantity:
    return Quantity(kind, tuple(places), unit, no_measures, scalar=scalar, of_state=of_state, slopes=slopes)


@dataclass(frozen=True, eq=False)
class _Linear:
    """Reading that is a linear function of a part of the state: ``rows`` times this part.

    ``rows`` are (c, s) for c components, or (s,) for a number.
    """

    rows: Array
    part: slice

    def __call__(self, x: Array) -> Any:
        """Reading of the sensor at a flat state: a float or an array."""
        value = self.rows @ x[self.part]
        return float(value) if self.rows.ndim == 1 else value


def _linear_slopes(reading: Reading, size: int) -> Slopes | None:
    """Derivatives of a reading with respect to flat states of ``size`` entries, if it is linear.

    None for other readings.
    """
    if not isinstance(reading, _Linear):
        return None
    rows = np.zeros((np.atleast_2d(reading.rows).shape[0], size))
    rows[:, reading.part] = reading.rows
    return Slopes(lambda states: np.broadcast_to(rows, (len(states), *rows.shape)).copy(), np.zeros(0, dtype=int))


@checked
def stress(body: str, field: str, at: Sequence[float] | None = None) -> Quantity:
    """Stress of a body at a point, by the name of its field, or the largest von Mises stress of the body.

    Along a beam or cable it is interpolated between the pieces in which it is drawn, and extrapolated to the ends. In
    other bodies it is the value of the nearest cell, and a tensor is that of the nearest stress point: refine the mesh
    until it converges.

    Fields are those of ``body.view``: axial forces, bending moments and stresses at the faces of beams and rods,
    resultants of plates, the six components (xx, yy, zz, xy, yz, xz) of ``stress`` [Pa] of solids. In addition
    ``von_mises`` is the largest von Mises stress [Pa] in the nearest cell, or in the whole body if no point is given,
    as in pictures, reports and envelopes. If shear stresses of a section are unknown, the field is named ``axial_size``
    instead.

    Parameters
    ----------
    body : str
        Name of a body of the mechanism.
    field : str
        Name of a field of its stresses.
    at : array_like, optional
        Point in body axes, undeformed [m]; omit it for the largest stress of the body.

    Returns
    -------
    Quantity
        Quantity for sensors of runs: scalar, or (6,) for tensors.
    """
    place = "" if at is None else f" at {tuple(at)}"
    of_state = lambda mechanism: _stress(mechanism, body, field, at)  # noqa: E731
    slopes = lambda mechanism: _linear_slopes(of_state(mechanism), mechanism.layout.size)  # noqa: E731
    quantity = _read(f"{field}{place}", (body,), "of the field", of_state, slopes=slopes)
    return replace(quantity, is_smooth=field not in LABELS)


def _stress(mechanism: Model, body: str, field: str, at: Sequence[float] | None) -> Reading:
    view, kind = _view(mechanism, body), kind_of(mechanism.bodies[body])
    largest = {} if kind is None else {kind: kind}
    stress_field = check.lookup("stress", field, {**view.stresses, **view.tensors, **largest}, f"body {body!r}")
    if field in largest:
        return _largest(mechanism, body, None if at is None else nearest_cell(view, body, at))
    if at is None:
        alone = f" (optional only for {kind!r})" if kind else ""
        raise ValueError(f"at must be a point of body {body!r} for stress {field!r}{alone}, got None")
    part = mechanism.layout.parts[f"{body}.stress"]
    if field in view.stresses:
        row = sum(share * _rows(stress_field.cells, slice(k, k + 1))[0] for k, share in shares(view, body, at).items())
        return _Linear(row, part)
    return _Linear(_rows(stress_field.at, _nearest_point(stress_field, inside(view, body, at))[1]), part)


def _largest(mechanism: Model, body: str, cell: int | None) -> Reading:
    """Function that reads the largest von Mises stress [Pa] of a body, or of one of its cells."""
    body_of_field, parts = mechanism.bodies[body], mechanism.layout.parts
    pick = slice(None) if cell is None else slice(cell, cell + 1)

    def read(x: Array) -> float:
        state = body_state(body_of_field, lambda name: x[None, parts[f"{body}.{name}"]])
        return float(largest_in_cells(body_of_field, state)[0, pick].max())

    return read


def _nearest_point(field: TensorField, given: Array) -> tuple[int, slice]:
    """Index of the stress point of a field that is nearest to a position, and the slice of its six rows."""
    point = int(((field.positions[:, : given.size] - given) ** 2).sum(axis=1).argmin())
    return point, slice(6 * point, 6 * point + 6)


@checked
def strain(body: str, field: str, at: Sequence[float]) -> Quantity:
    """Strain that belongs to a stress of a body at a point, as a strain gauge measures it.

    For an axial stress of a beam or rod it is ε, for a shear stress γ, for an axial force the stretch, for a moment the
    curvature and for a torque the twist [1/m], interpolated like :func:`stress`. For a stress tensor of a plate, plane
    or solid body it is (xx, yy, zz, 2xy, 2yz, 2xz) at the nearest stress point.

    Parameters
    ----------
    body : str
        Name of a body of the mechanism.
    field : str
        Name of the stress field, for example ``axial_stress_upper`` or ``stress_top``; the local compliance of material
        and section converts it to strain.
    at : array_like
        Point in body axes, undeformed [m].

    Returns
    -------
    Quantity
        Quantity for sensors of runs: scalar, or (6,) for tensors.

    Raises
    ------
    ValueError
        During the run, for fields without a compliance, such as resultants of plates and stresses of other programs.
    """
    label = f"strain of {field} at {tuple(at)}"
    of_state = lambda mechanism: _strain(mechanism, body, field, at)  # noqa: E731
    slopes = lambda mechanism: _linear_slopes(of_state(mechanism), mechanism.layout.size)  # noqa: E731
    return _read(label, (body,), "of the field", of_state, slopes=slopes)


def _strain(mechanism: Model, body: str, field: str, at: Sequence[float]) -> Reading:
    view = _view(mechanism, body)
    stress_field = check.lookup("stress", field, {**view.stresses, **view.tensors}, f"body {body!r}")
    known = stress_field.compliance if isinstance(stress_field, StressField) else stress_field.compliances
    if not len(known):
        raise ValueError(f"field {field!r} of body {body!r} has no compliance to compute strains: use stress(...)")
    part = mechanism.layout.parts[f"{body}.stress"]
    if isinstance(stress_field, StressField):
        row = sum(
            share * known[k] * _rows(stress_field.cells, slice(k, k + 1))[0]
            for k, share in shares(view, body, at).items()
        )
        return _Linear(row, part)
    point, place = _nearest_point(stress_field, inside(view, body, at))
    rows = known[stress_field.material[point]] @ _rows(stress_field.at, place)
    return _Linear(rows, part)


@checked
def section_force(body: str, section: str) -> Quantity:
    """Force [N] and moment [N m] in a section of a flexible body, in body axes.

    See :func:`flexph.results.section_forces`.

    Parameters
    ----------
    body : str
        Name of a body of the mechanism.
    section : str
        Name of a section of the body.

    Returns
    -------
    Quantity
        Quantity (d + s,) for sensors of runs.
    """

    def of_state(mechanism: Model) -> Reading:
        given_body = check.lookup("body", body, mechanism.bodies)
        surface = check.lookup("section", section, given_body.sections, f"body {body!r}")
        sigma, u = (mechanism.layout.parts[f"{body}.{part}"] for part in ("stress", "deformation"))
        return lambda x: surface.forces(x[None, sigma], x[None, u])[0]

    return _read(f"force through {section!r}", (body,), "N, N m", of_state, scalar=False)


@checked
def section_rotation(port: str) -> Quantity:
    """Rotation of the section at a port relative to the world: an angle [rad] in the plane, else a vector (3,) [rad].

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.

    Returns
    -------
    Quantity
        Quantity for sensors of runs: in the plane the angle of the body's axes, within (−π, π], plus that of its
        deformation; in space the rotation vector of both rotations together, no longer than π.
    """

    def of_state(mechanism: Model) -> Reading:
        index, port_data = find_port(port, mechanism.bodies)
        if port_data.rotation is None:
            raise ValueError(f"port {port!r} belongs to a point mass, which has no rotation")
        psi, s, dim = port_data.rotation, 1 if mechanism.layout.dim == 2 else 3, mechanism.layout.dim
        first = sum(body.size for body in list(mechanism.frames.values())[:index])

        def read(x: Array) -> Any:
            c = configuration(mechanism, x)
            bent = np.asarray(psi @ c.u[first : first + psi.shape[1]]).reshape(s)
            if dim == 2:
                return float(np.arctan2(c.R[index, 1, 0], c.R[index, 0, 0]) + bent[0])
            turn = scipy.spatial.transform.Rotation
            return (turn.from_matrix(c.R[index]) * turn.from_rotvec(bent)).as_rotvec()

        return read

    return _read("section rotation", (port,), "rad", of_state)


@checked
def energy(part: str) -> Quantity:
    """Energy [J] of the mechanism by its name in the ledger: ``kinetic crank``, ``elastic rod``, ``stored spring``.

    Parameters
    ----------
    part : str
        Name of a part of the energy, or ``total``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """

    def of_state(mechanism: Model) -> Reading:
        accounts = mechanism.once(Accounts)
        names = [*accounts.energy, "total"]
        check.choice("energy", part, names)
        place = slice(None) if part == "total" else slice(names.index(part), names.index(part) + 1)
        _refuse_scheduled(mechanism, f"energy({part!r})", "use the ledger of the run")

        def read(x: Array) -> float:
            c = configuration(mechanism, x)
            return float(accounts.energies(c, derive(accounts.arrays, c), 0.0)[place].sum())

        return read

    slopes = _energy_slopes if part == "total" else None
    return _read(f"energy {part!r}", (), "J", of_state, slopes=slopes)


def _energy_slopes(mechanism: Model) -> Slopes | None:
    """Derivatives of the total energy with respect to flat states.

    They are the negative weights for positions, momenta for velocities and C σ for stresses. Derivatives with respect
    to u and spring forces are left to finite differences. None for a mechanism with contacts, with bodies in which
    fluid flows, or with material laws of their strains.
    """
    a, layout = mechanism.network.arrays, mechanism.layout
    if a.strains.laws or a.flows or any(connection.touches for connection in mechanism.connections):
        return None
    r, _, u, v, omega, du, sigma, spring = layout.split(np.arange(layout.size))

    def at(states: Array) -> Array:
        rows = np.zeros((len(states), 1, layout.size))
        rows[:, 0, r] = -a.weight.ravel()
        for row, x in zip(rows[:, 0], states, strict=True):
            c = configuration(mechanism, x)
            p_r, p_u = momenta(a, c.omega, c.u, c.du)
            row[v], row[omega], row[du] = (a.mass[:, None] * c.v).ravel(), p_r[a.turning].ravel(), p_u
            row[sigma] = a.compliance @ c.sigma
        return rows

    return Slopes(at, np.concatenate([u, spring]))


@checked
def spring_force(joint: str) -> Quantity:
    """Elastic force [N] or torque [N m] of a spring or rope by its name, without damping; tension is positive.

    Parameters
    ----------
    joint : str
        Name of the spring or rope, with that of its part if it has several: ``bushing: x``. Its law must be elastic.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """

    def of_state(mechanism: Model) -> Reading:
        springs = mechanism.network.arrays.springs
        _refuse_scheduled(mechanism, f"spring_force({joint!r})", "measure its extension")
        pairs = zip(measures(mechanism.connections), springs.state.tolist(), strict=True)
        elastic = {spring: (k, m.law) for (spring, m), k in pairs if k >= 0 and isinstance(m.law, ElasticLaw | None)}
        place, law = check.lookup("elastic spring", joint, elastic)
        place += mechanism.layout.size - mechanism.layout.springs
        return lambda x: float(x[place] if law is None else law.force(x[place]))

    return _read(f"force of {joint!r}", (), "N or N m", of_state)


def _refuse_scheduled(mechanism: Model, what: str, remedy: str) -> None:
    """Raise ValueError for laws, masses and speeds that vary in time, and for bodies that break within a run.

    ``what`` names the quantity that is to be computed from a state alone; ``remedy`` is the advice of the message.
    """
    for name, measure in measures(mechanism.connections):
        if measure.is_scheduled:
            raise ValueError(
                f"{what} at a state needs laws that do not depend on time, got one of {name} that does: {remedy}"
            )
    for name, body in mechanism.bodies.items():
        if body.whole is not None:
            raise ValueError(
                f"{what} at a state is not defined after a rupture, and {name!r} breaks within the run: {remedy}"
            )
        speed = None if body.flow is None else body.flow.speed
        if body.scheduled_laws or callable(speed) or body.mass_factor is not None:
            raise ValueError(
                f"{what} at a state needs laws and masses that do not depend on time, got one of {name!r} that does: "
                f"{remedy}"
            )


def _view(mechanism: Model, body: str) -> Any:
    given_body = check.lookup("body", body, mechanism.bodies)
    if given_body.view is None or not (
        given_body.view.stresses or given_body.view.tensors or stress_points(given_body)
    ):
        raise ValueError(f"body {body!r} has no stresses to read")
    return given_body.view


def _rows(matrix: Any, part: slice) -> Array:
    """Rows ``part`` of a matrix that is dense, sparse, or computed block by block, as a dense array."""
    if isinstance(matrix, StressRows):
        return np.asarray(_rows(matrix.rows, part) @ matrix.basis)
    return np.asarray(dense(matrix[part]))
