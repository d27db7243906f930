"""Mechanisms written as model files and read again are the same ones; what cannot be written is said."""

import math
from dataclasses import replace

import numpy as np
import pytest

import fem
import rigid
from cases import crank_slider, four_bar, slider_crank_3d
from flexph import GROUND, connect, drive, hinge, slider, spring_damper
from flexph.bodies import load_reduced, reduce_body, save_reduced
from flexph.contacts import Cylinder, Hertz, Hole, KelvinVoigt, Plane, Rigid, Rim, Sphere, contact, mutual_contact
from flexph.joints import CoulombFriction, railway_wheel, slipping_wheel
from flexph.laws import coulomb, creep, magic_formula
from flexph.laws.resistive_relations import resistive
from flexph.models import load_model, to_model, write_model
from flexph.models.commands import FOLDER
from flexph.robots import polynomial, trapezoid

STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)
ROUND = fem.Section(diameter=0.01)


def doubled(time):
    """A drive that has an import path only where this module has one."""
    return 2.0 * time


def again(mechanism, folder):
    """The mechanism of the file that is written of one."""
    write_model(folder / "model.yaml", mechanism)
    return load_model(folder / "model.yaml", trust=True).mechanism  # which lies elsewhere than its meshes


def assert_same(mechanism, other):
    """The same bodies and connections, number by number."""
    assert list(other.bodies) == list(mechanism.bodies)
    for name, body in mechanism.bodies.items():
        twin = other.bodies[name]
        assert (twin.mass, twin.size, twin.stress_size, list(twin.ports)) == (
            body.mass,
            body.size,
            body.stress_size,
            list(body.ports),
        )
        if body.elasticity is not None:
            np.testing.assert_array_equal(twin.elasticity.strain.toarray(), body.elasticity.strain.toarray())
    for connection, twin in zip(mechanism.connections, other.connections, strict=True):
        assert (twin.kind, twin.ports, twin.form.measures) == (
            connection.kind,
            connection.ports,
            connection.form.measures,
        )
        assert (twin.form.gaps, twin.form.group) == (connection.form.gaps, connection.form.group)
        assert [row.name for row in twin.rows] == [row.name for row in connection.rows]
    np.testing.assert_array_equal(other.gravity, mechanism.gravity)


FLOOR = Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
MECHANISMS = {
    "bouncing-ball file": lambda: load_model(FOLDER / "bouncing-ball.yaml").mechanism,
    "contacts": lambda: connect(
        {name: rigid.body(1.0, inertia=0.1, ports={"p": (0.0, 0.0), "q": (0.1, 0.0)}) for name in "ab"},
        [
            contact(["a.p", Sphere("a.q", 0.1)], Hole(GROUND.at(0.0, 1.0), 2.0), Hertz(1e5, friction=0.2), name="hole"),
            contact(Cylinder("b.p", 0.1), "a.q", KelvinVoigt(1e4, friction=0.2, slip_velocity=0.1)),
            mutual_contact([Sphere("a.p", 0.1), Sphere("b.p", 0.2)], Rigid(friction=0.1, restitution=0.5), name="pair"),
        ],
    ),
    "four-bar": lambda: four_bar.four_bar(four_bar.DATA["si"], 3),
    "slider-crank-3d": lambda: slider_crank_3d.slider_crank("slender"),
    "solid-bar file": lambda: load_model(FOLDER / "solid-bar.yaml").mechanism,
    "crank-slider file": lambda: load_model(FOLDER / "crank-slider.yaml").mechanism,
    "springs": lambda: connect(
        {"a": rigid.bar(1.0, 2.0), "b": rigid.body(1.0, inertia=np.float64(0.1), ports={"p": np.array([0.0, 1.0])})},
        [
            hinge("a.root", GROUND, friction=coulomb(1.0, speed=0.1)),
            spring_damper("a.tip", GROUND.at(0.0, 1.0), stiffness=3.0, damping=resistive(math.tanh), name="one"),
        ],
        gravity=(0.0, -9.81),
    ),
    "joints that rub": lambda: connect(
        {name: rigid.body(1.0, inertia=0.1, ports={"p": (0.0, 0.0), "q": (0.1, 0.0)}) for name in "ab"},
        [
            hinge("a.p", GROUND, friction=CoulombFriction(0.2, radius=0.01)),
            slider("b.p", "a.q", friction=CoulombFriction(0.3), name="rail"),
        ],
    ),
    "rims": lambda: connect(
        {"a": rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"p": (0.0, 0.0, 0.0)})},
        [contact(Rim("a.p", 0.3, axis=(0.0, 1.0, 0.0), crown=0.05), FLOOR, Hertz(1e5, friction=0.2), name="tyre")],
    ),
    "tyres": lambda: connect(
        {name: rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"p": (0.0, 0.0, 0.0)}) for name in "ab"},
        [
            slipping_wheel("a.p", "b.p", radius=0.3, friction=creep(longitudinal=8e4, lateral=5e4, limit=3e3)),
            slipping_wheel("b.p", radius=0.3, friction=magic_formula(longitudinal=8e4, limit=3e3, curvature=-0.5)),
            railway_wheel(
                "a.p", "b.p", GROUND.at(0.0, 0.75, 0.0), radius=0.4, conicity=0.1, creep=creep(longitudinal=1e7)
            ),
            slipping_wheel(
                "a.p", "b.p", radius=0.3, friction=creep(longitudinal=8e4, lateral_spin=3e3, spin=5.0), name="s"
            ),
        ],
    ),
    "reduced": lambda: connect(
        {"rod": reduce_body(fem.beam(1.0, STEEL, ROUND, elements=3, dim=3), modes=2).with_mass("tip", 1.0)},
        [hinge("rod.root", GROUND, axis=(0.0, 0.0, 1.0))],
    ),
}


@pytest.mark.parametrize("name", [name for name in MECHANISMS if name != "springs"])
def test_what_is_written_is_read_as_the_same(name, tmp_path):
    mechanism = MECHANISMS[name]()
    assert_same(mechanism, again(mechanism, tmp_path))


def test_functions_of_modules_are_written_by_their_path(tmp_path):
    mechanism = MECHANISMS["springs"]()
    data = to_model(mechanism)
    assert data["connections"][0]["friction"]["kind"] == "coulomb"
    assert data["connections"][1]["damping"] == {"kind": "resistive", "function": {"function": "math:tanh"}}
    write_model(tmp_path / "model.yaml", mechanism)
    other = load_model(tmp_path / "model.yaml", trust=True).mechanism
    assert_same(mechanism, other)


def test_materials_and_sections_are_written_once():
    data = to_model(four_bar.four_bar(four_bar.DATA["si"], 3))
    assert (len(data["materials"]), len(data["sections"])) == (1, 2)
    assert data["bodies"]["follower"]["masses"] == [{"port": "root", "mass": 0.042}]
    circle = to_model(connect({"rod": fem.beam(1.0, STEEL, ROUND, elements=1)}, []))
    assert circle["sections"] == {"section1": {"kind": "section", "diameter": 0.01}}


def test_a_body_of_a_file_is_written_by_its_name(tmp_path):
    save_reduced(reduce_body(fem.beam(1.0, STEEL, ROUND, elements=3), modes=2), tmp_path / "rod.h5")
    mechanism = connect({"rod": load_reduced(tmp_path / "rod.h5").with_mass("tip", 1.0)}, [hinge("rod.root", GROUND)])
    read = again(mechanism, tmp_path)
    entry = to_model(read, folder=tmp_path)["bodies"]["rod"]
    assert (entry["kind"], entry["file"], entry["masses"][0]["mass"]) == ("reduced", "rod.h5", 1.0)
    assert_same(mechanism, read)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("", "write either body: the body to reduce, or file: one that flexph reduce has written"),
        ("file: rod.h5, modes: 2", "leave out modes: the body of file is reduced already"),
        ("file: rood.h5", "no file 'rood.h5' .* did you mean 'rod.h5'"),
        ("file: rod.h5", "a reduced body cannot be read from .*rod.h5': it is not an HDF5 file"),
    ],
)
def test_what_is_wrong_with_the_file_of_a_body_is_said(settings, words, tmp_path):
    (tmp_path / "rod.h5").write_text("no body")
    (tmp_path / "model.yaml").write_text(f"bodies:\n  rod: {{kind: reduced, {settings}}}\n")
    with pytest.raises(ValueError, match=words):
        load_model(tmp_path / "model.yaml")


BOX = fem.box_mesh((0.2, 0.1, 0.1), (2, 1, 1))


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (lambda: crank_slider.crank_slider(2, "linear"), r"connections\[1\].angle .*lambda.* has no import path"),
        (lambda: connect({"a": fem.solid(BOX, STEEL)}, []), r"bodies.a.mesh cannot be written: MeshHex1"),
        (
            lambda: connect({"a": replace(rigid.bar(1.0, 1.0), ports={})}, []),
            "call that created this body was not recorded",
        ),
        (lambda: replace(connect({"a": rigid.bar(1.0, 1.0)}, []), gravity=np.ones(2)), "not created by flexph.connect"),
        (
            lambda: connect({"a": rigid.bar(1.0, 1.0)}, [replace(hinge("a.root", GROUND), label="x")]),
            r"connections\[0\] \(x\) cannot be written",
        ),
        (
            lambda: connect({"a": reduce_body(fem.beam(1.0, STEEL, ROUND, elements=1), basis=np.eye(3)[:, :1])}, []),
            "basis",
        ),
    ],
    ids=["lambda", "mesh", "body", "mechanism", "connection", "basis"],
)
def test_what_cannot_be_written_is_said(mechanism, words, tmp_path):
    with pytest.raises(ValueError, match=words):
        write_model(tmp_path / "model.yaml", mechanism())
    assert not (tmp_path / "model.yaml").exists()


def test_a_drive_that_is_a_formula_is_written_as_it_was(tmp_path):
    file = FOLDER / "crank-slider.yaml"
    assert to_model(load_model(file).mechanism)["connections"][1]["angle"] == "150*t"
    turned = drive("a.root", angle=doubled)
    mechanism = connect({"a": rigid.bar(1.0, 1.0)}, [hinge("a.root", GROUND), turned])
    assert to_model(mechanism)["connections"][1]["angle"] == {"function": f"{doubled.__module__}:doubled"}


def test_motions_are_written_by_their_pieces(tmp_path):
    move = trapezoid(0.2, 1.4, velocity=0.8, acceleration=2.0, begin=0.3)
    joints = [hinge("arm.root", GROUND.at(0.0, 0.0)), drive("arm.root", angle=move)]
    twin = again(connect({"arm": rigid.bar(1.0, 1.0)}, joints), tmp_path)
    times = np.linspace(0.0, 3.0, 31)
    (own,) = [row.law.value for connection in twin.connections for row in connection.rows if callable(row.law.value)]
    np.testing.assert_array_equal([own(t) for t in times], [move(t) for t in times])
    several = polynomial({"a": 0.0, "b": 0.1}, {"a": 1.0, "b": 0.2}, duration=1.0)
    with pytest.raises(ValueError, match=r"cannot be written: .* use one, motion\[name\]"):
        to_model(connect({"arm": rigid.bar(1.0, 1.0)}, [joints[0], drive("arm.root", angle=several)]))
