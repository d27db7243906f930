"""Steps of the loops against the oracle (tests/samples/exact_scheme): residual, Jacobian and end at random states.

Kinds of bodies, joints, force elements and contacts are lines of the tables of tests/samples/oracle_kinds.py.

Twenty seconds, as the oracle is plain NumPy and takes each kind of joint, force, body and contact.
"""

import numpy as np
import pytest
from oracle_kinds import (
    BODIES,
    DAMPED_BY_STRAIN,
    DECAYING,
    FLEXIBLE_SHAPES,
    NODAL,
    PLANE,
    RADII,
    RELATIONS,
    RIGID_SHAPES,
    ROUGH,
    SKEW,
    SKINS,
    SLIPPERY,
    SOFT,
    SOFT_GROUND,
    SPACE,
    STOPS,
    STRIP,
    A,
    B,
    block,
    grounded,
    joined,
    touching,
)
from oracle_steps import random_step
from step_of_loops import StepOfLoops

import fem
import rigid
from flexph import connect, distributed_load, force, revolute, torque
from flexph.bodies import mean_axes
from flexph.contacts import KelvinVoigt, Sphere, mutual_contact, stop
from flexph.integration.loops import build, filters
from flexph.integration.loops.wide import kept_block
from flexph.mechanisms.arrays import network

pytestmark = pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
RESIDUAL = 1e-13
"""Round-off of residuals, over their largest entry."""
JACOBIAN = 1e-10
"""Round-off of solutions by a factored Jacobian, whose condition is up to 1e5 here."""
DIRECTIONS = 4
"""Number of random vectors with which exact Jacobians are compared; a wrong entry shows along each of them."""
RATE = 0.5
"""Linear rate of Newton's method with simplified Jacobians J, the spectral radius of J⁻¹J_exact − I."""
CASES = [pytest.param(2, make, id=f"plane: {name}") for name, make in PLANE.items()]
CASES += [pytest.param(3, make, id=f"space: {name}") for name, make in SPACE.items()]


def agree(mechanism, *, residual=RESIDUAL, rate=0.0, size=0.1, radius=1.0, whole=False, seed=0, **kinds):
    """The loops come from a random iterate to the residual, the end and the Jacobian of the oracle.

    With a ``rate`` the Jacobian is a simplified one, with which Newton's method converges by that factor at least.
    """
    own, y = random_step(mechanism, size=size, radius=radius, seed=seed)
    loops = StepOfLoops(mechanism, own.start, own.given, **kinds)
    missed, end = own.residual(y), own.end(y)
    np.testing.assert_allclose(loops.residual(y), missed, rtol=0, atol=residual * np.abs(missed).max())
    for name, value, expected in zip(end._fields, loops.end(), end, strict=True):
        largest = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(value, expected, rtol=0, atol=residual * largest, err_msg=name)
    identity = np.eye(y.size)
    if rate:
        left = loops.solved(own.jacobian(y, identity)) - identity
        assert np.abs(np.linalg.eigvals(left)).max() < rate
        return
    along, atol = identity, JACOBIAN
    if y.size > DIRECTIONS and not whole:
        along = np.random.default_rng(1).standard_normal((y.size, DIRECTIONS))
        atol *= np.sqrt(y.size)  # each entry is a sum over the columns, of independent round-off
    np.testing.assert_allclose(loops.solved(own.jacobian(y, along)), along, rtol=0, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("dim, connections", CASES)
def test_exact_jacobians_agree_in_every_column(dim, connections):
    agree(joined(dim, *connections()), whole=True)


@pytest.mark.parametrize("dim, connections", CASES)
def test_joints_and_force_elements(dim, connections):
    agree(joined(dim, *connections()))


@pytest.mark.parametrize("dim, bodies, connections", BODIES.values(), ids=BODIES)
def test_loops_and_oracle_agree_on_bodies(dim, bodies, connections):
    agree(joined(dim, *connections(), **bodies()), size=0.05)


@pytest.mark.covering
@pytest.mark.parametrize("law", SLIPPERY)
@pytest.mark.parametrize("shapes", RIGID_SHAPES | FLEXIBLE_SHAPES)
def test_loops_and_oracle_agree_on_contacts(shapes, law):
    dim, own = (RIGID_SHAPES | FLEXIBLE_SHAPES)[shapes]
    agree(joined(dim, *touching(own, SLIPPERY[law]), c=block(dim)), contact=1)


@pytest.mark.covering
@pytest.mark.parametrize("law", ROUGH)
@pytest.mark.parametrize("shapes", RIGID_SHAPES)
def test_loops_and_oracle_agree_on_friction_of_contacts(shapes, law):
    """The Jacobian of the loops contains the tangents and the levers of friction, but not their changes."""
    dim, own = RIGID_SHAPES[shapes]
    agree(joined(dim, *touching(own, ROUGH[law]), c=block(dim)), rate=RATE, contact=1)


@pytest.mark.covering
@pytest.mark.parametrize("law", SLIPPERY | {"smooth friction": ROUGH["smooth friction"]})
@pytest.mark.parametrize("dim, own, seed", SKINS.values(), ids=SKINS)
def test_loops_and_oracle_agree_on_skins(dim, own, seed, law):
    """Balls also pass from face to face, which share the force over this step."""
    mechanism = joined(dim, *touching(own, (SLIPPERY | ROUGH)[law]), c=block(dim), d=block(dim))
    agree(mechanism, rate=RATE if law in ROUGH else 0.0, seed=seed, contact=1)


@pytest.mark.parametrize("dim, make", SOFT_GROUND.values(), ids=SOFT_GROUND)
def test_wheels_on_compliant_contacts(dim, make):
    """The load limits the friction, so that the force changes with the gap."""
    contacts = touching(grounded(dim), SLIPPERY["hertz"])[:1]
    agree(joined(dim, *contacts, make()), contact=1)


@pytest.mark.covering
@pytest.mark.parametrize("law", SLIPPERY | ROUGH)
@pytest.mark.parametrize("dim, body, shapes", NODAL.values(), ids=NODAL)
def test_contacts_of_bodies_of_nodes(dim, body, shapes, law):
    connections = touching(shapes, (SLIPPERY | ROUGH)[law])
    agree(joined(dim, *connections, a=body()), rate=RATE if law in ROUGH else 0.0, size=0.05, contact=1)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("law", [SLIPPERY["hertz"], ROUGH["smooth friction"]])
def test_loops_and_oracle_agree_on_groups_of_balls(dim, law):
    """Balls of which each may touch each other."""
    names = [f"b{i}" for i in range(5)]
    ports = {"centre": (0.0,) * dim}
    balls = dict.fromkeys(names, rigid.body(1.0, inertia=0.1 if dim == 2 else (0.1, 0.2, 0.2), ports=ports))
    group = mutual_contact([Sphere(f"{name}.centre", 0.05 * i) for i, name in enumerate(names)], law)
    agree(connect(balls, [group]), rate=RATE if law.friction else 0.0, contact=1)


@pytest.mark.parametrize("dim, limits", STOPS.values(), ids=STOPS)
def test_loops_and_oracle_agree_on_stops(dim, limits):
    """The Jacobian of the loops holds the gradients of angles."""
    law, by_offset = KelvinVoigt(20.0, damping=0.4), "along_axis" in limits(1.0)
    stops = [stop(A, B, law, **limits(q), name=f"stop {q}") for q in RADII]
    agree(joined(dim, *stops), rate=0.0 if by_offset else RATE, contact=1)


@pytest.mark.parametrize("dim, connections", RELATIONS.values(), ids=RELATIONS)
def test_dry_friction_of_joints(dim, connections):
    """Of given forces, whose law is not of the residual; the Jacobian holds the measures along which they act."""
    agree(joined(dim, *connections()), rate=RATE, friction=1)


LARGE = {
    name: BODIES[name] for name in ("von Kármán beam of space", "two beams", "beam about mean axes", "linear solid")
}
LARGE |= {
    "spring": (3, dict, SPACE["cartesian spring"]),
    "curve": (3, dict, SPACE["point on a curve with friction"]),
    "slipping wheel": (3, dict, SPACE["slipping wheel"]),
}


@pytest.mark.parametrize("dim, bodies, connections", LARGE.values(), ids=LARGE)
def test_loops_and_oracle_agree_on_large_bodies(monkeypatch, dim, bodies, connections):
    """Matrices that are kept sparse, the shift to the centre of mass apart, and a border that SuperLU factors."""
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    monkeypatch.setattr(build, "WIDE", -1.0)
    mechanism = joined(dim, *connections(), **bodies())
    assert mechanism.network.arrays.mean is not None and mechanism.once(build.is_wide)
    agree(mechanism)


def test_wheels_on_compliant_contacts_in_a_sparse_border(monkeypatch):
    monkeypatch.setattr(build, "WIDE", -1.0)
    dim, make = SOFT_GROUND["tyre"]
    agree(joined(dim, *touching(grounded(dim), SLIPPERY["hertz"])[:1], make()), contact=1)


@pytest.fixture
def kept(monkeypatch):
    """Python keeps the matrices of all bodies, sparse, and brings in what changes to round-off."""
    for name, value in {"LARGE": 0, "SHARE": 1e6, "ACCURATE": 1e-14, "PASSES": 100}.items():
        monkeypatch.setattr(kept_block, name, value)
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    monkeypatch.setattr(build, "WIDE", -1.0)


KEPT = LARGE | {
    "constant momenta": BODIES["beam with constant momenta"],
    "linear solid of space": BODIES["linear solid of space"],
    "loads": (3, dict, lambda: [force(A, axes="section"), torque(A), distributed_load("a.load")]),
    "contacts": (3, dict, lambda: touching(FLEXIBLE_SHAPES["plane of a beam of space"][1], SLIPPERY["hertz"])),
}


@pytest.mark.parametrize("dim, bodies, connections", KEPT.values(), ids=KEPT)
def test_bodies_whose_matrices_python_keeps(kept, monkeypatch, dim, bodies, connections):
    """Of von Kármán strain where it is a sum of many products."""
    monkeypatch.setattr(kept_block, "PRODUCTS_OF_FEW", 0.0)
    monkeypatch.setattr(kept_block, "PRODUCTS_OF_MANY", 0.0)
    mechanism = joined(dim, *connections(), **bodies())
    assert mechanism.once(build.constants).inertia.is_asked
    agree(mechanism, contact=int(mechanism.network.arrays.contacts.number > 0))


def test_mean_axes_apart_from_sparse_matrices(kept, monkeypatch):
    monkeypatch.setattr(mean_axes, "FILLED", 0)
    body = fem.beam(1.0, SOFT, STRIP, elements=2, dim=3, damping=DAMPED_BY_STRAIN)
    body = mean_axes.about_mean_axes(body)
    mechanism = joined(3, revolute(A, B, axis=SKEW), a=body)
    assert body.unshifted is not None and mechanism.once(build.constants).inertia.is_asked
    agree(mechanism)


@pytest.mark.covering
@pytest.mark.parametrize("radius, narrow", [(0.5, 1000), (0.5, 0), (0.0, 0)], ids=["full", "banded", "banded, to rest"])
@pytest.mark.parametrize("dim, bodies, connections", DECAYING.values(), ids=DECAYING)
def test_loops_and_oracle_agree_on_the_decaying_scheme(monkeypatch, dim, bodies, connections, radius, narrow):
    """By full and by banded matrices; velocities at the end follow from a linear system of a condition up to 1e3."""
    monkeypatch.setattr(filters, "NARROW", narrow)
    agree(joined(dim, *connections(), **bodies()), residual=1e-11, radius=radius)
