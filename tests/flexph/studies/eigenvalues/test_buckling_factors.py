"""Derivatives of buckling factors: Euler's columns in the plane and in space, repeated factors, differences.

Seven seconds, as equilibria are followed to their bifurcation.
"""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, force, hinge, spring_damper, torsion_spring, weld
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.statics.buckling import buckling_point, equilibrium_point, equilibrium_problem
from flexph.studies import buckling_sensitivities
from flexph.studies.eigenvalues import buckling_factors


def pushed(mechanism, pose, push):
    """Mechanism, equilibrium and inputs."""
    return mechanism, mechanism.equilibrium(pose, inputs=push), push


def column(length, young, height):
    """A clamped beam under a force along its axis."""
    section, material = fem.Section(width=1e-3, height=height), fem.Material(young=young, density=1.0)
    beam = fem.beam(length, material, section, elements=3, strain="von_karman")
    mechanism = connect({"column": beam}, [weld("column.root", GROUND), force("column.tip", name="F")])
    return pushed(mechanism, mechanism.assemble({"column": (0.0, 0.0, 0.0)}), {"F": (-1.0, 0.0)})


def test_eulers_column_as_a_beam():
    """π²EI/4L²: logarithmic derivatives −2 by the length, 1 by Young's modulus, 3 by the height."""
    at = {"length": 1.0, "young": 1e9, "height": 0.02}
    found = buckling_sensitivities(column, at)
    assert found.factor == pytest.approx(0.25 * np.pi**2 * 1e9 * 1e-3 * 0.02**3 / 12.0, rel=2e-4)  # 3 elements
    for name, power in {"length": -2.0, "young": 1.0, "height": 3.0}.items():
        assert at[name] / found.factor * found.derivatives[name] == pytest.approx(power, abs=1e-8)


def rod(dim, stiff=1e4):
    def of(length, bending):
        section = fem.RodSection(
            axial=stiff, shear=(stiff, stiff), torsion=1.0, bending=(1.0, bending), mass=1.0, inertia=(2e-3, 1e-3, 1e-3)
        )
        body = fem.rod(length, None, section, elements=2, order=3, dim=dim)
        mechanism = connect({"rod": body}, [weld("rod.root", GROUND.at(*np.zeros(dim))), force("rod.tip", name="F")])
        return pushed(mechanism, mechanism.assemble(), {"F": -np.eye(dim)[0]})

    return of


@pytest.mark.parametrize("dim", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_eulers_column_as_a_rod(dim):
    """In space the two planes of bending share the factor; one of them becomes stiffer."""
    found = buckling_sensitivities(rod(dim), {"length": 1.0, "bending": 1.0})
    assert found.derivatives["length"] == pytest.approx([-2.0 * found.factor] * (dim - 1), rel=1e-6)
    expected = [found.factor] if dim == 2 else [0.0, found.factor]
    # a rod that is compressed by 2.5e-4 before it buckles is shorter by it, and so on
    assert found.derivatives["bending"] == pytest.approx(expected, abs=1e-3)


def test_a_tower_of_bars_on_springs_that_falls_over_under_its_weight():
    """det(K − λ W) = 0 with K = [[k + s, −s], [−s, s]], W = g L diag(½ m₁ + m₂, ½ m₂)."""

    def tower(spring, mass, length):
        bars = {name: rigid.bar(length, own) for name, own in (("low", 0.3), ("high", mass))}
        joints = [
            hinge("low.root", GROUND),
            hinge("high.root", "low.tip"),
            torsion_spring("low.root", GROUND, stiffness=20.0),
            torsion_spring("high.root", "low.tip", stiffness=spring),
        ]
        mechanism = connect(bars, joints, gravity=(0.0, -9.81))
        pose = mechanism.assemble({"low": (0.0, 0.0, np.pi / 2)}, guess={"high": (0.0, length, np.pi / 2)})
        return pushed(mechanism, pose, {})

    at = {"spring": 15.0, "mass": 0.4, "length": 0.8}
    found = buckling_sensitivities(tower, at)

    def factor(spring, mass, length):
        weights = 9.81 * length * np.diag([0.15 + mass, 0.5 * mass])
        return np.linalg.eigvals(np.linalg.solve(weights, [[20.0 + spring, -spring], [-spring, spring]])).real.min()

    assert found.factor == pytest.approx(factor(**at), rel=1e-9)
    for name, value in at.items():
        ends = [factor(**{**at, name: value * (1.0 + by)}) for by in (-2e-4, -1e-4, 1e-4, 2e-4)]
        expected = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / 12e-4
        assert value * found.derivatives[name] == pytest.approx([expected], abs=1e-8)


def test_limit_points_are_told():
    def truss(height):
        springs = [spring_damper("top.point", GROUND.at(x, 0.0), stiffness=100.0, name=f"{x}") for x in (-1.0, 1.0)]
        mechanism = connect({"top": rigid.point(1.0, dim=2)}, [*springs, force("top.point", name="F")])
        return pushed(mechanism, mechanism.assemble({"top": (0.0, height, 0.0)}), {"F": (0.0, -0.5)})

    with pytest.raises(ValueError, match=r"must end at a bifurcation.*limit point.*differences"):
        buckling_sensitivities(truss, {"height": 0.3})
    with pytest.raises(ValueError, match="loaded must return a mechanism and its equilibrium"):
        buckling_sensitivities(lambda height: truss(height)[0], {"height": 0.3})


@pytest.mark.parametrize("dim", [2, 3])
def test_the_equilibrium_exactly_at_the_bifurcation_is_the_mean_of_its_neighbours(dim, monkeypatch):
    """Compared below the bifurcation, at 0.9 of its loads, where Newton's method finds the equilibrium itself."""
    mechanism, state, push = rod(dim)(length=1.0, bending=1.0)
    problem = equilibrium_problem(mechanism, state, push)
    point, _ = buckling_point(problem, configuration(mechanism, state.x))
    exact = equilibrium_point(problem.under(0.9 * point.factor), 0.9 * point.factor, point.c).c
    fails = lambda of, factor, near: None if factor == 0.9 * point.factor else equilibrium_point(of, factor, near)  # noqa: E731
    monkeypatch.setattr(buckling_factors, "equilibrium_point", fails)
    mean = buckling_factors._equilibrium(problem, 0.9 * point.factor, point.c)
    for name in ("r", "R", "u", "sigma"):
        np.testing.assert_allclose(
            getattr(mean, name), getattr(exact, name), rtol=0.0, atol=1e-11 * 1e4 ** (name == "sigma")
        )
