"""Mean outputs of external ports over a step, power-conjugate to inputs held in it."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from ..joints.rows.connection import Connection
from ..joints.rows.vectors import Ground
from ..kernels.arrays import Arrays
from ..kernels.loads.faces import face_outputs
from ..kernels.rates.on_curves import all_at_state, all_over_step, curve_inputs
from ..kernels.state import Configuration, derive, node_arms, node_velocities, product_changes
from ..kernels.step import mean_places
from ..kernels.values import Means
from ..mechanisms.model.accounts import input_outputs
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array
from ..numerics.rotations import step_rotation


class PortOutputs:
    """Mean outputs ȳ of ports over steps of the exact scheme: h ȳᵀu is the work of inputs u held in a step.

    They depend on the states at both ends of a step, and only on the bodies that own the ports. ``among`` are their
    indices among the outputs of all ports.
    """

    def __init__(self, mechanism: Model, ports: Collection[str]) -> None:
        loads = tuple(c for c in mechanism.connections if c.input is not None and c.name in ports)
        owners = {port.partition(".")[0] for c in loads for port in _ports_of(c)}
        bodies = {name: body for name, body in mechanism.bodies.items() if name in owners}
        self._part = Model(bodies, loads, mechanism.gravity)
        parts, size = mechanism.layout.parts, mechanism.layout.size
        self._entries = np.concatenate([np.arange(size)[parts[name]] for name in self._part.layout.parts])
        self.slices, every = self._part.network.input_slices, mechanism.network.input_slices
        self.among = np.concatenate([np.arange(every[port].start, every[port].stop) for port in self.slices])
        self._arrays: Arrays = self._part.network.arrays
        a = self._arrays
        on_nodes = a.faces is not None or a.curves or abs(a.input_node).sum() > 0.0
        self._rows = None if a.dim == 3 or on_nodes else self._constant()

    def _constant(self) -> Array:
        """Matrix (m, n) of the outputs of torques in the plane, which are linear in the state."""
        a, identity = self._arrays, np.eye(self._part.layout.size)
        rows = [self._torque_outputs(a, configuration(self._part, x)) for x in identity]
        return np.array(rows).T

    @staticmethod
    def _torque_outputs(a: Arrays, c: Configuration) -> Array:
        spins = c.omega[a.torque_body] + (a.torque_shape @ c.du).reshape(-1, c.omega.shape[1])
        outputs: Array = a.input_torque.T @ spins.ravel()
        return outputs

    def over(self, x0: Array, x1: Array, h: float) -> Array:
        """Mean outputs ȳ (m,) over a step between two states, in the order of ``slices``."""
        first, last = x0.take(self._entries), x1.take(self._entries)
        if self._rows is not None:
            return 0.5 * (self._rows @ (first + last))
        a, c0, c1 = self._arrays, configuration(self._part, first), configuration(self._part, last)
        x = Means(0.5 * (c0.v + c1.v), 0.5 * (c0.omega + c1.omega), 0.5 * (c0.du + c1.du), np.zeros(0))
        _, inverse = step_rotation(c0.R, 0.5 * h * x.omega)
        lever = 0.5 * (node_arms(a, c0.R, c0.u) + node_arms(a, c1.R, c1.u))
        speed = node_velocities(a, x, inverse.transpose(0, 2, 1), lever)
        outputs = input_outputs(a, 1.0, x, (inverse, speed))
        if a.follow_input.size:
            turned = np.einsum("fjd,fd->fj", lever[a.follow_node], outputs[a.follow_input])
            outputs[a.follow_input] = turned
        if a.faces is not None:
            outputs += face_outputs(a.faces, mean_places(a, c0, c1.r, lever), speed, outputs.size)
        if a.curves:
            (v0, p0), (v1, p1) = ((d.vector, d.product) for d in (derive(a, c0), derive(a, c1)))
            along = all_over_step(a.curves, all_at_state(a.curves, p0), p0, p1)
            change = product_changes(a, a.incidence @ speed, 0.5 * (v0 + v1))
            outputs += change @ curve_inputs(a.curves, along, (change.size, outputs.size))
        return outputs


def _ports_of(load: Connection) -> list[str]:
    assert load.input is not None
    given = (load.input.port, load.input.against)
    return [str(port) for port in given if port is not None and not isinstance(port, Ground)]
