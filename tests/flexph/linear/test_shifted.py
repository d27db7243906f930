"""Solutions of the shifted system: of all right-hand sides, to round-off, and refused where there is none."""

from dataclasses import replace

import numpy as np
import pytest
from covering import covering
from linear_samples import chain, frame, random_system, to_sparse

from flexph import eigenfrequencies, frequency_response
from flexph.linear import RedundantConstraintWarning, step_response
from flexph.linear.shifted import Pole, Shifted


def full(a):
    return a.toarray() if hasattr(a, "toarray") else np.asarray(a)


@covering("make, form, s", (random_system, frame), (lambda x: x, to_sparse), (3.0, 40.0j, 2.0 + 5.0j))
def test_a_resolvent_is_that_of_the_whole_pencil(make, form, s):
    system = form(make())
    load = np.random.default_rng(1).standard_normal((system.size, 2))
    rows = system.G.shape[0]
    E, A, G = full(system.E), full(system.J) - full(system.R), full(system.G)
    unit = 1.0 / np.sqrt(np.diag(E))  # states in units of energy: dense LU is then as good as the sparse one
    saddle = np.block([[unit[:, None] * (s * E - A) * unit, -(G * unit).T], [G * unit, np.zeros((rows, rows))]])
    wanted = np.linalg.solve(saddle, np.vstack([unit[:, None] * load, np.zeros((rows, 2))]))[: system.size]
    found = Shifted(system).resolvent(s)(load) / unit[:, None]
    # the condition of the frame is 1e7
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()


def test_solutions_are_corrected_to_round_off():
    """Beside a resonance a bare factorisation of the mixed form loses digits; the residual wins them back."""
    system = to_sparse(frame(elements=40, loss=0.0))
    shifted = Shifted(system)
    s = 1j * eigenfrequencies(system, 3)[2] * (1.0 + 1e-4)
    exact, bare = (shifted.factor(s, audited=audited)(shifted.load) for audited in (True, False))
    again = Shifted(replace(system, kinetic=None)).resolvent(s)(system.B.toarray())  # other unknowns, another matrix
    states = shifted.state(s, exact)
    # 1e-16 of the condition beside the resonance, 1e4 of its distance
    assert np.abs(states - again).max() < 1e-9 * np.abs(again).max()
    assert np.abs(bare - exact).max() < 1e-3 * np.abs(exact).max()


def test_a_pole_is_named_and_its_neighbourhood_is_not():
    system = chain(5)
    pole = 1j * eigenfrequencies(system, 2)[1]
    with pytest.raises(Pole, match="is a pole of the system"):
        Shifted(system).factor(pole)
    # H grows as the inverse of the distance
    near, nearer = (abs(_first(system, pole * (1.0 + d))) for d in (1e-4, 1e-5))
    assert nearer / near == pytest.approx(10.0, rel=1e-2)


def _first(system, s):
    shifted = Shifted(system)
    return shifted.transfer(s, shifted.factor(s)(shifted.load))[0, 0]


def test_a_load_that_only_the_joints_feel_is_no_pole():
    """The torque on a welded section moves nothing: its solution is round-off, which never settles."""
    system = to_sparse(frame(elements=4))
    shifted = Shifted(system)
    solution = shifted.factor(100.0)(shifted.load)
    torque = system.ports["torque a.root"].start
    assert np.abs(solution[: system.size, torque]).max() < 1e-12 * np.abs(solution[: system.size]).max()


@pytest.mark.parametrize("method", ["direct", "schur", "batched"])
def test_redundant_constraints_change_no_response(method):
    system = random_system()
    twice = replace(system, G=np.vstack([system.G, system.G.sum(axis=0)]), constraints=("a", "b", "c"))
    omega = np.array([0.5, 2.0])
    with pytest.warns(RedundantConstraintWarning, match="redundant constraint"):
        found = frequency_response(twice, omega, method=method)
    np.testing.assert_allclose(found.values, frequency_response(system, omega).values, rtol=1e-9)
    with pytest.warns(RedundantConstraintWarning):
        stepped = step_response(twice, [0.1, 0.2], method="midpoint")
    np.testing.assert_allclose(stepped.values, step_response(system, [0.1, 0.2], method="midpoint").values, rtol=1e-9)
