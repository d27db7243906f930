"""Boxes, capsules and meshes: distances, balances, momenta, passivity of random impacts, what is refused.

Ten seconds, as each shape is hit four hundred times in the slow tests, and forty times here.
"""

from itertools import pairwise

import meshio
import numpy as np
import pytest
from contact_samples import ball
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import rigid
from flexph import GROUND, connect, integrate
from flexph.contacts import Box, Capsule, Cylinder, Hertz, KelvinVoigt, Mesh, Plane, Rigid, Sphere, contact
from flexph.kernels.surfaces.closest import distance
from flexph.kernels.surfaces.surfaces import GRADIENT, PLACES, VALUE
from flexph.mechanisms.model.state import angular_momentum
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.models import load_model
from flexph.results import static_solution
from flexph.scenes import pose_scene
from flexph.sensors import gap

TETRAHEDRON = (
    np.array([(0.3, 0.0, 0.0), (0.0, 0.3, 0.0), (0.0, 0.0, 0.3), (-0.2, -0.1, -0.2)]),
    np.array([(0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)]),
)
FOLD = (
    0.5 * np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1)]) - 0.25,
    np.array([(0, 1, 2), (0, 2, 3), (0, 4, 5), (0, 5, 1)]),
)
RING = (0.3 * np.array([(1, 0), (0.3, 0.3), (0, 1), (-1, 0), (0, -1)]), np.array([(k, (k + 1) % 5) for k in range(5)]))
SHAPES = {
    "box": (3, lambda port: Box(port, (0.5, 0.3, 0.2))),
    "plate": (3, lambda port: Box(port, (0.5, 0.3, 0.0), axes=Rotation.from_rotvec((0.3, 0.5, 0.1)).as_matrix())),
    "bar": (3, lambda port: Box(port, (0.5, 0.0, 0.0))),
    "capsule": (3, lambda port: Capsule(port, 0.4, 0.1, (1.0, 2.0, 3.0))),
    "mesh": (3, lambda port: Mesh(port, TETRAHEDRON)),
    "open mesh": (3, lambda port: Mesh(port, FOLD)),
    "rectangle": (2, lambda port: Box(port, (0.5, 0.3))),
    "slot": (2, lambda port: Capsule(port, 0.4, 0.1, (1.0, 2.0))),
    "polygon": (2, lambda port: Mesh(port, RING)),
}
LAWS = {
    "elastic": Hertz(1e5),
    "anchored": Hertz(1e5, loss=0.2, friction=0.4),
    "smooth": KelvinVoigt(1e4, damping=9.0, friction=0.4, slip_velocity=0.02),
    "rigid": Rigid(restitution=0.6, friction=0.4),
}


def thrown(shape, law, seed, turn=None):
    """A spinning ball thrown at a shape on a free body that turns; the world may be turned."""
    dim, make = SHAPES[shape]
    rng = np.random.default_rng(seed)
    turn = np.eye(dim) if turn is None else turn
    own = rng.standard_normal(dim)
    own /= np.linalg.norm(own)
    solid = rigid.body(2.0, inertia=0.03 if dim == 2 else (0.02, 0.03, 0.04), ports={"o": (0.02, 0.01, -0.03)[:dim]})
    touch = contact(Sphere("ball.centre", 0.1), make("solid.o"), law, name="touch")
    mechanism = connect({"ball": ball(dim), "solid": solid}, [touch])
    angle = rng.uniform(-3.0, 3.0)
    spin = rng.standard_normal(3)
    if dim == 2:
        facing = float(np.arctan2(turn[1, 0], turn[0, 0]))
        poses = {"ball": (*(turn @ (0.55 * own)), 0.0), "solid": (0.0, 0.0, angle + facing)}
        speeds = {"ball": (*(turn @ (-4.0 * own + 0.3 * spin[:2])), 4.0 * spin[2]), "solid": (0.0, 0.0, 2.0)}
    else:
        R = Rotation.from_rotvec(angle * spin / np.linalg.norm(spin)).as_matrix()
        poses = {"ball": (turn @ (0.55 * own), turn), "solid": (np.zeros(3), turn @ R)}
        speeds = {"ball": (turn @ (-4.0 * own + 0.3 * spin), turn @ (4.0 * spin)), "solid": (np.zeros(3), turn @ spin)}
    return mechanism, mechanism.consistent_state(mechanism.assemble(poses), velocities=speeds)


def hits(shape, law, seeds, steps=60, **options):
    """Number of impacts among random throws, each of which keeps the balance and both momenta, and gains nothing."""
    met = 0
    for seed in seeds:
        mechanism, start = thrown(shape, law, seed)
        run = integrate(mechanism, start, np.linspace(0.0, 0.12, steps + 1), **options)
        ledger = run.ledger
        met += ledger.impulses["touch: normal"].sum() > 0.0
        round_off = 2e-13 if steps >= 60 else 2e-12  # steps of 10 ms go 4 cm deep: the last correction leaves more
        assert np.abs(ledger.residual).max() < round_off * ledger.scale
        lost = sum(ledger.dissipation.values())
        assert lost.sum() > -1e-13 * ledger.scale
        if not isinstance(law, Rigid):
            assert lost.min() > -1e-13 * ledger.scale
        moving = run["ball.velocity"] + 2.0 * run["solid.velocity"]
        assert np.abs(moving - moving[0]).max() < 1e-13 * 10.0
        turning = np.array([angular_momentum(mechanism, x) for x in run.states])
        assert np.abs(turning - turning[0]).max() < 1e-13 * 10.0
    return met


@pytest.mark.covering
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("shape", SHAPES)
def test_random_impacts_keep_balance_and_momenta_and_gain_nothing(shape, law):
    assert hits(shape, LAWS[law], range(10)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize("law", ["anchored", "rigid"])
@pytest.mark.parametrize("shape", SHAPES)
def test_four_hundred_random_impacts(shape, law):
    assert hits(shape, LAWS[law], range(400), steps=12) >= 20


@pytest.mark.parametrize("method", [Decaying(radius=0.5), Exact(tolerance=1e-4)])
def test_other_methods_keep_them_too(method):
    assert hits("mesh", LAWS["anchored"], range(3), method=method) >= 1


@pytest.mark.parametrize("shape", ["box", "open mesh", "polygon"])
def test_a_turned_world_has_the_same_impact(shape):
    dim, _ = SHAPES[shape]
    turn = Rotation.from_rotvec((0.4, -0.7, 1.1)).as_matrix() if dim == 3 else np.array([(0.6, -0.8), (0.8, 0.6)])
    for seed in (0, 1, 2):
        one, other = (
            integrate(*thrown(shape, Hertz(1e5, loss=0.2), seed, by), 1e-3 * np.arange(81)) for by in (None, turn)
        )
        np.testing.assert_allclose(other["ball.centre"], one["ball.centre"] @ turn.T, atol=1e-11)


def closest_to(surface, dim, points, blend=0.0):
    """Distances and gradients at points (n, 3), and discrete gradients between following ones."""
    near, bent, rows = np.zeros((2, PLACES)), np.zeros((4, 3)), []
    for pair in pairwise(points):
        distance(surface, 0, dim, np.array(pair), blend, (near, bent))
        rows.append((near[0, VALUE], near[0, GRADIENT : GRADIENT + 3].copy(), bent[0].copy()))
    return [np.array(own) for own in zip(*rows, strict=True)]


def test_a_mesh_of_a_box_has_the_distances_of_the_box_and_exact_discrete_gradients():
    size = np.array([0.5, 0.3, 0.2])
    corners = 0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    cells = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    box, mesh = Box(GROUND.at(0.0, 0.0, 0.0), size), Mesh(GROUND.at(0.0, 0.0, 0.0), (corners, cells), closed=True)
    points = 0.4 * np.random.default_rng(0).standard_normal((400, 3))
    (value, gradient, discrete), (other, gradients, _) = (closest_to(s.arrays, 3, points) for s in (box, mesh))
    np.testing.assert_allclose(other, value, atol=1e-15)
    away = value > 0.0
    np.testing.assert_allclose(gradients[away], gradient[away], atol=1e-12)
    np.testing.assert_allclose(
        np.vecdot(discrete[:-1], np.diff(points, axis=0)[: len(value) - 1]), np.diff(value), atol=1e-15
    )
    for step, order in ((1e-3, 1), (1e-4, 1)):  # a gradient, but where the step crosses from feature to feature
        ahead, *_ = closest_to(box.arrays, 3, points + step * np.array([1.0, 2.0, 3.0]))
        slope = (ahead - value) / step - gradient @ np.array([1.0, 2.0, 3.0])
        assert np.median(np.abs(slope[away])) < 20.0 * step**order


def test_concave_edges_are_blended_smoothly():
    """Across a valley of 10°: the gradient of the distance has no jump, and the distance is at most k/4 less."""
    tilt = np.tan(np.radians(5.0))
    points = np.array([(0, -1, 0), (0, 1, 0), (1, 1, tilt), (1, -1, tilt), (-1, 1, tilt), (-1, -1, tilt)], dtype=float)
    valley = Mesh(GROUND.at(0.0, 0.0, 0.0), (points, [(0, 3, 2), (0, 2, 1), (0, 1, 4), (0, 4, 5)]))
    k = valley.blend(0.1)
    assert k == pytest.approx(0.5 * 0.1 * (1.0 - np.cos(np.radians(10.0))), rel=1e-12)
    x = np.linspace(-0.05, 0.05, 4001)
    way = np.stack([x, 0.1 + 0.0 * x, 0.1 + 0.0 * x], axis=1)
    value, gradient, _ = closest_to(valley.arrays, 3, way, k)
    sharp, *_ = closest_to(valley.arrays, 3, way)
    assert np.abs(np.diff(gradient, axis=0)).max() < 0.02  # 40 m⁻¹ over a step of 25 µm is 1e-3
    assert (sharp - value).max() == pytest.approx(0.25 * k, rel=1e-6)
    assert (sharp - value).min() > -1e-15
    np.testing.assert_allclose(np.gradient(value, x[1] - x[0])[5:-5], gradient[5:-5, 0], atol=2e-3)


def test_a_face_of_a_mesh_is_a_plane():
    """A ball that rolls over the triangles of a flat mesh goes as on a plane, whatever the triangles."""
    rng = np.random.default_rng(3)
    inner = rng.uniform(-1.0, 1.0, (40, 2))
    flat = np.vstack([inner, [(-3, -3), (3, -3), (3, 3), (-3, 3)]])
    floor = Mesh(GROUND.at(0.0, 0.0, 0.0), (np.pad(flat, ((0, 0), (0, 1))), Delaunay(flat).simplices))
    runs = []
    for shape in (floor, Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))):
        touch = contact(Sphere("ball.centre", 0.1), shape, KelvinVoigt(1e5, damping=50.0, friction=0.3), name="floor")
        mechanism = connect({"ball": ball(3)}, [touch], gravity=(0.0, 0.0, -9.81))
        pose = mechanism.assemble({"ball": ((-0.5, 0.0, 0.101), np.eye(3))})
        start = mechanism.consistent_state(pose, velocities={"ball": ((2.0, 0.3, 0.0), (0.0, 0.0, 5.0))})
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.5, 251))["ball.centre"])
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-10)


def test_a_ball_rests_in_a_groove_on_both_faces():
    """The blend of both faces carries it with N = mg/cos 45° along the gradient (0, 0, cos 45°)."""
    groove = np.array([(0, -1, 0), (0, 1, 0), (1, 1, 1), (1, -1, 1), (-1, 1, 1), (-1, -1, 1)], dtype=float)
    valley = Mesh(GROUND.at(0.0, 0.0, 0.0), (groove, [(0, 3, 2), (0, 2, 1), (0, 1, 4), (0, 4, 5)]))
    law = KelvinVoigt(1e5, damping=300.0, friction=0.2, slip_velocity=1e-2)
    mechanism = connect(
        {"ball": ball(3)}, [contact(Sphere("ball.centre", 0.1), valley, law, name="groove")], gravity=(0, 0, -9.81)
    )
    start = mechanism.consistent_state(mechanism.assemble({"ball": ((0.005, 0.0, 0.15), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, 1.0, 1001))
    assert run["ball.centre"][-1, 0] == pytest.approx(0.0, abs=1e-4)
    assert run.contact("groove").normal[-1] == pytest.approx(9.81 / np.cos(np.pi / 4.0), rel=2e-3)
    assert np.abs(run.ledger.residual).max() < 1e-13 * run.ledger.scale


def test_meshes_come_from_files_and_cavities_from_normals_that_point_inwards(tmp_path):
    points, cells = TETRAHEDRON
    path = tmp_path / "solid.stl"
    meshio.write(path, meshio.Mesh(1e3 * points, [("triangle", cells)]))
    port, centre = GROUND.at(0.0, 0.0, 0.0), np.full(3, 0.02)
    gaps = []
    for shape in (Mesh(port, str(path), scale=1e-3, closed=True), Mesh(port, (points, cells[:, ::-1]))):
        touch = contact(Sphere("ball.centre", 0.01), shape, Hertz(1e5), name="touch")
        mechanism = connect({"ball": ball(3)}, [touch])
        state = mechanism.consistent_state(mechanism.assemble({"ball": (centre, np.eye(3))}))
        gaps.append(float(np.ravel(static_solution(mechanism, state).measured(gap("touch")))[0]))
    assert gaps[0] == pytest.approx(-gaps[1] - 0.02, abs=1e-8)  # STL has single precision
    assert gaps[1] > 0.0


def test_a_model_file_has_them(tmp_path):
    points, cells = TETRAHEDRON
    meshio.write(tmp_path / "solid.stl", meshio.Mesh(1e3 * points, [("triangle", cells)]))
    shapes = [
        "{kind: mesh, port: {ground: [0, 0, 0]}, mesh: solid.stl, scale: 1e-3, closed: true}",
        "{kind: box, port: {ground: [0, 0, -0.3]}, size: [1 m, 10 cm, 0]}",
        "{kind: capsule, port: {ground: [1, 0, 0]}, length: 10 cm, radius: 1 cm, axis: [1, 0, 0]}",
        "{kind: plane, port: {ground: [0, 0, -1]}, normal: [0, 0, 1], speed: 1 + sin(t), direction: [1, 0, 0]}",
        "{kind: skin, ports: [sheet.a, sheet.b, sheet.c], cells: [[0, 1, 2]], radius: 5 mm}",
    ]
    law = "{kind: hertz, stiffness: 1e5, restitution: 0.6, speed: 1 m/s, friction: 0.3}"
    lines = [
        f"  - {{kind: contact, first: {{kind: sphere, port: ball.c, radius: 10 mm}}, second: {own}, law: {law}}}"
        for own in shapes
    ]
    lines[-1] = lines[-1].replace("friction: 0.3", "friction: 0.3, slip_velocity: 1 mm/s")
    text = "bodies:\n  ball: {kind: rigid_body, mass: 1.0, inertia: [0.1, 0.1, 0.1], ports: {c: [0, 0, 0]}}\n"
    corners = "{a: [0, 0, 0], b: [1, 0, 0], c: [0, 1, 0]}"
    text += f"  sheet: {{kind: rigid_body, mass: 1.0, inertia: [0.1, 0.1, 0.1], ports: {corners}}}\n"
    (tmp_path / "model.yaml").write_text(f"{text}gravity: [0, 0, -9.81]\nconnections:\n" + "\n".join(lines) + "\n")
    mechanism = load_model(tmp_path / "model.yaml").mechanism
    own = mechanism.network.arrays.contacts
    assert own.offset.tolist() == pytest.approx([0.01, 0.01, 0.02, 0.01, 0.015])
    assert own.loss == pytest.approx(np.full(5, Hertz(1e5, restitution=0.6, speed=1.0).loss))
    assert own.timed.tolist() == [-1, -1, -1, 0, -1]


@pytest.mark.parametrize("shape", SHAPES)
def test_pictures_draw_them_where_they_are(shape):
    mechanism, start = thrown(shape, Hertz(1e5), 1)
    scene = pose_scene(mechanism, start)
    _, make = SHAPES[shape]
    drawn = np.vstack([np.asarray(part.points).reshape(-1, 3) for part in scene.parts if part.kind == "contact"])
    centre = np.pad(start.x[mechanism.layout.parts["solid.centre"]], (0, 3))[:3]
    assert np.isfinite(drawn).all()
    assert np.linalg.norm(drawn - centre, axis=1).max() < 0.1 + max(0.7, make("solid.o").reach)


def test_what_does_not_take_them_says_so():
    mechanism, start = thrown("box", LAWS["anchored"], 0)
    for method in (Exact4(), ExactGauss()):
        with pytest.raises(ValueError, match="touch"):
            integrate(mechanism, start, np.linspace(0.0, 0.1, 11), method=method)


def test_clear_errors():
    port, (points, cells) = GROUND.at(0.0, 0.0, 0.0), TETRAHEDRON
    for size in ((0.1, -0.1, 0.1), (0.0, 0.0, 0.0), (1.0,)):
        with pytest.raises(ValueError, match="size"):
            Box(port, size)
    with pytest.raises(ValueError, match="rotation matrix"):
        Box(port, (1.0, 1.0, 1.0), axes=2.0 * np.eye(3))
    with pytest.raises(ValueError, match="radius"):
        Capsule(port, 1.0, -0.1, (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match="length"):
        Capsule(port, 0.0, 0.1, (1.0, 0.0, 0.0))
    with pytest.raises(ValueError, match=r"closed=True.*3 sides"):
        Mesh(port, (points, cells[:3]), closed=True)
    with pytest.raises(ValueError, match=r"triangle 1 is degenerate"):
        Mesh(port, (points, [(0, 1, 2), (0, 1, 1)]))
    with pytest.raises(ValueError, match="opposite sides"):
        Mesh(port, (points, [*cells[:3], cells[3][::-1]]))
    with pytest.raises(ValueError, match="more than two cells"):
        Mesh(port, (np.vstack([points, [(1, 1, 1)]]), [*cells, (0, 1, 4)]))
    with pytest.raises(ValueError, match="from 0 to 3"):
        Mesh(port, (points, [(0, 1, 7)]))
    with pytest.raises(ValueError, match="finite"):
        Mesh(port, (points * np.nan, cells))
    with pytest.raises(ValueError, match=r"mesh must be a meshio.Mesh or the path of a file"):
        Mesh(port, 3)
    with pytest.raises(ValueError, match=r"point passes through a mesh"):
        connect({"ball": ball(3)}, [contact("ball.centre", Mesh(port, FOLD), Hertz(1e5))])
    with pytest.raises(ValueError, match=r"3 components|3 in space|components in the plane"):
        connect({"ball": ball(2)}, [contact(Sphere("ball.centre", 0.1), Mesh(GROUND.at(0.0, 0.0), FOLD), Hertz(1e5))])
    with pytest.raises(ValueError, match="needs a point or sphere"):
        contact(Cylinder("a.b", 1.0), Plane(port, (0.0, 0.0, 1.0)), Hertz(1e5))
