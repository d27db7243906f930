"""The standard form: the transfer function of the system with constraints, energy, states and conditions."""

import numpy as np
import pytest
import scipy.linalg
from scipy import sparse

import fem
from flexph import LinearPHDAE, eliminate, poles
from flexph.linear.state_space import StandardForm, standard_form

FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
both_coordinates = pytest.mark.parametrize("coordinates", ["energy", "scaled"])
random_seeds = pytest.mark.parametrize("seed", range(3))


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def system(seed, form="dense", n=9, rows=3):
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((n, n)), draw((n, n)), draw((n, 2))
    made = {"E": root @ root.T + np.eye(n), "J": free - free.T, "R": loss @ loss.T}
    made |= {"B": draw((n, 3)), "G": draw((rows, n))}
    ports = {"a": slice(0, 1), "b": slice(1, 3)}
    return LinearPHDAE(
        **{k: FORMS[form](v) for k, v in made.items()},
        ports=ports,
        causality={"b": "velocity"},
        parts={"x": slice(0, n)},
    )


@both_coordinates
@both_forms
@random_seeds
def test_the_transfer_function_is_that_of_the_constrained_system(seed, form, coordinates):
    """BᵀQ (s − (J − R) Q)⁻¹ B against the saddle matrix [[sE − J + R, −Gᵀ], [G, 0]], which knows no null space."""
    given = system(seed, form)
    made = standard_form(given, coordinates=coordinates)
    E, A, B, G = full(given.E), full(given.J) - full(given.R), full(given.B), full(given.G)
    for s in (0.3, 1.7j, 4.0 - 2.0j):
        saddle = np.block([[s * E - A, -G.T], [G, np.zeros((3, 3))]])
        expected = B.T @ np.linalg.solve(saddle, np.vstack([B, np.zeros((3, 3))]))[:9]
        found = made.C @ np.linalg.solve(s * np.eye(made.size) - made.A, made.B)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-11)


@both_coordinates
@random_seeds
def test_structure_energy_and_states(seed, coordinates):
    given = system(seed)
    made = standard_form(given, coordinates=coordinates)
    np.testing.assert_allclose(made.J, -made.J.T, atol=1e-13)
    assert np.linalg.eigvalsh(made.R)[0] > -1e-13
    assert (dict(made.ports), dict(made.causality)) == (dict(given.ports), {"b": "velocity"})
    x = np.random.default_rng(seed).standard_normal(made.size)
    states = made.part("x", x)
    assert made.energy(x) == pytest.approx(given.energy(states), rel=1e-12)
    np.testing.assert_allclose(made.C @ x, given.B.T @ states, rtol=1e-11)
    np.testing.assert_allclose(given.G @ states, 0.0, atol=1e-13)
    np.testing.assert_allclose(np.poly(np.linalg.eigvals(made.A)), np.poly(poles(given)), rtol=1e-10)
    if coordinates == "scaled":
        np.testing.assert_array_equal(made.Q, np.eye(made.size))


def test_energy_coordinates_keep_the_matrices():
    """x = E z, and J, R, B are those of the eliminated system."""
    given = eliminate(system(0))
    made = standard_form(given)
    for key in "JRB":
        np.testing.assert_array_equal(getattr(made, key), getattr(given, key))
    np.testing.assert_allclose(made.Q @ given.E, np.eye(given.size), atol=1e-12)


def test_a_beam_in_units_that_differ_by_orders():
    """Masses of 1e-3 and compliances of 1e-9 side by side: the poles of the damped block stay."""
    steel, strip = fem.Material(young=2.1e11, density=7800.0), fem.Section(width=0.02, height=0.01)
    beam = fem.bending(0.3, steel, strip, elements=4, clamped=("root",), damping=fem.Damping(mass=3.0))
    made = standard_form(beam, coordinates="scaled")
    np.testing.assert_allclose(np.sort(np.abs(scipy.linalg.eigvals(made.A))), np.sort(np.abs(poles(beam))), rtol=1e-8)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"coordinates must be"):
        standard_form(system(0), coordinates="momenta")
    with pytest.raises(ValueError, match=r"standard_form needs a positive definite E"):
        standard_form(LinearPHDAE(np.diag([1.0, 0.0]), np.zeros((2, 2))))
    many = LinearPHDAE(sparse.eye_array(5001).tocsr(), sparse.csr_array((5001, 5001)))
    with pytest.raises(ValueError, match=r"of up to 5000 states, got 5001: reduce first"):
        standard_form(many)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"J": np.ones((2, 2))}, "J must be skew-symmetric"),
        ({"R": -np.eye(2)}, "R must be positive semi-definite"),
        ({"Q": np.array([[1.0, 2.0], [2.0, 1.0]])}, "Q must be positive semi-definite"),
        ({"Q": np.eye(3)}, r"Q must have shape \(2, 2\), got \(3, 3\)"),
        ({"ports": {}}, "ports must cover the 1 columns of B"),
        ({"lift": np.ones((4, 3))}, r"lift must have shape \(4, 2\), got \(4, 3\)"),
    ],
)
def test_conditions_are_checked(change, message):
    good = {"J": np.zeros((2, 2)), "R": np.eye(2), "Q": np.eye(2), "B": np.ones((2, 1)), "lift": np.eye(2)}
    assert StandardForm(**good, ports={"u": slice(0, 1)}).size == 2
    with pytest.raises(ValueError, match=message):
        StandardForm(**{**good, "ports": {"u": slice(0, 1)}, **change})
