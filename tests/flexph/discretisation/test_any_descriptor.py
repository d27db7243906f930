"""Pairs and Gauss collocation where E(x) is singular and not semi-explicit: its range or its null space varies."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from varying_samples import ENERGIES, algebraic, bent, bent_slope, exact, frame, semi_explicit, turned, unbent

from flexph import PHDAE, integrate
from flexph.consistency import consistent
from flexph.discretisation import with_pair
from flexph.methods import DiracDissipative, DiscreteGradient, Gauss
from flexph.systems import Invariants, transform

pytestmark = pytest.mark.processor

END = 1.0
START = np.array([1.0, 0.6])
ROUND_OFF = 2e-14
"""Defect of a balance of energies of the order of one: some tens of round-offs."""

RATES = {
    Gauss(2): (2.0, 1e-3, 4),
    DiscreteGradient("mean_value"): (2.0, 1e-3, 4),
    Gauss(4): (4.0, 1e-6, 2),
    Gauss(6): (6.0, 1e-9, 1),
}
"""Order, bound of the error with the finer steps, and the number of the coarser ones, half as many."""


def everywhere(name):
    """A system by name of its energy, one with rows turned by U(x)ᵀ, and one in other coordinates, too."""
    plain = semi_explicit(ENERGIES[name], 0)
    x0 = np.append(START, algebraic(plain, ENERGIES[name], START))
    there = unbent(x0)
    moved = transform(plain, bent, bent_slope, frame(0), sample=there)
    return (plain, x0, lambda x: x), (turned(plain, 0), x0, lambda x: x), (moved, there, bent)


def run(system, start, steps, method, **options):
    return integrate(system, start, np.linspace(0.0, END, steps + 1), method=method, progress=False, **options)


@pytest.mark.parametrize("place", [1, 2], ids=["range", "null space"])
@pytest.mark.parametrize(
    "method", [pytest.param(m, marks=() if isinstance(m, Gauss) else pytest.mark.slow) for m in RATES], ids=str
)
def test_methods_have_their_order_for_any_descriptor(method, place):
    """2s in x₁; in all states where the null space varies and the ends of steps are put on the algebraic equations."""
    order, bound, count = RATES[method]
    system, start, seen = everywhere("pendulum")[place]
    plain, energy = semi_explicit(ENERGIES["pendulum"], 0), ENERGIES["pendulum"]
    wanted = exact(plain, energy, START)
    if place == 2 and isinstance(method, Gauss) and method.order > 2:
        wanted = np.append(wanted, algebraic(plain, energy, wanted))
    errors = []
    for steps in (count, 2 * count):
        found = run(system, start, steps, method)
        errors.append(np.abs(seen(found.final)[: wanted.size] - wanted).max())
        if isinstance(method, DiscreteGradient):
            assert found.ledger.residual.max() < ROUND_OFF
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert errors[1] < bound


@pytest.mark.parametrize("order", [2, 4, 6])
def test_collocation_balances_a_quadratic_energy_whatever_the_rows(order):
    """Σ b_i z_iᵀE(X_i)K_i = Σ b_i ∇H(X_i)·K_i = ΔH: E need not be constant. In one step."""
    system, start, _ = everywhere("quadratic")[1]
    assert run(system, start, 1, Gauss(order)).ledger.largest_residual < ROUND_OFF


def ring():
    """H = ½xᵀx with E = [[xᵀ], [0]]: the null space is tangent to spheres; Ḣ = −½b, and b = x₂ − 2x₁ is held by 0."""

    def structure(x):
        J = np.zeros((2, 2))
        J[0, 1] = 0.5 * (x[1] - 2.0 * x[0])
        return J - J.T

    return PHDAE(
        E=lambda x: np.array([x, [0.0, 0.0]]),
        J=structure,
        R=np.diag([0.5, 0.0]),
        z=lambda x: np.array([1.0, 0.0]),
        H=lambda x: 0.5 * float(x @ x),
        sample=np.array([1.0, 2.0]),
    )


@pytest.mark.parametrize("order", [2, 4, 6])
def test_a_quadratic_energy_is_balanced_where_the_null_space_varies(order):
    """Also by the way along the null space to the end of a step; by hand H = 5/2 − t/2 on the line x₂ = 2x₁."""
    found = run(ring(), (1.0, 2.0), 2, Gauss(order))
    assert found.ledger.largest_residual < ROUND_OFF
    np.testing.assert_allclose(found.final, math.sqrt(0.8) * np.array([1.0, 2.0]), atol=1e-12)


def test_one_gradient_by_two_methods():
    """DiscreteGradient() is the Dirac-dissipative form there."""
    for system, start, _ in everywhere("quartic")[1:]:
        one, other = (run(system, start, 1, method) for method in (DiscreteGradient(), DiracDissipative()))
        np.testing.assert_array_equal(one.states, other.states)


def test_rows_do_not_change_the_steps():
    """By an orthogonal U, given as a function: those of the semi-explicit system, for each gradient and collocation."""
    plain, start, _ = everywhere("quartic")[0]
    orthogonal = np.linalg.qr(frame(0)(start))[0]
    turned_rows = transform(plain, lambda x: x, lambda x: np.eye(4), lambda x: orthogonal, sample=start)
    squares = Invariants(
        lambda x: np.array([x[0] ** 2 + x[1] ** 2, (x[0] + x[1]) ** 2]),
        lambda x: np.array([[2.0 * x[0], 2.0 * x[1], 0, 0], [2.0 * (x[0] + x[1])] * 2 + [0, 0]]),
        lambda p: 0.5 * p[0] + 0.05 * p[1] ** 2,
        lambda p: np.array([0.5, 0.1 * p[1]]),
    )
    given = [
        PHDAE(E=s.E, J=s.J, R=s.R, z=s.z, H=s.H, sample=s.sample, invariants=squares) for s in (plain, turned_rows)
    ]
    for method in (DiscreteGradient("mean_value"), DiscreteGradient("invariants"), Gauss(2), Gauss(4)):
        one, other = (run(s, start, 3, method) for s in given)
        np.testing.assert_allclose(one.states, other.states, atol=1e-11)  # iterations end at 3e-12 of a state


def test_a_pair_among_the_means():
    """with_pair takes the gradient of a method for any E."""
    system, start, _ = everywhere("quartic")[2]
    own = run(with_pair(system, "mean_value"), start, 3, DiscreteGradient("pair"))
    np.testing.assert_allclose(own.states, run(system, start, 3, DiscreteGradient("mean_value")).states, atol=1e-11)
    assert own.ledger.largest_residual < ROUND_OFF


# --- inputs in the algebraic equations --------------------------------------------------------------------------------


def driven():
    """ẋ₁ = x₂ = u − x₁ in coordinates in which the null space turns."""
    plain = PHDAE(
        E=np.diag([1.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, 1.0]),
        B=np.array([[0.0], [1.0]]),
        z=lambda x: x,
        H=lambda x: 0.5 * x[0] ** 2,
        sample=np.array([1.0, -1.0]),
        ports={"force": slice(0, 1)},
    )
    to = lambda x: np.array([x[0] + 0.3 * math.sin(x[1]), x[1]])  # noqa: E731
    slope = lambda x: np.array([[1.0, 0.3 * math.cos(x[1])], [0.0, 1.0]])  # noqa: E731
    turn = lambda x: np.array(  # noqa: E731
        [[math.cos(2.0 * x[0]), -math.sin(2.0 * x[0])], [math.sin(2.0 * x[0]), math.cos(2.0 * x[0])]]
    )
    start = np.array([1.0 - 0.3 * math.sin(-1.0), -1.0])
    return transform(plain, to, slope, turn, sample=start), start, to


@pytest.mark.parametrize("method", [DiscreteGradient(), Gauss(4)], ids=str)
def test_inputs_that_move_the_algebraic_equations(method):
    """Of second order in all states, since inputs count in the middle of steps; Gauss(4) ends where they are then."""
    system, start, seen = driven()
    wanted = solve_ivp(lambda t, y: [-math.sin(t) - y[0]], (0.0, END), [1.0], rtol=1e-12, atol=1e-13).y[0, -1]
    wanted, errors = np.array([wanted, -math.sin(END) - wanted]), []
    for steps in (5, 10):
        found = run(system, start, steps, method, inputs={"force": lambda t: -math.sin(t)})
        errors.append(np.abs(seen(found.final) - wanted).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 2e-3


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [DiscreteGradient(), Gauss(6)], ids=str)
def test_a_start_off_the_algebraic_equations(method):
    """What it is off would go to and fro for ever where no state is algebraic."""
    system, start, _ = driven()
    off = start + np.array([0.0, 0.1])
    with pytest.raises(ValueError, match=r"inconsistent start.*t = 0.0 s: violated .* see flexph\.consistency"):
        run(system, off, 2, method)
    run(system, consistent(system, off), 3, method)


@pytest.mark.parametrize("method", [DiscreteGradient(), Gauss(4)], ids=str)
def test_index_two_where_the_null_space_varies(method):
    """Without R no state holds the constraint: its multiplier would go to and fro in all states."""
    system, start, _ = driven()
    free = PHDAE(E=system.E, J=system.J, z=system.z, H=system.H, sample=start)
    with pytest.raises(ValueError, match=r"\) cannot start: the index at t = 0 s is above 1"):
        run(free, (-0.3 * math.sin(0.5), 0.5), 2, method)
