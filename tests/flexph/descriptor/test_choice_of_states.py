"""The states that canonical forms keep: those that make the form regular, whatever the units."""

import numpy as np
import pytest

from flexph import PHDAE
from flexph.descriptor import canonical_form


def constant(E, slope, sample):
    """A system with a constant E whose energy is ½ψ², ψ = slope·x: E(x)ᵀz = ψ slope."""
    n = len(sample)
    weights = np.linalg.lstsq(E.T, slope, rcond=None)[0]
    return PHDAE(
        E=E,
        J=np.zeros((n, n)),
        R=np.zeros((n, n)),
        z=lambda x: float(slope @ x) * weights,
        H=lambda x: 0.5 * float(slope @ x) ** 2,
        sample=sample,
        parts={name: slice(k, k + 1) for k, name in enumerate("abcdefgh"[:n])},
    )


def form_of(E, slope, sample):
    return canonical_form(constant(E, slope, sample), lambda x: np.array([slope @ x]), lambda x: slope[None])


def test_a_parameter_is_not_a_copy_of_the_function():
    """Rows ψ = x₁ + x₂ and ψ + x₃/10: the parameter is x₃, small as its entry is; with x₁ or x₂ nothing is regular."""
    E, slope = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.1], [0.0, 0.0, 0.0]]), np.array([1.0, 1.0, 0.0])
    form = form_of(E, slope, np.array([0.7, 0.6, 0.5]))
    x = np.array([0.2, -0.4, 0.9])
    turned = form.psi(x)
    assert turned[0] == pytest.approx(-0.2, rel=1e-14) and turned[2] == 0.9
    np.testing.assert_allclose(form.phi(turned), x, rtol=1e-14)
    np.testing.assert_allclose(form.system.E(turned), np.diag([1.0, 0.0, 1.0]), atol=1e-13)


@pytest.mark.parametrize("units", [(1.0, 1.0), (1e6, 1e-6), (1e-9, 1e3)])
def test_units_do_not_choose_the_state_that_a_function_replaces(units):
    """Of ψ = x₁ + x₂ with x₁ ten times x₂ it replaces x₁, and x₂ remains, in units of its own."""
    D = np.array(units)
    slope = D.copy()
    form = form_of(np.vstack([slope, np.zeros(2)]), slope, np.array([1.0, 0.1]) / D)
    x = np.array([0.9, 0.2]) / D
    np.testing.assert_allclose(form.psi(x), [1.1, x[1]], rtol=1e-14)
