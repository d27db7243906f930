"""Derivatives of polynomials of degree four by differences that are exact but for round-off."""

import numpy as np

ROUND_OFF = 1e-12
"""Error over the largest term: weights of 3 in all, of sums of some dozens of terms with an error of eps each."""


def polynomial_slope(function, x):
    """∂f/∂x by five points at a distance of ½, and the largest value of the function at them."""
    columns, largest = [], 0.0
    for direction in np.eye(x.size):
        values = [np.asarray(function(x + 0.5 * k * direction)) for k in (-2, -1, 1, 2)]
        columns.append((8.0 * (values[2] - values[1]) - (values[3] - values[0])) / 6.0)
        largest = max(largest, *(np.abs(value).max(initial=0.0) for value in values))
    return np.stack(columns, axis=-1), largest


def assert_slopes(system, x, rng, tolerance=ROUND_OFF):
    """All derivatives of a system whose functions are polynomials of degree four along any state."""
    given, w, f = system.derivatives, rng.standard_normal(system.size), rng.standard_normal(system.inputs_size)
    count = np.arange(f.size)
    pairs = {
        "costate": (system.z, given.costate(x)),
        "descriptor": (lambda at: system.E(at) @ w, given.of_descriptor(x, w)),
        "structure": (lambda at: system.J(at) @ w - system.R(at) @ w, given.structure(x, w)),
        "inputs": (lambda at: system.B(at) @ f, given.of_flow(x, 0.0 * w, 0.0 * system.J(x), f)),
        "outputs": (lambda at: system.B(at).T @ w, given.of_outputs(x, w, count, f.size)),
    }
    for name, (function, slope) in pairs.items():
        numeric, largest = polynomial_slope(function, x)
        np.testing.assert_allclose(slope, numeric, rtol=0.0, atol=tolerance * max(largest, 1.0), err_msg=name)
