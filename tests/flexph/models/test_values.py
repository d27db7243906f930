"""Numbers with units, formulas, tables, trusted functions, and entries of every kind, in model files."""

import copy
import math
import pickle
from dataclasses import replace
from itertools import combinations

import meshio
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, joints, laws
from flexph.bodies import body_from_matrices, reduce_body
from flexph.laws import creep, magic_formula, viscous
from flexph.laws.resistive_relations import quadratic
from flexph.models import ModelError, load_model
from flexph.models.reading.expressions import Expression
from flexph.models.reading.tree import read_text
from flexph.robots import polynomial, spline, trapezoid
from flexph.units.quantities import read_quantity


@pytest.mark.parametrize(
    ("given", "unit", "expected"),
    [
        ("30 mm", "m", 0.03),
        ("1e-3", "m", 1e-3),
        (2, "kg", 2.0),
        ("7850 kg/m³", "kg/m^3", 7850.0),
        ("1.5 N·m", "N*m", 1.5),
        ("1 inch", "m", 0.0254),
        ("90 deg", "rad", np.pi / 2),
        ("60 rpm", "rad/s", 2 * np.pi),
        ("5 percent", "", 0.05),
        ("-9.81 m/s**2", "m/s^2", -9.81),
    ],
)
def test_quantities_are_brought_to_si(given, unit, expected):
    assert read_quantity(given, unit) == pytest.approx(expected, rel=1e-14)


def test_words_that_yaml_1_1_takes_for_something_else():
    data = read_text("{a: no, b: 1e-3, c: 12:30, d: on, e: 010, f: 2020-01-01, g: 1_000}", "file").data
    assert data == {"a": "no", "b": 1e-3, "c": "12:30", "d": "on", "e": 10, "f": "2020-01-01", "g": 1000}


def test_formulas_are_functions_of_numbers_and_arrays():
    formula = Expression("where(t < 1, 2*sin(pi*t)**2, -hypot(3, 4)) + max(t, 0.5) % 2")
    times = np.array([0.25, 0.5, 3.0])
    expected = np.where(times < 1, 2 * np.sin(np.pi * times) ** 2, -5.0) + np.maximum(times, 0.5) % 2
    np.testing.assert_allclose(formula(times), expected, rtol=1e-15)
    np.testing.assert_allclose([formula(t) for t in times], expected, rtol=1e-15)
    for again in (pickle.loads(pickle.dumps(formula)), copy.copy(formula)):
        assert again == formula
        assert again(0.3) == formula(0.3)


@pytest.mark.parametrize(
    "text",
    [
        "t.real",
        "(1).__class__",
        "[t]",
        "'a'",
        "lambda: t",
        "t if t else 1",
        "f(t)",
        "sin",
        "t := 1",
        "t; t",
        "",
        "1j",
        "sin(x=1)",
    ],
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match=r"expression|function|name"):
        Expression(text)


def test_powers_take_no_time():
    with np.errstate(over="ignore"):
        assert np.isinf(Expression("9**9**9")(0.0))


MODEL = """
bodies:
  arm: {kind: bar, length: 0.5, mass: 1}
connections:
  - {kind: hinge, first: arm.root, second: {ground: [0, 0]}, friction: {kind: coulomb, force: 1 N*m, speed: 1 deg/s}}
  - {kind: drive, port: arm.root, angle: DRIVE}
  - {kind: force, port: arm.tip, name: load}
runs:
  short: {end: 1 ms, steps: 2, inputs: {load: [1 kN, 200*t]}}
"""


@pytest.fixture
def written(tmp_path):
    """A function that writes a model file and returns it loaded."""

    def load(text, **options):
        (tmp_path / "model.yaml").write_text(text, encoding="utf-8")
        return load_model(tmp_path / "model.yaml", **options)

    load.folder = tmp_path
    return load


def driven(model):
    """The driven angle of the model as a function of time."""
    return next(row.law.value for c in model.mechanism.connections for row in c.rows if callable(row.law.value))


def test_functions_of_time_from_tables(written):
    (written.folder / "motion.csv").write_text("time, angle\n0, 0\n100, 90\n\n200, 90\n", encoding="utf-8")
    table = "{table: motion.csv, time: time, value: angle, unit: deg, time_unit: ms}"
    angle = driven(written(MODEL.replace("DRIVE", table)))
    assert angle(0.05) == pytest.approx(np.pi / 4)
    smooth = driven(written(MODEL.replace("DRIVE", table[:-1] + ", interpolation: cubic}")))
    assert smooth(0.1) == pytest.approx(np.pi / 2)
    assert smooth(0.05) != pytest.approx(np.pi / 4)
    (written.folder / "motion.csv").write_text("time, angle\n0, 0\n100, x\n", encoding="utf-8")
    with pytest.raises(ModelError, match=r"motion.csv, line 3"):
        written(MODEL.replace("DRIVE", table))


@pytest.mark.parametrize(
    ("text", "motion"),
    [
        ("{kind: polynomial, start: 0, end: 90, unit: deg, duration: 100 ms}", polynomial(0.0, 90.0, duration=0.1)),
        (
            "{kind: polynomial, start: 0, end: 90, unit: deg, duration: 0.1, degree: 3, rates: [1, 2], begin: 0.05}",
            polynomial(0.0, 90.0, duration=0.1, degree=3, rates=(1.0, 2.0), begin=0.05),
        ),
        (
            "{kind: trapezoid, start: 10, end: 90, velocity: 400, acceleration: 8000, unit: deg}",
            trapezoid(10.0, 90.0, velocity=400.0, acceleration=8000.0),
        ),
        ("{kind: spline, times: [0, 0.1, 0.2], points: [0, 60, 90], unit: deg}", spline([0, 0.1, 0.2], [0, 60, 90])),
        (
            "{kind: pieces, times: [0, 1], coefficients: [[10, 5, 80]], unit: deg}",
            lambda t: 10.0 + 5.0 * t + 80.0 * t**2,
        ),
    ],
)
def test_motions(written, text, motion):
    angle = driven(written(MODEL.replace("DRIVE", text)))
    for time in (0.0, 0.04, 0.15):
        assert angle(time) == pytest.approx(np.radians(motion(time)), rel=1e-14, abs=1e-15)


def test_bad_motions_are_refused(written):
    for text, message in (
        ("{kind: trapez, start: 0, end: 1}", "did you mean 'trapezoid'"),
        ("{kind: trapezoid, start: 0, end: 1, velocity: -1, acceleration: 1}", "velocity"),
        ("{kind: polynomial, start: 0, end: 1}", "duration"),
        ("{kind: spline, times: [0, 1, 0.5], points: [0, 1, 2]}", "times"),
        ("{kind: spline, times: [0, 1 s], points: [0, 9 deg], unit: deg}", r"points: got '9 deg' beside unit: deg"),
        ("{kind: polynomial, start: 0, end: 1, duration: 1, unit: mm}", r"angle\.unit: got '1 mm', .* a length"),
        ("{expression: t, unit: rpm}", r"angle\.unit: got '1 rpm', .* an angular velocity"),
    ):
        with pytest.raises(ModelError, match=message):
            written(MODEL.replace("DRIVE", text))


def test_functions_of_python_are_trusted_or_refused(written):
    text = MODEL.replace("DRIVE", "{function: 'numpy:sin'}")
    with pytest.raises(ModelError, match="--trust"):
        written(text)
    assert driven(written(text, trust=True)) is np.sin
    with pytest.raises(ModelError, match="did you mean 'sin'"):
        written(text.replace("numpy:sin", "numpy:sinn"), trust=True)
    with pytest.raises(ModelError, match="cannot be imported"):
        written(text.replace("numpy:sin", "nonumpy:sin"), trust=True)


def test_units_of_formulas_inputs_and_friction(written):
    model = written(MODEL.replace("DRIVE", "{expression: 360*t, unit: deg}"))
    assert driven(model)(0.5) == pytest.approx(np.pi)
    (friction,) = (m.damping for c in model.mechanism.connections for m in c.form.measures)
    assert friction.parameters[:2] == (1.0, pytest.approx(np.pi / 180))
    run = model.run("short").solution
    work = run.ledger.work["load"]
    assert len(work) == 2


def same_bodies(body, twin):
    """Whether two bodies have the same masses, ports and stiffness."""
    np.testing.assert_allclose(body.mass, twin.mass, rtol=1e-14)
    assert list(body.ports) == list(twin.ports)
    assert (body.dim, body.size, body.stress_size) == (twin.dim, twin.size, twin.stress_size)
    if twin.elasticity is not None:
        difference = body.elasticity.strain - twin.elasticity.strain
        assert abs(difference).max() <= 1e-12 * abs(twin.elasticity.strain).max()


STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)
WOOD = fem.Orthotropic(young=(12e9, 1e9, 1e9), poisson=(0.3, 0.3, 0.4), shear=(7e8, 7e8, 3e8), density=600.0)
BAR = fem.Section(width=0.02, height=0.01)
BOX, SHEET = fem.box_mesh((0.2, 0.1, 0.1), (2, 1, 1)), fem.box_mesh((0.2, 0.1), (2, 1))
HEAD = """
materials:
  steel: {young: 210 GPa, density: 7850 kg/m^3, poisson: 0.3}
  wood:
    kind: orthotropic
    young: [12 GPa, 1 GPa, 1 GPa]
    poisson: [0.3, 0.3, 0.4]
    shear: [0.7 GPa, 0.7 GPa, 0.3 GPa]
    density: 600
sections:
  bar: {width: 20 mm, height: 10 mm}
bodies:
  body: """
CELLS = "mesh: {lengths: [0.2, 0.1, 0.1], counts: [2, 1, 1]}"
BODIES = [
    (
        "kind: beam, length: 1, material: steel, section: bar, elements: 2, dim: 3, damping: {ratios: [0.01]}",
        lambda: fem.beam(1.0, STEEL, BAR, elements=2, dim=3, damping=fem.Damping(ratios=(0.01,))),
    ),
    (
        f"kind: solid, {CELLS}, material: steel, ports: {{end: {{region: left, how: mean}}}}, loads: {{top: top}}",
        lambda: fem.solid(BOX, STEEL, ports={"end": fem.Tie("left", "mean")}, loads={"top": "top"}),
    ),
    (
        f"kind: solid, {CELLS}, material: wood, reference: end, ports: {{end: left}}",
        lambda: fem.solid(BOX, WOOD, ports={"end": "left"}, reference="end"),
    ),
    (
        "kind: plate, mesh: {lengths: [0.2, 0.1], counts: [2, 1]}, material: steel, thickness: 2 mm, "
        "supports: [{region: left, how: clamped}], ports: {tip: right}",
        lambda: fem.plate(
            SHEET, STEEL, thickness=2e-3, supports=[fem.Support("left", "clamped")], ports={"tip": "right"}
        ),
    ),
    (
        "kind: reduced, modes: 2, static: [tip], "
        "body: {kind: beam, length: 1, material: steel, section: bar, elements: 4}",
        lambda: reduce_body(fem.beam(1.0, STEEL, BAR, elements=4), modes=2, static=["tip"]),
    ),
    (
        "kind: rigid_body, mass: 2, inertia: 1e-3, ports: {a: [10 mm, 0]}",
        lambda: rigid.body(2.0, inertia=1e-3, ports={"a": (0.01, 0.0)}),
    ),
    (
        "kind: cylinder, length: 0.2, radius: 1 cm, density: 1000, ports: {side: [0, 1 cm, 0]}",
        lambda: rigid.cylinder(0.2, 0.01, density=1000.0, ports={"side": (0.0, 0.01, 0.0)}),
    ),
    ("kind: sphere, radius: 1 cm, density: 1000", lambda: rigid.sphere(0.01, density=1000.0)),
    (
        "kind: point, mass: 3, dim: 3, masses: [{port: point, mass: 1}]",
        lambda: rigid.point(3.0, 3).with_mass("point", 1.0),
    ),
]


def kind(entry):
    """The kind of an entry as the name of its test."""
    return entry.partition(",")[0].removeprefix("kind: ") if isinstance(entry, str) else ""


@pytest.mark.parametrize(("text", "twin"), BODIES, ids=kind)
def test_bodies_of_every_kind(text, twin, written):
    same_bodies(written(f"{HEAD}{{{text}}}").mechanism.bodies["body"], twin())


def test_files_declare_bodies_of_matrices(written):
    """Four masses at the corners of a tetrahedron, with springs along its edges."""
    nodes, K = np.vstack([np.zeros(3), np.eye(3)]), np.zeros((12, 12))
    for a, b in combinations(range(4), 2):
        along = np.kron(np.eye(4)[a] - np.eye(4)[b], nodes[a] - nodes[b])
        K += 1e4 * np.outer(along, along)
    mesh = meshio.Mesh(nodes, [("tetra", [[0, 1, 2, 3]])])
    mesh.write(written.folder / "nodes.vtu")
    paths = [written.folder / f"{name}.npy" for name in ("mass", "stiffness")]
    for path, array in zip(paths, (np.eye(12), K), strict=True):
        np.save(path, array)
    text = "{kind: foreign, mass: mass.npy, stiffness: stiffness.npy, nodes: nodes.vtu, ports: {a: 0, b: [1, 2, 3]}, "
    twin = body_from_matrices(*paths, mesh, ports={"a": 0, "b": [1, 2, 3]}, modes=2)
    same_bodies(written(f"{HEAD}{text}modes: 2}}").mechanism.bodies["body"], twin)


A, B, X, Y, Z = "a.centre", "b.centre", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
TURNED = [[0, -1, 0], [1, 0, 0], [0, 0, 1]]
CONNECTIONS = [
    ("kind: hinge, PAIR, axis: [0, 0, 1]", joints.hinge(A, B, axis=Z)),
    ("kind: revolute, PAIR, axis: [0, 0, 1]", joints.revolute(A, B, axis=Z)),
    ("kind: spherical, PAIR", joints.spherical(A, B)),
    ("kind: universal, PAIR, axis: [1, 0, 0], second_axis: [0, 1, 0]", joints.universal(A, B, axis=X, second_axis=Y)),
    (
        "kind: cylindrical, PAIR, axis: [0, 0, 1], sliding_friction: {kind: viscous, coefficient: 2}",
        joints.cylindrical(A, B, axis=Z, sliding_friction=viscous(2.0)),
    ),
    ("kind: planar, PAIR, normal: [0, 0, 1]", joints.planar(A, B, normal=Z)),
    ("kind: slider, port: a.centre, rail: b.centre, direction: [0, 0, 1]", joints.slider(A, B, direction=Z)),
    ("kind: prismatic, port: a.centre, rail: ground, direction: [0, 0, 1]", joints.prismatic(A, GROUND, direction=Z)),
    ("kind: weld, PAIR, rotation: {axis: [0, 0, 2], angle: 90 deg}", joints.weld(A, B, rotation=TURNED)),
    ("kind: weld, PAIR, rotation: {euler: z, angles: [90 deg]}", joints.weld(A, B, rotation=TURNED)),
    ("kind: distance, PAIR, length: 10 cm", joints.distance(A, B, length=0.1)),
    ("kind: knife_edge, port: a.centre, axis: [0, 0, 1]", joints.knife_edge(A, axis=Z)),
    ("kind: wheel, port: a.centre, radius: 1 cm", joints.wheel(A, radius=0.01)),
    ("kind: rolling_disc, port: a.centre, radius: 1 cm, axis: [0, 1, 0]", joints.rolling_disc(A, radius=0.01, axis=Y)),
    ("kind: gear, PAIR, ratio: -2.5, axis: [0, 0, 1]", joints.gear(A, B, ratio=-2.5, axis=Z)),
    (
        "kind: belt, PAIR, radii: [1 cm, 2 cm], crossed: true, axis: [0, 0, 1]",
        joints.belt(A, B, radii=[0.01, 0.02], crossed=True, axis=Z),
    ),
    (
        "kind: rack, rack: a.centre, pinion: b.centre, radius: 1 cm, direction: [1, 0, 0], axis: [0, 0, 1]",
        joints.rack(A, B, radius=0.01, direction=X, axis=Z),
    ),
    (
        "kind: slipping_wheel, wheel: a.centre, chassis: b.centre, radius: 1 cm, roller: 45 deg, "
        "friction: {kind: viscous, coefficient: 2}",
        joints.slipping_wheel(A, B, radius=0.01, roller=math.pi / 4.0, friction=viscous(2.0)),
    ),
    (
        "kind: slipping_wheel, wheel: a.centre, chassis: b.centre, radius: 30 cm, "
        "friction: {kind: creep, longitudinal: 80 kN, lateral: 50 kN, limit: 3 kN, "
        "lateral_spin: 2 kN*m, spin: 5 N*m^2, saturation: hyperbolic}",
        joints.slipping_wheel(
            A,
            B,
            radius=0.3,
            friction=creep(
                longitudinal=8e4, lateral=5e4, limit=3e3, lateral_spin=2e3, spin=5.0, saturation="hyperbolic"
            ),
        ),
    ),
    (
        "kind: railway_wheel, wheel: a.centre, chassis: b.centre, rail: {ground: [0, 0.75, 0]}, radius: 45 cm, "
        "conicity: 0.05, creep: {kind: magic_formula, longitudinal: 10 MN, limit: 20 kN, shape: 1.5}",
        joints.railway_wheel(
            A,
            B,
            GROUND.at(0.0, 0.75, 0.0),
            radius=0.45,
            conicity=0.05,
            creep=magic_formula(longitudinal=1e7, limit=2e4, shape=1.5),
        ),
    ),
    (
        "kind: point_on_curve, port: a.centre, curve: [{ground: [0, 0, 0]}, {ground: [1, 0, 0]}], at: [0, 2], "
        "friction: {kind: viscous, coefficient: 2}",
        joints.point_on_curve(
            A, [GROUND.at(0.0, 0.0, 0.0), GROUND.at(1.0, 0.0, 0.0)], at=[0.0, 2.0], friction=viscous(2.0)
        ),
    ),
    (
        "kind: point_on_curve, port: a.centre, curve: [{ground: [0, 0, 0]}, {ground: [1, 0, 0]}], motor: true, "
        "name: trolley",
        joints.point_on_curve(A, [GROUND.at(0.0, 0.0, 0.0), GROUND.at(1.0, 0.0, 0.0)], motor=True, name="trolley"),
    ),
    (
        "kind: point_on_curve, port: a.centre, curve: [{ground: [0, 0, 0]}, {ground: [1, 0, 0]}], place: 0.1 + 2*t",
        joints.point_on_curve(A, [GROUND.at(0.0, 0.0, 0.0), GROUND.at(1.0, 0.0, 0.0)], place=lambda t: 0.1 + 2.0 * t),
    ),
    (
        "kind: rope, path: [a.centre, {kind: sheave, port: b.centre, radius: -5 cm, axis: [0, 0, 1]}, "
        "{ground: [0, 0, 0]}], stiffness: 2 kN/m, damping: 3, length: 2 - 0.1*t",
        joints.rope(
            [A, joints.Sheave(B, -0.05, axis=Z), GROUND.at(0.0, 0.0, 0.0)],
            stiffness=2000.0,
            damping=3.0,
            length=lambda t: 2.0 - 0.1 * t,
        ),
    ),
    (
        "kind: rope, path: [{kind: sheave, port: a.centre, radius: 5 cm, axis: [0, 0, 1], grips: true}, b.centre], "
        "stiffness: 2 kN/m",
        joints.rope([joints.Sheave(A, 0.05, axis=Z, grips=True), B], stiffness=2000.0),
    ),
    (
        "kind: rope, path: [a.centre, b.centre, {ground: [1, 0, 0]}], length: 50 cm, "
        "law: {kind: bilinear, stiffness: 2, second: 3, beyond: 1}",
        joints.rope([A, B, GROUND.at(1.0, 0.0, 0.0)], law=laws.bilinear(2.0, second=3.0, beyond=1.0), length=0.5),
    ),
    ("kind: screw, PAIR, lead: 5 mm, axis: [0, 0, 1]", joints.screw(A, B, lead=0.005, axis=Z)),
    (
        "kind: spring_damper, PAIR, stiffness: 2 kN/m, damping: {kind: quadratic, coefficient: 3}",
        joints.spring_damper(A, B, stiffness=2000.0, damping=quadratic(3.0)),
    ),
    (
        "kind: torsion_spring, PAIR, stiffness: 2 N*m/rad, axis: [0, 0, 1]",
        joints.torsion_spring(A, B, stiffness=2.0, axis=Z),
    ),
    (
        "kind: cartesian_spring_damper, PAIR, stiffness: [1, 2, 3 N/m], offset: [0, 0, 1 cm]",
        joints.cartesian_spring_damper(A, B, stiffness=[1.0, 2.0, 3.0], offset=[0.0, 0.0, 0.01]),
    ),
    (
        "kind: bushing, PAIR, stiffness: 5, damping: [1, {kind: viscous, coefficient: 2}, 3]",
        joints.bushing(A, B, stiffness=5.0, damping=[1.0, 2.0, 3.0]),
    ),
    ("kind: drive, port: a.centre, position: [t, 0, 2*t]", joints.drive(A, position=lambda t: (t, 0.0, 2 * t))),
    (
        "kind: drive, port: a.centre, rotation: {axis: [0, 0, 1], angle: t}",
        joints.drive(A, rotation=lambda t: rotation(t, Z)),
    ),
    (
        "kind: drive, port: a.centre, displacement: 1 mm, direction: [0, 0, 1]",
        joints.drive(A, displacement=lambda t: 1e-3, direction=Z),
    ),
    ("kind: torque, port: a.centre, axes: section", joints.torque(A, axes="section")),
]


def rotation(angle, axis):
    """A rotation by an angle about a unit vector."""
    return Rotation.from_rotvec(angle * np.array(axis))


def values(given):
    """A value of a law, at a time where it moves, as an array."""
    now = given(0.5) if callable(given) else given
    return None if now is None else np.asarray(now, dtype=float)


@pytest.mark.parametrize(("text", "twin"), CONNECTIONS, ids=kind)
def test_connections_of_every_kind(text, twin, written):
    sphere = "{kind: sphere, radius: 1 cm, density: 1000}"
    entry = text.replace("PAIR", "first: a.centre, second: b.centre")
    model = written(f"bodies:\n  a: {sphere}\n  b: {sphere}\nconnections:\n  - {{{entry}}}\n")
    (connection,), other = model.mechanism.connections, twin.formed(3)
    assert (connection.kind, connection.ports, connection.input) == (other.kind, other.ports, other.input)
    own, twins = ([replace(m, free=values(m.free)) for m in c.form.measures] for c in (connection, other))
    assert own == twins
    assert [row.name for row in connection.rows] == [row.name for row in other.rows]
    for row, known in zip(connection.rows, other.rows, strict=True):
        assert callable(row.law.value) == callable(known.law.value)
        np.testing.assert_equal(values(row.law.value) is None, values(known.law.value) is None)
        if known.law.value is not None:
            np.testing.assert_allclose(values(row.law.value), values(known.law.value), atol=1e-15)
