"""Multipliers recovered from the motion: those of a time integration, of the residual, of least norm."""

import warnings

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import LinearPHDAE, eliminate, integrate
from flexph.interconnection import clamp, substructure, tie
from flexph.linear.elimination import recover_multipliers
from flexph.methods import Gauss
from flexph.systems import from_linear

pytestmark = pytest.mark.processor

FORMS = {"dense": np.array, "sparse": sparse.csr_array}
both_forms = pytest.mark.parametrize("form", FORMS)
random_seeds = pytest.mark.parametrize("seed", range(4))
UNIT = {"material": fem.Material(young=1.0, density=1.0), "section": fem.Section(area=1.0, second_moment=1.0)}


def random_system(seed, form="dense", n=9, rows=3, massless=0):
    """A random dissipative system with random constraints; the first states may carry no energy."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, loss = draw((n, n)), draw((n, n)), draw((n, 2))
    E = root @ root.T + np.eye(n)
    E[:massless], E[:, :massless] = 0.0, 0.0
    made = {"E": E, "J": free - free.T, "R": loss @ loss.T, "B": draw((n, 2)), "G": draw((rows, n))}
    return LinearPHDAE(**{k: FORMS[form](v) for k, v in made.items()})


def motion(system, seed, columns=()):
    """A state, an input and its rate ẋ, all by the eliminated system."""
    free = eliminate(system)
    draw = np.random.default_rng(seed + 100).standard_normal
    z, u = draw((free.size, *columns)), draw((system.B.shape[1], *columns))
    full = lambda a: a.toarray() if sparse.issparse(a) else a  # noqa: E731
    rate = np.linalg.solve(full(free.E), (free.J - free.R) @ z + free.B @ u)
    return free.expand(z), u, free.expand(rate)


def residual(system, state, multipliers):
    """E ẋ − (J − R) x − B u − Gᵀλ."""
    x, u, rate = state
    return system.E @ rate - (system.J - system.R) @ x - system.B @ u - system.G.T @ multipliers


@both_forms
@pytest.mark.parametrize("columns", [(), (5,)])
@random_seeds
def test_the_equation_closes(seed, columns, form):
    """With ẋ from the eliminated system nothing is left of the full equation."""
    system = random_system(seed, form)
    state = motion(system, seed, columns)
    found = recover_multipliers(system, state[0], state[1])
    assert found.shape == (3, *columns)
    assert np.abs(residual(system, state, found)).max() < 1e-10  # terms of size ten, cond(E) = 1e2
    inverse = np.linalg.inv(system.E.toarray() if form == "sparse" else system.E)
    schur = system.G @ inverse @ system.G.T
    force = (system.J - system.R) @ state[0] + system.B @ state[1]
    np.testing.assert_allclose(found, np.linalg.solve(schur, -(system.G @ inverse @ force)), rtol=1e-9, atol=1e-10)


def test_without_inputs_they_are_zero():
    system = random_system(0)
    x = motion(system, 0)[0]
    np.testing.assert_array_equal(recover_multipliers(system, x), recover_multipliers(system, x, np.zeros(2)))


@random_seeds
def test_states_without_energy_that_the_constraints_fix(seed):
    """E is singular, but definite on null G: no inverse of E is needed."""
    system = random_system(seed, massless=1)
    state = motion(system, seed)
    assert np.abs(residual(system, state, recover_multipliers(system, *state[:2]))).max() < 1e-9


@random_seeds
def test_least_norm_where_constraints_are_redundant(seed):
    """Rows 0 and 2 again, scaled: Gᵀλ stays, and λ is orthogonal to null Gᵀ."""
    once = random_system(seed)
    G = np.vstack([once.G, 3.0 * once.G[0], once.G[2] - 2.0 * once.G[1]])
    twice = LinearPHDAE(once.E, once.J, once.R, once.B, G)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x, u, _ = motion(twice, seed)
    single, found = recover_multipliers(once, x, u), recover_multipliers(twice, x, u)
    np.testing.assert_allclose(G.T @ found, once.G.T @ single, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found, np.linalg.lstsq(G.T, once.G.T @ single, rcond=None)[0], rtol=1e-9, atol=1e-10)


def chain(elements=6):
    """Two damped beams, clamped, one welded to the other, a load at the tip."""
    beam = fem.bending(1.0, **UNIT, elements=elements, damping=fem.Damping(mass=0.3, stiffness=1e-3))
    return substructure({"a": beam, "b": beam}, [clamp("a.root"), tie("a.tip", "b.root")])


def load(t):
    return np.array([np.sin(5.0 * t), 0.2 * np.cos(3.0 * t)])


def test_those_of_an_integration_with_constraints():
    """Implicit midpoint gives λ in the middle of each step; from the mean states they follow to 1e-8 and better.

    The constrained run and the run of the eliminated system are the same motion.
    """
    system, times = chain(), np.linspace(0.0, 0.5, 51)
    inputs = {"b.tip": load}
    run = integrate(from_linear(system), np.zeros(system.size + 4), times, method=Gauss(2), inputs=inputs)
    expected = run["multipliers"][1:]
    middles = np.array([load(t) for t in run.output_times]).T
    x = run.states[:, : system.size]
    scale = np.abs(expected).max()
    found = recover_multipliers(system, 0.5 * (x[1:] + x[:-1]).T, middles).T
    assert scale > 0.1
    assert np.abs(found - expected).max() < 1e-8 * scale
    free = eliminate(system)
    short = integrate(from_linear(free), np.zeros(free.size), times, method=Gauss(2), inputs=inputs)
    z = 0.5 * (short.states[1:] + short.states[:-1]).T
    assert np.abs(recover_multipliers(system, free.expand(z), middles).T - expected).max() < 1e-8 * scale


def test_statics_of_a_cantilever():
    """A unit tip force at rest: the clamp carries −F and −F L, the joint in the middle −F and −F L/2."""
    system = chain()
    free = eliminate(system)
    state = -np.linalg.solve((free.J - 0.0 * free.R).toarray(), free.inputs("b.tip").toarray()[:, 0])
    found = dict(zip(system.constraints, recover_multipliers(system, free.expand(state), [1.0, 0.0]), strict=True))
    assert found["clamp a.root: 0"] == pytest.approx(-1.0, rel=1e-8)
    assert found["clamp a.root: 1"] == pytest.approx(-2.0, rel=1e-8)
    assert found["tie a.tip–b.root: 0"] == pytest.approx(1.0, rel=1e-8)
    assert found["tie a.tip–b.root: 1"] == pytest.approx(1.0, rel=1e-8)


def test_bad_input_is_refused():
    system = random_system(0)
    x, u, _ = motion(system, 0)
    with pytest.raises(ValueError, match=r"x must have shape \(9,\), got \(8,\)"):
        recover_multipliers(system, x[:8])
    with pytest.raises(ValueError, match=r"u must have shape \(2,\), got \(3,\)"):
        recover_multipliers(system, x, np.ones(3))
    with pytest.raises(ValueError, match=r"x must satisfy.*constraints: ‖G x‖ = .*e[+-]\d+; give states.*system"):
        recover_multipliers(system, np.ones(9), u)
    with pytest.raises(ValueError, match=r"multipliers need E positive definite on the motions"):
        recover_multipliers(random_system(0, massless=5), np.zeros(9), np.ones(2))
    assert recover_multipliers(random_system(0, rows=0), np.ones(9)).shape == (0,)
