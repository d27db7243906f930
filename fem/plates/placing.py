"""Transformation of the body of a plate from the axes of the plate to those of its file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.body import Body, LoadPort, Port
from flexph.bodies.fields import SectionMap, TensorField, View
from flexph.bodies.inertia import Inertia
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array

from .flat import PlaneAxes, each, rotation_of_tensors


def placed(body: Body, plane: PlaneAxes) -> Body:
    """Body with its frame in the axes of the file instead of those of the plate.

    A point X in the axes of the plate is at o + A X in those of the file, with the ``origin`` o and the ``axes`` A of
    ``plane``. The flexible coordinates, and with them the elastic energy, are unchanged.
    """
    if plane.is_plain:
        return body
    return replace(
        body,
        inertia=_inertia(body.inertia, plane),
        ports={name: _port(port, plane) for name, port in body.ports.items()},
        loads={name: _load(load, plane) for name, load in body.loads.items()},
        view=None if body.view is None else _view(body.view, plane),
        section_rotation=_rotated_rows(body.section_rotation, plane.axes),
        sections={name: _section(section_map, plane) for name, section_map in body.sections.items()},
    )


def with_port_at(body: Body, name: str, at: Any) -> Body:
    """Body with the port moved to the point ``at`` [m], rigidly tied to the port's region: u' = u + θ × (at − X)."""
    point = check.array(f"at of port {name!r}", at, (3,))
    port = body.ports[name]
    assert port.rotation is not None
    x, y, z = point - port.position
    lever = sparse.csr_array(np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]]))
    moved = Port(point, sparse.csr_array(port.shape + lever @ sparse.csr_array(port.rotation)), port.rotation)
    return replace(body, ports={**body.ports, name: moved})


def _rotated_rows(rows: Any, axes: Array) -> Any:
    """Rows (3k, n) of k vectors, each turned by the rotation ``axes`` (3, 3); None stays None."""
    return None if rows is None else sparse.csr_array(each(axes, rows.shape[0] // 3) @ rows)


def _points(positions: Array, plane: PlaneAxes) -> Array:
    return np.asarray(plane.origin + positions @ plane.axes.T)


def _port(port: Port, plane: PlaneAxes) -> Port:
    return Port(
        _points(port.position, plane), _rotated_rows(port.shape, plane.axes), _rotated_rows(port.rotation, plane.axes)
    )


def _load(load: LoadPort, plane: PlaneAxes) -> LoadPort:
    normals = None if load.normals is None else load.normals @ plane.axes.T
    return LoadPort(_points(load.positions, plane), _rotated_rows(load.shapes, plane.axes), load.measures, normals)


def _inertia(inertia: Inertia, plane: PlaneAxes) -> Inertia:
    """Mass integrals of a body in the axes of the file, from ``inertia`` in the axes A and origin o of the plate.

    Positions become X' = o + A X, displacements φ' = Aφ.
    """
    A, o = plane.axes, plane.origin
    first = A @ inertia.first
    lever = np.einsum("ik,jl,kln->ijn", A, A, inertia.shape_lever)
    shape = A @ inertia.shape_first
    pair = tuple(tuple(_combined(inertia.shape_pair, A[i], A[j]) for j in range(3)) for i in range(3))
    return Inertia(
        mass=inertia.mass,
        first=first + inertia.mass * o,
        second=A @ inertia.second @ A.T + np.outer(first, o) + np.outer(o, first) + inertia.mass * np.outer(o, o),
        shape_first=shape,
        shape_lever=lever + np.einsum("in,j->ijn", shape, o),
        shape_pair=pair,
        spin=A @ inertia.spin @ A.T,
        spin_shape=A @ inertia.spin_shape,
        spin_pair=inertia.spin_pair,
    )


def _combined(pair: Any, left: Array, right: Array) -> Any:
    """Sum Σ_kl a_k b_l P_kl of the matrices P_kl, ``pair`` (3, 3), with a, ``left`` (3,), and b, ``right`` (3,)."""
    n = pair[0][0].shape[0]
    terms = [
        left[k] * right[m] * pair[k][m] for k in range(3) for m in range(3) if left[k] * right[m] and pair[k][m].nnz
    ]
    return sparse.csr_array(sum(terms[1:], start=terms[0])) if terms else sparse.csr_array((n, n))


def _view(view: View, plane: PlaneAxes) -> View:
    return replace(
        view,
        points=_points(view.points, plane),
        shape=_rotated_rows(view.shape, plane.axes),
        tensors={name: _tensor(field, plane) for name, field in view.tensors.items()},
    )


def _tensor(field: TensorField, plane: PlaneAxes) -> TensorField:
    """Stress field with its tensors and positions turned from the axes of the plate to those of the file."""
    matrix = rotation_of_tensors(plane.axes)
    back = np.linalg.inv(matrix)
    rows = lambda own: sparse.csr_array(sparse.kron(sparse.eye_array(own.shape[0] // 6), matrix) @ own)  # noqa: E731
    return replace(
        field,
        cells=rows(field.cells),
        at=rows(field.at),
        nodal=rows(field.nodal),
        positions=_points(field.positions, plane),
        compliances=np.einsum("ai,kab,bj->kij", back, field.compliances, back),
    )


def _section(section_map: SectionMap, plane: PlaneAxes) -> SectionMap:
    turn = np.kron(np.eye(2), plane.axes)
    return replace(
        section_map,
        position=_points(section_map.position, plane),
        normal=plane.axes @ section_map.normal,
        nodal=sparse.csr_array(turn) @ section_map.nodal,
        lever=np.asarray(section_map.lever) @ turn.T,
    )
