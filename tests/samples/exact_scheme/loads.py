"""Inputs: forces on nodes and torques on sections, in the world, along mean directions, or on faces that deform."""

import numpy as np

from .numbers import cross, norm
from .system import dense


def world_inputs(loads, lever, inputs):
    """Inputs (i,) in world axes: those that follow a section have components on its mean directions."""
    given = inputs.astype(lever.dtype)
    for own, directions in zip(loads.follow_input, loads.follow_node, strict=True):
        given[own] = inputs[own] @ lever[directions]
    return given


def load_forces(system, rates, lever, inputs):
    """Generalised forces (n_v,) of inputs on nodes and sections; ``rates`` are R⁻ᵀ, and those of bodies and nodes."""
    frame, spin_rate, node_rate = rates
    given = world_inputs(system.loads, lever, inputs)
    force = np.einsum("kin,ki->n", node_rate, system.loads.on_node @ given)
    for rate, torque in zip(section_rates(system, frame, spin_rate), system.loads.on_section @ given, strict=True):
        force = force + rate.T @ torque
    return force


def section_rates(system, frame, spin_rate):
    """World spins Ω + R⁻ᵀψu̇ of sections that take torques, as maps of the velocities, one (s, n_v) each."""
    for b, shape in zip(system.loads.section_body, system.loads.section_shape, strict=True):
        flexible, rate = system.columns[b][2], spin_rate[b].copy()
        bent = shape[:, system.bodies[b].own]
        rate[:, flexible] += frame[b] @ bent if system.dim == 3 else bent
        yield rate


def face_loads(system, way, inputs):
    """Generalised forces (n_v,) of loads on faces."""
    return np.einsum("kin,ki->n", way.node_rate, face_forces(system, way, inputs))


def face_forces(system, way, inputs):
    """Forces (k, d) of loads on faces at the mean places: tangential, and along the outward normal n.

    With tangents a and b of a sample, n = a × b is as long as the face is large:
    df = (τ₁|n| a/|a| + τ₂ n×a/|a| + σn) dA₀, in the plane (τa + σn) dA₀.
    """
    f = system.faces
    place = way.arm.mean + system.nodes.moves[:, None] * way.r.mean[system.nodes.body]
    if f is None:
        return np.zeros_like(place)
    a, b = dense(f.along) @ place, dense(f.across) @ place
    if system.dim == 2:
        axes = np.stack([a, np.stack([a[:, 1], -a[:, 0]], axis=1)])
    else:
        normal, length = cross(a, b), norm(a)[:, None]
        axes = np.stack([norm(normal)[:, None] * a / length, cross(normal, a) / length, normal])
    return dense(f.points).T @ (f.areas[:, None] * np.einsum("qc,cqd->qd", inputs[f.input], axes))
