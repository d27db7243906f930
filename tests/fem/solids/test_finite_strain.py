"""Solids and plane bodies of finite strain: closed forms at rest, and what the scheme promises at any step."""

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
import rigid
from flexph import GROUND, connect, distance, distributed_load, hinge, integrate, revolute, slider, spherical
from flexph.results.state_view import MechanismView

RUBBER = fem.Material(young=1e6, density=1000.0, poisson=0.3)
SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)
LENGTH, WIDTH = 0.4, 0.1


def corner(*place):
    """The node at a place."""
    return lambda x: np.linalg.norm(x - np.array(place)[:, None], axis=0) < 1e-9


def body(dim, cells=(1, 1, 1), material=RUBBER, **options):
    """A block of rubber of the plane or of space."""
    options |= {"plane": "stress", "thickness": WIDTH} if dim == 2 else {}
    mesh = fem.box_mesh((LENGTH, WIDTH, WIDTH)[:dim], cells[:dim])
    return fem.solid(mesh, material, degree=2, strain="finite", **options)


def pulled(dim, traction, **options):
    """A block in uniaxial tension, supported where nothing acts: its state by name."""
    ends = {name: corner(*place[:dim]) for name, place in {"a": (0, 0, 0), "b": (LENGTH, 0, 0)}.items()}
    held = [slider("block.b", GROUND, direction=(1.0, 0.0, 0.0)[:dim], turning=True)]
    held.append(hinge("block.a", GROUND) if dim == 2 else spherical("block.a", GROUND))
    if dim == 3:
        held.append(distance("block.c", GROUND.at(0.0, WIDTH, 1.0)))
    block = body(
        dim, ports=ends | {"c": corner(*(0.0, WIDTH, 0.0)[:dim])}, loads={"l": "left", "r": "right"}, **options
    )
    mechanism = connect({"block": block}, [*held, *(distributed_load(f"block.{k}", name=k) for k in "lr")])
    along = traction * np.eye(dim)[0]
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"l": -along, "r": along})
    return MechanismView(mechanism, state.x)


@pytest.mark.parametrize("dim", [2, 3])
def test_uniaxial_tension_of_st_venant_and_kirchhoff(dim):
    """P = ½E(λ³ − λ) per undeformed area, and λ_t² = 1 − ν(λ² − 1)."""
    traction = 0.6e6
    stretch = np.roots([0.5 * RUBBER.young, 0.0, -0.5 * RUBBER.young, -traction])
    stretch = stretch[np.isreal(stretch)].real.max()
    state = pulled(dim, traction)
    apart = [np.linalg.norm(state.position(f"block.{k}") - state.position("block.a")) for k in "bc"]
    np.testing.assert_allclose(apart[0], stretch * LENGTH, rtol=1e-12)
    np.testing.assert_allclose(apart[1], np.sqrt(1.0 - 0.3 * (stretch**2 - 1.0)) * WIDTH, rtol=1e-12)
    uniaxial = np.zeros(3 if dim == 2 else 6)
    uniaxial[0] = traction / stretch
    stresses = state["block.stress"].reshape(-1, uniaxial.size)
    np.testing.assert_allclose(stresses, np.tile(uniaxial, (len(stresses), 1)), rtol=0, atol=1e-12 * RUBBER.young)


def logarithms(C):
    """ψ = ½μ(I₁ − 3) − μ ln J + ½κ(J − 1)², μ = 0.4 MPa, κ = 1 MPa."""
    volume = np.sqrt(np.linalg.det(C))
    return 2e5 * (np.trace(C, axis1=1, axis2=2) - 3.0 - 2.0 * np.log(volume)) + 5e5 * (volume - 1.0) ** 2


def logarithms_by_tensor(C):
    """∂ψ/∂C."""
    volume, inverse = np.sqrt(np.linalg.det(C))[:, None, None], np.linalg.inv(C)
    return 2e5 * (np.eye(3) - inverse) + 5e5 * (volume - 1.0) * volume * inverse


LAWS = {
    "neo-Hooke": (
        fem.NeoHooke(4e5, 6e5),
        lambda a, b, c: 2e5 * (a**2 + b**2 + c**2 - 3) - 4e5 * np.log(a * b * c) + 3e5 * np.log(a * b * c) ** 2,
    ),
    "Mooney-Rivlin": (
        fem.MooneyRivlin(1.2e5, 0.8e5, 1e6),
        lambda a, b, c: (
            1.2e5 * ((a**2 + b**2 + c**2) * (a * b * c) ** (-2 / 3) - 3)
            + 0.8e5 * (((a * b) ** 2 + (b * c) ** 2 + (c * a) ** 2) * (a * b * c) ** (-4 / 3) - 3)
            + 5e5 * (a * b * c - 1) ** 2
        ),
    ),
    "user": (
        fem.StoredEnergy(logarithms, logarithms_by_tensor),
        lambda a, b, c: 2e5 * (a**2 + b**2 + c**2 - 3 - 2 * np.log(a * b * c)) + 5e5 * (a * b * c - 1) ** 2,
    ),
}
"""Laws, and their energies as functions of the principal stretches, written independently."""


def uniaxial(energy, stretch):
    """The lateral stretch and the force per undeformed area of uniaxial tension, by complex steps of ψ."""
    small = 1e-30
    side = brentq(lambda b: energy(stretch, b + small * 1j, b).imag, 0.3, 1.5, xtol=1e-15)
    return side, energy(stretch + small * 1j, side, side).imag / small


@pytest.mark.parametrize(("law", "dim"), [("neo-Hooke", 2), ("Mooney-Rivlin", 3), ("user", 2)])
def test_uniaxial_tension_of_laws(law, dim):
    own, energy = LAWS[law]
    side, traction = uniaxial(energy, 1.4)
    state = pulled(dim, traction, law=own)
    apart = [np.linalg.norm(state.position(f"block.{k}") - state.position("block.a")) for k in "bc"]
    np.testing.assert_allclose(apart, [1.4 * LENGTH, side * WIDTH], rtol=1e-11)
    np.testing.assert_allclose(state["block.stress"][0], traction / 1.4, rtol=1e-10)


def tumbling(dim, step, steps=30, **options):
    """A block between no supports and a rigid body, which are jointed eccentrically and turn against each other."""
    block = body(dim, **{"material": SOFT} | options, ports={"root": "left", "tip": "right"})
    inertia = 0.02 if dim == 2 else np.diag([0.01, 0.02, 0.03])
    hub = rigid.body(2.0, inertia=inertia, ports={"b": (0.1, 0.05, 0.0)[:dim]})
    joint = hinge("block.tip", "hub.b") if dim == 2 else revolute("block.tip", "hub.b", axis=(0.0, 0.0, 1.0))
    mechanism = connect({"block": block, "hub": hub}, [joint])
    spins = {"block": (0.0, 0.3, 3.0), "hub": (0.0, -2.0, -25.0)}
    if dim == 3:
        spins = {"block": ((0.0, 0.3, 0.1), (1.0, 0.5, 3.0)), "hub": ((0.0, -2.0, 0.5), (0.0, -3.0, -25.0))}
    start = mechanism.consistent_state(mechanism.assemble(), velocities=spins)
    return integrate(mechanism, start, np.arange(steps + 1) * step)


@pytest.mark.parametrize(("dim", "step"), [(2, 0.01), (2, 0.05), (3, 0.02)])
def test_all_invariants_are_kept(dim, step):
    run = tumbling(dim, step, steps=30 if dim == 2 else 10)
    assert np.abs(run["block.stress"]).max() > 0.05 * SOFT.young  # it deforms by much
    keeps_all(run)


@pytest.mark.parametrize(("law", "dim"), [(fem.NeoHooke(4e3, 6e3), 2), (fem.MooneyRivlin(1e3, 1e3, 1e4), 3)])
def test_all_invariants_are_kept_by_laws(law, dim):
    run = tumbling(dim, 0.02, steps=10 if dim == 2 else 6, law=law)
    assert np.abs(run["block.stress"]).max() > 0.05 * SOFT.young
    keeps_all(run)


def keeps_all(run):
    """Energy, both momenta, joints and rotations, to round-off."""
    for values, size in (
        (run.ledger.total_energy, run.ledger.total_energy[0]),
        (run.linear_momentum(), np.abs(run.linear_momentum()).max()),
        (run.angular_momentum(), np.abs(run.angular_momentum()).max()),
    ):
        assert np.abs(values - values[0]).max() <= 1e-12 * size
    assert np.abs(run.ledger.residual).max() <= 1e-12 * run.ledger.total_energy[0]
    assert run.ledger.position_residual.max() <= 1e-12
    assert run.orthogonality() <= 1e-12
