"""Control through ports: closed loops are passive and stable by construction, for random plants and gains."""

from dataclasses import replace

import numpy as np
import pytest
from linear_samples import chain, random_system, to_sparse
from scipy import sparse
from scipy.linalg import expm

from flexph import eliminate, integrate, poles
from flexph.control import feedback, inject_damping, passive_observer, port_spring
from flexph.linear import frequency_response
from flexph.linear.state_space import state_space
from flexph.methods import Gauss

OMEGA = np.array([0.2, 1.0, 6.0])


def random_gain(seed, width=2):
    root = np.random.default_rng(100 + seed).standard_normal((width, width))
    return root @ root.T


def alone(system):
    """A system whose states have no names, to join with its own plant."""
    return replace(system, parts={}, lift=None)


def assert_stable(loop):
    values = poles(loop)
    # the left half plane up to the round-off of the QZ iteration
    assert values.real.max() < 1e-11 * np.abs(values).max()
    assert np.linalg.eigvalsh(loop.R).min() > -1e-12 * np.linalg.norm(loop.R)
    np.testing.assert_array_equal(loop.J, -loop.J.T)


@pytest.mark.parametrize("seed", range(4))
def test_injected_damping_is_a_static_feedback(seed):
    """H_cl = (1 + H K)⁻¹ H on the port, by the transfer function of the plant."""
    plant, gain = random_system(seed), random_gain(seed)
    loop = inject_damping(plant, "a", gain)
    h = frequency_response(plant, OMEGA, inputs="a", outputs="a").values
    expected = np.linalg.solve(np.eye(2) + h @ gain, h)
    np.testing.assert_allclose(frequency_response(loop, OMEGA, inputs="a", outputs="a").values, expected, rtol=1e-9)
    assert_stable(eliminate(loop))
    lean = inject_damping(to_sparse(plant), "a", gain)
    np.testing.assert_allclose(lean.R.toarray(), loop.R, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_feedback_is_that_of_the_transfer_functions(seed):
    """H_cl = (1 + H H_c)⁻¹ H with constraints in both, and the other ports of both stay."""
    plant, controller = random_system(seed), random_system(seed + 10)
    controller = replace(controller, ports={"in": slice(0, 2), "other": slice(2, 3)}, constraints=("c0", "c1"))
    loop = feedback(plant, controller, "a", "in")
    assert set(loop.ports) == {"a", "b", "other"}
    h = frequency_response(plant, OMEGA, inputs="a", outputs="a").values
    c = frequency_response(controller, OMEGA, inputs="in", outputs="in").values
    expected = np.linalg.solve(np.eye(2) + h @ c, h)
    np.testing.assert_allclose(frequency_response(loop, OMEGA, inputs="a", outputs="a").values, expected, rtol=1e-9)
    assert_stable(eliminate(loop))
    lean = feedback(to_sparse(plant), controller, "a", "in")
    assert lean.is_sparse
    np.testing.assert_array_equal(lean.J.toarray(), loop.J)


@pytest.mark.parametrize("seed", range(4))
def test_an_observer_makes_a_stable_loop_also_with_a_wrong_model(seed):
    plant, gain = eliminate(random_system(seed)), random_gain(seed)
    for model in (alone(plant), alone(eliminate(random_system(seed + 20))), eliminate_half(plant)):
        loop = feedback(plant, passive_observer(model, "a", gain), "a", "observer")
        assert_stable(loop)
        # H = H_plant + H_observer falls along every motion without input
        half = np.linalg.cholesky(loop.E).T
        start = np.random.default_rng(seed).standard_normal(loop.size)
        flow = expm(np.linalg.solve(loop.E, loop.J - loop.R) * 0.1)
        energies = [np.linalg.norm(half @ np.linalg.matrix_power(flow, k) @ start) for k in range(30)]
        assert np.all(np.diff(energies) < 1e-12 * energies[0])


def eliminate_half(plant):
    """A reduced model: the plant on the first half of its states."""
    from flexph.linear.elimination import project

    return alone(project(alone(plant), np.eye(plant.size)[:, : plant.size // 2]))


def test_the_error_of_an_observer_obeys_its_own_equation():
    """E ė = (J − R − BKBᵀ)e: from any starts of plant and observer."""
    plant, gain = eliminate(random_system(7)), random_gain(7)
    loop = feedback(plant, passive_observer(alone(plant), "a", gain), "a", "observer")
    n = plant.size
    start = np.random.default_rng(1).standard_normal(2 * n)
    error = start[:n] - start[n:]
    b = plant.inputs("a")
    own = np.linalg.solve(plant.E, plant.J - plant.R - b @ gain @ b.T)
    whole = np.linalg.solve(loop.E, loop.J - loop.R)
    for t in (0.5, 2.0, 60.0):
        moved = expm(whole * t) @ start
        np.testing.assert_allclose(moved[:n] - moved[n:], expm(own * t) @ error, atol=1e-11)
    assert np.linalg.norm(moved[:n] - moved[n:]) < 1e-3 * np.linalg.norm(error)


def test_an_observer_is_a_luenberger_observer_with_state_feedback():
    """Its transfer function is KBᵀ(sE − J + R + BKBᵀ + LBᵀ)⁻¹L with L = BK."""
    plant, gain = eliminate(random_system(8)), random_gain(8)
    b = plant.inputs("a")
    s = 0.7j
    inner = s * plant.E - plant.J + plant.R + b @ gain @ b.T + (b @ gain) @ b.T
    expected = gain @ b.T @ np.linalg.solve(inner, b @ gain)
    found = frequency_response(passive_observer(plant, "a", gain), [0.7]).values[0]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_a_spring_at_a_port():
    """H_c = K/s + D, with matrices too; D of rank one."""
    stiffness, damping = np.array([[3.0, 1.0], [1.0, 2.0]]), np.outer([1.0, 2.0], [1.0, 2.0])
    spring = port_spring(stiffness, damping)
    assert spring.size == 3 and spring.causality == {"spring": "velocity"}
    np.testing.assert_allclose(frequency_response(spring, [2.0]).values[0], stiffness / 2.0j + damping, rtol=1e-12)
    assert port_spring(2.0, width=3).B.shape == (3, 3)


def by_height(values):
    return np.array(sorted(values, key=lambda s: s.imag))


def test_a_spring_and_damper_hold_the_end_of_a_chain():
    """One mass with spring 1, held by another spring 3 and damper 0.5: s² + 0.5 s + 4."""
    loop = feedback(chain(1), port_spring(3.0, 0.5), "first", "spring")
    # and zero: the springs may press on each other for ever
    np.testing.assert_allclose(by_height(poles(loop)), by_height([*np.roots([1.0, 0.5, 4.0]), 0.0]), atol=1e-12)
    assert_stable(loop)
    a = state_space(loop).A  # without the algebraic state of the damper
    np.testing.assert_allclose(by_height(np.linalg.eigvals(a)), by_height(poles(loop)), atol=1e-12)


def test_the_energy_of_a_run_falls():
    loop = feedback(chain(3), passive_observer(alone(chain(3)), "last", 0.7), "last", "observer")
    run = integrate(loop, np.ones(loop.size), np.linspace(0.0, 20.0, 101), method=Gauss(2))
    energy = np.array([loop.energy(x) for x in run.states])
    assert np.all(np.diff(energy) < 1e-12) and energy[-1] < 0.5 * energy[0]


def test_names_of_the_loop():
    plant = replace(chain(2), parts={"v": slice(0, 2), "σ": slice(2, 4)})
    loop = feedback(plant, passive_observer(plant, "last", 1.0), "last", "observer")
    assert set(loop.parts) == {"v", "σ", "observer.v", "observer.σ"}
    assert loop.parts["observer.σ"] == slice(6, 8)
    small = eliminate(replace(plant, G=np.array([[1.0, -1.0, 0.0, 0.0]])))
    both = feedback(small, port_spring(1.0), "last", "spring")
    np.testing.assert_allclose(both.expand(np.eye(both.size))[both.parts["spring"]], [[0, 0, 0, 1.0]], atol=1e-15)


def test_bad_gains_and_ports():
    plant = random_system()
    with pytest.raises(ValueError, match="gain must be positive semi-definite"):
        inject_damping(plant, "a", np.diag([1.0, -1.0]))
    with pytest.raises(ValueError, match="gain must be symmetric"):
        passive_observer(plant, "a", np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(ValueError, match="gain must not be negative"):
        inject_damping(plant, "a", -1.0)
    with pytest.raises(ValueError, match=r"gain must have shape \(2, 2\)"):
        inject_damping(plant, "a", np.eye(3))
    with pytest.raises(ValueError, match="no port 'c'"):
        inject_damping(plant, "c", 1.0)
    with pytest.raises(ValueError, match=r"ports must.*one width: 'a'.*2, 'spring'.*controller 1"):
        feedback(plant, port_spring(1.0), "a", "spring")
    with pytest.raises(ValueError, match="stiffness must be positive definite"):
        port_spring(0.0)
    with pytest.raises(ValueError, match=r"part names must differ.*plant.*controller, both.*\['v'\]"):
        named = replace(chain(2), parts={"v": slice(0, 2)})
        feedback(named, replace(named, ports={"x": slice(0, 1), "z": slice(1, 2)}), "last", "x")


def test_what_is_no_system_is_named():
    plant = chain(2)
    for make, message in (
        (lambda: inject_damping(3, "last", 1.0), "system must be a LinearPHDAE.*got int"),
        (lambda: passive_observer(3, "last", 1.0), "system must be a LinearPHDAE.*got int"),
        (lambda: feedback(plant, 3, "last", "x"), "controller must be a LinearPHDAE.*got int"),
        (lambda: feedback(3, plant, "last", "x"), "plant must be a LinearPHDAE.*got int"),
        (lambda: eliminate(3), "system must be a LinearPHDAE.*got int"),
        (lambda: poles(3), "system must be a LinearPHDAE.*got int"),
        (lambda: port_spring(1j), "stiffness must be real"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_two_springs_need_two_names():
    once = feedback(chain(2), port_spring(1.0), "last", "spring")
    with pytest.raises(ValueError, match=r"both have \['spring'\].*controller.*port_spring\(.*name="):
        feedback(once, port_spring(1.0), "first", "spring")
    twice = feedback(once, port_spring(1.0, name="other"), "first", "other")
    assert set(twice.parts) == {"spring", "other"}


def test_a_sparse_plant_keeps_its_kind():
    loop = feedback(to_sparse(chain(3)), port_spring(2.0), "last", "spring")
    assert sparse.issparse(loop.E) and loop.kinetic is not None and loop.kinetic.sum() == 3
