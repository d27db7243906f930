"""Derivatives of interconnected systems by those of their parts, and the steps that take them."""

from dataclasses import replace

import numpy as np
import pytest
from polynomial_slopes import assert_slopes

import fem
from flexph import PHDAE, integrate
from flexph.bodies import floating_body, relative_axes
from flexph.discretisation.pair_equations import StartData, begin, equation, slopes
from flexph.discretisation.parametrized import gradient_pair
from flexph.interconnection import gyrator, interchange, transformer, without_feedthrough
from flexph.methods import DiscreteGradient
from flexph.numerics.differences import ACCURACY, FORWARD, derivative
from flexph.systems import Derivatives, transform

SOFT, SECTION = fem.Material(young=2e3, density=2.5), fem.Section(width=0.5, height=0.3)
CONNECTORS = pytest.mark.parametrize("connector", [gyrator, transformer])
PORTS = ("a.tip.force", "b.root.force")


def floating(name, elements=1, form="paper", **options):
    """A soft beam with ports of forces alone."""
    body = fem.beam(0.8, SOFT, SECTION, elements=elements, strain="von_karman", **options)
    made = floating_body(body, gravity=(1.0, -9.81), form=form, name=name)
    ports = {}
    for port, own in made.ports.items():
        ports |= {f"{port}.force": slice(own.start, own.start + 2), f"{port}.torque": slice(own.start + 2, own.stop)}
    return replace(made, ports=ports)


def any_state(system, rng):
    return rng.uniform(-1.0, 1.0, system.size)


def joined(connector=transformer, form="paper", **options):
    one, two = floating("a", form=form, **options), floating("b", form=form, **options)
    axes = relative_axes(one, two)
    return connector(one, two, PORTS, axes, slope=axes.slope)


# --- derivatives


@pytest.mark.covering
@CONNECTORS
@pytest.mark.parametrize("form", ["paper", "canonical"])
@pytest.mark.parametrize("constant", [True, False])
def test_of_a_couple_of_bodies(connector, form, constant):
    one, two, rng = floating("a", form=form), floating("b", form=form), np.random.default_rng(0)
    whole = connector(one, two, PORTS, np.array([[1.0, 0.3], [-0.2, 2.0]])) if constant else joined(connector, form)
    assert_slopes(whole, any_state(whole, rng), rng)
    assert whole.exact_derivatives is whole.derivatives


def test_of_bodies_coupled_twice():
    """A chain of three: the first two are one system for the last."""
    rng, pair = np.random.default_rng(1), joined()
    three = transformer(pair, floating("c"), ("b.tip.force", "c.root.force"), np.eye(2))
    assert_slopes(three, any_state(three, rng), rng)


def test_of_an_interchanged_port():
    rng, system = np.random.default_rng(2), interchange(floating("a"), "a.tip.force")
    assert_slopes(system, any_state(system, rng), rng)


def test_derivatives_follow_linear_transformations():
    """Linear transformations carry derivatives of outputs, too."""
    rng, body = np.random.default_rng(3), floating("a")
    D, U = (np.eye(body.size) + 0.1 * rng.standard_normal((body.size,) * 2) for _ in range(2))
    system = transform(body, lambda x: D @ x, D, U, sample=np.linalg.solve(D, body.sample))
    assert_slopes(system, any_state(system, rng), rng, tolerance=1e-10)  # the inverse of U in z: its condition


@CONNECTORS
def test_a_coupling_without_slope_is_differenced_alone(connector):
    """C errs by FORWARD times its second derivative, of order one, and by eps/FORWARD; nothing else errs."""
    one, two, rng = floating("a"), floating("b"), np.random.default_rng(4)
    whole = connector(one, two, PORTS, relative_axes(one, two))
    assert whole.derivatives.accuracy == FORWARD and whole.exact_derivatives is None
    exact, x = joined(connector).derivatives, any_state(whole, rng)
    w = rng.standard_normal(whole.size)
    found, known = whole.derivatives.structure(x, w), exact.structure(x, w)
    np.testing.assert_allclose(found, known, rtol=0.0, atol=1e2 * FORWARD)
    rotations = [i for name in "ab" for i in range(*whole.parts[f"{name}.rotation"].indices(whole.size))]
    others = np.setdiff1d(np.arange(whole.size), rotations)
    np.testing.assert_allclose(found[:, others], known[:, others], rtol=0.0, atol=1e-13 * np.abs(known).max())


class Counted:
    """A function that counts how often it was asked."""

    def __init__(self, function):
        self.function, self.count = function, 0

    def __call__(self, x):
        self.count += 1
        return self.function(x)


def slider():
    """A user's mass on a nonlinear spring in the plane, without derivatives."""
    swap = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return PHDAE(
        E=np.eye(4),
        J=np.kron(swap, np.eye(2)),
        R=lambda x: np.diag([0.0, 0.0, *(0.1 + 0.1 * x[2:] ** 2)]),
        B=np.vstack([np.zeros((2, 2)), np.eye(2)]),
        z=Counted(lambda x: np.concatenate([2.0 * x[:2] + x[:2] ** 3, x[2:]])),
        H=lambda x: x[:2] @ x[:2] + 0.25 * np.sum(x[:2] ** 4) + 0.5 * x[2:] @ x[2:],
        sample=np.array([0.1, 0.2, 0.3, 0.4]),
        ports={"push": slice(0, 2)},
        parts={"place": slice(0, 2), "rate": slice(2, 4)},
    )


def test_a_part_without_derivatives_is_differenced_alone():
    body, user, rng = floating("a"), slider(), np.random.default_rng(5)
    asked = Counted(body.z)
    whole = transformer(replace(body, z=asked), user, ("a.tip.force", "push"), np.eye(2))
    x, n = any_state(whole, rng), body.size
    w, before = rng.standard_normal(whole.size), (asked.count, user.z.count)
    costate, structure = whole.derivatives.costate(x), whole.derivatives.structure(x, w)
    assert (asked.count - before[0], user.z.count - before[1]) == (0, user.size + 1)
    np.testing.assert_array_equal(costate[:n, :n], body.derivatives.costate(x[:n]))
    own = np.diag([*(2.0 + 3.0 * x[n : n + 2] ** 2), 1.0, 1.0])
    np.testing.assert_allclose(costate[n : n + 4, n : n + 4], own, rtol=0.0, atol=1e2 * FORWARD)
    resisted = np.diag([0.0, 0.0, *(-0.2 * x[n + 2 : n + 4] * w[n + 2 : n + 4])])
    np.testing.assert_allclose(structure[n : n + 4, n : n + 4], resisted, rtol=0.0, atol=1e2 * FORWARD)


def test_where_no_part_has_derivatives_the_whole_has_none():
    two = replace(slider(), ports={"pull": slice(0, 2)}, parts={})
    assert transformer(slider(), two, ("push", "pull"), np.eye(2)).derivatives is None


@pytest.mark.parametrize("varying", ["nothing", "S", "P"])
def test_unknown_derivatives_of_feedthrough_are_differenced(varying):
    """What is not known of P, S and N is differenced."""
    rng, n, m = np.random.default_rng(6), 3, 2
    skew = rng.standard_normal((n, n))
    along = lambda x: 1.0 + 0.2 * x[0] ** 2  # noqa: E731
    root = rng.standard_normal((n + m, n + m))
    whole = root @ root.T
    R, P, S = whole[:n, :n], whole[:n, n:], whole[n:, n:]
    B, N = rng.standard_normal((n, m)), np.array([[0.0, 0.7], [-0.7, 0.0]])

    def by_x(value, x, w):
        slope = np.zeros((n, n))
        slope[:, 0] = 0.4 * x[0] * (value @ w)
        return slope

    system = PHDAE(
        E=np.eye(n),
        J=skew - skew.T,
        R=lambda x: (1.0 + along(x)) * R,
        B=lambda x: along(x) * B,
        P=(lambda x: along(x) * P) if varying == "P" else P,
        S=(lambda x: (1.0 + 0.1 * x[1] ** 2) * S) if varying == "S" else S,
        N=N,
        z=lambda x: x,
        H=lambda x: 0.5 * x @ x,
        sample=np.array([0.3, -0.2, 0.5]),
        ports={"u": slice(0, m)},
        derivatives=Derivatives(
            costate=lambda x: np.eye(n),
            structure=lambda x, w: by_x(-R, x, w),
            inputs=lambda x, u: by_x(B - P if varying == "P" else B, x, u),
        ),
    )
    proper = without_feedthrough(system)
    x, w = rng.uniform(-1.0, 1.0, proper.size), rng.standard_normal(proper.size)
    assert proper.derivatives.accuracy == (0.0 if varying == "nothing" else FORWARD)
    numeric = derivative(lambda at: proper.J(at) @ w - proper.R(at) @ w, x)
    error = 1e2 * (ACCURACY if varying == "nothing" else FORWARD)
    np.testing.assert_allclose(proper.derivatives.structure(x, w), numeric, rtol=0.0, atol=error)


# --- steps


def start_of(system):
    """A state that meets the hinge: straight bodies at an angle, both turning."""
    x, length = np.zeros(system.size), 0.8
    axis, (c, s) = np.array([np.cos(0.3), np.sin(0.3)]), (np.cos(-0.5), np.sin(-0.5))
    x[system.parts["a.rotation"]], x[system.parts["b.rotation"]] = axis, (c, s)
    x[system.parts["a.spin"]], x[system.parts["b.spin"]] = 3.0, -2.0
    x[system.parts["b.position"]] = length * axis
    x[system.parts["b.velocity"]] = np.array([[c, s], [-s, c]]) @ (3.0 * length * np.array([-axis[1], axis[0]]))
    return x


def test_the_slope_of_a_step_of_gonzalez_is_exact_to_second_order():
    """What is left out is that of Ē⁻ᵀ times the correction: with half the step it is a quarter."""
    system = joined(damping=fem.Damping(stiffness=1e-3))
    rng, pair = np.random.default_rng(7), gradient_pair(system, "gonzalez").pair
    x0, away = start_of(system), rng.standard_normal(system.size)
    x0 = x0 + 0.1 * rng.standard_normal(system.size)
    energy, errors = float(pair.H(x0)), []
    for distance in (0.1, 0.05):
        start_data = StartData(x0, energy, energy, 0.0, np.zeros(x0.size))
        step, _ = begin(pair, start_data, np.zeros(system.inputs_size), distance)
        x1 = x0 + distance * away
        numeric = derivative(lambda at, step=step: equation(step, at)[0], x1)
        errors.append(np.abs(slopes(step, x1) - numeric).max() / np.abs(numeric).max())
    assert errors[1] < 0.35 * errors[0] < 0.35 * 0.1


@pytest.mark.parametrize("gradient", ["gonzalez", pytest.param("mean_value", marks=pytest.mark.slow)])
def test_steps_do_not_depend_on_derivatives(gradient):
    """States are those of the differenced Jacobian up to the ends of both iterations, 1e-9 of sizes of order one.

    The energy is balanced, and the ends of the bodies move with one velocity over a step, to round-off.
    """
    system, h = joined(), 2e-3
    start, method = start_of(system), DiscreteGradient(gradient)
    run = integrate(system, start, h * np.arange(21), method=method, progress=False)
    assert run.ledger.largest_residual <= 1e-14 * max(abs(system.H(x)) for x in run.states)
    plain = integrate(replace(system, derivatives=None), start, h * np.arange(4), method=method, progress=False)
    np.testing.assert_allclose(
        run.states[:4], plain.states, rtol=0.0, atol=1e-9 * max(np.abs(run.states[:4]).max(), 1.0)
    )
    pair, rows = gradient_pair(system, gradient), system.parts["multipliers"]
    for before, after in zip(run.states[:-1], run.states[1:], strict=True):
        step = pair.over_step(before, after)
        terms = np.abs(step.J[rows]) @ np.abs(step.z)
        assert np.all(np.abs(step.J[rows] @ step.z) <= 1e-11 * terms)  # the correction by round-off of H, over Δx·Δx
