"""Beams as several floating bodies under one name: theorems, their names everywhere, and where they lead to."""

import meshio
import numpy as np
import pytest

import fem
import rigid
from flexph import (
    GROUND,
    Solution,
    ValidityWarning,
    connect,
    distributed_load,
    eigenfrequencies,
    force,
    hinge,
    integrate,
    modes,
    revolute,
    spherical,
    weld,
)
from flexph.bodies import reduce_body
from flexph.export import write_modes, write_series
from flexph.models import load_model, write_model
from flexph.plot import motion
from flexph.results.signature import mechanism_signature
from flexph.scenes import pose_scene

SOFT = fem.Material(young=1e6, density=100.0, poisson=0.3)
SQUARE = fem.Section(width=0.01, height=0.01)
RIGIDITY = 1e6 * 1e-8 / 12.0


def beam(split, elements=4, **options):
    return fem.beam(1.0, SOFT, SQUARE, elements=elements, dim=3, split=split, **options)


def cantilever(body):
    loads = [force("b.tip", name="F")]
    if "load" in body.loads:
        loads.append(distributed_load("b.load", name="w"))
    mechanism = connect({"b": body}, [weld("b.root", GROUND.at(0.0, 0.0, 0.0)), *loads])
    return mechanism, mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))})


def test_the_advice_to_split_counts_the_frames_there_are():
    split = fem.beam(1.0, SOFT, SQUARE, elements=8, split=4, strain="von_karman")
    mechanism = connect({"b": split}, [weld("b.root", GROUND), force("b.tip", name="F")])
    load = 4.0 * RIGIDITY  # sections turn by more than 1 rad
    with pytest.warns(ValidityWarning, match=r"a section.*'b' turns.*0\.5\d rad .* split.*body.*20.*more"):
        mechanism.equilibrium(mechanism.assemble({"b": (0.0, 0.0, 0.0)}), inputs={"F": (0.0, -load)})


def test_one_frame_is_the_plain_beam():
    plain = fem.beam(1.0, SOFT, SQUARE, elements=3, dim=3, strain="von_karman", stations={"q": 0.4})
    one = fem.beam(1.0, SOFT, SQUARE, elements=3, dim=3, strain="von_karman", stations={"q": 0.4}, split=1)
    assert type(one) is type(plain)
    signatures = [mechanism_signature(cantilever(body)[0]) for body in (plain, one)]
    assert signatures[0] == signatures[1]
    runs = [
        integrate(m, m.consistent_state(p), [0.0, 0.1, 0.2], inputs={"F": [0.0, 1e-3, 0.0]})
        for m, p in (cantilever(plain), cantilever(one))
    ]
    np.testing.assert_array_equal(runs[0].states, runs[1].states)


def test_small_motions_are_those_of_the_whole():
    """Both have the same displacements in their span: cubics on each element, with the same slope at its ends."""
    lowest = [
        eigenfrequencies(mechanism.linearize(pose), 6)
        for mechanism, pose in map(cantilever, (beam(1), beam(2), beam(4, reference="simply_supported")))
    ]
    np.testing.assert_allclose(lowest[1:], [lowest[0]] * 2, rtol=1e-9)


@pytest.mark.parametrize(("strain", "step"), [("linear", 0.02), ("linear", 0.1), ("von_karman", 0.005)])
def test_jointed_and_tumbling_it_keeps_all_invariants(strain, step):
    stiff = fem.Material(young=1e8, density=100.0, poisson=0.3)
    blade = fem.beam(1.0, stiff, SQUARE, elements=2, dim=3, split=2, strain=strain, stations={"eye": 0.5})
    hub = rigid.body(0.02, inertia=(4e-5, 5e-5, 6e-5), ports={"pin": (0.1, 0.0, 0.05)})
    mechanism = connect({"blade": blade, "hub": hub}, [spherical("blade.tip", "hub.pin")])
    pose = mechanism.assemble({"blade": ((0.0, 0.0, 0.0), np.eye(3))})
    start = mechanism.consistent_state(pose, velocities={"blade": ((0.0, 0.1, 0.0), (0.1, 0.4, 0.6))})
    run = integrate(mechanism, start, np.arange(9) * step)
    assert run.energy_drift() <= 1e-12
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momentum - momentum[0]).max() <= 1e-12 * np.abs(momentum).max()
    assert run.ledger.position_residual.max() <= 1e-13
    assert run.orthogonality() <= 1e-13
    assert {"kinetic blade", "kinetic hub", "elastic blade"} == set(run.ledger.energy)
    moved = np.diff(run.position("blade.eye"), axis=0)
    rate = 0.5 * (run.velocity("blade.eye")[1:] + run.velocity("blade.eye")[:-1])
    np.testing.assert_allclose(moved / step, rate, rtol=0, atol=step**2)  # but for rotation, of second order


def bodies_of_a_bend(frames):
    return [fem.rod(1.0, SOFT, SQUARE, elements=3, order=3), *(beam(n, n, **FREE) for n in frames)]


@pytest.mark.filterwarnings("ignore:a section of")
def test_it_bends_as_a_rod_does():
    """Sections turn by 0.9 rad; errors are of the second order of the length of a frame."""
    pull, tips = {"F": [0.0, 2.0 * RIGIDITY, 0.5 * RIGIDITY]}, []
    for mechanism, pose in map(cantilever, bodies_of_a_bend((2, 4))):
        tips.append(mechanism.position(mechanism.equilibrium(pose, inputs=pull), "b.tip"))
    assert tips[0][1] > 0.45
    errors = np.linalg.norm(np.array(tips[1:]) - tips[0], axis=1)
    assert errors[1] <= 1.3e-2
    assert np.log2(errors[0] / errors[1]) == pytest.approx(1.75, abs=0.1)  # 1.9 of 4 and 8 frames, and of 8 and 16


@pytest.mark.slow
def test_it_moves_as_a_rod_does():
    """Nearly a period of a cantilever whose tip is let go at a third of its length; steps are the same."""
    pull, times = {"F": [0.0, 1.2 * RIGIDITY, 0.3 * RIGIDITY]}, np.linspace(0.0, 5.0, 101)
    tips = []
    for mechanism, pose in map(cantilever, bodies_of_a_bend((4, 8))):
        start = mechanism.equilibrium(pose, inputs=pull)
        tips.append(integrate(mechanism, start, times).position("b.tip"))
    errors = np.abs(np.array(tips[1:]) - tips[0]).max(axis=(1, 2))
    assert tips[0][:, 1].max() > 0.3
    assert errors[1] <= 5e-3
    assert np.log2(errors[0] / errors[1]) >= 1.6


FREE = {"strain": "von_karman", "reference": "simply_supported"}


@pytest.fixture(scope="module")
def bent():
    """A cantilever of two frames under loads, at rest and in motion."""
    mechanism, pose = cantilever(beam(2, stations={"q": 0.3}).with_mass("tip", 0.002))
    loads = {"F": [0.0, 2e-4, 1e-4], "w": [0.0, 1e-4, 0.0]}
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 1.0, 6), inputs=loads)
    return mechanism, pose, loads, mechanism.equilibrium(pose, inputs=loads), run


def test_ports_states_and_accounts_have_the_name_of_the_whole(bent, tmp_path):
    mechanism, pose, _, state, run = bent
    body = mechanism.bodies["b"]
    assert list(body.ports) == ["root", "q", "cut1", "cut1_next", "tip"]
    assert body.mass == pytest.approx(0.012)
    for first, second in zip(("cut1", "root"), ("cut1_next", "root"), strict=True):
        np.testing.assert_allclose(run.position(f"b.{first}"), run.position(f"b.{second}"), rtol=0, atol=1e-14)
    along = np.array([body.ports[name].position[0] for name in body.ports])
    np.testing.assert_allclose(along, [0.0, 0.3, 0.5, 0.5, 1.0], rtol=0, atol=1e-15)
    force_at_root = mechanism.reaction(state, "weld b.root–GROUND at (0.0, 0.0, 0.0)").force[0]
    np.testing.assert_allclose(force_at_root, [0.0, -3e-4, -1e-4], rtol=0, atol=1e-12)
    inner = mechanism.reaction(state, "weld b.cut1–b.cut1_next").force[0]
    np.testing.assert_allclose(inner, [0.0, 2.5e-4, 1e-4], rtol=0, atol=1e-12)
    assert run["b.stress"].shape == (6, body.stress_size)
    assert run.ledger.largest_residual <= 1e-12
    run.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", mechanism)
    np.testing.assert_array_equal(again.position("b.tip"), run.position("b.tip"))
    assert "2 frames" in mechanism.describe(pose)
    motion(run)


def test_pictures_and_files_show_the_whole(bent, tmp_path):
    mechanism, pose, loads, state, run = bent
    plain, at = cantilever(beam(1, stations={"q": 0.3}).with_mass("tip", 0.002))
    whole = integrate(plain, plain.consistent_state(at), run.times, inputs=loads)
    meshes = [meshio.read(write_series(tmp_path / f"{i}.pvd", own)[-1]) for i, own in enumerate((run, whole))]
    kept = np.delete(np.arange(18), 9)  # both frames have the point between them
    np.testing.assert_allclose(meshes[0].points[kept], meshes[1].points, rtol=0, atol=5e-4)
    np.testing.assert_allclose(meshes[0].points[8], meshes[0].points[9], rtol=0, atol=1e-14)
    speeds = [mesh.point_data["velocity"] for mesh in meshes]
    np.testing.assert_allclose(speeds[0][kept], speeds[1], rtol=0, atol=5e-2 * np.abs(speeds[1]).max())
    assert meshes[0].cell_data.keys() == meshes[1].cell_data.keys()
    for name in ("bending_moment_y", "bending_moment_z"):
        moments = [mesh.cell_data[name][0] for mesh in meshes]
        np.testing.assert_allclose(moments[0], moments[1], rtol=0, atol=2e-2 * np.abs(moments[1]).max())
    shapes = [
        meshio.read(write_modes(tmp_path / f"m{i}.vtu", m, p, modes(m.linearize(p), 3))).point_data["mode_3"]
        for i, (m, p) in enumerate(((mechanism, pose), (plain, at)))
    ]
    np.testing.assert_allclose(*(np.linalg.norm(s, axis=1) for s in (shapes[0][kept], shapes[1])), rtol=0, atol=1e-9)
    boxes = [
        next(part for part in pose_scene(m, s).parts if part.name == "b")
        for m, s in ((mechanism, state), (plain, plain.equilibrium(at, inputs=loads)))
    ]
    lowest, highest = (np.array([f(box.points[0], axis=0) for box in boxes]) for f in (np.min, np.max))
    np.testing.assert_allclose(lowest[0], lowest[1], rtol=0, atol=5e-3)  # that of one frame does not shorten
    np.testing.assert_allclose(highest[0], highest[1], rtol=0, atol=5e-3)
    assert boxes[0].point_fields.keys() == boxes[1].point_fields.keys()


def test_small_motions_about_a_loaded_state_have_parts_by_frame(bent):
    mechanism, _, loads, state, _ = bent
    system = mechanism.linearize(state, inputs=loads)
    assert {"b[0].stress", "b[1].stress", "b[1].deformation_rate"} <= set(system.parts)
    spectrum = mechanism.spectrum(state, inputs=loads).frequencies[:4]
    np.testing.assert_allclose(eigenfrequencies(system, 4), spectrum, rtol=1e-8)


MODEL = """
materials: {steel: {young: 210 GPa, density: 7850 kg/m^3, poisson: 0.3}}
sections: {strip: {width: 20 mm, height: 1 mm}}
bodies:
  blade: {kind: beam, length: 1 m, material: steel, section: strip, elements: 4, split: 2, stations: {mid: 0.75 m}}
connections: [{kind: weld, first: blade.root, second: ground}]
start: {fixed: {blade: [0, 0, 0]}}
"""


def test_split_beams_stand_in_model_files(tmp_path):
    (tmp_path / "blade.yaml").write_text(MODEL)
    mechanism = load_model(tmp_path / "blade.yaml").mechanism
    write_model(tmp_path / "again.yaml", mechanism)
    again = load_model(tmp_path / "again.yaml").mechanism
    assert mechanism_signature(again) == mechanism_signature(mechanism)
    assert len(again.frames) == 2


def test_what_is_about_one_frame_is_refused_by_name(bent):
    mechanism, _, _, _, run = bent
    with pytest.raises(ValueError, match="'b' is a body of 2 frames: use its ports"):
        run.displacement("b.tip")
    with pytest.raises(ValueError, match=r"body must be a Body, .*, got SplitBody"):
        reduce_body(mechanism.bodies["b"], modes=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elements": 3}, "elements must be a multiple of split = 2, got 3"),
        ({"stations": {"cut1": 0.2}}, "stations must not be named 'cut1': a beam with split=2 has such a port"),
        ({"stations": {"q": 1.2}}, "station 'q' must lie between 0 and the length 1.0 m, got 1.2 m"),
    ],
)
def test_bad_input_is_answered(options, message):
    with pytest.raises(ValueError, match=message):
        beam(2, **{"elements": 4, **options})


def test_a_load_follows_each_frame():
    """Along a free straight beam that lies in y, all frames are pushed alike: v = q t/ρA."""
    mechanism = connect({"b": beam(2, 2)}, [distributed_load("b.load", name="q", axes="body")])
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), turned)}))
    run = integrate(mechanism, start, [0.0, 0.1, 0.2], inputs={"q": [0.03, 0.0, 0.0]})
    for velocity in run["b.velocity"][-1].reshape(2, 3):
        np.testing.assert_allclose(velocity, [0.0, 0.6, 0.0], rtol=0, atol=1e-12)
    assert run.ledger.largest_residual <= 1e-12


def test_works_and_losses_belong_to_the_whole():
    """Of damping and loads, as of the same body that is split by hand in the mechanism."""
    body = fem.beam(1.0, SOFT, SQUARE, elements=4, split=2, strain="von_karman", damping=fem.Damping(stiffness=1e-4))
    joints = [hinge("b.root", GROUND.at(0.0, 0.0)), distributed_load("b.load", name="w", axes="body")]
    mechanism = connect({"b": body}, joints, gravity=(0.0, -0.3))
    start = mechanism.consistent_state(mechanism.assemble({"b": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.2, 41), inputs={"w": [0.0, 1e-4]})
    half = fem.beam(0.5, SOFT, SQUARE, elements=2, strain="von_karman", damping=fem.Damping(stiffness=1e-4))
    joints = [hinge("l.root", GROUND.at(0.0, 0.0)), weld("l.tip", "r.root")]
    joints += [distributed_load(f"{name}.load", name=name, axes="body") for name in "lr"]
    parts = connect({"l": half, "r": half}, joints, gravity=(0.0, -0.3))
    start = parts.consistent_state(parts.assemble({"l": (0.0, 0.0, 0.0)}))
    other = integrate(parts, start, run.times, inputs=dict.fromkeys("lr", (0.0, 1e-4))).ledger
    assert run.ledger.largest_residual <= 1e-13
    for kind in ("work", "dissipation"):
        own, by_hand = (getattr(ledger, kind) for ledger in (run.ledger, other))
        whole = own["w" if kind == "work" else "b"]
        assert whole.sum() != 0.0
        np.testing.assert_allclose(whole, by_hand["l"] + by_hand["r"], rtol=0, atol=1e-9 * np.abs(whole).max())


def test_a_joint_holds_either_side_of_a_cut():
    """A revolute at ``cut1_next`` of one beam is where the same joint at ``cut1`` of another is."""
    tips = []
    for port in ("cut1", "cut1_next"):
        arm = rigid.body(0.01, inertia=(1e-5, 1e-5, 1e-5), ports={"pin": (0.0, 0.0, 0.0)})
        joints = [weld("b.root", GROUND), revolute(f"b.{port}", "arm.pin", axis=(0.0, 1.0, 0.0))]
        mechanism = connect({"b": beam(2, 2), "arm": arm}, joints, gravity=(0.0, 0.0, -0.05))
        start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
        tips.append(integrate(mechanism, start, [0.0, 0.1, 0.2]).position("b.tip"))
    np.testing.assert_allclose(tips[0], tips[1], rtol=0, atol=1e-12)
