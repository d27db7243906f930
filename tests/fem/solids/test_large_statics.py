"""Equilibria of large bodies: sparse, and those of the filled equations."""

import numpy as np
import pytest
from solid_meshes import box

import fem
from flexph import GROUND, connect, distributed_load, force, hinge, spherical, spring_damper
from flexph.bodies import mean_axes
from flexph.mechanisms.statics import balance, searches
from flexph.numerics.factors import singular_systems as saddle
from flexph.results import static_solution

SOFT = fem.Material(young=3e6, density=1000.0, poisson=0.3)


def hanging_plate():
    """A plate of space on a spherical joint and a spring, under its weight, a pressure and a force that follow."""
    body = fem.plate(
        fem.box_mesh((0.6, 0.4), (6, 4)),
        SOFT,
        thickness=0.02,
        ports={"edge": "left", "tip": fem.Tie("right", "mean")},
        reference="edge",
        loads={"wind": lambda x: x[0] > 0.29},
    )
    joints = [
        spherical("b.edge", GROUND.at(0.0, 0.2, 0.0)),
        spring_damper("b.tip", GROUND.at(0.7, 0.3, 0.4), stiffness=100.0),
        distributed_load("b.wind", axes="body", name="wind"),
        force("b.tip", axes="section", name="push"),
    ]
    mechanism = connect({"b": body}, joints, gravity=(0.0, 1.0, -9.81))
    inputs = {"wind": (0.0, 0.0, -20.0), "push": (0.0, 0.3, 0.1)}
    return mechanism, mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}), inputs


def two_strips(kept=lambda body: body):
    """Two plane bodies on hinges."""
    solid = fem.solid(
        box("quad9", (12, 2), (1.0, 0.1)),
        SOFT,
        plane="stress",
        thickness=0.1,
        ports={"root": "left", "tip": fem.Tie("right", "mean")},
        reference="root",
    )
    body = kept(solid)
    joints = [
        hinge("a.root", GROUND),
        hinge("a.tip", "b.root"),
        spring_damper("b.tip", GROUND.at(1.5, 0.5), stiffness=100.0),
        force("b.tip", axes="section", name="push"),
    ]
    mechanism = connect({"a": body, "b": body}, joints, gravity=(0.0, -9.81))
    return mechanism, mechanism.assemble({"a": (0.0, 0.0, 0.0)}, guess={"b": (1.0, 0.0, 0.0)}), {"push": (2.0, 0.5)}


def strips_about_mean_axes():
    """The same, their deformation counted from mean axes."""
    return two_strips(mean_axes.about_mean_axes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "share"), [(hanging_plate, 0.5), (two_strips, 0.5), (strips_about_mean_axes, 0.6)]
)  # of the entries: about mean axes all coordinates move each port
def test_sparse_equilibria_are_those_of_the_filled_equations(make, share, monkeypatch):
    """Far from the undeformed pose: the same state and joint forces, by about as many iterations."""
    monkeypatch.setattr(mean_axes, "FILLED", 0)
    mechanism, pose, inputs = make()
    assert mechanism.network.arrays.mean is not None  # large: the shift is kept apart
    found, counts, entries = [], [], []
    solve, correct = balance.solve_saddle, searches.Searches._corrected

    def counted(*given):
        counts[-1] += 1
        return correct(*given)

    def measured(matrix, rhs, **options):
        entries[-1] = max(entries[-1], matrix.nnz)
        return solve(matrix, rhs, **options)

    monkeypatch.setattr(searches.Searches, "_corrected", counted)
    monkeypatch.setattr(balance, "solve_saddle", measured)
    for is_parted in (balance.is_parted, lambda a, spin: False):
        counts.append(0), entries.append(0)
        monkeypatch.setattr(balance, "is_parted", is_parted)
        found.append(mechanism.equilibrium(pose, inputs=inputs))
    sparse, filled = found
    places = [static_solution(mechanism, state).position("b.tip")[0] for state in found]
    # stagnation at 1e-13 of the size, by systems of condition 1e6 and more
    assert places[0] == pytest.approx(places[1], abs=1e-12)
    assert sparse.multipliers == pytest.approx(filled.multipliers, abs=1e-9 * np.abs(filled.multipliers).max())
    assert counts[0] <= counts[1] + 3  # another metric holds them back: another path, then Newton's
    assert entries[0] < share * entries[1]
    assert np.linalg.norm(places[0] - mechanism.position(mechanism.consistent_state(pose), "b.tip")) > 0.05


def test_orderings_solve_the_same_system():
    mechanism, pose, inputs = hanging_plate()
    rng = np.random.default_rng(0)
    given = []

    def kept(matrix, rhs, **options):
        given.append(matrix)
        return solve(matrix, rhs, **options)

    solve, balance.solve_saddle = balance.solve_saddle, kept
    try:
        mechanism.equilibrium(pose, inputs=inputs)
    finally:
        balance.solve_saddle = solve
    rhs = given[0] @ rng.standard_normal(given[0].shape[0])
    found = [saddle.solve_saddle(given[0], rhs, meshed=meshed) for meshed in (False, True)]
    assert found[0] == pytest.approx(found[1], rel=1e-6)  # condition 1e9 or so before scaling


def test_large_singular_systems_are_named(monkeypatch):
    """Nothing holds the body, and its weight is balanced by nothing: no dense matrix of that size is made."""
    from scipy import sparse

    monkeypatch.setattr(saddle, "SMALL", 0)
    monkeypatch.setattr(saddle, "DENSE", 10)
    with pytest.raises(ArithmeticError, match="a system of 20 unknowns is singular"):
        saddle.solve_saddle(sparse.csr_array((20, 20)) + sparse.diags_array(np.r_[np.ones(19), 0.0]), np.ones(20))
