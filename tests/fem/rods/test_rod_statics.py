"""Geometrically exact rods at rest: published and closed values, frequencies, and bad input."""

import meshio
import numpy as np
import pytest
from rod_samples import SLENDER, cantilever
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import fem
import rigid
from cases import helicopter_blade
from flexph import (
    GROUND,
    ValidityWarning,
    connect,
    distributed_load,
    eigenfrequencies,
    force,
    integrate,
    modes,
    revolute,
    torque,
    weld,
)
from flexph.export import write_modes, write_series
from flexph.methods import Decaying, ExactGauss
from flexph.models import ModelError, load_model, write_model
from flexph.scenes import pose_scene

STEEL = fem.Material(young=210e9, density=7850.0, poisson=0.3)
BENT = np.pi / 4.0
"""The angle of the 45° bend, of radius 100."""


def rolled(elements, order, *, thickness=0.1, turn=2.0 * np.pi):
    """Distance of the tip of a cantilever of length one from where a moment EI turn/L at it brings it (closed form)."""
    EI, loads = thickness**2, [torque("rod.tip", name="M")]
    section = fem.RodSection(
        axial=1.0, shear=(0.4, 0.4), torsion=EI, bending=(EI, EI), mass=1.0, inertia=(1.0, 1.0, 1.0)
    )
    mechanism, pose = cantilever(section, length=1.0, elements=elements, order=order, loads=loads)
    state = mechanism.equilibrium(pose, inputs={"M": [0.0, 0.0, turn * EI]})
    circle = np.array([np.sin(turn), 1.0 - np.cos(turn), 0.0]) / turn
    return np.linalg.norm(mechanism.position(state, "rod.tip") - circle)


def bend(elements, order):
    """Tip of the 45° bend under 600 N out of its plane (Bathe and Bolourchi, IJNME 14 (1979) 961)."""

    def curve(s):
        c, d = np.cos(0.01 * s), np.sin(0.01 * s)
        return (100.0 * d, 100.0 * (1.0 - c), 0.0), np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])

    section = fem.RodSection(
        axial=1e7, shear=(5e6, 5e6), torsion=5e6 / 6, bending=(1e7 / 12,) * 2, mass=1.0, inertia=(1 / 6, 1 / 12, 1 / 12)
    )
    mechanism, pose = cantilever(
        section, length=100.0 * BENT, elements=elements, order=order, curve=curve, loads=[force("rod.tip", name="F")]
    )
    return mechanism.position(mechanism.equilibrium(pose, inputs={"F": [0.0, 0.0, 600.0]}), "rod.tip")


def test_cantilever_rolled_to_half_a_circle():
    assert rolled(4, 2, turn=np.pi) <= 5e-3


@pytest.mark.slow
@pytest.mark.parametrize(("order", "bound"), [(2, 5e-3), (3, 3e-5)])
def test_cantilever_rolled_up_finely(order, bound):
    assert rolled(8, order) <= bound


def test_thin_rods_do_not_lock():
    """A rod as thin as 1e-4 of its length errs as one of a tenth of it."""
    thick, thin = (rolled(2, 2, thickness=t, turn=0.5 * np.pi) for t in (0.1, 1e-4))
    assert thick <= 1e-2
    assert 0.5 <= thick / thin <= 2.0


def test_bend_of_45_degrees():
    """A finer mesh than any here gives (47.150, 15.685, 53.475)."""
    tip = bend(4, 2)
    np.testing.assert_allclose(tip, [47.150, 15.685, 53.475], rtol=0, atol=2e-3 * 100.0 * BENT)


def cantilever_frequency():
    """Of a thin cantilever with EI/(ρA L⁴) = 1: cos x cosh x = −1, ω = x² (closed form)."""
    return brentq(lambda x: np.cos(x) * np.cosh(x) + 1.0, 1.8, 2.0) ** 2


@pytest.mark.parametrize(("order", "elements", "bound"), [(1, (4, 8), 2e-2), (2, (2, 4), 1e-3), (3, (1, 2), 4e-4)])
def test_frequencies_are_of_twice_the_order(order, elements, bound):
    section = fem.RodSection(
        axial=1e4, shear=(1e6, 1e6), torsion=1.0, bending=(1.0, 1.0), mass=1.0, inertia=(2e-8, 1e-8, 1e-8)
    )
    errors = []
    for count in elements:
        mechanism, pose = cantilever(section, length=1.0, elements=count, order=order)
        lowest = eigenfrequencies(mechanism.linearize(pose), 2)
        np.testing.assert_allclose(mechanism.spectrum(mechanism.equilibrium(pose)).frequencies[:2], lowest, rtol=1e-5)
        errors.append(abs(lowest[0] / cantilever_frequency() - 1.0))
    assert errors[0] <= bound
    assert np.log2(errors[0] / errors[1]) >= 2.0 * order - 0.3  # the axial stiffness leaves 1e-8


def test_small_motions_about_a_loaded_state():
    """About an equilibrium: the linear system with damping has the spectrum, and a step of a run moves by it."""
    loads = [force("rod.tip", name="F")]
    mechanism, pose = cantilever(SLENDER, elements=2, loads=loads, damping=fem.Damping(stiffness=0.05))
    pull = {"F": [0.0, 0.0, 8.0]}
    state = mechanism.equilibrium(pose, inputs=pull)
    assert mechanism.position(state, "rod.tip")[2] > 1.0
    system, spectrum = mechanism.linearize(state, inputs=pull), mechanism.spectrum(state, inputs=pull)
    values = np.linalg.eigvals(np.linalg.solve(system.E, system.J - system.R))
    slowest = values[np.argsort(np.abs(values))][:8]
    np.testing.assert_allclose(np.sort(np.abs(slowest)), np.sort(np.abs(spectrum.values))[:8], rtol=1e-5)
    still = integrate(mechanism, state, [0.0, 0.5, 1.0], inputs={"F": lambda t: np.array([0.0, 0.0, 8.0])})
    np.testing.assert_allclose(still.position("rod.tip")[-1], mechanism.position(state, "rod.tip"), rtol=0, atol=1e-9)


def test_stress_resultants_are_those_of_statics():
    """A tip force: N, Q and M of all sections follow from it, whatever the deflection (M by two points of Gauss)."""
    mechanism, pose = cantilever(SLENDER, elements=2, loads=[force("rod.tip", name="F")])
    state = mechanism.equilibrium(pose, inputs={"F": [0.0, 20.0, 0.0]})
    stress = state.x[mechanism.layout.parts["rod.stress"]].reshape(-1, 6)
    reaction = mechanism.reaction(state, "weld rod.root–GROUND at (0.0, 0.0, 0.0)")
    np.testing.assert_allclose(reaction.force[0], [0.0, -20.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(np.hypot(stress[:, 0], stress[:, 1]), 20.0, rtol=2e-2)
    lever = mechanism.position(state, "rod.tip")[0]
    np.testing.assert_allclose(reaction.torque[0], [0.0, 0.0, -20.0 * lever], atol=1e-8)
    assert np.all(np.diff(stress[:, 5]) < 0.0)  # M₃ falls from the root to the tip


def test_a_load_that_stays_across_its_rod():
    """Against N' = κQ, Q' = −κN − q, M' = −Q, θ' = κ = M/EI from the free end (of a thin rod), by Runge-Kutta."""
    section = fem.RodSection(
        axial=1e6, shear=(1e6, 1e6), torsion=1.0, bending=(1.0, 1.0), mass=1.0, inertia=(0.02, 0.01, 0.01)
    )

    def line(s, state):
        N, Q, M, angle, *_ = state
        return [M * Q, -M * N - 8.0, -Q, M, np.cos(angle), np.sin(angle)]

    *_, M, angle, x, y = solve_ivp(line, [1.0, 0.0], np.zeros(6), rtol=1e-9, atol=1e-11).y[:, -1]
    c, s = np.cos(angle), np.sin(angle)
    load = distributed_load("rod.load", axes="body", name="q")
    mechanism, pose = cantilever(section, length=1.0, elements=4, order=3, loads=[load])
    state = mechanism.equilibrium(pose, inputs={"q": [0.0, 8.0, 0.0]})
    assert -angle > 1.2
    np.testing.assert_allclose(
        mechanism.position(state, "rod.tip"), [-c * x - s * y, s * x - c * y, 0.0], rtol=0, atol=2e-4
    )
    torque_at_root = mechanism.reaction(state, mechanism.connections[0].name).torque[0]
    np.testing.assert_allclose(torque_at_root, [0.0, 0.0, -M], rtol=0, atol=1e-4)


def test_lateral_buckling_of_a_strip():
    """F L²/√(EI GJ) = 4.0126 (closed form) of a strip that does not bend in its plane; 4.0155 of 9 nodes."""
    section = fem.RodSection(
        axial=1e8, shear=(1e8, 1e8), torsion=1.0, bending=(1.0, 1e6), mass=1.0, inertia=(1e-2, 1e-2, 1e-2)
    )
    mechanism, pose = cantilever(section, length=1.0, elements=4, loads=[force("rod.tip", name="F")])
    down = {"F": [0.0, -2.0, 0.0]}
    found = mechanism.buckling(mechanism.equilibrium(pose, inputs=down), inputs=down)
    assert 2.0 * found.factor == pytest.approx(4.0126, rel=1e-3)
    assert not found.is_limit
    aside = found.part("rod.centre").reshape(-1, 3)
    assert np.abs(aside[:, 2]).max() > 1e3 * np.abs(aside[:, :2]).max()  # out of the plane of the force


def test_rods_are_exported_as_boxes(tmp_path):
    """Points of its boxes move with the nodes, modes as small motions do, and cells have the stress resultants."""
    mechanism, pose = cantilever(SLENDER, elements=2, loads=[force("rod.tip", name="F")])
    state, pull = mechanism.consistent_state(pose), lambda t: np.array([0.0, 20.0, 5.0])
    run = integrate(mechanism, state, [0.0, 0.1, 0.2, 0.3, 0.4], inputs={"F": pull})
    view = mechanism.bodies["rod"].view
    corners = run.points("rod", view.points, view.shape)[-1].reshape(-1, 4, 3)
    np.testing.assert_allclose(corners.mean(axis=1)[-1], run.position("rod.tip")[-1], atol=1e-12)
    moved = run.points("rod", view.points, view.shape)
    speed = run.velocities("rod", view.points, view.shape)
    rates = 0.5 * (speed[1:] + speed[:-1])  # of the exact increments but for rotation, of second order
    np.testing.assert_allclose(np.diff(moved, axis=0) / 0.1, rates, rtol=0, atol=1e-2 * np.abs(speed).max())
    mesh = meshio.read(write_series(tmp_path / "rod.pvd", run)[-1])
    assert mesh.cells[0].type == "hexahedron"
    stress = run["rod.stress"][-1].reshape(-1, 6)
    np.testing.assert_allclose(mesh.cell_data["bending_moment_z"][0], stress[:, 5])
    vibrations = modes(mechanism.linearize(pose), 1)
    shape = meshio.read(write_modes(tmp_path / "modes.vtu", mechanism, pose, vibrations)).point_data["mode_1"]
    assert np.linalg.norm(shape, axis=1).argmax() >= len(shape) - 4  # the tip moves most


def test_tapered_and_damped_rod_of_material():
    blade = fem.rod(
        2.0, STEEL, lambda s: fem.Section(width=0.04 - 0.01 * s, height=0.01), elements=3, ports={"mid": 0.9}
    )
    assert blade.mass == pytest.approx(7850.0 * 0.01 * 0.06, rel=1e-12)  # Lobatto's points are exact for it
    assert blade.with_mass("mid", 2.0).mass == pytest.approx(blade.mass + 2.0)
    assert np.abs(blade.places[:, 0] - 0.9).min() < 1e-12


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 4}, "order must be 1, 2 or 3, got 4"),
        ({"length": -1.0}, "length must be positive, got -1.0 m"),
        ({"ports": {"mid": 3.0}}, "port 'mid' must be on the rod, 0 to 2.0 m, got 3.0 m"),
        ({"ports": {"tip": 1.0}}, "ports must not be named 'root' or 'tip'"),
        ({"elements": 1, "order": 1, "ports": {"mid": 0.9}}, "elements must be more than 1"),
        ({"damping": fem.Damping(mass=1.0)}, "damping of a rod must be by stiffness="),
        ({"section": fem.Section(area=1e-4, second_moment=1e-8)}, "second_moment_y"),
        ({"material": None}, "material must be given for a fem.Section"),
        ({"curve": lambda s: ((2.0 * s, 0.0, 0.0), np.eye(3))}, "curve must have its length as parameter"),
        ({"curve": lambda s: ((0.0, s, 0.0), np.eye(3))}, "curve must have frames with d₁ along it"),
    ],
)
def test_bad_input_is_answered(options, message):
    given = {"length": 2.0, "material": STEEL, "section": fem.Section(diameter=0.01), "elements": 2, **options}
    with pytest.raises(ValueError, match=message):
        fem.rod(given.pop("length"), given.pop("material"), given.pop("section"), **given)


def test_negative_stiffness_is_refused():
    given = {"axial": 1.0, "shear": (1.0, 1.0), "torsion": 1.0, "bending": (1.0, 1.0), "mass": 1.0}
    for name, value, message in (("axial", -1.0, r"axial must be positive"), ("bending", (1.0, -1.0), r"bending\[1\]")):
        with pytest.raises(ValueError, match=message):
            fem.RodSection(**{**given, "inertia": (1.0, 1.0, 1.0), name: value})


def test_frames_that_jump_are_refused():
    def curve(s):
        turn = 1.5 if s > 1.0 else 0.0
        c, d = np.cos(turn), np.sin(turn)
        return (s, 0.0, 0.0), np.array([[1.0, 0.0, 0.0], [0.0, c, -d], [0.0, d, c]])

    with pytest.raises(ValueError, match=r"frames of the curve turn by 1\.5 rad from s = 1 to 2 m"):
        fem.rod(2.0, STEEL, fem.Section(diameter=0.01), elements=2, curve=curve)


def test_an_element_that_turns_by_much_warns():
    mechanism, pose = cantilever(SLENDER, elements=2, loads=[torque("rod.tip", name="M")])
    with pytest.warns(ValidityWarning, match="an element of 'rod' turns by 1.2"):
        mechanism.equilibrium(pose, inputs={"M": [0.0, 0.0, 125.0]})


@pytest.mark.slow
def test_moments_beyond_what_a_mesh_can_turn_are_refused():
    """Two elements under 10 kN m, which would turn them by 100 rad each: told as soon as one of them is folded."""
    mechanism, pose = cantilever(SLENDER, elements=2, loads=[torque("rod.tip", name="M")])
    with pytest.raises(ArithmeticError, match=r"the mesh.*'rod'.*too coarse.*loads: under \d.* %.*the"):
        mechanism.equilibrium(pose, inputs={"M": [0.0, 0.0, 1e4]})


@pytest.mark.slow
def test_an_element_that_turns_there_and_back_warns():
    """A bar of a centimetre under ten tonnes: the first element turns by 1.9 rad to its middle, and back by 0.9 rad.

    In statics and in motion: the turn is the sum from node to node, not that between the ends.
    """
    aluminium = fem.Material(young=70e9, density=2700.0, poisson=0.33)
    rod = fem.rod(1.0, aluminium, fem.Section(diameter=0.01), elements=4)
    mechanism = connect({"rod": rod}, [weld("rod.root", GROUND.at(0.0, 0.0, 0.0)), force("rod.tip", name="F")])
    pose, pull = mechanism.assemble({"rod": ((0.0, 0.0, 0.0), np.eye(3))}), {"F": [0.0, 1e5, 0.0]}
    with pytest.warns(ValidityWarning, match=r"an element of 'rod' turns by 2\.8 rad"):
        state = mechanism.equilibrium(pose, inputs=pull)
    with pytest.warns(ValidityWarning, match=r"an element of 'rod' turns by 2\.8 rad"):
        integrate(mechanism, state, [0.0, 1e-6], inputs=pull)


def test_a_curve_with_a_full_turn_in_an_element_is_refused():
    def ring(s):
        c, d = np.cos(s), np.sin(s)
        return (d, 1.0 - c, 0.0), np.array([[c, -d, 0.0], [d, c, 0.0], [0.0, 0.0, 1.0]])

    with pytest.raises(ValueError, match=r"frames.*curve turn.*6\.3 rad.*s = 0.*6\.28319 m"):
        fem.rod(4.0 * np.pi, STEEL, fem.Section(diameter=0.01), elements=2, curve=ring)


def test_frames_of_a_curve_may_be_rotations():
    section, place = fem.Section(diameter=0.01), lambda s: (np.sin(s), 1.0 - np.cos(s), 0.0)
    frames = [lambda s: Rotation.from_euler("z", s), lambda s: Rotation.from_euler("z", s).as_matrix()]
    one, other = (
        fem.rod(1.0, STEEL, section, elements=2, curve=lambda s, frame=frame: (place(s), frame(s))) for frame in frames
    )
    np.testing.assert_array_equal(one.directors, other.directors)


MODEL = """
materials: {steel: {young: 210 GPa, density: 7850 kg/m^3, poisson: 0.3}}
sections: {strip: {width: 20 mm, height: 1 mm}}
bodies:
  blade: {kind: rod, length: 1 m, material: steel, section: strip, elements: 1, ports: {mid: 0.5 m},
          masses: [{port: mid, mass: 0.1 kg}]}
connections: [{kind: weld, first: blade.root, second: ground}]
start: {fixed: {blade: [0, 0, 0]}}
"""


def test_rods_in_model_files(tmp_path):
    (tmp_path / "rod.yaml").write_text(MODEL)
    mechanism = load_model(tmp_path / "rod.yaml").mechanism
    assert mechanism.bodies["blade"].mass == pytest.approx(7850.0 * 2e-5 + 0.1)
    write_model(tmp_path / "again.yaml", mechanism)
    again = load_model(tmp_path / "again.yaml").mechanism
    np.testing.assert_array_equal(again.network.arrays.mass, mechanism.network.arrays.mass)
    (tmp_path / "wrong.yaml").write_text(MODEL.replace("mid: 0.5 m", "mid: 1.5 m"))
    with pytest.raises(ModelError, match=r"port 'mid' must be on the rod, 0 to 1\.0 m, got 1\.5 m"):
        load_model(tmp_path / "wrong.yaml")


def test_what_does_not_hold_yet_is_refused_by_name():
    mechanism = connect({"rod": fem.rod(1.0, None, SLENDER, elements=1)}, [])
    pose = mechanism.assemble()
    state = mechanism.consistent_state(pose)
    run = integrate(mechanism, state, [0.0, 0.1])
    with pytest.raises(ValueError, match=r"'rod'.*body.*nodes without.*common frame: use.*ports"):
        run.displacement("rod.tip")
    for method in (ExactGauss(), Decaying(radius=0.5)):
        with pytest.raises(ValueError, match=f"{type(method).__name__}.* supports no body of nodes .* such as 'rod': "):
            integrate(mechanism, state, [0.0, 0.1], method=method)
    with pytest.raises(ValueError, match="quasi_static"):
        mechanism.consistent_state(pose, elastic="quasi_static")
    assert run.rotations("rod").shape == (2, 3, 3, 3)


def test_rods_and_their_joints_are_drawn():
    rod = fem.rod(4.0, None, SLENDER, elements=1, ports={"eye": (4.0, (0.0, 0.3, 0.0))})
    arm = rigid.body(1.0, inertia=(1.0, 1.0, 1.0), ports={"pin": (0.0, 0.0, 0.0)})
    mechanism = connect({"rod": rod, "arm": arm}, [revolute("rod.eye", "arm.pin", axis=(0.0, 0.0, 1.0))])
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    scene = pose_scene(mechanism, mechanism.assemble({"rod": ((1.0, 0.0, 0.0), turn)}))
    parts = {part.name: part for part in scene.parts}
    box = parts["rod"].points[0]
    np.testing.assert_allclose((box.min(axis=0) + box.max(axis=0))[:2], [2.0, 4.0], rtol=0, atol=1e-12)
    hinge = parts[mechanism.connections[0].name].points[0]
    np.testing.assert_allclose(hinge.mean(axis=0), [0.7, 4.0, 0.0], rtol=0, atol=1e-12)


def test_a_stiff_blade_turns_steadily():
    """Round-off of an axial stiffness of 5e8 N is no force that changes as the blade turns."""
    assert helicopter_blade.flapping(3.0, 8, 2) == pytest.approx(4.7973, abs=2e-4)  # of slender blades, other code
