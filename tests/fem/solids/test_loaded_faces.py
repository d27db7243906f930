"""Loads that follow the faces of solids of finite strain: pressure on closed surfaces, and what a step makes of it."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
from flexph import GROUND, connect, distance, distributed_load, hinge, integrate, slider, spherical
from flexph.kernels.faces import face_forces
from flexph.results.state_view import MechanismView

SOFT = fem.Material(young=1e4, density=1000.0, poisson=0.3)
SIDES = (0.4, 0.1, 0.1)
MESHES = {
    "quads": (2, lambda: fem.box_mesh(SIDES[:2], (2, 1))),
    "hexahedra": (3, lambda: fem.box_mesh(SIDES, (2, 1, 1))),
    "tetrahedra": (3, lambda: fem.box_mesh(SIDES, (2, 1, 1)).to_meshtet()),
}


def whole(x):
    """All of a body."""
    return np.isfinite(x[0])


def loaded(dim, mesh, *, along=None, **options):
    """A body whose whole surface takes a traction that follows it."""
    options |= {"plane": "strain", "thickness": 0.1} if dim == 2 else {}
    loads = {"p": fem.Load(whole, on="surface", along=along)}
    return fem.solid(mesh, SOFT, degree=2, strain="finite", loads=loads, **options)


def free(dim, mesh, **options):
    """It alone, without supports, and the samples of its surface."""
    mechanism = connect({"b": loaded(dim, mesh, **options)}, [distributed_load("b.p", axes="face", name="p")])
    return mechanism, mechanism.network.arrays.faces


def volume(faces, x):
    """⅓∮x·(a × b), in the plane ½∮x·n: a form of degree d of the places."""
    points, a, b = (rows @ x for rows in faces[:3])
    normal = np.cross(a, b) if x.shape[1] == 3 else np.column_stack([a[:, 1], -a[:, 0]])
    return float(faces.areas @ np.vecdot(points, normal)) / x.shape[1]


def deformed(mechanism, rng):
    """Places that are turned and strained by much, at random."""
    a = mechanism.network.arrays
    d = a.dim
    places = np.zeros(a.node_position.shape)
    points = np.flatnonzero(a.node_moves)
    places[points] = mechanism.bodies["b"].places
    places = places @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    return places + 0.02 * rng.normal(size=places.shape)


@pytest.mark.parametrize("mesh", MESHES)
def test_uniform_pressure_on_a_closed_surface_has_no_resultant_and_no_moment(mesh):
    """At random deformed states; and it is the gradient of the volume, whose third differences are exact."""
    rng = np.random.default_rng(1)
    dim, make = MESHES[mesh]
    mechanism, faces = free(dim, make())
    x = deformed(mechanism, rng)
    forces = face_forces(faces, x, np.eye(dim)[-1])
    size = np.abs(forces).sum()
    assert np.linalg.norm(forces.sum(axis=0)) <= 1e-14 * size
    moment = np.cross(x, forces) if dim == 3 else x[:, 0] * forces[:, 1] - x[:, 1] * forces[:, 0]
    assert np.abs(moment.sum(axis=0)).max() <= 1e-14 * size
    moved = 0.1 * rng.normal(size=x.shape)
    change = volume(faces, x + 0.5 * moved) - volume(faces, x - 0.5 * moved)
    cubic = 0.25 * volume(faces, moved) if dim == 3 else 0.0
    assert np.sum(forces * moved) == pytest.approx(change - cubic, rel=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_tractions_are_per_deformed_area_and_along_the_deformed_face(dim):
    """Of a homogeneous deformation: normal by Nanson's formula, tangents as images of that of the undeformed face."""
    rng = np.random.default_rng(2)
    side = fem.box_mesh(SIDES[:dim], (1,) * dim)
    options = {"plane": "strain", "thickness": 0.1} if dim == 2 else {}
    along = None if dim == 2 else (1.0, 2.0, -1.0)
    loads = {"p": fem.Load("right", along=along)}
    body = fem.solid(side, SOFT, degree=2, strain="finite", loads=loads, **options)
    mechanism = connect({"b": body}, [distributed_load("b.p", axes="face", name="p")])
    F = np.eye(dim) + 0.3 * rng.normal(size=(dim, dim))
    traction = rng.normal(size=dim)
    places = body.places @ F.T
    force = face_forces(mechanism.network.arrays.faces, places, traction).sum(axis=0)
    area = 0.01 * np.linalg.det(F) * np.linalg.solve(F.T, np.eye(dim)[0])  # 0.1 by 0.1, or by the thickness
    if dim == 2:
        frame = np.array([F[:, 1], np.array([F[1, 1], -F[0, 1]])]) / np.linalg.norm(F[:, 1])
    else:
        first, normal = F @ [0.0, 2.0, -1.0], area / np.linalg.norm(area)
        first /= np.linalg.norm(first)
        frame = np.array([first, np.cross(normal, first), normal])
    np.testing.assert_allclose(force, np.linalg.norm(area) * traction @ frame, rtol=1e-12)


@pytest.mark.parametrize("mesh", ["quads", pytest.param("hexahedra", marks=pytest.mark.slow)])
def test_a_body_under_pressure_keeps_its_balance_and_both_momenta(mesh):
    """And the ledger has −p (ΔV − ¼V[Δx]) of every step, in the plane −p ΔV of it."""
    dim = MESHES[mesh][0]
    mechanism, faces = free(dim, fem.box_mesh(SIDES[:dim], (1,) * dim))
    velocity = (0.0, 0.3, 4.0) if dim == 2 else ((0.0, 0.3, 0.1), (1.0, 0.5, 4.0))
    start = mechanism.consistent_state(mechanism.assemble(), velocities={"b": velocity})
    pressure = 2e3
    run = integrate(mechanism, start, 0.01 * np.arange(7), inputs={"p": -pressure * np.eye(dim)[-1]})
    work = np.asarray(run.ledger.work["p"])
    scale = np.abs(run.ledger.total_energy).max()
    assert np.abs(run.ledger.residual).max() <= 1e-12 * scale
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() <= 1e-12 * np.abs(momentum).max()
    assert run.ledger.iterations.max() <= 6
    a = mechanism.network.arrays
    places = np.zeros((len(run.times), *a.node_position.shape))
    places[:, np.flatnonzero(a.node_moves)] = run["b.centre"].reshape(len(run.times), -1, dim)
    volumes = np.array([volume(faces, x) for x in places])
    cubic = np.array([volume(faces, y - x) for x, y in pairwise(places)])
    expected = -pressure * (np.diff(volumes) - (0.25 * cubic if dim == 3 else 0.0))
    assert np.abs(np.diff(volumes)).max() > 1e-3 * volumes[0]  # it is squeezed
    np.testing.assert_allclose(work, expected, rtol=0.0, atol=1e-12 * scale)


@pytest.mark.slow
@pytest.mark.parametrize("dim", [2, 3])
def test_a_block_under_pressure_has_the_stretch_of_its_closed_form(dim):
    """Neo-Hooke all around at rest: μ(s² − 1) + λ ln s^d = −p s^d; a dead load would have −p s on the right."""
    mu, lam, pressure = 4e3, 6e3, 3e3
    corners = {"a": (0.0, 0.0, 0.0), "b": (0.4, 0.0, 0.0), "c": (0.0, 0.1, 0.0)}
    ports = {name: _corner(*x[:dim]) for name, x in corners.items()}
    block = loaded(dim, fem.box_mesh(SIDES[:dim], (1,) * dim), law=fem.NeoHooke(mu, lam), ports=ports)
    held = [slider("b.b", GROUND, direction=(1.0, 0.0, 0.0)[:dim], turning=True)]
    held += [hinge("b.a", GROUND)] if dim == 2 else [spherical("b.a", GROUND)]
    held += [] if dim == 2 else [distance("b.c", GROUND.at(0.0, 0.1, 1.0))]
    mechanism = connect({"b": block}, [*held, distributed_load("b.p", axes="face", name="p")])
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"p": -pressure * np.eye(dim)[-1]})
    stretch = brentq(lambda s: mu * (s**2 - 1.0) + dim * lam * np.log(s) + pressure * s**dim, 0.5, 1.0)
    assert stretch < 0.95
    tip = MechanismView(mechanism, state.x).position("b.b")
    assert tip[0] == pytest.approx(0.4 * stretch, rel=1e-9)


def _corner(*place):
    return lambda x: np.linalg.norm(x - np.array(place)[:, None], axis=0) < 1e-9


def test_what_has_no_faces_that_deform_is_refused():
    stiff = fem.solid(fem.box_mesh(SIDES, (1, 1, 1)), SOFT, loads={"p": "right"})
    with pytest.raises(ValueError, match=r"must.*surface.*solid.*finite strain.*axes='face'"):
        connect({"b": stiff}, [distributed_load("b.p", axes="face")])
    loads = {"p": fem.Load(whole, on="volume")}
    solid = fem.solid(fem.box_mesh(SIDES, (1, 1, 1)), SOFT, strain="finite", loads=loads)
    with pytest.raises(ValueError, match="must be on a surface"):
        connect({"b": solid}, [distributed_load("b.p", axes="face")])
    with pytest.raises(ValueError, match="along must not be along a normal of its faces"):
        loaded(3, fem.box_mesh(SIDES, (1, 1, 1)), along=(0.0, 2.0, 0.0))
    mechanism, _ = free(2, fem.box_mesh(SIDES[:2], (1, 1)))
    with pytest.raises(ValueError, match="general equations do not support loads that follow faces"):
        mechanism.phdae(mechanism.consistent_state(mechanism.assemble()))
