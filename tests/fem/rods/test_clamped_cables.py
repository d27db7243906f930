"""Cables whose slope is held or sprung: clamps, torsion springs, joints between bodies, against closed forms."""

import math

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, eigenfrequencies, force, hinge, integrate, torsion_spring, weld
from flexph.sensors import joint_torque

LENGTH, BENDING, LINE = 1.0, 0.5, 0.3
STIFF = {"mass_per_length": LINE, "axial": 1e5, "bending": BENDING}
AXIS = (1.0, 0.0, 0.0)


def cantilever(dim, elements=8, **more):
    """A cable that is clamped at the ground, with a force port at its tip."""
    line = fem.cable(LENGTH, **STIFF, elements=elements, dim=dim)
    clamp = (
        weld("cable.root", GROUND, name="clamp") if dim == 2 else hinge("cable.root", GROUND, axis=AXIS, name="clamp")
    )
    return connect({"cable": line}, [clamp, force("cable.tip", name="load")], **more)


def down(dim, size):
    return (0.0, -size) if dim == 2 else (0.0, 0.0, -size)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_clamped_cable_bends_as_a_cantilever(dim):
    """F l³/3EI of small loads, and the torque of the clamp F x of any."""
    mechanism = cantilever(dim)
    pose = mechanism.assemble()
    small, large = (mechanism.equilibrium(pose, inputs={"load": down(dim, size)}) for size in (1e-4, 1.0))
    assert -mechanism.position(small, "cable.tip")[-1] == pytest.approx(1e-4 * LENGTH**3 / (3.0 * BENDING), rel=1e-5)
    arm = mechanism.position(large, "cable.tip")[0]
    reaction = mechanism.reaction(large, "clamp")
    assert abs(reaction.torque[0]).max() == pytest.approx(1.0 * arm, rel=1e-9)
    assert arm < 0.95  # bent far


@pytest.mark.parametrize("dim", [2, 3])
def test_frequencies_of_a_clamped_cable(dim):
    """ω = (β/l)² √(EI/ρA) with β = 1.87510407, 4.69409113, in space twice each."""
    mechanism = cantilever(dim)
    start = mechanism.consistent_state(mechanism.assemble())
    found = eigenfrequencies(mechanism.linearize(start))
    bends = np.sort(found[found > 1e-3])[: 2 * (dim - 1) : dim - 1]
    expected = np.array([1.8751040687, 4.6940911330]) ** 2 * math.sqrt(BENDING / LINE) / LENGTH**2
    np.testing.assert_allclose(bends, expected, rtol=2e-4)  # eight cubics


@pytest.mark.parametrize("dim", [2, 3])
def test_a_cable_clamped_between_free_bodies_keeps_all_invariants(dim):
    line = fem.cable(LENGTH, **STIFF, elements=4, dim=dim)
    inertia = 0.02 if dim == 2 else (0.02, 0.03, 0.04)
    ball = rigid.body(0.5, inertia=inertia, ports={"end": (0.1, *(0.0,) * (dim - 1))}, centre=(0.02,) * dim)
    joint = (lambda p, q: weld(p, q)) if dim == 2 else (lambda p, q: hinge(p, q, axis=AXIS))
    mechanism = connect(
        {"cable": line, "a": ball, "b": ball}, [joint("cable.root", "a.end"), joint("cable.tip", "b.end")]
    )
    zeros = (0.0,) * (dim - 1)
    places = {"cable": (0.0, *zeros), "a": (-0.1, *zeros), "b": (LENGTH - 0.1, *zeros)}
    poses = {name: (*place, 0.0) if dim == 2 else (place, np.eye(3)) for name, place in places.items()}
    pose = mechanism.assemble({"cable": poses.pop("cable")}, guess=poses)
    draw = np.random.default_rng(4)
    spin = (3.0,) if dim == 2 else tuple(2.0 * draw.normal(size=3))
    speed = {"a": (*draw.normal(size=dim), *spin)} if dim == 2 else {"a": (draw.normal(size=3), spin)}
    start = mechanism.consistent_state(pose, velocities=speed)
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 101))
    energy = run.ledger.total_energy
    assert np.abs(energy - energy[0]).max() < 1e-12 * energy[0]
    for momenta in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momenta - momenta[0]).max() < 1e-12 * np.abs(momenta).max()
    assert np.abs(run.position("b.end")[-1] - run.position("cable.tip")[-1]).max() < 1e-13


def test_a_torsion_spring_holds_the_slope():
    """A stiff cable on a torsion spring turns by φ = F l cos φ/k under a force at its tip."""
    line = fem.cable(LENGTH, mass_per_length=LINE, axial=1e7, bending=1e4, elements=4, dim=2)
    spring = torsion_spring("cable.root", GROUND, stiffness=0.5, name="spring")
    mechanism = connect({"cable": line}, [hinge("cable.root", GROUND), spring, force("cable.tip", name="load")])
    rest = mechanism.equilibrium(mechanism.assemble(), inputs={"load": (0.0, -0.2)})
    tip = mechanism.position(rest, "cable.tip")
    turn = math.atan2(-tip[1], tip[0])
    assert 0.5 * turn == pytest.approx(0.2 * LENGTH * math.cos(turn), rel=1e-4)  # of rigid lines


def test_torque_of_a_clamp_by_its_sensor():
    mechanism = cantilever(2)
    rest = mechanism.equilibrium(mechanism.assemble(), inputs={"load": (0.0, -0.3)})
    run = integrate(mechanism, rest, np.linspace(0.0, 1e-3, 3), inputs={"load": lambda t: (0.0, -0.3)})
    arm = mechanism.position(rest, "cable.tip")[0]
    np.testing.assert_allclose(run.measured(joint_torque("clamp"))[:, 0], 0.3 * arm, rtol=1e-6)


@pytest.mark.parametrize(
    "joint, dim, message",
    [
        (
            lambda: weld("cable.tip", GROUND),
            3,
            r"'cable.tip' of a cable has one direction, its slope \(1.0, 0.0, 0.0\)",
        ),
        (lambda: weld("body.end", "cable.tip"), 2, "name this port first"),
        (lambda: hinge("cable.tip", GROUND, axis=(0.0, 0.0, 1.0)), 3, r"got \(0.0, 0.0, 1.0\)"),
    ],
)
def test_other_directions_are_refused_by_name(joint, dim, message):
    line = fem.cable(LENGTH, **STIFF, elements=2, dim=dim)
    body = rigid.body(1.0, inertia=1.0 if dim == 2 else (1.0,) * 3, ports={"end": (0.0,) * dim})
    with pytest.raises(ValueError, match=message):
        connect({"cable": line, "body": body}, [joint()])
