"""Nonlinear port-Hamiltonian systems: conditions, power balance, system transformations, the linear ones among them."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from flexph import PHDAE, LinearPHDAE
from flexph.systems import from_linear, transform, with_multipliers
from flexph.systems.nonlinear import GRADIENT_TOLERANCE

SIZE, INPUTS = 4, 3
FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
random_states = given(seed=st.integers(0, 2**32 - 1))
draw = np.random.default_rng(0).standard_normal
STIFFNESS, SKEW, LOSS, INPUT = draw((3, 3)), draw((SIZE, SIZE)), draw((SIZE, 2)), draw((SIZE, INPUTS))


def descriptor(x):
    """E(x) = diag(E₃(x), 0): the last state is algebraic."""
    made = np.zeros((SIZE, SIZE))
    made[:3, :3] = [[1.0, 0.0, 0.3 * x[1]], [np.sin(x[0]), 2.0, 0.0], [0.0, x[2] ** 2, 1.5]]
    return made


def structure(x):
    return (SKEW - SKEW.T) * (1.0 + x @ x)


def dissipation(x):
    return np.cosh(x[0]) * LOSS @ LOSS.T


def inputs(x):
    return INPUT + np.outer(x, np.ones(INPUTS))


def energy(x):
    q = x[:3]
    return 0.5 * np.sum((STIFFNESS @ q) ** 2) + 0.25 * np.sum(q**4)


def costate(x):
    """z = (E₃⁻ᵀ ∂H, anything): Eᵀz = ∇H leaves the entry of the algebraic state free."""
    q = x[:3]
    gradient = STIFFNESS.T @ STIFFNESS @ q + q**3
    return np.append(np.linalg.solve(descriptor(x)[:3, :3].T, gradient), np.sinh(x[3]) + x[0])


def state(seed):
    return 0.7 * np.random.default_rng(seed).standard_normal(SIZE)


def system(form="dense", **changes):
    """The system above, with some of its functions changed."""
    made = {"E": descriptor, "J": structure, "R": dissipation, "B": inputs, "z": costate, "H": energy}
    made |= {"sample": state(99), "ports": {"a": slice(0, 1), "b": slice(1, 3)}} | changes
    wrap = lambda function: lambda x: FORMS[form](function(x))  # noqa: E731
    return PHDAE(**{k: wrap(v) if k in "EJRB" else v for k, v in made.items()})


def plus(function, row, column, value):
    """The matrix function with a value added to one entry."""

    def changed(x):
        matrix = function(x).copy()
        matrix[row, column] += value
        return matrix

    return changed


@both_forms
@random_states
def test_conditions_hold_at_random_states(form, seed):
    made = system(form)
    made.check(state(seed))
    # second-order differences resolve this gradient to 1e-9, a thousandth of the tolerance
    assert made.gradient_defect(state(seed)) < 1e-3 * GRADIENT_TOLERANCE


@both_forms
@random_states
def test_power_balance_at_random_states(form, seed):
    """zᵀ((J − R) z + B u) = yᵀu − zᵀR z: J has no power."""
    left, right = system(form).power_balance(state(seed), np.random.default_rng(seed).standard_normal(INPUTS))
    assert left == pytest.approx(right, rel=1e-12, abs=1e-12)


@random_states
def test_energy_changes_by_the_power_balance(seed):
    """dH/dt along ẋ with E ẋ = (J − R) z + B u: Eᵀz = ∇H turns zᵀE ẋ into the rate of the energy."""
    made, x, u = system(), state(seed), np.random.default_rng(seed).standard_normal(INPUTS)
    force = (made.J(x) - made.R(x)) @ made.z(x) + made.B(x) @ u
    rate = np.append(np.linalg.solve(made.E(x)[:3, :3], force[:3]), 0.0)
    h = 1e-4 / np.linalg.norm(rate)
    change = (made.H(x + h * rate) - made.H(x - h * rate)) / (2.0 * h)
    algebraic = made.z(x)[3] * force[3]  # zero on solutions, where the fourth equation holds
    assert change + algebraic == pytest.approx(made.power_balance(x, u)[1], rel=1e-6)  # a central difference


@both_forms
@pytest.mark.parametrize(
    "name, function, what, sign",
    [("J", structure, "skew-symmetric", "+"), ("R", dissipation, "symmetric", "−")],
)
def test_a_wrong_symmetry_is_refused_with_its_defect(form, name, function, what, sign):
    wrong = plus(function, 0, 1, 3e-4)
    matrix = wrong(state(99))
    defect = np.linalg.norm(matrix + (matrix.T if sign == "+" else -matrix.T)) / np.linalg.norm(matrix)
    message = f"{name} must be {what}: ‖{name} {sign} {name}ᵀ‖/‖{name}‖ = {defect:.0e}"
    with pytest.raises(ValueError, match=re.escape(message)):
        system(form, **{name: wrong})


@both_forms
def test_an_indefinite_dissipation_is_refused(form):
    direction = np.linalg.eigh(LOSS @ LOSS.T)[1][:, :1]  # LOSS has rank two: this one it does not damp
    with pytest.raises(ValueError, match="R must be positive semi-definite: lowest"):
        system(form, R=lambda x: dissipation(x) - 1e-3 * direction @ direction.T)


@both_forms
@pytest.mark.parametrize("name, function", [("E", descriptor), ("J", structure), ("R", dissipation), ("B", inputs)])
def test_matrices_must_be_finite(form, name, function):
    with pytest.raises(ValueError, match=f"{name} must be finite, got NaN or infinity"):
        system(form, **{name: plus(function, 1, 1, np.nan)})


@pytest.mark.parametrize("wrong", [{"z": lambda x: np.nan * x}, {"H": lambda x: np.nan}, {"H": lambda x: np.inf}])
def test_costate_and_energy_must_be_finite(wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be finite"):
        system(**wrong)


def test_the_sample_must_be_finite():
    with pytest.raises(ValueError, match="sample must be finite, got NaN or infinity"):
        system(sample=[0.0, np.nan, 0.0, 0.0])


@both_forms
@pytest.mark.parametrize("name, shape", [("E", (4, 3)), ("J", (3, 4)), ("R", (5, 5)), ("B", (3, 3))])
def test_shapes_must_match(form, name, shape):
    wanted = (SIZE, INPUTS) if name == "B" else (SIZE, SIZE)
    with pytest.raises(ValueError, match=re.escape(f"{name} must have shape {wanted}, got {shape}")):
        system(form, **{name: lambda x: np.zeros(shape)})


@pytest.mark.parametrize("name, value", [("z", np.ones(3)), ("z", np.ones((SIZE, 1))), ("B", np.ones(SIZE))])
def test_vectors_must_have_their_shape(name, value):
    with pytest.raises(ValueError, match=rf"{name} must have shape \(.*\), got {re.escape(str(value.shape))}"):
        system(**{name: lambda x: value})


@pytest.mark.parametrize(
    "ports",
    [
        {},
        {"a": slice(0, 2)},
        {"a": slice(0, 2), "b": slice(0, 1)},
        {"a": slice(0, 2), "b": slice(1, 3)},
        {"a": slice(1, 4)},
    ],
    ids=["none", "too few", "twice", "overlap", "beyond"],
)
def test_ports_must_cover_the_inputs_once_each(ports):
    with pytest.raises(ValueError, match=f"ports must cover the {INPUTS} columns of B"):
        system(ports=ports)


@both_forms
@pytest.mark.parametrize("size", [1e-4, 1.0])
def test_a_violated_gradient_pair_is_refused(form, size):
    """z + δ has the defect Eᵀδ, named in the message."""
    wrong = lambda x: costate(x) + np.array([size, 0.0, 0.0, 0.0])  # noqa: E731
    with pytest.raises(ValueError, match=r"\(E, z\) must.*gradient pair.*H: ‖Eᵀz − ∇H‖/‖∇H‖ = \de-0\d"):
        system(form, z=wrong)


def test_the_gradient_check_is_free_of_units():
    """The same system with its states in other units is accepted, and a wrong gradient in one small state is not."""
    units = np.array([1e-6, 1.0, 1e5, 1.0])

    def scaled(error):
        return system(
            E=lambda x: descriptor(units * x) * units,
            J=lambda x: structure(units * x),
            R=lambda x: dissipation(units * x),
            B=lambda x: inputs(units * x),
            z=lambda x: costate(units * x) + np.array([error, 0.0, 0.0, 0.0]),
            H=lambda x: energy(units * x),
            sample=state(99) / units,
        )

    assert scaled(0.0).gradient_defect(state(1) / units) < GRADIENT_TOLERANCE
    with pytest.raises(ValueError, match="must be a gradient pair"):
        scaled(1e-2)


def test_the_gradient_is_checked_where_a_state_is_zero_but_for_round_off():
    """sin π is 1e-16, and ∂H there as large as anywhere: a step relative to the state would see nothing."""
    sample = np.append(1e-17, state(99)[1:])
    assert system(sample=sample).gradient_defect(sample) < GRADIENT_TOLERANCE
    wrong = np.append(np.linalg.solve(descriptor(sample)[:3, :3].T, [0.1, 0.0, 0.0]), 0.0)  # Eᵀ wrong = 0.1 e₀
    with pytest.raises(ValueError, match="must be a gradient pair"):
        system(sample=sample, z=lambda x: costate(x) + wrong)


def test_inputs_of_ports_are_found_by_name():
    made, x = system(), state(0)
    np.testing.assert_array_equal(made.inputs(x, "b"), inputs(x)[:, 1:])
    with pytest.raises(ValueError, match="no port 'c': there are 'a', 'b'"):
        made.inputs(x, "c")


def linear(form="dense", seed=0, constraints=2):
    """A random linear system with dissipation, two ports and constraints."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((5, 5)), draw((5, 5)), draw((5, 2))
    made = {"E": root @ root.T + np.eye(5), "J": free - free.T, "R": loss @ loss.T, "B": draw((5, 3))}
    made["G"] = draw((constraints, 5))
    ports = {"a": slice(0, 2), "b": slice(2, 3)}
    return LinearPHDAE(**{k: FORMS[form](v) for k, v in made.items()}, ports=ports, parts={"first": slice(0, 2)})


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


@both_forms
def test_multipliers_become_states(form):
    """E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]], R = diag(R, 0), B = (B, 0)."""
    given, zero = linear(), np.zeros
    made = with_multipliers(linear(form))
    assert made.is_sparse == (form == "sparse")
    expected = {
        "E": np.block([[given.E, zero((5, 2))], [zero((2, 7))]]),
        "J": np.block([[given.J, given.G.T], [-given.G, zero((2, 2))]]),
        "R": np.block([[given.R, zero((5, 2))], [zero((2, 7))]]),
        "B": np.vstack([given.B, zero((2, 3))]),
        "G": zero((0, 7)),
    }
    for name, value in expected.items():
        np.testing.assert_array_equal(full(getattr(made, name)), value)
    assert dict(made.ports) == dict(given.ports)


def test_a_system_without_constraints_has_no_multipliers():
    plain = linear(constraints=0)
    assert with_multipliers(plain) is plain


@both_forms
def test_multipliers_are_no_velocities(form):
    plain = linear(form)
    masked = LinearPHDAE(plain.E, plain.J, G=plain.G, kinetic=np.array([True, True, False, False, False]))
    np.testing.assert_array_equal(with_multipliers(masked).kinetic, [True, True] + 5 * [False])


@both_forms
def test_a_lift_forgets_the_multipliers(form):
    plain, lift = linear(form), np.random.default_rng(3).standard_normal((6, 5))
    lifted = LinearPHDAE(plain.E, plain.J, G=plain.G, lift=FORMS[form](lift), parts={"all": slice(0, 6)})
    made, x = with_multipliers(lifted), np.random.default_rng(4).standard_normal(7)
    np.testing.assert_allclose(made.part("all", x), lift @ x[:5], rtol=1e-14)


@both_forms
@random_states
def test_a_linear_system_is_a_nonlinear_one(form, seed):
    given = linear(form, seed)
    made, whole = from_linear(given), with_multipliers(given)
    x, u = np.random.default_rng(seed).standard_normal(7), np.random.default_rng(seed + 5).standard_normal(3)
    made.check(x)
    assert made.H(x) == pytest.approx(given.energy(x[:5]), rel=1e-14)
    assert (made.parts["first"], dict(made.ports)) == (slice(0, 2), dict(given.ports))
    left, right = made.power_balance(x, u)
    assert left == pytest.approx(right, rel=1e-11, abs=1e-11)
    assert right == pytest.approx((whole.B.T @ x) @ u - x @ (whole.R @ x), rel=1e-14)


def phi(x):
    """x = φ(x̃), a polynomial with a polynomial inverse."""
    a, b, c, d = x
    return np.array([a, b + 0.5 * a**2, c + a * b, d + c * a])


def phi_inverse(x):
    a, b, c, d = x
    b = b - 0.5 * a**2
    c = c - a * b
    return np.array([a, b, c, d - c * a])


def jacobian(x):
    a, b, c, _ = x
    return np.array([[1, 0, 0, 0], [a, 1, 0, 0], [b, a, 1, 0], [c, 0, a, 1.0]])


FRAME = np.linalg.qr(draw((SIZE, SIZE)))[0] * [1.0, 2.0, 0.5, 1.0]


def frame(x):
    """U(x̃), invertible everywhere: an upper triangle of ones on its diagonal, in front of it a constant."""
    return FRAME @ (np.eye(SIZE) + np.triu(np.outer(np.sin(x), x), 1))


def transformed(form="dense"):
    return transform(system(form), phi, jacobian, frame, sample=phi_inverse(state(99)))


@random_states
def test_a_transformation_keeps_energy_power_and_gradient_pair(seed):
    """[dg] eq. (32)-(33): (Ẽ, z̃) is a gradient pair of H∘φ, and outputs and power balance are those at φ(x̃)."""
    given, made = system(), transformed()
    x, u = state(seed), np.random.default_rng(seed).standard_normal(INPUTS)
    made.check(x)
    assert made.H(x) == pytest.approx(given.H(phi(x)), rel=1e-14)
    np.testing.assert_allclose(made.B(x).T @ made.z(x), given.B(phi(x)).T @ given.z(phi(x)), rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(made.power_balance(x, u), given.power_balance(phi(x), u), rtol=1e-11)
    assert dict(made.ports) == dict(given.ports)


@both_forms
@random_states
def test_a_transformation_carries_solutions(form, seed):
    """Ẽ x̃' = (J̃ − R̃) z̃ + B̃ u is Uᵀ times the equation of x = φ(x̃), x' = Dφ x̃': one holds where the other does."""
    given, made, x = system(), transformed(form), state(seed)
    rate, u = np.random.default_rng(seed).standard_normal((2, SIZE))
    original = given.E(phi(x)) @ (jacobian(x) @ rate) - force(given, phi(x), u[:INPUTS])
    carried = made.E(x) @ rate - force(made, x, u[:INPUTS])
    np.testing.assert_allclose(carried, frame(x).T @ original, rtol=1e-11, atol=1e-11)


def force(made, x, u):
    """(J − R) z + B u."""
    return (made.J(x) - made.R(x)) @ made.z(x) + made.B(x) @ u


@random_states
def test_the_inverse_transformation_gives_the_system_back(seed):
    """(φ⁻¹, U⁻¹ ∘ φ⁻¹) inverts (φ, U), [dg] sec. 5.1."""
    given, x = system(), state(seed)
    back = transform(
        transformed(),
        phi_inverse,
        lambda y: np.linalg.inv(jacobian(phi_inverse(y))),
        lambda y: np.linalg.inv(frame(phi_inverse(y))),
        sample=given.sample,
    )
    for name in "EJRBz":
        expected = getattr(given, name)(x)
        np.testing.assert_allclose(getattr(back, name)(x), expected, atol=1e-12 * max(1.0, np.abs(expected).max()))
    assert back.H(x) == pytest.approx(given.H(x), rel=1e-13)


def test_a_wrong_jacobian_is_refused():
    with pytest.raises(ValueError, match="must be a gradient pair"):
        transform(system(), phi, lambda x: np.eye(SIZE), frame, sample=state(1))
