"""Exact natural frequencies of uniform Euler-Bernoulli beams and bars, without rigid-body modes."""

from math import cos, exp, pi, sin, tanh

import numpy as np
from scipy.optimize import brentq


def _sech(x: float) -> float:
    return 2 * exp(-x) / (1 + exp(-2 * x))


# Frequency equations in x = beta L, divided by cosh(x) to stay bounded, with the number of the first half
# period of the cosine, (0, pi) being 0, that holds a root; each following half period holds one more.
_BENDING = {
    "clamped-free": (lambda x: cos(x) + _sech(x), 0),
    "free-free": (lambda x: cos(x) - _sech(x), 1),
    "clamped-hinged": (lambda x: sin(x) - cos(x) * tanh(x), 1),
}


def bending_roots(ends: str, count: int) -> np.ndarray:
    """The first `count` positive roots beta L.

    `ends` is "clamped-free", "hinged-hinged", "free-free" or "clamped-hinged".
    """
    if ends == "hinged-hinged":
        return pi * np.arange(1, count + 1)
    equation, first = _BENDING[ends]
    tight = {"xtol": 1e-15, "rtol": 4 * np.finfo(float).eps}
    return np.array([brentq(equation, k * pi, (k + 1) * pi, **tight) for k in range(first, first + count)])


def bending_frequencies(ends: str, count: int) -> np.ndarray:
    """The first `count` bending frequencies omega / sqrt(E I / (rho A L^4)) = (beta L)^2."""
    return bending_roots(ends, count) ** 2


def axial_frequencies(ends: str, count: int) -> np.ndarray:
    """The first `count` axial frequencies omega / sqrt(E / (rho L^2)).

    `ends` is "fixed-free", "fixed-fixed" or "free-free".
    """
    shift = {"fixed-free": 0.5, "fixed-fixed": 0.0, "free-free": 0.0}[ends]
    return pi * (np.arange(1, count + 1) - shift)
