"""Multibody systems and mechanisms of flexible bodies joined by a port ([flex] eq. (41)-(42), [rigid] sec. 6)."""

from functools import cache

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, State, connect, force, hinge, integrate, slider
from flexph.consistency import consistent
from flexph.interconnection import transformer

PUSH = {"push": lambda t: 3.0 * np.sin(5.0 * t)}
CART, TIMES = 1.5, {steps: np.linspace(0.0, 0.5, steps + 1) for steps in (10, 20)}
MATERIAL, SECTION = fem.Material(young=7e8, density=2700.0), fem.Section(width=0.02, height=0.01)
GRAVITY = (0.0, -9.81)


def beam():
    return fem.beam(1.0, MATERIAL, SECTION, elements=1, reference="simply_supported")


def cart():
    """A mass on a rail: ζ = x, with its pivot as a place of the plane."""
    pivot = rigid.PositionMap(lambda z: np.array([z[0], 0.0]), lambda z: np.array([[1.0], [0.0]]))
    ports = {"push": rigid.ExternalPort(np.eye(1)), "pivot": rigid.ExternalPort(np.array([[1.0, 0.0]]), pivot)}
    return rigid.MultibodySystem(mass=np.array([[CART]]), sample=np.zeros(1), ports=ports)


@cache
def joined():
    """The cart and a flexible pendulum that hangs from it, both as PHDAEs: the whole, its start, and the place of p."""
    pendulum = connect({"beam": beam()}, [force("beam.root"), force("beam.tip")], gravity=GRAVITY)
    state = pendulum.consistent_state(pendulum.assemble(guess={"beam": -0.5}))
    first, second = cart(), pendulum.phdae(state)
    whole = transformer(first.phdae(), second, ("pivot", "force beam.root"), np.eye(2))
    start = np.concatenate([first.state([0.0], [0.0]), state.x, state.multipliers, np.zeros(2)])

    def place(x, port):
        inner = State(0.0, x[2 : 2 + len(state.x)], state.multipliers, state.anchors)
        return pendulum.position(inner, port)

    return whole, consistent(whole, start), place


@cache
def found(steps):
    whole, start, _ = joined()
    return integrate(whole, start, TIMES[steps], inputs=PUSH, progress=False)


def test_the_place_does_not_drift_and_the_balance_closes():
    """Only velocities are coupled: the pivot and the root of the beam stay together to round-off at 50 ms steps."""
    run, place = found(10), joined()[2]
    assert np.ptp(run.states[:, 0]) > 0.1
    assert max(np.abs(place(x, "beam.root") - [x[0], 0.0]).max() for x in run.states) < 1e-14
    assert run.ledger.largest_residual < 1e-13
    assert list(joined()[0].ports) == ["push", "force beam.tip"]


@pytest.mark.parametrize("steps", [10, pytest.param(20, marks=pytest.mark.slow)])
def test_it_moves_as_one_mechanism_does(steps):
    """Another route: cart and beam as bodies with slider and hinge, by the exact scheme with the same steps.

    Both are of second order and differ by their discrete gradients only: by less than 2 % of their error.
    """
    bodies = {"cart": rigid.body(CART, inertia=1.0, ports={"pivot": (0.0, 0.0)}), "beam": beam()}
    joints = [slider("cart.pivot", GROUND), hinge("cart.pivot", "beam.root"), force("cart.pivot")]
    mechanism = connect(bodies, joints, gravity=GRAVITY)
    start = mechanism.consistent_state(mechanism.assemble(guess={"cart": 0.0, "beam": -0.5}))

    def tip(times):
        inputs = {"force cart.pivot": lambda t: [PUSH["push"](t), 0.0]}
        run = integrate(mechanism, start, times, inputs=inputs, progress=False)
        return mechanism.position(run.final, "beam.tip")

    fine = tip(np.linspace(0.0, 0.5, 201))
    wanted = tip(TIMES[steps])
    error = np.abs(wanted - fine).max()
    assert error < 2e-2
    assert joined()[2](found(steps).states[-1], "beam.tip") == pytest.approx(wanted, rel=0.0, abs=0.02 * error)
