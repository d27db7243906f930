"""Forces through named surfaces: loads, reactions and the balance of the part beyond, by two routes."""

import meshio
import numpy as np
import pytest
from covering import covering
from plate_meshes import KINDS, SOFT, THEORIES, rectangle
from scipy.sparse.linalg import spsolve
from solid_meshes import PLANE, SOLID, box, plane_of
from spatial_bodies import random_rotation

import fem
from fem.meshes.reading import solid_mesh
from fem.solids.model import solid_model
from flexph import GROUND, connect, distributed_load, hinge, integrate, weld
from flexph.bodies import reduce_body
from flexph.numerics.rotations import cross
from flexph.results import section_forces

RUBBER = fem.Material(young=2e5, density=200.0, poisson=0.3)
LENGTHS = (1.0, 0.2, 0.15)


def middle(x):
    return np.abs(x[0] - 0.5) < 1e-9


SECTIONS = {"middle": middle, "low": lambda x: x[0] < 0.5 + 1e-9, "root": "left", "tip": "right"}


def static(body, force):
    """Coordinates and stresses under generalised forces, of a body that is held and linear."""
    D, S = body.elasticity.strain, body.elasticity.stiffness_of_stress
    u = spsolve((D.T @ (S @ D)).tocsc(), force)
    return u, S @ (D @ u)


def cantilever(kind, n=1, moved=0.0, **options):
    dim = 3 if kind in SOLID else 2
    mesh = box(kind, (4 * n, 2 * n, 2 * n)[:dim], LENGTHS[:dim])
    if moved:  # nodes off the sections
        corners = np.unique(mesh.cells[0].data)
        inner = corners[np.min(np.abs(mesh.points[corners, :1] - [0.0, 0.5, 1.0]), axis=1) > 1e-9]
        mesh.points[inner, 0] += moved * np.random.default_rng(0).uniform(-1.0, 1.0, len(inner))
    given = {"ports": {"root": "left"}, "reference": "root", "loads": {"end": "right"}, "sections": SECTIONS}
    return fem.solid(mesh, RUBBER, **plane_of(kind), **(given | options))


@pytest.mark.parametrize("kind", SOLID + PLANE)
def test_static_forces_are_the_loads_beyond(kind):
    """On any mesh, also a distorted one: force and moment to round-off."""
    body = cantilever(kind, moved=0.0 if kind[-1:].isdigit() else 0.05)
    d = body.dim
    pull = np.array([3.0, 1.0, -2.0])[:d]
    u, sigma = static(body, body.loads["end"].shapes.T @ pull)
    end = body.loads["end"].positions[0]
    for name, sign in {"middle": 1.0, "low": 1.0, "root": -1.0, "tip": 1.0}.items():
        section = body.sections[name]
        moment = np.einsum("aij,j,i->a", cross(d), end - section.position, pull)
        found = section.forces(sigma, u)
        # sums of some hundred nodal forces, each some thousand times as large as pull in thin cells
        assert found == pytest.approx(sign * np.concatenate([pull, moment]), abs=1e-9)
    middle, low = body.sections["middle"], body.sections["low"]
    assert middle.normal == pytest.approx(np.eye(d)[0], abs=1e-12) and low.normal == pytest.approx(middle.normal)
    assert middle.position == pytest.approx(0.5 * np.array(LENGTHS)[:d])
    assert middle.area == pytest.approx(0.03 if d == 3 else 0.2 * plane_of(kind)["thickness"])


@pytest.mark.parametrize(("kind", "bound"), [("quad", 0.03), ("quad9", 0.01), ("triangle6", 0.02)])
def test_tractions_converge_to_the_nodal_forces(kind, bound):
    """At order 2: of degree 2 that of the stresses, of quadrilaterals because both sides are alike. The force is 1."""
    errors = []
    for n in (4, 8):
        body = cantilever(kind, n)
        u, sigma = static(body, body.loads["end"].shapes.T @ [0.0, 1.0])
        section = body.sections["middle"]
        errors.append(np.abs(section.traction @ sigma - section.forces(sigma, u)).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1) and errors[1] < bound


@pytest.mark.parametrize("kind", SOLID)
def test_both_routes_agree_on_a_patch(kind):
    """A constant stress: σn A and no moment about the centroid, from both sides, where nothing is rigid."""
    body = fem.solid(box(kind, (2, 1, 1), LENGTHS), RUBBER, sections={"middle": middle, "low": SECTIONS["low"]})
    stress = np.array([[3.0, 1.0, 2.0], [1.0, -1.0, 0.5], [2.0, 0.5, 4.0]])
    sigma = np.tile(stress[[0, 1, 2, 1, 0, 0], [0, 1, 2, 2, 2, 1]], body.stress_size // 6)
    want = np.append(stress[:, 0] * 0.03, np.zeros(3))
    for section in body.sections.values():
        assert section.traction @ sigma == pytest.approx(want, abs=1e-13)
        assert section.forces(sigma, np.zeros(body.size)) == pytest.approx(want, abs=1e-13)


@pytest.mark.parametrize(
    "make", [lambda b: b, lambda b: reduce_body(b, modes=4, static=("end",))], ids=["full", "reduced"]
)
def test_at_rest_the_root_carries_the_reaction(make):
    """The load at the end, the section in the middle and at the root, and the reaction of the joint, in a turned pose.

    The reduced body holds the load statically: its stresses are then those of the full one.
    """
    sections = {"root": "left", "middle": middle}
    mesh = box("tetra10", (4, 1, 1), LENGTHS)
    body = make(
        fem.solid(mesh, RUBBER, ports={"root": "left"}, reference="root", loads={"end": "right"}, sections=sections)
    )
    mechanism = connect({"b": body}, [weld("b.root", GROUND), distributed_load("b.end", name="end")])
    pose = mechanism.assemble({"b": ((0.1, 0.2, 0.3), random_rotation(np.random.default_rng(3)))})
    load = np.array((20.0, -10.0, 30.0))
    state = mechanism.equilibrium(pose, inputs={"end": load})
    run = integrate(mechanism, state, [0.0, 1e-4], inputs={"end": lambda t: load})
    for name, sign in (("root", -1.0), ("middle", 1.0)):
        found = section_forces(run, f"b.{name}", frame="world")
        assert found.force[0] == pytest.approx(sign * 0.03 * load, rel=1e-8)  # to which the equilibrium is solved
    joint = mechanism.connections[0].name
    assert section_forces(run, "b.root", frame="world").force[0] == pytest.approx(
        mechanism.reaction(state, joint).force[0], rel=1e-8
    )
    own, R = section_forces(run, "b.root"), run.rotations("b")[0]
    found = section_forces(run, "b.root", frame="world")
    assert R @ own.force[0] == pytest.approx(found.force[0], rel=1e-12)
    assert R @ own.moment[0] == pytest.approx(found.moment[0], rel=1e-12)
    other = section_forces(run, "b.root", about=(1.0, 2.0, 3.0))
    lever = own.about - other.about
    assert other.moment[0] == pytest.approx(own.moment[0] + np.cross(lever, own.force[0]), rel=1e-12)


def test_in_motion_the_section_carries_weight_and_inertia_of_the_part_beyond():
    """A pendulum that swings from the horizontal: the balance of momentum of the part, by differences of velocities.

    Inside the body the functions of the nodes, half of those on the surface, weigh the part as it is.
    """
    mesh = box("hexahedron", (4, 1, 1), LENGTHS)
    body = fem.solid(mesh, RUBBER, ports={"root": "left"}, reference="root", sections={"middle": middle})
    pendulum = connect({"b": body}, [hinge("b.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    start = pendulum.consistent_state(pendulum.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    mass = solid_model(solid_mesh(mesh, plane=False, degree=None), RUBBER, plane=None, thickness=None).mass
    x = mesh.points[:, 0]
    beyond = np.where(middle(mesh.points.T), 0.5, x > 0.5) @ mass
    assert beyond.sum() == pytest.approx(0.5 * body.mass, rel=1e-12)
    errors = []
    for h in (2e-4, 1e-4):
        run = integrate(pendulum, start, np.linspace(0.0, 0.05, round(0.05 / h) + 1))
        v = run.velocities("b", body.view.points, body.view.shape)
        rate = np.einsum("p,tpi->ti", beyond, (v[2:] - v[:-2]) / (2.0 * h))
        want = beyond.sum() * np.array([0.0, 0.0, -9.81]) - rate
        found = section_forces(run, "b.middle", frame="world").force[1:-1]
        errors.append(np.abs(found - want).max() / np.abs(want).max())
    # the differences are of second order in the step, and so are stresses after it
    assert errors[1] < 1e-4 and np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


# --- plates


@covering("theory, kind", tuple(THEORIES), tuple(KINDS))
def test_a_line_of_a_plate_carries_the_loads_beyond(kind, theory):
    """Membrane and shear forces and moments, tip load and pressure on the part beyond: to round-off."""
    mesh = rectangle(kind, (4, 2), LENGTHS[:2], moved=0.0)
    sections = {"middle": middle, "root": "left", "back": fem.Cut(middle, normal=(-1.0, 0.0))}
    body = fem.plate(
        mesh,
        RUBBER,
        thickness=0.01,
        theory=theory,
        ports={"root": "left"},
        reference="root",
        loads={"tip": "right", "far": lambda x: x[0] > 0.75 - 1e-9},
        sections=sections,
    )
    line, pressure = np.array([3.0, 1.0, 2.0]), np.array([0.0, 0.5, -1.0])
    loads = body.loads
    u, sigma = static(body, loads["tip"].shapes.T @ (0.2 * line) + loads["far"].shapes.T @ (0.05 * pressure))
    forces = [(line * 0.2, (1.0, 0.1, 0.0)), (pressure * 0.05, (0.875, 0.1, 0.0))]
    for name, sign in (("middle", 1.0), ("back", -1.0), ("root", -1.0)):
        section = body.sections[name]
        want = sum(np.append(f, np.cross(np.array(at) - section.position, f)) for f, at in forces)
        assert section.forces(sigma, u) == pytest.approx(sign * want, abs=1e-9)
        assert section.area == pytest.approx(0.2)


def test_von_karman_forces_follow_the_slope():
    """A strip that is pulled and bent: its membrane force has a part across the middle surface."""
    options = {"thickness": 0.01, "ports": {"root": "left"}, "reference": "root", "loads": {"tip": "right"}}
    mesh = rectangle("quad", (4, 1), LENGTHS[:2])
    body = fem.plate(mesh, RUBBER, strain="von_karman", sections={"middle": middle}, **options)
    mechanism = connect({"p": body}, [weld("p.root", GROUND), distributed_load("p.tip", axes="body", name="tip")])
    load = np.array([50.0, 0.0, 0.5])
    state = mechanism.equilibrium(mechanism.assemble({"p": (0.0, 0.0, 0.0)}), inputs={"tip": load})
    run = integrate(mechanism, state, [0.0, 1e-4], inputs={"tip": lambda t: load})
    found = section_forces(run, "p.middle").force[0]
    assert found == pytest.approx(0.2 * load, abs=1e-8)
    straight = body.sections["middle"].nodal @ run["p.stress"][0]
    assert abs(straight[2] - 0.1) > 0.02  # what the slope makes of it
    small = reduce_body(body, modes=6, derivatives=6, static=("tip",), inertia=True)
    section, sigma = small.sections["middle"], np.random.default_rng(0).standard_normal(small.stress_size)
    assert section.slopes.shape[1] == small.size and section.weights.shape[0] == len(sigma)


# --- what cannot be


def embedded(*facets):
    """Two cubes with named squares: at the left, and between them."""
    mesh = box("hexahedron", (2, 1, 1), LENGTHS)
    left, between = [0, 1, 3, 2], [4, 5, 7, 6]
    quads = {"left": left, "between": between}
    return meshio.Mesh(
        mesh.points,
        [*mesh.cells, ("quad", [quads[f] for f in facets])],
        cell_sets={"face": [np.zeros(0, int), np.arange(len(facets))], "all": [np.arange(2), np.zeros(0, int)]},
    )


def test_named_facets_inside_the_mesh():
    body = fem.solid(embedded("between"), RUBBER, sections={"a": "face", "b": fem.Cut("face", normal=(-2.0, 0.0, 0.0))})
    a, b = body.sections["a"], body.sections["b"]
    assert a.normal == pytest.approx([1.0, 0.0, 0.0]) and b.normal == pytest.approx([-1.0, 0.0, 0.0])
    assert abs(a.nodal + b.nodal).max() < 1e-16 and a.position == pytest.approx([0.5, 0.1, 0.075])


def test_a_closed_surface_looks_outwards():
    """The cube in the middle of 27, as a region of cells and as facets by their nodes."""
    mesh = box("hexahedron", (3, 3, 3), (3.0, 3.0, 3.0))
    inner = lambda x: np.all((x > 1.0 - 1e-9) & (x < 2.0 + 1e-9), axis=0)  # noqa: E731
    whole = fem.solid(mesh, RUBBER, sections={"cells": inner}, ports={"p": fem.Tie("left", "mean")}, reference="p")
    section = whole.sections["cells"]
    assert section.area == pytest.approx(6.0) and np.abs(section.normal).max() < 1e-15
    positions = whole.view.tensors["stress"].positions
    sigma = np.zeros((len(positions), 6))
    sigma[:, 0] = positions[:, 0]  # σ_xx = x has the force div σ V = 1
    assert section.traction @ sigma.ravel() == pytest.approx([1.0, 0.0, 0.0, 0.0, 0.0, 0.0], abs=1e-12)


@pytest.mark.parametrize(
    ("mesh", "sections", "message"),
    [
        (embedded("between"), {"s": "fase"}, "no region 'fase': section 's': the mesh has 'face', 'all'"),
        (embedded("left", "between"), {"s": "face"}, "'s' must be inside .* 1 facets inside and 1 on the boundary"),
        (embedded("left"), {"s": fem.Cut("face", normal=(1, 0, 0))}, "on the boundary"),
        (embedded("between"), {"s": fem.Cut("face", normal=(0, 1, 0))}, "must cross an open surface"),
        (embedded("between"), {"s": fem.Cut("face", normal=(0, 1))}, r"normal of section 's' must have shape \(3,\)"),
        (embedded("between"), {"s": "all"}, "no facet with other cells"),
        (embedded("between"), {"s": [0, 1]}, "must have whole facets of the mesh, got 2 nodes without one"),
        (embedded("between"), ["face"], "sections must be a dict of names with values"),
        (
            box("hexahedron", (2, 2, 1), LENGTHS),
            {"s": lambda x: (np.abs(x[0] - 0.5) < 1e-9) & (x[1] < 0.11)},
            "must separate the adjacent cells into two sides",
        ),
    ],
)
def test_bad_sections_are_refused(mesh, sections, message):
    with pytest.raises(ValueError, match=message):
        fem.solid(mesh, RUBBER, sections=sections)


def test_a_rigid_region_has_no_section():
    mesh = box("hexahedron", (4, 1, 1), LENGTHS)
    ports = {"half": fem.Tie(lambda x: x[0] < 0.6, "rigid")}
    with pytest.raises(ValueError, match="'s' must not pass through the rigid region of port 'half'"):
        fem.solid(mesh, RUBBER, ports=ports, sections={"s": lambda x: np.abs(x[0] - 0.25) < 1e-9})
    body = fem.solid(mesh, RUBBER, ports=ports, reference="half", loads={"end": "right"}, sections={"s": middle})
    u, sigma = static(body, body.loads["end"].shapes.T @ np.array([1.0, 2.0, 3.0]))
    assert body.sections["s"].forces(sigma, u)[:3] == pytest.approx([1.0, 2.0, 3.0], abs=1e-9)  # from the soft side


def test_bad_questions_are_refused():
    mesh = rectangle("quad", (2, 1))
    body = fem.plate(mesh, SOFT, thickness=0.1, ports={"a": "left"}, reference="a", sections={"m": middle})
    mechanism = connect({"p": body}, [weld("p.a", GROUND)])
    state = mechanism.consistent_state(mechanism.assemble({"p": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, state, [0.0, 1e-3])
    for section, options, message in (
        ("p.n", {}, "no section 'n': body 'p' has 'm'"),
        ("q.m", {}, "no body 'q': there are 'p'"),
        ("p.m", {"route": "traction"}, "a plate has no tractions"),
        ("p.m", {"route": "best"}, "route must be one of 'nodal', 'traction'"),
        ("p.m", {"frame": "port"}, "frame must be one of 'body', 'world'"),
        ("p.m", {"about": (0.0, 0.0)}, "about must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            section_forces(run, section, **options)
