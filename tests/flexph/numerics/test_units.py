"""Decisions about zero, rank and consistency in units from nano to giga."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, LinearPHDAE, connect, hinge, spring_damper
from flexph.analysis import KinematicSystem, eliminate_index_one
from flexph.linear.state_space import Improper, state_space
from flexph.mechanisms.model.prescribed import rate_after
from flexph.mechanisms.statics.linearization import linearize
from flexph.numerics.subspaces import null_space, rank_of

pytestmark = pytest.mark.processor

UNITS = [1e-9, 1e-3, 1.0, 1e3, 1e9]


@pytest.mark.parametrize("unit", UNITS)
def test_a_prescribed_velocity_of_an_inertia_has_no_state_space(unit):
    """m v̇ = λ, 0 = −v + u, with u in any unit."""
    J, B = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([[0.0], [unit]])
    system = LinearPHDAE(E=np.diag([1.0, 0.0]), J=J, B=B, ports={"u": slice(0, 1)})
    with pytest.raises(Improper, match="an input prescribes a velocity"):
        state_space(system)


@pytest.mark.parametrize("unit", UNITS)
def test_the_rate_of_a_prescribed_motion(unit):
    """A motion of any size has its rate to the accuracy of differences, and a jump of any size has none."""
    moving = rate_after(lambda t: unit * np.sin(3.0 * t + 0.1), 1, 0.2, "drive")
    assert moving[0] == pytest.approx(3.0 * unit * np.cos(0.7), rel=1e-9)
    with pytest.raises(ValueError, match="drive: the prescribed motion has no derivative"):
        rate_after(lambda t: unit * np.sqrt(abs(t - 0.2)), 1, 0.2, "drive")


@pytest.mark.parametrize("seed", range(3))
def test_ranks_and_null_spaces_of_structures(seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((4, 3)) @ rng.standard_normal((3, 6))
    left, right = 10.0 ** rng.uniform(-9.0, 9.0, 4), 10.0 ** rng.uniform(-9.0, 9.0, 6)
    scaled = left[:, None] * rows * right
    assert rank_of(scaled) == 3
    found = null_space(scaled)
    assert found.shape == (6, 3)
    assert np.all(np.abs(scaled @ found) <= 1e-13 * (np.abs(scaled) @ np.abs(found)))


@pytest.mark.parametrize("unit", UNITS)
def test_a_spring_of_a_small_mechanism_is_stretched(unit):
    """A tenth of the length of the bar in any unit: linearize takes unloaded poses."""
    joints = [
        hinge("bar.root", GROUND.at(0.0, 0.0)),
        spring_damper("bar.tip", GROUND.at(unit, unit), stiffness=2.0, length=0.9 * unit),
    ]
    mechanism = connect({"bar": rigid.bar(unit, 1.0)}, joints)
    with pytest.raises(ValueError, match="linearize needs an unloaded pose"):
        linearize(mechanism, mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


@pytest.mark.parametrize("unit", UNITS)
def test_a_basis_that_does_not_span_the_kernel(unit):
    """A wrong basis is one in any unit."""
    given = {"mass": np.eye(2), "constraints": unit * np.array([[1.0], [2.0]]), "sample": np.zeros(2)}
    given |= {"potential": lambda q: 0.0, "gradient": lambda q: np.zeros(2)}
    with pytest.raises(ValueError, match="basis must span the kernel"):
        KinematicSystem(**given, basis=lambda q: unit * np.array([[1.0], [1.0]]))
    KinematicSystem(**given, basis=lambda q: unit * np.array([[-2.0], [1.0]]))


@pytest.mark.parametrize("unit", UNITS)
def test_constraints_of_index_one_in_any_unit(unit):
    """GᵀQG of two rows, one in another unit: regular for independent columns, singular for Q of one state."""
    G = np.array([[1.0, 1.0], [0.0, 1.0], [0.0, 0.0]]) * np.array([1.0, unit])
    eliminate_index_one(np.zeros((3, 3)), np.eye(3), G)
    with pytest.raises(ValueError, match="GᵀQG must have full rank"):
        eliminate_index_one(np.zeros((3, 3)), np.diag([1.0, 0.0, 1.0]), G)
