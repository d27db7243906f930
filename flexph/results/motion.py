"""Positions, rotations and velocities of bodies and ports by name, for a state or a run."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..bodies.body import Body, Port
from ..bodies.nodal_body import AnyBody, FramedBody, NodalBody
from ..bodies.ports import find_port, first_frame, weights_of
from ..bodies.split_body import SplitBody
from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.rotations import entry_count, from_entries, skew, spins, sweep


class MotionByName:
    """Positions, rotations and velocities of a mechanism's bodies and ports by name, for a state or a run.

    Shapes are those of a run, with a leading axis k of the saved times, which arrays of a single state do not have. A
    subclass returns a part of the state by name, ``self["rod.centre"]``.
    """

    __slots__ = ()

    mechanism: Model

    def __getitem__(self, part: str) -> Array:
        raise NotImplementedError

    def _body(self, name: str) -> tuple[AnyBody, int, tuple[int, ...]]:
        """Body with a name, dimension d of the mechanism, and leading shape of arrays: (k,) for runs, () for states."""
        body: AnyBody = check.lookup("body", name, self.mechanism.bodies)
        return body, self.mechanism.layout.dim, self[f"{name}.centre"].shape[:-1]

    def rotations(self, body: str) -> Array:
        """Rotation matrix of a body, (k, d, d); for a body of N nodes the matrices of all nodes, (k, N, d, d)."""
        given_body, dim, lead = self._body(body)
        if isinstance(given_body, FramedBody):
            points = np.broadcast_to(np.eye(dim), (*lead, len(given_body.frames) - given_body.turning, dim, dim))
            if not given_body.turning:
                return points
            entries = self[f"{body}.rotation"].reshape(*lead, given_body.turning, entry_count(dim))
            return np.concatenate([from_entries(entries, dim), points], axis=-3)
        if not given_body.turns:
            return np.broadcast_to(np.eye(dim), (*lead, dim, dim))
        return from_entries(self[f"{body}.rotation"], dim)

    def spin(self, body: str) -> Array:
        """Spin of a body's frame in world axes, (k, s) [rad/s]; for a body of N nodes the spins of all, (k, N, s)."""
        given_body, dim, lead = self._body(body)
        if isinstance(given_body, FramedBody):
            spin = np.zeros((*lead, len(given_body.frames), spins(dim)))
            if given_body.turning:
                spin[..., : given_body.turning, :] = self[f"{body}.spin"].reshape(*lead, given_body.turning, -1)
        elif not given_body.turns:
            return np.zeros((*lead, spins(dim)))
        else:
            spin = self[f"{body}.spin"]
        return spin if dim == 2 else np.einsum("...ij,...j->...i", self.rotations(body), spin)

    def deformation(self, body: str) -> Array:
        """Flexible coordinates of a body, (k, n)."""
        given_body, _, lead = self._body(body)
        return self[f"{body}.deformation"] if given_body.size else np.zeros((*lead, 0))

    def points(self, body: str, positions: Array, shape: Any) -> Array:
        """World positions (k, p, d) [m] of material points of a body, at undeformed ``positions`` (p, d) in body axes.

        ``shape`` (p·d, n) gives the displacements of the points by flexible coordinates. For a body of N nodes it is
        (p, N), weights of the nodes: a point moves with their weighted mean.
        """
        given_body, dim, lead = self._body(body)
        if isinstance(given_body, NodalBody):
            return self._by_node(body, "centre", shape) + self._arms(body, positions, shape)[0]
        if isinstance(given_body, SplitBody):
            owner = given_body.frames_of(positions, shape)
            return self._of_frames(body, "centre")[..., owner, :] + self._levers(body, positions, shape, owner)
        u = self.deformation(body)
        mean = u @ given_body.inertia.mean_shape.T
        local = positions - given_body.inertia.centre + (shape @ u.T).T.reshape(*lead, -1, dim) - mean[..., None, :]
        return self[f"{body}.centre"][..., None, :] + np.einsum("...ij,...pj->...pi", self.rotations(body), local)

    def velocities(self, body: str, positions: Array, shape: Any) -> Array:
        """World velocities (k, p, d) [m/s] of material points of a body; arguments are those of :meth:`points`."""
        given_body, dim, _ = self._body(body)
        if isinstance(given_body, NodalBody):
            return self._by_node(body, "velocity", shape) + self._arms(body, positions, shape)[1]
        if isinstance(given_body, SplitBody):
            return self._frame_velocities(body, positions, shape, given_body.frames_of(positions, shape))
        arm = self.points(body, positions, shape) - self[f"{body}.centre"][..., None, :]
        turning = np.einsum("...ij,...pj->...pi", skew(self.spin(body), dim), arm)
        velocities: Array = self[f"{body}.velocity"][..., None, :] + turning
        if given_body.size:
            rate = self[f"{body}.deformation_rate"]
            local = (shape @ rate.T).T.reshape(arm.shape) - (rate @ given_body.inertia.mean_shape.T)[..., None, :]
            velocities += np.einsum("...ij,...pj->...pi", self.rotations(body), local)
        return velocities

    def _by_node(self, body: str, part: str, weights: Any) -> Array:
        """Sums (k, p, d) of a ``part`` of the states of N nodes, such as ``centre``, with weights (p, N) of nodes."""
        values = self[f"{body}.{part}"]
        return _weighted(sparse.csr_array(weights), values.reshape(*values.shape[:-1], weights.shape[1], -1))

    def _arms(self, body: str, positions: Array, weights: Any) -> tuple[Array, Array]:
        """Weighted sums (k, p, d) of world vectors from centres of mass of nodes to points, and rates of these sums.

        ``weights`` (p, N) are the weights of the nodes for each point.
        """
        given_body, of = self.mechanism.bodies[body], sparse.coo_array(weights)
        point, node = of.row, of.col
        spread = sparse.csr_array((of.data, (point, np.arange(of.nnz))), shape=(len(positions), of.nnz))
        arms = positions[point] - given_body.centres[node]
        world = np.einsum("...eij,ej->...ei", self.rotations(body)[..., node, :, :], arms)
        return _weighted(spread, world), _weighted(spread, sweep(self.spin(body)[..., node, :], world))

    def _of_frames(self, body: str, part: str) -> Array:
        """One ``part`` of the state, such as ``centre``, of a body split into N parts with a frame each, (k, N, d)."""
        _, dim, lead = self._body(body)
        return self[f"{body}.{part}"].reshape(*lead, -1, dim)

    def _levers(self, body: str, positions: Array, shape: Any, owner: Array) -> Array:
        """World vectors (k, p, d) to points of a split body from the centres of mass of their frames ``owner`` (p,)."""
        given_body, dim, lead = self._body(body)
        assert isinstance(given_body, SplitBody)
        u = self.deformation(body)
        mean = (given_body.mean_shape @ u.T).T.reshape(*lead, -1, dim)[..., owner, :]
        local = positions - given_body.centres[owner] + (shape @ u.T).T.reshape(*lead, -1, dim) - mean
        return np.asarray(np.einsum("...pij,...pj->...pi", self.rotations(body)[..., owner, :, :], local))

    def _frame_velocities(self, body: str, positions: Array, shape: Any, owner: Array) -> Array:
        """World velocities (k, p, d) of points of a split body; ``owner`` (p,) are the indices of their frames."""
        given_body, dim, lead = self._body(body)
        assert isinstance(given_body, SplitBody)
        arm, rate = self._levers(body, positions, shape, owner), self[f"{body}.deformation_rate"]
        mean = (given_body.mean_shape @ rate.T).T.reshape(*lead, -1, dim)[..., owner, :]
        local = (shape @ rate.T).T.reshape(arm.shape) - mean
        bending = np.einsum("...pij,...pj->...pi", self.rotations(body)[..., owner, :, :], local)
        turning = sweep(self.spin(body)[..., owner, :], arm)
        return np.asarray(self._of_frames(body, "velocity")[..., owner, :] + turning + bending)

    def position(self, port: str) -> Array:
        """World position of a port, (k, d) [m]."""
        body, at, node = self._port(port)
        if node is None:
            return self.points(body, at.position[None, :], at.shape)[..., 0, :]
        given_body = self.mechanism.bodies[body]
        if isinstance(given_body, SplitBody):
            at, owner = given_body.ports[str(port).partition(".")[2]], np.array([node])
            arm = self._levers(body, at.position[None], at.shape, owner)
            return (self._of_frames(body, "centre")[..., owner, :] + arm)[..., 0, :]
        if (mean := weights_of(port, self.mechanism.bodies)) is not None:
            return self._by_node(body, "centre", mean[None])[..., 0, :]
        return self._at_node(body, "centre", node) + self._arm(body, at, node)

    def velocity(self, port: str) -> Array:
        """World velocity of a port, (k, d) [m/s]."""
        body, at, node = self._port(port)
        if node is None:
            return self.velocities(body, at.position[None, :], at.shape)[..., 0, :]
        given_body = self.mechanism.bodies[body]
        if isinstance(given_body, SplitBody):
            at = given_body.ports[str(port).partition(".")[2]]
            return self._frame_velocities(body, at.position[None], at.shape, np.array([node]))[..., 0, :]
        if (mean := weights_of(port, self.mechanism.bodies)) is not None:
            return self._by_node(body, "velocity", mean[None])[..., 0, :]
        turning = sweep(self.spin(body)[..., node, :], self._arm(body, at, node))
        return self._at_node(body, "velocity", node) + turning

    def displacement(self, port: str) -> Array:
        """Displacement φu of a port by deformation, in body axes, (k, d) [m]."""
        body, at, _ = self._port(port)
        _single_frame_body(body, self._body(body)[0])
        return (at.shape @ self.deformation(body).T).T

    def _port(self, port: str) -> tuple[str, Port, int | None]:
        """Name of the body of a port, the port itself, and the index of its node or frame in a body of several.

        The index is None for a body with a single frame.
        """
        (index, at), name = find_port(port, self.mechanism.bodies), str(port).partition(".")[0]
        several = isinstance(self.mechanism.bodies[name], FramedBody)
        return name, at, index - first_frame(name, self.mechanism.bodies) if several else None

    def _at_node(self, body: str, part: str, node: int) -> Array:
        """One ``part`` of the state of a node, such as ``centre``, (k, d)."""
        dim = self.mechanism.layout.dim
        return self[f"{body}.{part}"][..., dim * node : dim * node + dim]

    def _arm(self, body: str, at: Port, node: int) -> Array:
        """World vector (k, d) from the centre of mass of a node to a port that belongs to it."""
        given_body = self.mechanism.bodies[body]
        assert isinstance(given_body, NodalBody)
        return np.asarray(self.rotations(body)[..., node, :, :] @ (at.position - given_body.frames[node].centre))


def _weighted(weights: Any, values: Array) -> Array:
    """Weighted sums (…, p, d) over the second to last axis of values (…, n, d), with sparse weights (p, n)."""
    moved = np.moveaxis(values, -2, 0)
    summed = (weights @ moved.reshape(moved.shape[0], -1)).reshape(weights.shape[0], *moved.shape[1:])
    return np.moveaxis(summed, 0, -2)


def _single_frame_body(name: str, body: AnyBody) -> Body:
    """Body as given; raises ValueError for a body of several nodes or frames."""
    if isinstance(body, FramedBody):
        kind = "nodes without a common frame" if isinstance(body, NodalBody) else f"{len(body.frames)} frames"
        raise ValueError(f"{name!r} is a body of {kind}: use its ports")
    return body
