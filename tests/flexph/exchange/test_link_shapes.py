"""Shapes of links in files of robots: as contact shapes, and as the solids of flexible links."""

import tomllib
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
from flexph import GROUND, connect, force, integrate, weld
from flexph.contacts import Box, Capsule, KelvinVoigt, Mesh, Plane, Rigid, Sphere, contact
from flexph.exchange import read_mjcf, read_sdf, read_urdf
from flexph.exchange.robots import read
from flexph.methods import Exact4
from flexph.robots.links.shapes import prism

ROOT = Path(__file__).parents[3]
ALLOY = fem.Material(young=7e10, density=2700.0, poisson=0.33)
INERTIAL = (
    '<inertial><origin xyz="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
)
TURNED = f'<origin xyz="0.2 0.1 0" rpy="0 {0.5 * np.pi:.17g} 0"/>'
TETRA = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def shaped(use, *geometries, origin=TURNED):
    return "".join(f"<{use}>{origin}<geometry>{geometry}</geometry></{use}>" for geometry in geometries)


def urdf(folder, *, arm="", hand="", base=""):
    """A link on a turning joint at the height of one metre, and a hand fixed to it at x = 0.4."""
    text = f"""<robot name="r"><link name="base">{base}</link><link name="arm">{INERTIAL}{arm}</link>
    <link name="hand">{hand}</link>
    <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/>
    <axis xyz="0 1 0"/></joint>
    <joint name="grip" type="fixed"><parent link="arm"/><child link="hand"/><origin xyz="0.4 0 0"/></joint></robot>"""
    path = folder / "r.urdf"
    path.write_text(text)
    return path


SHAPES = (
    '<box size="0.1 0.2 0.3"/>',
    '<sphere radius="0.05"/>',
    '<cylinder radius="0.02" length="0.3"/>',
    '<capsule radius="0.02" length="0.3"/>',
    '<mesh filename="tetra.stl" scale="0.1 0.1 0.1"/>',
)


def test_collision_shapes_are_contact_shapes_at_ports(tmp_path):
    """The axes of a shape are those of its element, turned by 90° about y; those of the ground are in the world."""
    meshio.Mesh(TETRA, {"triangle": FACES}).write(tmp_path / "tetra.stl")
    hand = shaped("collision", '<sphere radius="0.03"/>', origin='<origin xyz="0.1 0 0"/>')
    path = urdf(
        tmp_path, arm=shaped("collision", *SHAPES), hand=hand, base=shaped("collision", '<box size="1 1 0.2"/>')
    )
    robot = read_urdf(path, collisions="all")
    box, sphere, cylinder, capsule, mesh = robot.collisions["arm"]
    body, R = robot.bodies["arm"], Rotation.from_euler("y", 90, degrees=True).as_matrix()
    for shape in robot.collisions["arm"]:
        np.testing.assert_allclose(body.ports[shape.port.partition(".")[2]].position, (0.2, 0.1, 0.0), atol=1e-15)
    assert isinstance(box, Box) and box.size == (0.1, 0.2, 0.3)
    np.testing.assert_allclose(box.axes, R, atol=1e-15)
    assert isinstance(sphere, Sphere) and sphere.radius == 0.05
    assert isinstance(capsule, Capsule) and (capsule.length, capsule.radius) == (0.3, 0.02)
    np.testing.assert_allclose(capsule.axis, R[:, 2], atol=1e-15)
    assert isinstance(cylinder, Mesh) and cylinder.encloses
    assert np.ptp(cylinder.points[:, 0]) == pytest.approx(0.3)
    assert isinstance(mesh, Mesh) and mesh.encloses
    np.testing.assert_allclose(np.sort(mesh.points, axis=0), np.sort(0.1 * TETRA @ R.T, axis=0), atol=1e-8)
    (finger,) = robot.collisions["hand"]  # fixed to the arm: a port of the arm
    assert finger.port.startswith("arm.")
    np.testing.assert_allclose(body.ports[finger.port.partition(".")[2]].position, (0.5, 0.0, 0.0), atol=1e-15)
    (floor,) = robot.collisions["base"]
    assert floor.port == GROUND.at(0.2, 0.1, 0.0)


def test_a_prism_encloses_almost_a_cylinder():
    """Area of a polygon of n corners: (n/2) sin(2π/n) r²."""
    points, cells = prism(0.1, 0.5)
    volume = np.linalg.det(points[cells]).sum() / 6.0
    assert volume == pytest.approx(16.0 * np.sin(np.pi / 16.0) * 0.01 * 0.5, rel=1e-12)


def test_a_link_falls_on_the_ground(tmp_path):
    """The hand comes to rest where its sphere lies on the floor, with the balance of energy exact."""
    hand = shaped("collision", '<sphere radius="0.05"/>', origin="")
    robot = read_urdf(urdf(tmp_path, hand=hand), collisions=("hand",))
    law = KelvinVoigt(1e5, damping=500.0)
    floor = contact(list(robot.collisions["hand"]), Plane(GROUND.at(0.0, 0.0, 0.8), (0.0, 0.0, 1.0)), law, name="floor")
    arm = connect(robot.bodies, [*robot.connections, floor], gravity=(0.0, 0.0, -9.81))
    run = integrate(arm, arm.consistent_state(arm.assemble(robot.placed())), np.linspace(0.0, 1.0, 1001))
    height = run.position(robot.ports["hand"])[-1, 2]
    assert height == pytest.approx(0.85, abs=2e-4) and run.ledger.impulses["floor: normal"].sum() > 0.0
    assert run.ledger.largest_residual < 1e-11


def test_sdf_and_mjcf_hand_out_the_same_shapes(tmp_path):
    pytest.importorskip("mujoco")
    quarter = f"{0.5 * np.pi:.17g}"
    geometry = "<collision name='c'><pose>0.2 0.1 0 0 {} 0</pose><geometry>{}</geometry></collision>"
    forms = (
        "<box><size>0.1 0.2 0.3</size></box>",
        "<sphere><radius>0.05</radius></sphere>",
        "<cylinder><radius>0.02</radius><length>0.3</length></cylinder>",
        "<capsule><radius>0.02</radius><length>0.3</length></capsule>",
    )
    own = "".join(geometry.format(quarter, form) for form in forms)
    inertial = "<inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>"
    (tmp_path / "r.sdf").write_text(
        f"<sdf version='1.9'><model name='m'><link name='arm'>{inertial}{own}</link></model></sdf>"
    )
    sizes = {"box": "0.05 0.1 0.15", "sphere": "0.05", "cylinder": "0.02 0.15", "capsule": "0.02 0.15"}
    place = 'pos="0.2 0.1 0" euler="0 90 0"'
    geoms = "".join(f'<geom type="{kind}" size="{size}" {place}/>' for kind, size in sizes.items())
    body = '<inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>'
    world = f'<geom type="plane" size="1 1 1"/><body name="arm"><freejoint/>{body}{geoms}</body>'
    (tmp_path / "r.xml").write_text(f"<mujoco><worldbody>{world}</worldbody></mujoco>")
    sdf = read_sdf(tmp_path / "r.sdf", collisions=["arm"])
    with pytest.warns(UserWarning, match="contacts of 5 shapes"):
        mjcf = read_mjcf(tmp_path / "r.xml", collisions="all")
    for one, two in zip(sdf.collisions["arm"], mjcf.collisions["arm"], strict=True):
        assert type(one) is type(two)
        places = [r.bodies["arm"].ports[s.port.partition(".")[2]].position for r, s in ((sdf, one), (mjcf, two))]
        np.testing.assert_allclose(places[0], places[1], atol=1e-15)
        for name in ("size", "axes", "axis", "radius", "length", "points"):
            if getattr(one, name, None) is not None:
                np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-14)
    (plane,) = mjcf.collisions["world"]
    assert isinstance(plane, Plane) and plane.normal == (0.0, 0.0, 1.0)


def test_meshes_of_mjcf_files_are_those_that_mujoco_compiles(tmp_path):
    """A tetrahedron whose corners MuJoCo moves to its centre and principal axes (single precision) is where it was."""
    pytest.importorskip("mujoco")
    asset = '<asset><mesh name="m" vertex="0 0 0  1 0 0  0 1 0  0 0 1"/></asset>'
    own = (
        '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom type="mesh" mesh="m" pos="0.5 0 0" euler="0 90 0"/>'
    )
    (tmp_path / "r.xml").write_text(
        f"<mujoco>{asset}<worldbody><body name='b'><freejoint/>{own}</body></worldbody></mujoco>"
    )
    with pytest.warns(UserWarning, match="contacts of 1 shapes"):
        robot = read_mjcf(tmp_path / "r.xml", collisions=("b",))
    (mesh,) = robot.collisions["b"]
    place = robot.bodies["b"].ports[mesh.port.partition(".")[2]].position
    corners = TETRA @ Rotation.from_euler("y", 90, degrees=True).as_matrix().T + (0.5, 0.0, 0.0)
    found = mesh.points + place
    assert mesh.encloses and len(found) == 4
    assert np.abs(found[:, None] - corners).max(axis=2).min(axis=1).max() < 1e-6
    volume = np.linalg.det(found[mesh.cells] - found.mean(axis=0)).sum() / 6.0
    assert volume == pytest.approx(1.0 / 6.0, rel=1e-5)


@pytest.mark.parametrize(
    ("collisions", "arm", "words"),
    [
        (("leg",), "", "'leg'"),
        (("arm",), "", "got 'arm', which has none"),
        ("arm", "", "must be a list of names or 'all', got 'arm'"),
        ("all", shaped("collision", '<cone r="1"/>'), "collision 1 of link 'arm' must be one of box"),
        ("all", shaped("collision", '<box size="1 0 1"/>'), "must have positive lengths"),
        ("all", shaped("collision", '<box size="1 1"/>'), "size of collision 1 of link 'arm' must be 3 numbers"),
        ("all", shaped("collision", '<mesh filename="../a.stl"/>'), "in the folder of the robot, got '../a.stl'"),
        ("all", shaped("collision", '<mesh filename="/etc/passwd"/>'), "in the folder of the robot"),
        ("all", shaped("collision", '<mesh filename="file:///etc/a.stl"/>'), "in the folder of the robot"),
        (
            "all",
            shaped("collision", '<mesh filename="package://other/a.stl"/>'),
            "no folder above .* is called 'other'",
        ),
    ],
)
def test_wrong_shapes_are_refused_by_name(tmp_path, collisions, arm, words):
    with pytest.raises(ValueError, match=words):
        read_urdf(urdf(tmp_path, arm=arm), collisions=collisions)


def test_a_package_is_a_folder_above_the_file(tmp_path):
    folder = tmp_path / "robot_description" / "urdf"
    folder.mkdir(parents=True)
    (folder.parent / "meshes").mkdir()
    meshio.Mesh(TETRA, {"triangle": FACES}).write(folder.parent / "meshes" / "a.stl")
    arm = shaped("collision", '<mesh filename="package://robot_description/meshes/a.stl"/>')
    assert len(read_urdf(urdf(folder, arm=arm), collisions="all").collisions["arm"]) == 1
    arm = shaped("collision", '<mesh filename="package://robot_description/../../a.stl"/>')
    with pytest.raises(ValueError, match="in the folder of the robot"):
        read_urdf(urdf(folder, arm=arm), collisions="all")


BAR = shaped("visual", '<box size="0.4 0.02 0.01"/>', origin='<origin xyz="0.2 0 0"/>')
"""A bar from the joint of the arm to that of the hand."""


def bar_of(folder, size=0.01, **given):
    hand = INERTIAL.replace('xyz="0.1 0 0"', 'xyz="0 0 0"')
    path = urdf(folder, arm=BAR, hand=hand)
    return read_urdf(path, flexible={"arm": fem.LinkSolid(ALLOY, size=size, modes=4, **given)})


def test_a_flexible_link_is_the_solid_of_its_shape(tmp_path):
    """Mass and centre of the box; its tip bends under a force as that of a beam, F L³ / (3 E I)."""
    robot = bar_of(tmp_path)
    arm = robot.bodies["arm"]
    assert arm.mass == pytest.approx(2700.0 * 0.4 * 0.02 * 0.01, rel=1e-9)
    np.testing.assert_allclose(arm.centre, (0.2, 0.0, 0.0), atol=1e-12)
    np.testing.assert_allclose(arm.ports["grip"].position, (0.4, 0.0, 0.0), atol=1e-12)
    held = connect({"arm": arm}, [weld("arm.root", GROUND.at(0.0, 0.0, 0.0)), force("arm.grip", name="pull")])
    rest = held.equilibrium(held.assemble({"arm": (np.zeros(3), np.eye(3))}), inputs={"pull": (0.0, 0.0, -1.0)})
    short, long = (free**3 / (3.0 * 7e10 * 0.02 * 0.01**3 / 12.0) for free in (0.38, 0.4))
    assert short < -held.position(rest, "arm.grip")[2] < long  # up to one cell at each end is tied


@pytest.mark.parametrize("method", [None, Exact4()])
def test_a_flexible_link_moves_with_exact_balance(tmp_path, method):
    robot = bar_of(tmp_path, size=0.02)
    arm = connect(robot.bodies, robot.connections, gravity=(0.0, 0.0, -9.81))
    start = arm.consistent_state(arm.assemble(robot.placed({"turn": 0.3})))
    run = integrate(arm, start, np.linspace(0.0, 0.1, 51), **({} if method is None else {"method": method}))
    assert run.ledger.largest_residual < 1e-11
    assert run.measured(robot.joints["turn"].coordinate)[0] == pytest.approx(0.3)
    assert np.ptp(run.position(robot.ports["hand"])[:, 2]) > 1e-3


@pytest.mark.filterwarnings("ignore:the thinnest wall")
def test_a_link_by_an_stl_file_is_that_by_its_box(tmp_path):
    """The same bar by tetrahedra, in millimetres and with its origin at a corner."""
    pytest.importorskip("gmsh", exc_type=ImportError)
    points, faces = fem.box_mesh((400.0, 20.0, 10.0), (1, 1, 1)), []
    mesh = fem.box_mesh((400.0, 20.0, 10.0), (1, 1, 1), simplices=True)
    for facet in mesh.facets[:, mesh.boundary_facets()].T:
        corners = mesh.p[:, facet].T
        outward = np.dot(np.cross(*(corners[1:] - corners[0])), corners.mean(axis=0) - points.p.mean(axis=1)) > 0.0
        faces.append(facet if outward else facet[::-1])
    meshio.Mesh(mesh.p.T, {"triangle": np.array(faces)}).write(tmp_path / "bar.stl")
    stl = BAR.replace('box size="0.4 0.02 0.01"', 'mesh filename="bar.stl" scale="0.001 0.001 0.001"')
    stl = stl.replace('xyz="0.2 0 0"', 'xyz="0 -0.01 -0.005"')
    boxed = bar_of(tmp_path).bodies["arm"]
    hand = INERTIAL.replace('xyz="0.1 0 0"', 'xyz="0 0 0"')
    path = urdf(tmp_path, arm=stl, hand=hand)
    meshed = read_urdf(path, flexible={"arm": fem.LinkSolid(ALLOY, size=0.01, modes=4)}).bodies["arm"]
    assert meshed.mass == pytest.approx(boxed.mass, rel=1e-6)
    np.testing.assert_allclose(meshed.centre, boxed.centre, atol=1e-7)


@pytest.mark.parametrize(
    ("arm", "words"),
    [
        ("", "link 'arm' must have one visual shape, got 0"),
        (BAR + BAR, "link 'arm' must have one visual shape, got 2"),
        (shaped("visual", '<sphere radius="1"/>'), "must be a box, cylinder or mesh, got sphere"),
    ],
)
def test_a_link_that_has_no_solid_is_refused(tmp_path, arm, words):
    with pytest.raises(ValueError, match=words):
        read_urdf(urdf(tmp_path, arm=arm), flexible={"arm": fem.LinkSolid(ALLOY, size=0.01)})
    with pytest.raises(ValueError, match="must be of rigid links, got 'arm'"):
        read_urdf(urdf(tmp_path, arm=BAR), flexible={"arm": fem.LinkSolid(ALLOY, size=0.01)}, collisions=["arm"])


@pytest.fixture
def assumed(monkeypatch):
    """Flexible links of which only names are given, as the entry point of pyproject.toml makes them."""
    group = "flexph.flexible_links"
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][group]
    (point,) = (EntryPoint(name, value, group) for name, value in entry.items())
    monkeypatch.setattr(read, "entry_points", lambda group: [point])


HEAVY = INERTIAL.replace('xyz="0.1 0 0"', 'xyz="0 0 0"')


def test_names_of_flexible_links_take_their_shapes(tmp_path, assumed):
    """The mass of the file, and the stiffness of hollow metal: the body is that of a bar with E/ρ = 2.6e7 m²/s²."""
    path = urdf(tmp_path, arm=BAR, hand=HEAVY)
    said = r"link 'arm' is flexible by assumptions: its visual shape .*kg/m³.*, its centre of mass is 0.1 m from"
    with pytest.warns(UserWarning, match=said):
        arm = read_urdf(path, flexible=["arm"]).bodies["arm"]
    density = 1.0 / (0.4 * 0.02 * 0.01)
    given = fem.Material(young=2.6e7 * density, density=density, poisson=0.3)
    same = read_urdf(path, flexible={"arm": fem.LinkSolid(given, size=0.02)}).bodies["arm"]
    assert arm.mass == pytest.approx(1.0, rel=1e-9)
    strains = [np.linalg.norm(body.elasticity.strain @ np.ones(body.size)) for body in (arm, same)]
    assert arm.size == same.size and strains[0] == pytest.approx(strains[1], rel=1e-6)
    with pytest.raises(ValueError, match=r"flexible must be .* a list of names, got 'arm'"):
        read_urdf(path, flexible="arm")


def test_a_centre_of_mass_that_stays_is_not_spoken_of(tmp_path, assumed):
    path = urdf(tmp_path, arm=BAR, hand=HEAVY)
    path.write_text(path.read_text().replace('<origin xyz="0.1 0 0"/><mass', '<origin xyz="0.2 0 0"/><mass'))
    with pytest.warns(UserWarning, match="link 'arm' is flexible by assumptions") as told:
        read_urdf(path, flexible=["arm"])
    assert "centre of mass" not in str(told[0].message)


def test_a_link_without_a_shape_is_a_bar(tmp_path, assumed):
    path = urdf(tmp_path, hand=HEAVY)
    with pytest.warns(UserWarning, match="link 'arm' is flexible by assumptions: .* round bar of aluminium"):
        arm = read_urdf(path, flexible=["arm"]).bodies["arm"]
    assert arm.mass == pytest.approx(1.0, rel=1e-12) and arm.size == 24


@pytest.mark.filterwarnings("ignore:link 'arm' is flexible", "ignore:the thinnest wall", "ignore:the triangles")
def test_links_by_cylinders_and_by_meshes_of_mjcf_are_solids(tmp_path, assumed):
    """The prism of a cylinder, and a mesh of MuJoCo, whose frame it turns into principal axes: mass and centre stay."""
    pytest.importorskip("gmsh", exc_type=ImportError)
    shape = shaped(
        "visual", '<cylinder radius="0.02" length="0.4"/>', origin='<origin xyz="0.2 0 0" rpy="0 1.5708 0"/>'
    )
    arm = read_urdf(urdf(tmp_path, arm=shape, hand=HEAVY), flexible=["arm"]).bodies["arm"]
    assert arm.mass == pytest.approx(1.0, rel=1e-6)
    np.testing.assert_allclose(arm.centre, (0.2, 0.0, 0.0), atol=2e-3)  # its coarse mesh is not quite symmetric
    pytest.importorskip("mujoco")
    mesh = meshio.Mesh(0.1 * TETRA, {"triangle": FACES})
    mesh.write(tmp_path / "tetra.stl", binary=True)
    text = """<mujoco><asset><mesh name="t" file="tetra.stl"/></asset><worldbody><body name="arm" pos="0 0 1">
    <joint type="hinge" axis="0 1 0"/><geom type="mesh" mesh="t" density="500" contype="0" conaffinity="0"/>
    </body></worldbody></mujoco>"""
    (tmp_path / "t.xml").write_text(text)
    body = read_mjcf(tmp_path / "t.xml", flexible={"arm": fem.LinkSolid(ALLOY, size=0.03, reach=0.06)}).bodies["arm"]
    assert body.mass == pytest.approx(2700.0 * 1e-3 / 6.0, rel=1e-5)
    np.testing.assert_allclose(body.centre, (0.025, 0.025, 0.025), atol=1e-6)


def two_arms(folder, shapes=True):
    """Two links that fall about parallel axes, each with a ball, above a floor that is fixed to the ground."""
    ball = shaped("collision", '<sphere radius="0.05"/>', origin='<origin xyz="0.3 0 0"/>') if shapes else ""
    floor = shaped("collision", '<box size="4 4 0.2"/>', origin='<origin xyz="0 0 -0.35"/>') if shapes else ""
    links = "".join(f'<link name="{name}">{INERTIAL}{ball}</link>' for name in ("one", "other"))
    joints = "".join(
        f'''<joint name="to {name}" type="continuous"><parent link="base"/><child link="{name}"/>
        <origin xyz="{x} 0 0" rpy="0 0 {turn}"/><axis xyz="0 1 0"/></joint>'''
        for name, x, turn in (("one", -0.3, 0.0), ("other", 0.3, 3.14159265))
    )
    path = folder / "two.urdf"
    path.write_text(f'<robot name="two"><link name="base">{floor}</link>{links}{joints}</robot>')
    return path


def test_collision_shapes_form_contacts(tmp_path):
    """Links that a joint connects do not touch; the others do, and stop each other as bodies of given shapes do."""
    with pytest.warns(UserWarning, match="contacts of links are rigid, without friction and restitution"):
        robot = read_urdf(two_arms(tmp_path), contacts=True)
    touching = [c.name for c in robot.connections if c.name.startswith("contact")]
    assert touching == ["contact one–other"]  # both hang at the base, the floor is part of it
    law = KelvinVoigt(1e4, damping=20.0)
    own = read_urdf(two_arms(tmp_path), contacts=law)
    hand = read_urdf(two_arms(tmp_path), collisions="all")
    touch = contact(*(list(hand.collisions[name]) for name in ("one", "other")), law)
    hand = replace(hand, connections=(*hand.connections, touch))
    ends, free = [], replace(own, connections=own.connections[:-1])
    for given in (own, hand, free):
        arms = connect(given.bodies, given.connections, gravity=(0.0, 0.0, 9.81))
        start = arms.consistent_state(arms.assemble(given.placed({"to one": 0.9, "to other": 0.9})))
        ends.append(integrate(arms, start, np.linspace(0.0, 0.3, 301)).states[-1])
    np.testing.assert_array_equal(*ends[:2])
    assert np.abs(ends[2] - ends[0]).max() > 0.1  # without contacts they pass through each other
    assert own.collisions.keys() == {"base", "one", "other"}
    with pytest.raises(ValueError, match="contacts need collision shapes of two links"):
        read_urdf(two_arms(tmp_path, shapes=False), contacts=law)


def test_bodies_of_mjcf_come_to_rest_on_its_floor(tmp_path):
    """A ball of radius 5 cm on the plane of the world, rigidly: its centre is 5 cm high, to the law of positions."""
    pytest.importorskip("mujoco")
    (tmp_path / "ball.xml").write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body name="ball" pos="0 0 0.1"><freejoint/>
        <geom type="sphere" size="0.05" density="1000"/></body></worldbody></mujoco>"""
    )
    robot = read_mjcf(tmp_path / "ball.xml", contacts=Rigid())
    assert [c.name for c in robot.connections] == ["contact world–ball"]
    falling = connect(robot.bodies, robot.connections, gravity=(0.0, 0.0, -9.81))
    start = falling.consistent_state(falling.assemble(robot.placed({})))
    run = integrate(falling, start, np.linspace(0.0, 0.2, 101))
    assert run.position(robot.ports["ball"])[-1, 2] == pytest.approx(0.05, abs=1e-9)
