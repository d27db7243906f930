"""Theorems of the equations of mechanisms as port-Hamiltonian systems."""

import numpy as np


def check_equations(system, seed=3):
    """J is skew, R semi-definite, Eᵀz the gradient of H, and derivatives those of differences; at a random state."""
    rng = np.random.default_rng(seed)
    x = system.sample + 0.1 * rng.normal(size=system.sample.size)
    w, units = rng.normal(size=x.size), 1e-6 * np.eye(x.size)
    assert np.abs(system.J(x) + system.J(x).T).max() == 0.0
    assert np.linalg.eigvalsh(system.R(x)).min() >= -1e-12 * np.abs(system.R(x)).max()
    gradient = np.array([system.H(x + e) - system.H(x - e) for e in units]) / 2e-6
    np.testing.assert_allclose(system.E(x).T @ system.z(x), gradient, rtol=0, atol=1e-7 * np.abs(gradient).max())
    field = lambda at: (system.J(at) - system.R(at)) @ w  # noqa: E731
    slopes = np.array([field(x + e) - field(x - e) for e in units]).T / 2e-6
    found = system.derivatives.structure(x, w)
    np.testing.assert_allclose(found, slopes, rtol=0, atol=1e-8 * np.abs(slopes).max())  # of second order in 1e-6
