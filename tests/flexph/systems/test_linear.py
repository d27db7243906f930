"""Linear port-Hamiltonian systems: conditions enforced at birth, and the power balance they guarantee."""

import re

import numpy as np
import pytest
from scipy import sparse

from flexph import LinearPHDAE
from flexph.numerics import checks as check

SIZE, INPUTS, CONSTRAINTS = 6, 3, 2
FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)


def matrices(seed=0, size=SIZE):
    """Random matrices of a linear pHDAE, with a singular R."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((size, size)), draw((size, size)), draw((size, 2))
    return {
        "E": root @ root.T + np.eye(size),
        "J": free - free.T,
        "R": loss @ loss.T,
        "B": draw((size, INPUTS)),
        "G": draw((CONSTRAINTS, size)),
    }


def system(form="dense", *, given=None, **changes):
    """The system of the matrices, with some of them or other arguments changed."""
    made = {**(given or matrices()), **changes}
    return LinearPHDAE(**{k: FORMS[form](v) if k in "EJRBG" and v is not None else v for k, v in made.items()})


def full(matrix):
    """A matrix as a dense array."""
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def entry(matrix, row, column, value):
    """A copy of the matrix with one entry replaced."""
    changed = np.array(matrix)
    changed[row, column] = value
    return changed


def indefinite(seed=0):
    """A symmetric matrix with a positive diagonal and a negative eigenvalue."""
    root = np.random.default_rng(seed).standard_normal((SIZE, SIZE - 1))
    positive = root @ root.T
    direction = np.linalg.eigh(positive)[1][:, :1]
    return positive - 1e-3 * direction @ direction.T


@both_forms
@pytest.mark.parametrize("name, what, sign", [("E", "symmetric", "−"), ("R", "symmetric", "−"), ("J", "skew", "+")])
@pytest.mark.parametrize("size", [1e-9, 3e-4, 2.0])
def test_a_wrong_symmetry_is_refused_with_its_defect(form, name, what, sign, size):
    """The message carries ‖A ∓ Aᵀ‖/‖A‖ to one digit."""
    correct = matrices()[name]
    wrong = entry(correct, 0, 1, correct[0, 1] + size)
    other = wrong.T if sign == "−" else -wrong.T
    defect = np.linalg.norm(wrong - other) / np.linalg.norm(wrong)
    message = f"{name} must be {what}.*{re.escape(f'‖{name} {sign} {name}ᵀ‖/‖{name}‖ = {defect:.0e}')}$"
    with pytest.raises(ValueError, match=message):
        system(form, **{name: wrong})


@both_forms
@pytest.mark.parametrize("name", ["E", "R", "J"])
def test_round_off_of_assembly_is_accepted(form, name):
    """A relative asymmetry of 1e-14 is what summing products leaves; the entries stay as they were given."""
    correct = matrices()[name]
    rounded = correct * (1.0 + 1e-14 * np.random.default_rng(1).standard_normal(correct.shape))
    np.testing.assert_array_equal(full(getattr(system(form, **{name: rounded}), name)), rounded)


@both_forms
@pytest.mark.parametrize("name", ["E", "R"])
def test_an_indefinite_matrix_is_refused(form, name):
    lowest = r"lowest eigenvalue -\d" if form == "dense" else r"lowest pivot -\d"
    with pytest.raises(ValueError, match=f"{name} must be positive semi-definite: {lowest}"):
        system(form, **{name: indefinite()})


@both_forms
@pytest.mark.parametrize("name", ["E", "R"])
def test_a_negative_diagonal_is_refused(form, name):
    wrong = np.diag([1.0, 2.0, -0.25, 1.0, 1.0, 1.0])
    with pytest.raises(ValueError, match=rf"{name} must be .*semi-definite: smallest diagonal entry -2\.500e-01"):
        system(form, **{name: wrong})


@both_forms
def test_a_zero_diagonal_belongs_to_a_zero_row(form):
    """A ⪰ 0 with A_ii = 0 has no other entry in row i."""
    wrong = entry(entry(np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0]), 0, 5, 1e-3), 5, 0, 1e-3)
    with pytest.raises(ValueError, match=r"E must.*positive semi-definite:.*zero.*diagonal.*row"):
        system(form, E=wrong)


@both_forms
@pytest.mark.parametrize("rank", [1, 4, SIZE])
def test_singular_matrices_of_any_units_are_accepted(form, rank):
    """E ⪰ 0 of any rank, whatever the units of its rows: A ⪰ 0 if and only if D A D ⪰ 0."""
    rng = np.random.default_rng(rank)
    root = rng.standard_normal((SIZE, rank)) * 10.0 ** rng.uniform(-7, 7, (SIZE, 1))
    E = root @ root.T
    made = system(form, E=E, J=np.zeros((SIZE, SIZE)))
    assert made.energy(np.eye(SIZE)[0]) == pytest.approx(0.5 * E[0, 0])


@both_forms
@pytest.mark.parametrize("name", "EJRBG")
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_entries_must_be_finite(form, name, value):
    with pytest.raises(ValueError, match=f"{name} must be finite, got NaN or infinity"):
        system(form, **{name: entry(matrices()[name], 1, 1, value)})


@both_forms
@pytest.mark.parametrize("name, shape", [("E", (6, 5)), ("J", (5, 6)), ("R", (7, 7)), ("B", (5, 3)), ("G", (2, 7))])
def test_shapes_must_match(form, name, shape):
    wanted = {"B": (SIZE, INPUTS), "G": (CONSTRAINTS, SIZE)}.get(name, (SIZE, SIZE))
    with pytest.raises(ValueError, match=re.escape(f"{name} must have shape {wanted}, got {shape}")):
        system(form, **{name: np.zeros(shape)})


@pytest.mark.parametrize("name", "EJRBG")
def test_a_vector_is_no_matrix(name):
    with pytest.raises(ValueError, match=rf"{name} must have shape \(.*\), got \(6,\)"):
        system(**{name: np.zeros(SIZE)})


@pytest.mark.parametrize("name", "JRBG")
def test_matrices_are_all_dense_or_all_sparse(name):
    given = matrices()
    with pytest.raises(ValueError, match=f"{name} must be dense like E"):
        LinearPHDAE(**{**given, name: sparse.csr_array(given[name])})
    given = {k: sparse.csr_array(v) for k, v in given.items()}
    with pytest.raises(ValueError, match=f"{name} must be sparse like E"):
        LinearPHDAE(**{**given, name: matrices()[name]})


@pytest.mark.parametrize(
    "ports, covered",
    [
        ({"a": slice(0, 2)}, "[0, 1]"),
        ({"a": slice(0, 2), "b": slice(1, 3)}, "[0, 1, 1, 2]"),
        ({"a": slice(0, 1), "b": slice(0, 1), "c": slice(1, 2)}, "[0, 0, 1]"),
    ],
)
def test_ports_must_cover_the_inputs_once_each(ports, covered):
    message = f"ports must cover the {INPUTS} columns of B once each, got columns {covered}"
    with pytest.raises(ValueError, match=re.escape(message)):
        system(ports=ports)


def test_names_of_constraints_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match="constraints must name the 2 rows of G, got 1 names"):
        system(constraints=("hinge",))


def test_the_kinetic_mask_must_cover_the_states():
    with pytest.raises(ValueError, match=re.escape("kinetic must have shape (6,), got (5,)")):
        system(kinetic=np.ones(5, dtype=bool))


def test_the_kinetic_mask_is_kept_as_booleans_of_its_own():
    """Zeros and ones mean the same: their complement is taken where the spectrum is computed."""
    given = np.array([1, 1, 1, 0, 0, 0])
    made = system(kinetic=given)
    given[:] = 1
    np.testing.assert_array_equal(~made.kinetic, [False, False, False, True, True, True])


@both_forms
def test_what_is_not_given_is_absent(form):
    given = matrices()
    made = LinearPHDAE(FORMS[form](given["E"]), FORMS[form](given["J"]))
    assert (made.R.shape, made.B.shape, made.G.shape) == ((SIZE, SIZE), (SIZE, 0), (0, SIZE))
    assert made.is_sparse == (form == "sparse")
    assert abs(made.R).sum() == 0.0
    assert (dict(made.ports), made.constraints) == ({}, ())


def test_unnamed_ports_and_constraints_get_names():
    made = system()
    assert dict(made.ports) == {"u": slice(0, INPUTS)}
    assert made.constraints == ("constraint 0", "constraint 1")


@both_forms
def test_a_system_does_not_change_with_what_it_was_made_of(form):
    given = {k: FORMS[form](v) for k, v in matrices().items()}
    made = LinearPHDAE(**given)
    for matrix in given.values():
        (matrix.data if form == "sparse" else matrix)[...] = 7.0
    for name, value in matrices().items():
        np.testing.assert_array_equal(full(getattr(made, name)), value)


def test_dense_matrices_and_names_are_read_only():
    made = system(ports={"u": slice(0, INPUTS)})
    with pytest.raises(ValueError, match="read-only"):
        made.E[0, 0] = 1.0
    with pytest.raises(TypeError):
        made.ports["v"] = slice(0, 1)


@both_forms
@pytest.mark.parametrize("seed", range(3))
def test_power_balance_on_the_constraints(form, seed):
    """dH/dt = yᵀu − xᵀR x for ẋ of the saddle-point system, at any x in the null space of G and any u.

    H is quadratic, so that its central difference along ẋ is exact at any step.
    """
    given = matrices(seed)
    made = system(form, given=given)
    x, u = consistent_state(given["G"], seed), np.random.default_rng(seed + 10).standard_normal(INPUTS)
    rate = velocity(given, x, u)
    change = 0.5 * (made.energy(x + rate) - made.energy(x - rate))
    output = made.inputs("u").T @ x
    assert change == pytest.approx(output @ u - x @ (made.R @ x), rel=1e-11)  # cond of the saddle matrix is 1e3


def consistent_state(G, seed):
    """A random state without its part in the range of Gᵀ."""
    x = np.random.default_rng(seed + 20).standard_normal(SIZE)
    return x - G.T @ np.linalg.solve(G @ G.T, G @ x)


def velocity(given, x, u):
    """ẋ of E ẋ − Gᵀλ = (J − R) x + B u, 0 = G ẋ."""
    saddle = np.block([[given["E"], -given["G"].T], [given["G"], np.zeros((CONSTRAINTS, CONSTRAINTS))]])
    force = (given["J"] - given["R"]) @ x + given["B"] @ u
    return np.linalg.solve(saddle, np.concatenate([force, np.zeros(CONSTRAINTS)]))[:SIZE]


@both_forms
def test_parts_and_ports_by_name(form):
    made = system(form, parts={"low": slice(0, 2), "high": slice(2, 6)}, ports={"a": slice(0, 1), "b": slice(1, 3)})
    x = np.arange(6.0)
    np.testing.assert_array_equal(made.part("high", x), [2.0, 3.0, 4.0, 5.0])
    np.testing.assert_array_equal(full(made.inputs("b")), matrices()["B"][:, 1:])


def test_a_wrong_name_is_answered_with_those_that_exist():
    made = system(parts={"low": slice(0, 6)}, ports={"a": slice(0, 1), "b": slice(1, 3)})
    with pytest.raises(ValueError, match="no port 'c': there are 'a', 'b'"):
        made.inputs("c")
    with pytest.raises(ValueError, match="no part 'hgih': there are 'low'"):
        made.part("hgih", np.zeros(6))


@both_forms
def test_a_lift_expands_the_state(form):
    lift = np.random.default_rng(5).standard_normal((8, SIZE))
    made = system(form, lift=FORMS[form](lift), parts={"last": slice(6, 8)})
    x = np.random.default_rng(6).standard_normal(SIZE)
    np.testing.assert_allclose(made.expand(x), lift @ x, rtol=1e-14)
    np.testing.assert_allclose(made.part("last", x), (lift @ x)[6:], rtol=1e-14)


def test_a_system_of_lists():
    made = LinearPHDAE(E=[[2.0]], J=[[0.0]], B=[[1.0]], ports={"u": slice(0, 1)})
    assert made.size == 1 and made.energy(np.ones(1)) == 1.0 and not made.is_sparse


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"E": [[1.0, 0.0], [0.0]]}, "E must be a matrix, got"),
        ({"E": 3.0}, r"E must have shape \(any, any\), got \(\)"),
        ({"ports": {"a": 0}}, r"ports\['a'\] must be a slice\(start, stop\) of the 3 columns of B, got 0"),
        ({"ports": {"a": slice(0, None)}}, r"ports\['a'\] must be a slice"),
        ({"ports": {"a": slice(0, 3, 2)}}, r"ports\['a'\] must be a slice"),
        ({"ports": ["a"]}, r"ports must be a dict of names with slices, got \['a'\]"),
        ({"parts": {"a": [0, 1]}}, r"parts\['a'\] must be a slice\(start, stop\) of the states"),
        ({"causality": ["u"]}, "causality must be a dict"),
    ],
)
def test_bad_arguments_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        LinearPHDAE(**{**matrices(), **changes})


@both_forms
@pytest.mark.parametrize("name", "EJRBG")
def test_complex_matrices_are_refused(form, name):
    """numpy would drop their imaginary parts with a warning."""
    with pytest.raises(ValueError, match=f"{name} must be real, got complex numbers"):
        system(form, **{name: matrices()[name] * (1.0 + 0.1j)})
    with pytest.raises(ValueError, match="x must be real"):
        check.number("x", np.complex128(1.0))


@both_forms
def test_a_system_is_shown_in_a_line(form):
    made = system(form, ports={"a": slice(0, 1), "b": slice(1, 3)})
    assert repr(made) == f"LinearPHDAE(6 states, 2 constraints, 3 inputs, ports ['a', 'b'], {form})"
