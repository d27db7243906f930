"""Plates as floating bodies: inertia, ports, references, loads, von Kármán strain, motion, bad input.

Ten seconds, as spectra of plates are those of dense matrices.
"""

import meshio
import numpy as np
import pytest
import skfem
from covering import covering
from plate_meshes import KINDS, SOFT, THEORIES, mixed, model, rectangle, rim
from scipy import sparse
from scipy.optimize import fsolve
from scipy.spatial.transform import Rotation
from solid_meshes import box

import fem
import rigid
from fem.plates import plate
from fem.plates import ties as plate_ties
from fem.plates.ties import free_coordinates, rigid_motion
from flexph import connect, hinge, integrate, modes
from flexph.bodies import mean_axes, reduce_body
from flexph.bodies.floating.floating_frame import floating_body
from flexph.bodies.floating.linear_system import linear_body
from flexph.bodies.inertia import contract
from flexph.meshes.files.reading import read
from flexph.numerics.checks import norm

all_theories = pytest.mark.parametrize("theory", THEORIES)
with_inertia = pytest.mark.parametrize(  # sheared plates have rotary inertia
    ("theory", "rotary"),
    [("kirchhoff", False), ("reissner_mindlin", True), pytest.param("kirchhoff", True, marks=pytest.mark.slow)],
)
all_kinds = pytest.mark.parametrize("kind", KINDS)
LENGTHS = (1.2, 0.7)
RUBBER = fem.Material(young=2e8, density=1100.0, poisson=0.4)


# --- inertia and references


@covering("theory, kind", tuple(THEORIES), tuple(KINDS))
def test_mass_and_inertia_of_a_box(kind, theory):
    body = fem.plate(rectangle(kind, (2, 2), LENGTHS, 0.2), RUBBER, thickness=0.05, theory=theory)
    want = rigid.box((*LENGTHS, 0.05), density=1100.0)
    assert body.mass == pytest.approx(want.mass, rel=1e-13)
    assert body.centre == pytest.approx([0.6, 0.35, 0.0], abs=1e-13)
    assert body.moments == pytest.approx(want.moments, rel=1e-12, abs=1e-12)
    bare = fem.plate(rectangle(kind, (2, 2), LENGTHS), RUBBER, thickness=0.05, rotary_inertia=False)
    assert want.moments[0, 0] - bare.moments[0, 0] == pytest.approx(want.mass * 0.05**2 / 12.0, rel=1e-10)


@with_inertia
def test_references_are_of_one_free_body(theory, rotary):
    """A free plate has the same frequencies whichever way its rigid motion is taken out of the deformation."""
    mesh, options = rectangle("quad", (2, 2), LENGTHS, 0.1), {"thickness": 0.05, "theory": theory}
    ports = {"mean": fem.Tie("left", "mean"), "rigid": "right", "node": [0]}
    made = [
        fem.plate(mesh, RUBBER, ports=ports, reference=r, rotary_inertia=rotary, **options)
        for r in ("mean", "rigid", "node", "mean_axis", None)
    ]
    found = [modes(linear_body(b, "b")) for b in made]
    for body, r, f in zip(made, ("mean", "rigid", "node"), found, strict=False):
        assert f.rigid == 6 and f.frequencies == pytest.approx(found[-1].frequencies, rel=1e-8)
        assert norm(body.ports[r].shape) < 1e-12 and norm(body.ports[r].rotation) < 1e-11
    body = made[-1]
    assert np.abs(body.inertia.shape_first).max() < 1e-13 * body.mass
    assert np.abs(contract(body.inertia, about_centre=True).n).max() < 1e-12 * body.mass
    assert norm(made[3].elasticity.strain - body.elasticity.strain) == 0.0  # mean axes by default


@with_inertia
def test_mean_axes_of_large_plates_are_those_of_small_ones(theory, rotary, monkeypatch):
    """What they add to the mass integrals is kept outside: the same frequencies, the same motion of a free plate."""
    options = {"thickness": 0.05, "theory": theory, "rotary_inertia": rotary, "ports": {"corner": [0]}}
    found = []
    for limit in (1000, 0):
        for module in (plate, plate_ties, mean_axes):
            monkeypatch.setattr(module, "FILLED", limit)
        body = fem.plate(rectangle("quad", (2, 2), LENGTHS, 0.1), RUBBER, **options)
        whole = modes(linear_body(body, "b"))
        free = connect({"b": body}, [])
        pose = free.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))})
        start = free.consistent_state(pose, velocities={"b": ((0.1, 0.0, 0.0), (1.0, 2.0, 0.5))})
        run = integrate(free, start, np.linspace(0.0, 0.1, 21))
        turned = body.section_rotation @ run["b.deformation"].T
        found.append((body, whole, run.position("b.corner"), turned))
    (small, want, path, turn), (large, got, moved, turned) = found
    assert large.unshifted is not None and small.unshifted is None
    assert got.rigid == 6 and got.frequencies == pytest.approx(want.frequencies, rel=1e-8)
    # as their own coordinates are others, the deformation of both is zero at the start, and their motions are one
    assert moved == pytest.approx(path, abs=1e-10)
    assert np.abs(turn).max() > 1e-7 and turned == pytest.approx(turn, abs=1e-7 * np.abs(turn).max())


@all_theories
def test_frequencies_do_not_depend_on_how_a_plate_lies(theory):
    """Frequencies do not depend on how an orthotropic plate lies in its plane, if its axes are turned with it."""
    mesh, R = rectangle("triangle", (2, 1), LENGTHS, 0.1), Rotation.from_rotvec([0.0, 0.0, 0.7]).as_matrix()
    wood = {"young": (1.0, 0.1, 0.05), "poisson": (0.3, 0.4, 0.35), "shear": (0.08, 0.07, 0.01), "density": 1.0}
    turned = skfem.MeshTri(R[:2, :2] @ mesh.p + np.array([[0.3], [-2.0]]), mesh.t)
    a = fem.plate(mesh, fem.Orthotropic(**wood), thickness=0.05, theory=theory)
    b = fem.plate(turned, fem.Orthotropic(**wood, axes=R), thickness=0.05, theory=theory)
    want = modes(linear_body(a, "b")).frequencies
    assert modes(linear_body(b, "b")).frequencies == pytest.approx(want, rel=1e-8)
    assert b.moments == pytest.approx(R @ a.moments @ R.T, abs=1e-13)


def test_kinetic_energy_is_that_of_a_real_body():
    """J(u) about P is that of the solid slab at u = 0, and the mass matrix of (ω, u̇) is positive definite at any u."""
    t, rng = 0.1, np.random.default_rng(0)
    for theory in THEORIES:
        body = fem.plate(rectangle("triangle", (1, 1), LENGTHS), RUBBER, thickness=t, theory=theory)
        c = contract(body.inertia, about_centre=False)
        slab = contract(fem.solid(_slab(t), RUBBER).inertia, about_centre=False)
        np.testing.assert_allclose(c.J, slab.J, rtol=1e-10, atol=1e-12 * np.trace(slab.J))
        for size in (0.0, 0.1, 10.0):
            u = size * rng.standard_normal(body.size)
            J = c.J + 2.0 * c.s @ u + np.array([[u @ (c.K[a][b] @ u) for b in range(3)] for a in range(3)])
            n = c.n + np.array([N @ u for N in c.N])
            whole = np.block([[J, n], [n.T, c.M.toarray()]])
            assert np.linalg.eigvalsh(whole / np.sqrt(np.outer(whole.diagonal(), whole.diagonal())))[0] > 0.0


def _slab(t):
    mesh = fem.box_mesh((*LENGTHS, t), (1, 1, 1))
    return skfem.MeshHex(mesh.p - np.array([[0.0], [0.0], [t / 2.0]]), mesh.t)


# --- ports and loads

REGIONS = {
    "edge": "right",
    "area": lambda x: x[0] > LENGTHS[0] / 2 - 1e-9,
    "node": lambda x: (x[0] > LENGTHS[0] - 1e-9) & (x[1] < 1e-9),
}


@covering("theory, how, region", tuple(THEORIES), ("rigid", "mean"), tuple(REGIONS))
def test_ports_follow_rigid_motions(region, how, theory):
    """All coordinates by v + ω × X: they are among those of the body, and every port moves by that and turns by ω."""
    if region == "node" and how == "rigid":
        return
    m = model(rectangle("quad", (2, 2), LENGTHS, 0.1), theory)
    basis, ports = free_coordinates(m, {"p": fem.Tie(REGIONS[region], how), "q": fem.Tie("left", "mean")}, ())
    full, centre, radius = rigid_motion(m, np.arange(len(m.mesh.points)))
    motion = full.toarray() * ([1.0] * 3 + [radius] * 3)
    q = np.linalg.lstsq(basis.toarray(), motion, rcond=None)[0]
    assert basis @ q == pytest.approx(motion, abs=1e-12)
    assert np.abs(m.strain @ motion).max() < 1e-11  # without strain
    for port in ports.values():
        turning = np.stack([np.cross(e, port.position - centre) for e in np.eye(3)], axis=1)
        assert port.shape @ q == pytest.approx(np.hstack([np.eye(3), turning]), abs=1e-12)
        assert port.rotation @ q == pytest.approx(np.hstack([np.zeros((3, 3)), np.eye(3)]), abs=1e-11)


@covering("theory, region", tuple(THEORIES), ("edge", "area"))
def test_rigid_regions_move_as_one(region, theory):
    """All points of the region by v + ω × lever of the port; the mean of the same region agrees with it."""
    mesh = rectangle("quad", (4, 2), LENGTHS, 0.1)
    ports = {"p": fem.Tie(REGIONS[region], "rigid"), "m": fem.Tie(REGIONS[region], "mean"), "q": "left"}
    body = fem.plate(mesh, RUBBER, thickness=0.05, theory=theory, ports=ports, reference="q")
    u = np.random.default_rng(0).standard_normal(body.size)
    points, moved = body.view.points, (body.view.shape @ u).reshape(-1, 3)
    at = points[:, 0] > (LENGTHS[0] - 1e-9 if region == "edge" else 0.99 * LENGTHS[0])
    port, mean = body.ports["p"], body.ports["m"]
    spin = port.rotation @ u
    want = port.shape @ u + np.cross(spin, points[at] - port.position)
    assert moved[at] == pytest.approx(want, abs=1e-10)
    assert mean.rotation @ u == pytest.approx(spin, abs=1e-9)
    lever = mean.position - port.position
    assert mean.shape @ u == pytest.approx(port.shape @ u + np.cross(spin, lever), abs=1e-10)


@all_kinds
def test_loads_do_their_exact_work(kind):
    """Uniform and cell by cell over the area, along an edge: total force and moments."""
    regions = {
        "pressure": lambda x: x[0] > -1.0,
        "cells": fem.Load(lambda x: x[0] > -1.0, uniform=False),
        "edge": fem.Load("right", uniform=False),
        "line": "right",
    }
    body = fem.plate(rectangle(kind, (2, 2), LENGTHS, 0.1), SOFT, thickness=1.0, loads=regions, rotary_inertia=False)
    force = lambda name: body.loads[name].shapes.T @ np.outer(body.loads[name].measures, [1.0, 2.0, 3.0]).ravel()  # noqa: E731
    assert force("pressure") == pytest.approx(body.inertia.shape_first.T @ [1.0, 2.0, 3.0], abs=1e-12)  # ρt = 1
    assert force("cells") == pytest.approx(force("pressure"), abs=1e-12)
    assert force("edge") == pytest.approx(force("line"), abs=1e-12)
    assert body.loads["pressure"].measures == pytest.approx([1.2 * 0.7])
    assert body.loads["edge"].measures.sum() == pytest.approx(0.7)
    assert body.loads["cells"].normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (len(body.view.cells), 1)))
    assert body.loads["line"].normals is None
    assert body.loads["line"].positions[0] == pytest.approx([1.2, 0.35, 0.0])


def test_thickness_and_materials_by_region():
    """A strip of two thicknesses and materials: mass, and the deflection of the end by integration of M/EI."""
    mesh = rectangle("quad", (4, 1), (2.0, 0.5)).with_subdomains(
        {"thick": lambda x: x[0] < 1.0, "thin": lambda x: x[0] > 1.0}
    )
    stiff = fem.Material(young=36.0, density=2.0, poisson=0.0)
    soft = fem.Material(young=12.0, density=1.0, poisson=0.0)
    body = fem.plate(
        mesh,
        {"thick": stiff, "thin": soft},
        thickness={"thick": 0.2, "thin": 0.1},
        supports=[fem.Support("left", "clamped")],
        ports={"end": fem.Tie("right", "mean")},
    )
    assert body.mass == pytest.approx(0.5 * (0.2 * 2.0 + 0.1))
    port = body.ports["end"]
    D, S = body.elasticity.strain, body.elasticity.stiffness_of_stress
    u = np.linalg.solve((D.T @ S @ D).toarray(), port.shape.T @ [0.0, 0.0, 1.0])
    thick, thin = 0.5 * 36.0 * 0.2**3 / 12.0, 0.5 * 12.0 * 0.1**3 / 12.0  # rigidities of the whole width
    want = (2.0**3 - 1.0) / (3.0 * thick) + 1.0 / (3.0 * thin)
    assert (port.shape @ u)[2] == pytest.approx(want, rel=1e-9)


@all_theories
def test_supports_hold(theory):
    """What each support holds does not move, with any coordinates, along the whole edge."""
    mesh = rectangle("triangle", (2, 2), LENGTHS)
    for how in ("clamped", "hinged"):
        body = fem.plate(mesh, RUBBER, thickness=0.05, theory=theory, supports=[fem.Support(rim(LENGTHS), how)])
        u = np.random.default_rng(0).standard_normal(body.size)
        points, moved = body.view.points, (body.view.shape @ u).reshape(-1, 3)
        assert np.abs(moved[rim(LENGTHS)(points.T)]).max() < 1e-12
        assert np.abs(moved).max() > 1e-3
    simple = fem.plate(
        mesh,
        RUBBER,
        thickness=0.05,
        theory=theory,
        supports=[fem.Support("left", "simple"), fem.Support("right", "hinged")],
    )
    moved = (simple.view.shape @ np.random.default_rng(0).standard_normal(simple.size)).reshape(-1, 3)
    left = simple.view.points[:, 0] < 1e-9
    assert np.abs(moved[left, 2]).max() < 1e-12 < 1e-3 < np.abs(moved[left, :2]).max()
    assert norm(simple.ports["frame"].shape) == 0.0 and list(simple.ports) == ["frame"]


# --- von Kármán strain


def equilibrium(body, force):
    """u with D(u)ᵀ C⁻¹ ε(u) = force."""
    e = body.elasticity
    S = e.stiffness_of_stress
    u = np.zeros(body.size)
    for part in np.linspace(0.1, 1.0, 10):
        for _ in range(20):
            D, sigma = e.operator(u), S @ e.strain_of(u)
            K = D.T @ S @ D + e.slopes.T @ sparse.diags_array(e.weights.T @ sigma) @ e.slopes
            step = np.linalg.solve(K.toarray(), D.T @ sigma - part * force)
            u = u - step
            if np.abs(step).max() < 1e-13:
                break
    return u


@all_kinds
def test_von_karman_strip_is_a_beam(kind):
    """A strip with ν = 0 between two hinged ends under a line load: the beam of the same strain, exactly solved.

    ``EI w'' = H w − M₀(x)`` with the constant force H, and EA times the stretch ½∫w'²/L = H.
    """
    L, t, q, E = 1.0, 0.02, 0.02, 12.0
    material = fem.Material(young=E, density=1.0, poisson=0.0)
    body = fem.plate(
        rectangle(kind, (6, 1), (L, 0.2)),
        material,
        thickness=t,
        supports=[fem.Support("left", "hinged"), fem.Support("right", "hinged")],
        strain="von_karman",
        loads={"q": lambda x: x[0] > -1.0},
        ports={"middle": fem.Tie(lambda x: np.abs(x[0] - 0.5) < 1e-9, "mean")},
    )
    port = body.loads["q"]
    u = equilibrium(body, q * 0.2 * (port.shapes.T @ [0.0, 0.0, 1.0]))
    x, bend = np.linspace(0.0, L, 4001), E * t**3 / 12.0

    def shape(H):
        k = np.sqrt(H / bend)
        return q / H * (0.5 * x * (L - x) - (1.0 - np.cosh(k * (x - L / 2)) / np.cosh(k * L / 2)) / k**2)

    stretch = lambda H: 0.5 * np.trapezoid(np.gradient(shape(H[0]), x) ** 2, x) / L - H[0] / (E * t)  # noqa: E731
    H = fsolve(stretch, [1e-3])[0]
    deflection = (body.ports["middle"].shape @ u)[2]
    linear = 5.0 * q * L**4 / (384.0 * bend)
    assert deflection < 0.2 * linear  # far in the nonlinear range
    assert deflection == pytest.approx(shape(H)[2000], rel=1e-3)
    sigma = body.elasticity.stress_of(u)
    assert (body.view.stresses["membrane_force_xx"].cells @ sigma).mean() == pytest.approx(
        H, rel=1e-3 if kind == "quad" else 5e-3
    )


@all_theories
def test_quadratic_strain_is_the_mean_of_each_cell(theory):
    """ε − Du is the mean of (½w_x², ½w_y², w_x w_y) over the cell, on membrane forces alone; D(u) is the rate."""
    mesh, options = rectangle("quad", (2, 1), LENGTHS, 0.1), {"thickness": 0.05, "theory": theory}
    body = fem.plate(mesh, RUBBER, strain="von_karman", supports=[fem.Support("left", "clamped")], **options)
    m, rng = model(mesh, theory, thickness=0.05), np.random.default_rng(0)
    basis, _ = free_coordinates(m, {}, [fem.Support("left", "clamped")])
    u, du = rng.standard_normal((2, body.size))
    e = body.elasticity
    extra = e.strain_of(u) - e.strain @ u
    points = 3 * len(m.solid.weights)
    assert np.abs(extra[points:]).max() == 0.0
    found = extra[:points].reshape(-1, 3) / m.solid.weights[:, None]
    for k in range(2):
        area = next(a for b, c, x, a in m.moment_points)[k]
        where = next(x for b, c, x, a in m.moment_points)[k][None]
        x, y = (rows @ (basis @ u) for rows in m.sampled(0, np.array([k]), where).slopes)
        want = np.array([0.5 * x**2, 0.5 * y**2, x * y]) @ area / area.sum()
        assert found[m.solid.cell_of_point == k] == pytest.approx(np.tile(want, (9, 1)), rel=1e-10)
    h = 1e-6
    rate = (e.strain_of(u + h * du) - e.strain_of(u - h * du)) / (2.0 * h)
    assert e.operator(u) @ du == pytest.approx(rate, rel=1e-7, abs=1e-8)


# --- motion


@covering("theory, strain", tuple(THEORIES), ("linear", "von_karman"))
def test_free_flight_of_two_plates(strain, theory):
    """Two plates on a hinge fly free: energy, both momenta, joints and rotations at round-off."""
    big = fem.plate(
        rectangle("triangle", (2, 1), (0.4, 0.3)),
        RUBBER,
        thickness=0.004,
        theory=theory,
        ports={"a": "left", "b": fem.Tie("right", "mean")},
        strain=strain,
    )
    small = fem.plate(
        rectangle("quad", (1, 1), (0.2, 0.3)), RUBBER, thickness=0.004, theory=theory, ports={"a": "left"}
    )
    mechanism = connect({"big": big, "small": small}, [hinge("big.b", "small.a", axis=(0.0, 1.0, 0.0))])
    rng = np.random.default_rng(0)
    start = mechanism.consistent_state(
        mechanism.assemble({"big": (0.0, 0.0, 0.0)}),
        velocities={"big": (0.3 * rng.standard_normal(3), 3.0 * rng.standard_normal(3))},
    )
    run = integrate(mechanism, start, np.linspace(0.0, 0.05, 51))
    angular, linear = run.angular_momentum(), run.linear_momentum()
    assert run.energy_drift() < 1e-13
    assert np.ptp(angular, axis=0).max() < 1e-13 * np.abs(angular).max()
    assert np.ptp(linear, axis=0).max() < 1e-13 * np.abs(linear).max()
    assert run.ledger.position_residual.max() < 1e-14 and run.orthogonality() < 1e-13


@pytest.mark.parametrize(("kind", "nodes"), [("triangle6", 6), ("quad9", 9), ("quad8", 8)])
def test_meshes_of_degree_two(kind, nodes):
    """Nodes on straight edges are those that meshes of degree 1 are given; serendipity cells have the same w."""
    corners = 3 if kind == "triangle6" else 4
    shape = "triangle" if corners == 3 else "quad"
    given = box(kind, (2, 2), LENGTHS)
    plain = meshio.Mesh(given.points, [(shape, given.cells[0].data[:, :corners])])
    a, b = (
        fem.plate(m, RUBBER, thickness=0.01, ports={"left": lambda x: x[0] < 1e-9}, reference="left")
        for m in (given, plain)
    )
    want = modes(linear_body(b, "b"), 3).frequencies
    assert modes(linear_body(a, "b"), 3).frequencies == pytest.approx(want, rel=1e-9)
    assert a.view.cell_type == kind and a.view.cells.shape[1] == nodes
    named = fem.plate(given, RUBBER, thickness=0.01, ports={"p": "left"}, reference="p")
    assert named.size == a.size


def test_structure_is_skew():
    """J + Jᵀ = 0 and E symmetric positive definite of the blocks of [flex] at a random state."""
    body = fem.plate(
        rectangle("quad", (1, 1)), SOFT, thickness=0.1, strain="von_karman", ports={"a": "left"}, reference="a"
    )
    system = floating_body(body)
    x = 0.1 * np.random.default_rng(0).standard_normal(system.size)
    J, E = system.J(x), system.E(x)
    assert norm(J + J.T) < 1e-13 * norm(J)
    assert norm(E - E.T) < 1e-13 * norm(E)


def test_a_reduced_plate_keeps_low_frequencies_and_stresses():
    """Craig-Bampton vectors of a large plate keep its low frequencies, and its stress tensors."""
    body = fem.plate(
        rectangle("quad", (4, 4), LENGTHS),
        RUBBER,
        thickness=0.02,
        ports={"a": "left", "b": fem.Tie("right", "mean")},
        reference="a",
    )
    small = reduce_body(body, modes=8, static=("b",))
    want, found = (modes(linear_body(b, "b"), 3).frequencies for b in (body, small))
    assert found == pytest.approx(want, rel=2e-2) and np.all(found >= want * (1.0 - 1e-9))
    assert small.view.tensors["stress_top"].cells.shape[1] == small.stress_size


def test_view_can_be_read_back(tmp_path):
    """Modes of a mixed mesh as a VTU file."""
    from flexph.export import write_modes

    body = fem.plate(mixed(0.05), SOFT, thickness=0.05, ports={"a": [0]}, reference="a")
    assert body.view.cell_type == "triangle" and len(body.view.cells) == 8
    mechanism = connect({"p": body}, [])
    pose = mechanism.assemble({"p": (0.0, 0.0, 0.0)})
    path = write_modes(tmp_path / "modes.vtu", mechanism, pose, modes(mechanism.linearize(pose), 2))
    assert meshio.read(path).point_data["mode_1"].shape == (len(body.view.points), 3)
    assert read(path).points.shape[1] == 3


# --- bad input

SQUARE = rectangle("quad", (2, 2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thickness": 0.0}, "thickness must be positive"),
        ({"thickness": {}}, "got none"),
        ({"thickness": {"nowhere": 0.1}}, "nowhere"),
        ({"thickness": {"left": 0.1}}, "must belong to a region of cells"),
        ({"thickness": {"half": 0.1}}, "missing for cells"),
        ({"thickness": {"half": 0.1, "all": 0.1}}, "two for cells"),
        ({"theory": "love"}, "theory must be"),
        ({"strain": "large"}, "strain must be"),
        ({"theory": "reissner_mindlin", "rotary_inertia": False}, "rotary_inertia must be True"),
        ({"shear_correction": -1.0}, "shear_correction must be positive"),
        ({"supports": [fem.Support("left", "simple")]}, "4 are left free"),
        ({"supports": [fem.Support([0], "clamped")]}, "1 are left free"),
        ({"supports": ["left"]}, "must be a Support"),
        ({"supports": [fem.Support("left", "clamped")], "reference": "mean_axis"}, "for a plate with supports"),
        ({"supports": [fem.Support("left", "clamped")], "ports": {"frame": "right"}}, "must not be named 'frame'"),
        ({"supports": [fem.Support("left", "clamped")], "ports": {"a": "front"}}, "on a support"),
        ({"ports": {"a": "left", "b": "front"}}, "must not share nodes"),
        ({"ports": {"a": fem.Tie([0], "rigid")}}, "several nodes"),
        ({"ports": ["left"]}, "ports must be a dict of names with values"),
        ({"ports": {"a": "top"}}, "top"),
        ({"reference": "a"}, "reference"),
        ({"loads": {"q": fem.Load("all", on="volume")}}, "no volume"),
        ({"loads": {"q": [0]}}, "cells or edges"),
        ({"material": fem.Material(young=1.0, density=1.0)}, "poisson= or shear="),
    ],
)
def test_bad_input_is_refused(options, message):
    mesh = SQUARE.with_subdomains({"half": lambda x: x[0] < 0.5, "all": lambda x: x[0] < 2.0})
    given = {"thickness": 0.1, "material": SOFT, **options}
    with pytest.raises(ValueError, match=message):
        fem.plate(mesh, given.pop("material"), **given)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loads": "left"}, "loads must be a dict of names with values, got 'left'"),
        ({"supports": fem.Support("left")}, "supports must be a list of Supports, got a single one"),
        ({"ports": {"mean_axis": "left"}}, "ports must not be named 'mean_axis'"),
    ],
)
def test_bad_types_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fem.plate(
            fem.box_mesh((1.0, 1.0), (2, 2)),
            fem.Material(young=1.0, density=1.0, poisson=0.3),
            **({"thickness": 0.1} | options),
        )


def test_bad_meshes_are_refused():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    dented = points.copy()
    dented[2] = [0.3, 0.3, 0.0]
    with pytest.raises(ValueError, match=r"convex|inside out"):
        fem.plate(meshio.Mesh(dented, [("quad", [[0, 1, 2, 3]])]), SOFT, thickness=0.1)
    curved = np.vstack([points[:3], [[0.5, -0.1, 0.0], [1.0, 0.5, 0.0], [0.5, 0.5, 0.0]]])
    with pytest.raises(ValueError, match="straight edges"):
        fem.plate(meshio.Mesh(curved, [("triangle6", [[0, 1, 2, 3, 4, 5]])]), SOFT, thickness=0.1)
    bent = points.copy()
    bent[2, 2] = 0.1
    with pytest.raises(ValueError, match="z = constant"):
        fem.plate(meshio.Mesh(bent, [("quad", [[0, 1, 2, 3]])]), SOFT, thickness=0.1)
    with pytest.raises(ValueError, match="up to 1000"):
        fem.plate(rectangle("quad", (9, 9)), SOFT, thickness=0.1, strain="von_karman")
    with pytest.raises(ValueError, match="how must be"):
        fem.Support("left", "glued")
