"""Loads of a run on a mesh: balance, statics of the deck read back, accelerations by differences, refusals by name."""

import numpy as np
import pytest

import fem
from flexph import GROUND, connect, distributed_load, force, hinge, integrate, spring_damper, torque, weld
from flexph.bodies import reduce_body
from flexph.bodies.held_body import HeldBody
from flexph.contacts import KelvinVoigt, Plane, Sphere, contact
from flexph.exchange import write_load_steps
from flexph.meshes.abaqus.elements import FACES
from flexph.models import load_model
from flexph.numerics.rotations import rigid_motions
from flexph.results import static_solution
from flexph.sensors import joint_force

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
DAMPING = fem.Damping(stiffness=1e-4)
INPUTS = {"motor": lambda t: (0.0, 2.0 + 10.0 * t, 0.0), "pressure": lambda t: (0.0, 0.0, -3e3)}
AT = (0.03, 0.06)


def bar(tip):
    """A steel bar of tetrahedra with a rigid port at its root, and another port and a load at its tip and its top."""
    box = fem.box_mesh((0.4, 0.02, 0.03), (8, 1, 1), simplices=True)
    ports, loads = {"root": "left", "tip": fem.Tie("right", tip)}, {"top": fem.Load("top", uniform=True)}
    return fem.solid(box, STEEL, degree=2, ports=ports, reference="root", loads=loads, damping=DAMPING)


def swung(body, steps=600):
    """A run of a hinged bar with a motor, a spring and damper at its tip, and pressure."""
    spring = spring_damper("bar.tip", GROUND.at(0.4, 0.05, -0.5), stiffness=3e2, damping=1.0, length=0.3)
    joints = [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0)), spring, torque("bar.root", name="motor")]
    swing = connect({"bar": body}, [*joints, distributed_load("bar.top", name="pressure")], gravity=(0.0, 0.0, -9.81))
    start = swing.consistent_state(swing.assemble())
    return integrate(swing, start, np.linspace(0.0, 0.06, steps + 1), inputs=INPUTS)


@pytest.fixture(scope="module")
def whole():
    return swung(bar("mean"))


@pytest.fixture(scope="module")
def reduced():
    return swung(reduce_body(bar("rigid"), modes=8, static=["tip", "top"], inertia=True))


def deck_forces(path, count):
    """Nodal forces (N, 3) of each step of a deck."""
    steps, reading = [], False
    for line in path.read_text().splitlines():
        if line.startswith("*"):
            reading = line.startswith("*CLOAD")
            if reading:
                steps.append(np.zeros((count, 3)))
        elif reading:
            node, direction, value = line.split(",")
            steps[-1][int(node) - 1, int(direction) - 1] += float(value)
    return np.array(steps)


@pytest.mark.parametrize("kind", ["whole", "reduced"])
def test_forces_of_the_deck_balance(kind, request, tmp_path):
    """d'Alembert: force and moment are round-off of the sum of all magnitudes, 16 digits in the file."""
    found = write_load_steps(tmp_path / "bar.inp", request.getfixturevalue(kind), "bar", at=AT, inputs=INPUTS)
    forces = deck_forces(tmp_path / "bar.inp", len(found.points))
    np.testing.assert_array_equal(forces, found.forces)
    motions = rigid_motions(found.points).reshape(found.points.size, -1)
    size = np.abs(forces).sum(axis=(1, 2))
    assert size.min() > 10.0  # N: the loads of a bar of 1.9 kg
    assert np.abs(forces.reshape(2, -1) @ motions).max() < 1e-12 * size.max()
    np.testing.assert_array_equal(found.resultant, found.forces.reshape(2, -1) @ motions)


@pytest.mark.parametrize(("kind", "bound"), [("whole", 1e-7), ("reduced", 0.03)])
def test_statics_of_the_deck_have_the_stresses_of_the_run(kind, bound, request, tmp_path):
    """Mesh, moduli and couplings by the reader of decks; all coordinates of the mesh against those of the run.

    The deck of the whole body gives its stresses up to the round-off of a stiffness of condition 1e8; that of the
    reduced one also the strains that its 16 vectors leave out, below 3 % of the largest stress.
    """
    run = request.getfixturevalue(kind)
    found = write_load_steps(tmp_path / "bar.inp", run, "bar", at=AT, inputs=INPUTS)
    couplings = {"whole": {"root": "RIGID_1"}, "reduced": {"root": "RIGID_1", "tip": "RIGID_2"}}[kind]
    deck = fem.solid(tmp_path / "bar.inp", ports=couplings)
    shape = deck.view.shape
    np.testing.assert_allclose(deck.view.points, found.points, atol=1e-15)
    held = HeldBody(deck)
    rows = np.searchsorted(run.times, found.times)
    stiffness = (held.strain.T @ deck.elasticity.stiffness_of_stress @ held.strain).toarray()
    for row, forces in zip(rows, deck_forces(tmp_path / "bar.inp", len(found.points)), strict=True):
        u = np.linalg.solve(stiffness, shape.T @ forces.ravel())
        static = deck.view.tensors["stress"].at @ (deck.elasticity.stiffness_of_stress @ (held.strain @ u))
        moving = run.mechanism.bodies["bar"].view.tensors["stress"].at @ run["bar.stress"][row]
        assert np.abs(moving).max() > 1e5  # Pa
        assert np.abs(static - moving).max() < bound * np.abs(moving).max()


def test_accelerations_are_those_of_a_rigid_bar_that_hardly_bends(tmp_path):
    """A bar that swings freely from rest: 3g/2l at its hinge at the start, and a force of a quarter of its weight.

    Bent by its weight at rest it would fall less than 1e-4 of its length, so that both are known to 1e-3.
    """
    box = fem.box_mesh((0.1, 0.02, 0.02), (3, 1, 1), simplices=True)
    ports = {"root": fem.Tie(lambda x: x[0] < 1e-9, "mean"), "tip": "right"}
    body = reduce_body(fem.solid(box, STEEL, degree=2, ports=ports, damping=DAMPING), modes=6, static=["root"])
    swing = connect({"bar": body}, [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    start = swing.consistent_state(swing.assemble(), elastic="quasi_static")
    run = integrate(swing, start, np.linspace(0.0, 2e-4, 201))
    found = write_load_steps(tmp_path / "bar.inp", run, "bar", at=1e-4)
    length, moments = 0.1, body.moments
    rate = body.mass * 9.81 * (length / 2.0) / (moments[1, 1] + body.mass * (length / 2.0) ** 2)
    assert found.spin_rate[0, 1] == pytest.approx(rate, rel=1e-2)
    assert found.acceleration[0, 2] == pytest.approx(9.81 - rate * length / 2.0, rel=1e-2)
    assert found.ports["root"][0, 2] == pytest.approx(body.mass * found.acceleration[0, 2], rel=1e-9)


def test_joint_forces_are_those_of_the_run(reduced, tmp_path):
    """Forces by the balance of the body agree with the multipliers, interpolated at the saved time."""
    found = write_load_steps(tmp_path / "bar.inp", reduced, "bar", at=[0.03], inputs=INPUTS)
    row, joint = int(np.searchsorted(reduced.times, 0.03 - 1e-9)), reduced.mechanism.connections[0].name
    force = reduced.rotations("bar")[row].T @ reduced.measured(joint_force(joint))[row]
    np.testing.assert_allclose(found.ports["root"][0, :3], force, atol=1e-9 * np.abs(force).max())
    assert found.ports["root"][0, 4] == pytest.approx(INPUTS["motor"](0.03)[1], rel=1e-9)


def test_the_spring_pulls_at_its_port(reduced, tmp_path):
    """The wrench at the tip is the force of the spring and damper alone, without a moment."""
    found = write_load_steps(tmp_path / "bar.inp", reduced, "bar", at=[0.06], inputs=INPUTS)
    row = -1
    gap = np.array([0.4, 0.05, -0.5]) - reduced.position("bar.tip")[row]
    length = np.linalg.norm(gap)
    rate = -gap @ reduced.velocity("bar.tip")[row] / length
    pull = (3e2 * (length - 0.3) + 1.0 * rate) * gap / length
    np.testing.assert_allclose(found.ports["tip"][0, :3], reduced.rotations("bar")[row].T @ pull, rtol=1e-9, atol=1e-9)
    assert np.abs(found.ports["tip"][0, 3:]).max() < 1e-9 * np.linalg.norm(pull)


def test_a_bar_at_rest_between_two_welds(tmp_path):
    """Loads of an equilibrium, redundant in six directions: each end carries half of the weight."""
    box = fem.box_mesh((0.4, 0.02, 0.03), (4, 1, 1), simplices=True)
    body = fem.solid(box, STEEL, degree=2, ports={"root": "left", "tip": "right"}, reference="root")
    held = connect({"bar": body}, [weld("bar.root", GROUND), weld("bar.tip", GROUND)], gravity=(0.0, 0.0, -9.81))
    rest = static_solution(held, held.equilibrium(held.assemble()))
    found = write_load_steps(tmp_path / "bar.inp", rest, "bar", at=0.0)
    weight = body.mass * 9.81
    np.testing.assert_allclose(found.acceleration[0], [0.0, 0.0, 9.81], atol=1e-6)
    ends = [found.ports[end][0, 2] for end in ("root", "tip")]
    assert ends == pytest.approx([weight / 2.0, weight / 2.0], rel=1e-2)  # the mesh of tetrahedra is not symmetric
    assert sum(ends) == pytest.approx(weight, rel=1e-8)


def refused(tmp_path, run, match, **given):
    with pytest.raises(ValueError, match=match):
        write_load_steps(tmp_path / "bar.inp", run, "bar", **{"at": 0.0, **given})


def test_bad_arguments_are_named(reduced, tmp_path):
    refused(tmp_path, reduced, r"at must be times of the run, from 0 s to 0.06 s", at=[0.5], inputs=INPUTS)
    refused(tmp_path, reduced, "at must be one time or more", at=[], inputs=INPUTS)
    refused(tmp_path, reduced, "inputs must have that of 'motor'", inputs={"pressure": INPUTS["pressure"]})
    refused(tmp_path, reduced, "no external port 'moter'", inputs={**INPUTS, "moter": 1.0})
    with pytest.raises(ValueError, match="no body 'rod'"):
        write_load_steps(tmp_path / "bar.inp", reduced, "rod", at=0.0, inputs=INPUTS)


def at_rest(body, *elements):
    mechanism = connect({"bar": body}, list(elements), gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))}))
    return integrate(mechanism, start, [0.0, 1e-5])


def test_bodies_and_elements_that_loads_are_not_known_of_are_refused(tmp_path):
    section = fem.Section(diameter=0.02)
    refused(tmp_path, at_rest(fem.beam(0.4, STEEL, section, elements=2, dim=3)), "must be a solid in space")
    solid = bar("mean")
    few = reduce_body(solid, modes=3)
    joints = hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0)), force("bar.tip", name="pull")
    refused(tmp_path, at_rest(few, *joints), "ports of 'bar' must move independently")
    refused(tmp_path, at_rest(few.with_mass("tip", 1.0), joints[0]), "must have the mass of its mesh")
    ball = contact(Sphere("bar.tip", 0.01), Plane(GROUND.at(0.0, 0.0, -1.0), (0.0, 0.0, 1.0)), KelvinVoigt(1e4))
    refused(tmp_path, at_rest(few, joints[0], ball), "does not support contacts")


MODEL = """
materials:
  steel: {young: 210 GPa, density: 7850, poisson: 0.3}
bodies:
  bar:
    kind: reduced
    modes: 2
    body:
      {kind: solid, mesh: {lengths: [0.4, 0.02, 0.02], counts: [2, 1, 1]}, material: steel, ports: {root: left},
       reference: root}
connections:
  - {kind: hinge, first: bar.root, second: ground, axis: [0, 1, 0]}
  - {kind: torque, port: bar.root, name: motor}
runs:
  turn:
    end: 0.01
    steps: 20
    inputs: {motor: [0, 2 + t, 0]}
    outputs: {loads: {decks/bar.inp: {body: bar, at: [5 ms, 0.01]}}}
"""


def test_a_model_file_writes_loads(tmp_path):
    """With the inputs of its run, which the loads have to know; wrong bodies are refused before anything runs."""
    (tmp_path / "bar.yaml").write_text(MODEL)
    model = load_model(tmp_path / "bar.yaml")
    model.check()
    (tmp_path / "out").mkdir()
    model.run("turn").write(tmp_path / "out")
    text = (tmp_path / "out" / "decks" / "bar.inp").read_text()
    assert text.count("*STEP\n") == text.count("*CLOAD") == 2 and "** t = 0.005 s" in text
    moment = next(line for line in text.splitlines() if line.startswith("** force [N] and moment"))
    assert float(moment.split(", ")[4]) == pytest.approx(2.005, rel=1e-9)
    for right, wrong, match in (
        ("body: bar, at", "body: bra, at", "no body 'bra'"),
        ("decks/bar.inp", "bar.txt", "a name that ends in .inp"),
    ):
        (tmp_path / "bar.yaml").write_text(MODEL.replace(right, wrong))
        with pytest.raises(ValueError, match=match):
            load_model(tmp_path / "bar.yaml").check()


@pytest.mark.parametrize(("degree", "kind"), [(1, "C3D8"), (2, "C3D27")])
def test_hexahedra_have_the_nodes_of_a_deck(degree, kind, tmp_path):
    """Middles of edges and of the faces S1 to S6, and the centre lie between the corners that they belong to."""
    box = fem.box_mesh((0.4, 0.02, 0.03), (2, 1, 1))
    body = fem.solid(box, STEEL, degree=degree, ports={"root": "left"}, reference="root")
    swing = connect({"bar": body}, [hinge("bar.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    rest = static_solution(swing, swing.equilibrium(swing.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))})))
    found = write_load_steps(tmp_path / "bar.inp", rest, "bar", at=0.0)
    lines = (tmp_path / "bar.inp").read_text().splitlines()
    first = lines.index(f"*ELEMENT, TYPE={kind}, ELSET=E1") + 1
    last = next(k for k in range(first, len(lines)) if lines[k].startswith("*"))
    numbers = np.array([int(n) for line in lines[first:last] for n in line.split(",") if n.strip()])
    cells = numbers.reshape(2, -1)[:, 1:] - 1
    corners = FACES["hexahedron"]
    edges = [(k, (k + 1) % 4) for k in range(4)] + [(4 + k, 4 + (k + 1) % 4) for k in range(4)]
    groups = [(k,) for k in range(8)]
    if degree == 2:
        groups += [*edges, *((k, k + 4) for k in range(4)), tuple(range(8)), *corners]
    for cell in cells:
        x = found.points[cell]
        np.testing.assert_allclose(x, [x[list(group)].mean(axis=0) for group in groups], atol=1e-15)
        assert np.linalg.det(x[[1, 3, 4]] - x[0]) > 0.0
    assert abs(found.resultant).max() < 1e-12 * abs(found.forces).sum()
