"""Compliant contacts in compiled loops: the steps of NumPy to round-off, and their ledger."""

from dataclasses import replace

import numpy as np
import pytest
from contact_samples import LAWS, arm_between_stops, dropped, flexible_arm, in_space, spinning_discs
from rod_samples import SLENDER

import fem
import rigid
from flexph import GROUND, connect, integrate, spherical, weld
from flexph.contacts import Hertz, KelvinVoigt, Plane, Sphere, contact
from flexph.integration.methods import Decaying, Exact


def rod():
    """A rod that falls about its root on a plane that leans, with a point of its section and its tip."""
    body = fem.rod(4.0, None, SLENDER, elements=2, ports={"eye": (2.0, (0.0, 0.0, 0.1))})
    floor = Plane(GROUND.at(0.0, 0.0, -0.1), (0.0, 0.1, 1.0))
    law = Hertz(1e6, loss=0.1, friction=0.3)
    touching = contact([Sphere("rod.eye", 0.01), "rod.tip"], floor, law, name="floor")
    joints = [spherical("rod.root", GROUND.at(0.0, 0.0, 0.0)), touching]
    mechanism = connect({"rod": body}, joints, gravity=(0.0, 0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble())


def redundant():
    """A ball on a body that is welded twice."""
    bar = rigid.body(1.0, inertia=0.01, ports={"a": (-0.1, 0.0), "b": (0.1, 0.0)})
    ball = rigid.body(0.5, inertia=1e-3, ports={"centre": (0.0, 0.0)})
    touching = contact(
        Sphere("ball.centre", 0.05), Plane("bar.a", (0.3, 1.0)), KelvinVoigt(1e4, damping=3.0, friction=0.2)
    )
    joints = [weld("bar.a", GROUND.at(-0.1, 0.0)), weld("bar.b", GROUND.at(0.1, 0.0))]
    mechanism = connect({"bar": bar, "ball": ball}, [*joints, touching], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble(guess={"ball": (0.0, 0.1, 0.0)}))
    return mechanism, start


PLANE = {
    **{f"{law} of discs": (lambda law=law: spinning_discs(LAWS[law]), Exact(), 0.4, 81) for law in LAWS},
    "stops": (arm_between_stops, Exact(), 0.5, 101),
    "a flexible arm": (flexible_arm, Exact(), 0.04, 201),
    "least norm": (redundant, Exact(redundant="least_norm"), 0.3, 61),
    "decay": (flexible_arm, Decaying(0.8), 0.04, 201),
}
SPACE = {
    **{f"{law} in space": (lambda law=law: in_space(LAWS[law]), Exact(), 0.9, 91) for law in LAWS},
    "a rod": (rod, Exact(), 0.3, 151),
}


def agree(made, method, end, count):
    """The steps of the loops and those of NumPy: states to round-off times their stiffness, and the same ledger."""
    (mechanism, start), times = made(), np.linspace(0.0, end, count)
    by_loops, by_numpy = (
        integrate(mechanism, start, times, method=replace(method, compiled=way)) for way in (True, False)
    )
    size = np.abs(by_numpy.states).max()
    np.testing.assert_allclose(by_loops.states, by_numpy.states, rtol=0, atol=1e-9 * size)
    for one in (by_loops.ledger, by_numpy.ledger):
        assert np.abs(one.residual).max() <= 2e-13 * one.scale
    scale = by_numpy.ledger.scale
    for kind in ("energy", "dissipation"):
        for name, values in getattr(by_numpy.ledger, kind).items():
            own = getattr(by_loops.ledger, kind)[name]
            np.testing.assert_allclose(own, values, rtol=0, atol=1e-9 * scale, err_msg=name)
    for connection in (c for c in mechanism.connections if c.touches):
        one, other = (solution.contact(connection.name) for solution in (by_loops, by_numpy))
        assert other.normal.max() > 0.0
        for values in ("normal", "friction"):
            size = np.abs(other.normal).max()
            np.testing.assert_allclose(getattr(one, values), getattr(other, values), rtol=0, atol=1e-7 * size)


@pytest.mark.slow
@pytest.mark.parametrize("case", PLANE)
def test_compiled_steps_in_the_plane_are_those_of_numpy(case):
    agree(*PLANE[case])


@pytest.mark.slow
@pytest.mark.parametrize("case", SPACE)
def test_compiled_steps_in_space_are_those_of_numpy(case):
    agree(*SPACE[case])


@pytest.mark.slow
def test_steps_under_control_are_those_of_numpy():
    mechanism, start = dropped(Hertz(1e7), height=0.02, gravity=9.81)
    times = np.linspace(0.0, 0.2, 5)
    by_loops, by_numpy = (
        integrate(mechanism, start, times, method=Exact(tolerance=1e-4, compiled=way)) for way in (True, False)
    )
    np.testing.assert_allclose(by_loops.states, by_numpy.states, rtol=0, atol=1e-9)


@pytest.mark.slow
def test_a_run_goes_on_to_the_bits_of_one_in_one_piece():
    mechanism, start = spinning_discs(LAWS["anchored"])
    times, method = np.linspace(0.0, 0.4, 81), Exact(compiled=True)
    whole = integrate(mechanism, start, times, method=method)
    first = integrate(mechanism, start, times[:31], method=method)
    second = integrate(mechanism, first.final, times[30:], method=method)
    assert np.abs(second.states[-1] - whole.states[-1]).max() < 1e-12  # histories begin anew
    assert second.ledger.energy["stored group"][0] == first.ledger.energy["stored group"][-1]
