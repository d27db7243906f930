"""Compiled corrections of rods and cables at rest: those of the tangent stiffness, at random configurations."""

import numpy as np
import pytest
from rod_samples import SLENDER

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distributed_load,
    force,
    hinge,
    revolute,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)
from flexph.integration.loops.statics.at_rest import StaticLoops
from flexph.integration.loops.statics.values import Loads, RestConfiguration, has_static_loops
from flexph.kernels.continuous import elastic_stress
from flexph.laws import polynomial, scheduled
from flexph.mechanisms.model.constraints import constraint_gap, move
from flexph.mechanisms.model.state import at_rest
from flexph.mechanisms.statics import balance, searches
from flexph.mechanisms.statics.steady_rotation import steady_rotation
from flexph.numerics.arrays import dense

GRAVITY = (0.0, 0.0, -9.81)
SOFT = fem.Material(young=2.1e6, density=20.0, poisson=0.3)
BALL = rigid.body(2.0, inertia=np.diag([0.1, 0.2, 0.15]), ports={"left": (-0.2, 0.1, 0.0), "right": (0.3, 0.0, 0.1)})


def under_loads():
    """A damped rod, welded at its root, under loads that follow its sections and one along it."""
    rod = fem.rod(10.0, None, SLENDER, elements=3, order=2, ports={"mid": 4.0}, damping=fem.Damping(stiffness=1e-2))
    loads = [
        force("rod.tip", axes="section", name="F"),
        torque("rod.tip", against="rod.mid", axes="section", name="M"),
        distributed_load("rod.load", name="q"),
    ]
    return connect({"rod": rod}, [weld("rod.root", GROUND.at(0.0, 0.0, 0.0)), *loads], gravity=GRAVITY)


def beside_bodies():
    """A rod, a rigid body and a flexible beam between joints, springs and dampers."""
    rod = fem.rod(2.0, None, SLENDER, elements=2)
    beam = fem.beam(1.0, SOFT, fem.Section(width=0.1, height=0.1), elements=2, dim=3)
    joints = [
        weld("rod.root", GROUND.at(0.0, 0.0, 0.0)),
        revolute("rod.tip", "ball.left", axis=(0.0, 1.0, 0.0)),
        weld("ball.right", "beam.root"),
        spring_damper("beam.tip", GROUND.at(1.0, 2.0, 4.0), stiffness=1.0, damping=20.0, length=1.0),
    ]
    return connect({"rod": rod, "ball": BALL, "beam": beam}, joints, gravity=(0.0, 0.0, -0.1))


def rope():
    """A cable between two points of the ground, with a load along it."""
    body = fem.cable(4.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=3)
    joints = [spherical("rope.root", GROUND.at(0.0, 0.0, 0.0)), spherical("rope.tip", GROUND.at(4.0, 0.0, 0.0))]
    return connect({"rope": body}, [*joints, distributed_load("rope.load", name="q")], gravity=GRAVITY)


def of_the_plane():
    """A planar rod with a cable at its tip and a body at the end of the cable, under loads along and across the rod."""
    rod = fem.rod(10.0, None, SLENDER, elements=3, dim=2, ports={"mid": 4.0}, damping=fem.Damping(stiffness=1e-2))
    line = fem.cable(4.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=3, dim=2)
    ball = rigid.body(2.0, inertia=0.1, ports={"left": (-0.2, 0.1)})
    joints = [
        weld("rod.root", GROUND.at(0.0, 0.0)),
        hinge("line.root", "rod.tip"),
        hinge("line.tip", "ball.left"),
        torsion_spring("rod.mid", "ball.left", stiffness=2.0),
    ]
    loads = [force("rod.tip", axes="section", name="F"), torque("rod.tip", against="rod.mid", name="M")]
    bodies = {"rod": rod, "line": line, "ball": ball}
    return connect(bodies, [*joints, *loads, distributed_load("rod.load", name="q")], gravity=(0.0, -9.81))


def with_laws_and_flows():
    """A planar rod with laws, one of them by a schedule, and a hose of it, which is a cable."""
    laws = {"M3": scheduled(polynomial(500.0, 0.0, 900.0), lambda t: 2.0 + t), "N": polynomial(1e4, 30.0)}
    rod = fem.rod(10.0, None, SLENDER, elements=3, dim=2, laws=laws, flow=fem.Flow(0.5, 20.0))
    line = fem.cable(
        4.0, mass_per_length=0.3, axial=1e4, bending=0.1, elements=3, dim=2, flow=fem.Flow(0.5, lambda t: 9.0 - t)
    )
    joints = [weld("rod.root", GROUND.at(0.0, 0.0)), hinge("line.root", "rod.tip")]
    loads = [force("line.tip", name="F"), torque("rod.tip", name="M")]
    return connect({"rod": rod, "line": line}, [*joints, *loads], gravity=(0.0, -9.81))


def somewhere(make, rng):
    """A problem under random inputs and half of the loads, and a random configuration that is in no equilibrium."""
    mechanism = make()
    pose = mechanism.assemble()
    sizes = {name: part.stop - part.start for name, part in mechanism.network.input_slices.items()}
    inputs = {name: rng.normal(size=size) for name, size in sizes.items()}
    steady = steady_rotation(mechanism, None, None)
    given = balance.problem(mechanism, pose.anchors, 0.0, inputs=inputs, steady=steady).under(0.5)
    c = at_rest(mechanism, pose.centres, pose.rotations)
    step = 0.1 * rng.normal(size=mechanism.layout.velocities)
    step[mechanism.network.arrays.columns.u] *= 1e-2
    r, R = move(mechanism, c.r, c.R, step)
    a = mechanism.network.arrays
    u = step[a.columns.u]
    sigma = elastic_stress(a, u)
    sigma[a.strains.stress] = rng.normal(size=a.strains.stress.size)  # ahead of the strains
    return given, c._replace(r=r, R=R, u=u, sigma=sigma)


@pytest.mark.parametrize("make", [under_loads, beside_bodies, rope, of_the_plane, with_laws_and_flows])
@pytest.mark.parametrize("seed", range(2))
def test_a_compiled_correction_is_that_of_the_tangent_stiffness(make, seed):
    """With multipliers at hand: [[K, −Gᵀ], [G, 0]] (ξ, Δλ) = (−ρ, −g), ρ what is not balanced with them."""
    rng = np.random.default_rng(seed)
    given, c = somewhere(make, rng)
    mechanism, a = given.mechanism, given.mechanism.network.arrays
    multipliers = rng.normal(size=mechanism.layout.multipliers)
    K = dense(balance.stiffness_at(given, c, a._replace(mean=a.mean), multipliers))
    G, gap = dense(given.constraints(c)), constraint_gap(mechanism, c, given.table, given.time)
    rho = given.unbalanced(c, multipliers)
    matrix = np.block([[K, -G.T], [G, np.zeros((len(G), len(G)))]])
    solution = np.linalg.solve(matrix, -np.concatenate([rho, gap]))
    assert has_static_loops(mechanism)
    own = StaticLoops(mechanism, given.table)
    after, step = own.corrected(RestConfiguration(c, multipliers), Loads(given.applied, given.share, given.time))
    error = 1e-13 * np.linalg.cond(matrix)  # of both solutions
    assert error < 1e-4
    np.testing.assert_allclose(step, solution[: step.size], rtol=0, atol=error * np.abs(step).max())
    share = min(1.0, 0.5 / np.abs(step[a.columns.omega]).max(initial=1e-300))
    change = (after.multipliers - multipliers) / share
    np.testing.assert_allclose(change, solution[step.size :], rtol=0, atol=error * np.abs(change).max())
    by_numpy = balance.moved_by(given, c, step)
    for name in ("r", "R", "u", "sigma"):
        own, other = getattr(after.c, name), getattr(by_numpy, name)
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-9 * np.abs(other).max(initial=1.0))


@pytest.mark.parametrize("make", [under_loads, beside_bodies, rope])
def test_equilibria_by_loops_are_those_of_numpy(make, monkeypatch):
    mechanism = make()
    sizes = {name: part.stop - part.start for name, part in mechanism.network.input_slices.items()}
    inputs = {name: np.full(size, 2.0) for name, size in sizes.items()}
    pose = mechanism.assemble()
    state = mechanism.equilibrium(pose, inputs=inputs)
    monkeypatch.setattr(searches, "has_static_loops", lambda _: False)
    other = mechanism.equilibrium(pose, inputs=inputs)
    for own, expected in ((state.x, other.x), (state.multipliers, other.multipliers)):
        np.testing.assert_allclose(
            own, expected, rtol=0, atol=1e-8 * np.abs(expected).max()
        )  # stiffness times round-off


def test_where_a_correction_is_not_unique_it_is_left_to_least_norms():
    """A rod that hangs by a spherical joint may turn about itself."""
    rod = fem.rod(2.0, None, SLENDER, elements=2)
    mechanism = connect({"rod": rod}, [spherical("rod.root", GROUND.at(0.0, 0.0, 0.0))], gravity=GRAVITY)
    down = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
    pose = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), down)})
    state = mechanism.equilibrium(pose)
    np.testing.assert_allclose(mechanism.position(state, "rod.tip")[:2], 0.0, rtol=0, atol=1e-9)
    pull = mechanism.reaction(state, mechanism.connections[0].name).force[0]
    np.testing.assert_allclose(pull, [0.0, 0.0, 9.81 * rod.mass], rtol=1e-9, atol=1e-9)
