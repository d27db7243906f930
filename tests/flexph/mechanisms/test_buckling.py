"""Buckling loads of mechanisms against closed forms: branches and limit points."""

import math
import warnings
from types import SimpleNamespace

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, spring_damper, weld
from flexph.mechanisms.statics.equilibrium import not_found
from flexph.mechanisms.statics.searches import LEAST, follow_loads
from flexph.numerics.corrections import IterationResult


def test_euler_column_as_a_floating_body():
    """π²EI/4L² of a cantilever whose axial stiffness is 1e6 times that; 4 elements of order 4."""
    material = fem.Material(young=1e6, density=1.0)
    column = fem.beam(1.0, material, fem.Section(area=1.0, second_moment=1e-6), elements=4, strain="von_karman")
    mechanism = connect({"column": column}, [weld("column.root", GROUND.at(0.0, 0.0)), force("column.tip", name="F")])
    pose, push = mechanism.assemble({"column": (0.0, 0.0, 0.0)}), {"F": [-1.0, 0.0]}
    found = mechanism.buckling(mechanism.equilibrium(pose, inputs=push), inputs=push)
    assert found.factor == pytest.approx(0.25 * np.pi**2, rel=1e-4)
    assert not found.is_limit
    assert np.abs(found.part("column.deformation")).max() == 1.0


@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("load", [0.3, *(pytest.param(load, marks=pytest.mark.slow) for load in (1.0, 1.4, 2.0)), 2.45])
def test_euler_column_as_a_thin_rod(dim, load):
    """π²EI/4L² from any load of the state, where ω² of bending is 1e-13 of the largest."""
    section = fem.RodSection(
        axial=1e8, shear=(1e8, 1e8), torsion=1.0, bending=(1.0, 1.0), mass=1.0, inertia=(2e-6, 1e-6, 1e-6)
    )
    rod, place = fem.rod(1.0, None, section, elements=4, order=3, dim=dim), GROUND.at(*np.zeros(dim))
    mechanism = connect({"rod": rod}, [weld("rod.root", place), force("rod.tip", name="F")])
    push = {"F": -load * np.eye(dim)[0]}
    state = mechanism.equilibrium(mechanism.assemble(), inputs=push)
    found = mechanism.buckling(state, inputs=push)
    assert load * found.factor == pytest.approx(0.25 * np.pi**2, rel=1e-4)
    assert not found.is_limit


def truss(height=0.3, stiffness=100.0):
    """A mass on two springs that lean against each other (von Mises): its limit load is a closed form."""
    mechanism = connect(
        {"top": rigid.point(1.0, dim=2)},
        [
            spring_damper("top.point", GROUND.at(-1.0, 0.0), stiffness=stiffness, name="left"),
            spring_damper("top.point", GROUND.at(1.0, 0.0), stiffness=stiffness, name="right"),
            force("top.point", name="F"),
        ],
    )
    free = np.hypot(1.0, height)
    y = np.sqrt(free ** (2.0 / 3.0) - 1.0)  # where dF/dy = 0, F = 2k(ℓ − ℓ₀) y/ℓ
    length = np.hypot(1.0, y)
    return mechanism, mechanism.assemble({"top": (0.0, height, 0.0)}), 2.0 * stiffness * (free - length) * y / length


@pytest.mark.slow
def test_snap_through_is_a_limit_point():
    mechanism, pose, limit = truss()
    push = {"F": [0.0, -0.5 * limit]}
    found = mechanism.buckling(mechanism.equilibrium(pose, inputs=push), inputs=push)
    assert found.factor == pytest.approx(2.0, rel=1e-4)
    assert found.is_limit


def test_another_state_is_refused():
    mechanism, pose, limit = truss()
    state = mechanism.equilibrium(pose, inputs={"F": [0.0, 0.1 * limit]})
    with pytest.raises(ValueError, match="state must be a stable equilibrium under inputs="):
        mechanism.buckling(state, inputs={"F": [0.0, -1.5 * limit]})


@pytest.mark.slow
def test_loads_that_only_stretch_have_no_buckling_load():
    mechanism, pose, limit = truss()
    lift = {"F": [0.0, 0.1 * limit]}
    with pytest.raises(ArithmeticError, match="no buckling load was found up to 1000 times"):
        mechanism.buckling(mechanism.equilibrium(pose, inputs=lift), inputs=lift)


def test_loads_are_followed_to_where_their_equilibria_end():
    """Beyond 0.6 of them there is none: the last share is known to the shortest step, and told."""
    start = SimpleNamespace(R=np.eye(2)[None])
    under = lambda share, c: IterationResult(c, 0.0, share <= 0.6)  # noqa: E731
    end, reached = follow_loads(start, under, lambda share, c: None)
    assert not end.settled
    assert 0.6 - 2.0 * LEAST < reached <= 0.6
    assert "end at 60 % of them, as at a limit point" in not_found(end.defect, reached)


@pytest.mark.parametrize(("share", "negative"), [(0.9, 0), (1.1, 1), (8.0, 1), (10.0, 2), (26.0, 3)])
def test_a_straight_rod_beyond_buckling_loads_is_told_with_their_number(share, negative):
    """The loads of a cantilever are 1, 9, 25, … times π²EI/4L²."""
    steel = fem.Material(young=2e11, density=7800.0, poisson=0.3)
    rod = fem.rod(1.0, steel, fem.Section(width=0.02, height=0.01), elements=6, dim=2)
    column = connect({"rod": rod}, [weld("rod.root", GROUND), force("rod.tip", name="load")])
    push = share * math.pi**2 / 4.0 * 2e11 * 0.02 * 0.01**3 / 12.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        column.equilibrium(column.assemble(), inputs={"load": (-push, 0.0)})
    told = [str(own.message) for own in caught if "unstable" in str(own.message)]
    assert [f" {negative} negative eigenvalue" in text for text in told] == [True] * (negative > 0)
