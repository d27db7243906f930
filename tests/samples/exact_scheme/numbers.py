"""Products, angles and sums of real or complex arrays."""

import numpy as np

SMALL = 1e-3
"""Tangent t of half an angle below which arctan(t)/t is taken from its series, whose error is then below 1e-17."""


def dot(a, b):
    """a·b over the last axis, without conjugation."""
    return (a * b).sum(axis=-1)


def norm(a):
    """√(a·a) over the last axis."""
    return np.sqrt(dot(a, a))


def cross(a, b):
    """a × b of vectors of space; in the plane the one component across it, (..., 1)."""
    if a.shape[-1] == 2:
        return (a[..., :1] * b[..., 1:]) - (a[..., 1:] * b[..., :1])
    return a[..., [1, 2, 0]] * b[..., [2, 0, 1]] - a[..., [2, 0, 1]] * b[..., [1, 2, 0]]


def skew(spin):
    """[ω]× (d, d) of a spin: of one number in the plane, of three in space."""
    if spin.size == 1:
        return spin * np.array([[0.0, -1.0], [1.0, 0.0]])
    x, y, z = spin
    zero = 0.0 * x
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]])


def add_up(index, values, size):
    """Sums of values (k, ...) by index (k,), (size, ...)."""
    sums = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    np.add.at(sums, index, values)
    return sums


def turn(y, x):
    """The angle of a point (x, y) on the plane, and κ: this angle over y; an analytic function of both."""
    size = np.sqrt(x * x + y * y)
    near = x.real > 0.0
    tangent = np.where(near, y, size - x) / np.where(near, size + x, y)  # of half the angle
    angle = 2.0 * np.arctan(tangent)
    small = near & (np.abs(tangent.real) < SMALL)
    series = 2.0 / np.where(near, size + x, 1.0) * (1.0 - tangent**2 / 3.0 + tangent**4 / 5.0)
    return angle, np.where(small, series, angle / np.where(small, 1.0, y))


def lifted(value, slope, at):
    """Extend a real function, given with its slope at the real part, to the complex number of a complex step."""
    return value + 1j * slope * at.imag if np.iscomplexobj(at) else value
