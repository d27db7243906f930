"""Sensors of stresses, strains, sections and energies, beside closed forms and the functions that plot them."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import fem
import rigid
from flexph import GROUND, connect, force, hinge, integrate, torque, weld
from flexph.bodies import load_reduced, reduce_body, save_reduced
from flexph.bodies.stresses import tensors
from flexph.control import Sampled
from flexph.methods import Exact
from flexph.sensors import (
    energy,
    joint_angle,
    joint_force,
    joint_torque,
    position,
    rate,
    section_force,
    section_rotation,
    strain,
    stress,
)
from flexph.sensors.panel import Panel

METAL = fem.Material(young=7e10, density=2700.0, poisson=0.3)
SECTION = fem.Section(width=0.03, height=0.02)
LENGTH, LOAD, TORSION = 1.0, 100.0, SECTION.torsion_constant
BEAM = connect(
    {"beam": fem.beam(LENGTH, METAL, SECTION, elements=4)},
    [weld("beam.root", GROUND.at(0.0, 0.0)), force("beam.tip", name="push")],
)


def at_rest(mechanism, load):
    pose = mechanism.assemble(dict.fromkeys(mechanism.bodies, (0.0, 0.0, 0.0)))
    return mechanism.equilibrium(pose, inputs=load)


def test_the_stress_of_a_cantilever_is_that_of_its_moment():
    x = at_rest(BEAM, {"push": (0.0, LOAD)}).x
    moment = stress("beam", "bending_moment", (0.3, 0.0))
    sensors = {"moment": moment, "face": stress("beam", "axial_stress_upper", (0.3, 0.0))}
    readings, _ = Panel(BEAM, sensors).read(x)
    assert abs(readings["moment"]) == pytest.approx(LOAD * 0.7, rel=1e-9)  # linear, as moments of elements are
    modulus = SECTION.second_moment / (0.5 * 0.02)
    assert abs(readings["face"]) == pytest.approx(abs(readings["moment"]) / modulus, rel=1e-9)
    (turn, _) = Panel(BEAM, {"tip": section_rotation("beam.tip")}).read(x)
    angle = LOAD * LENGTH**2 / (2.0 * METAL.young * SECTION.second_moment)
    assert turn["tip"] == pytest.approx(angle, rel=2e-2)


GAUGE = 7.0 / 12.0  # the middle of an element of six


def gauged(body, load):
    """A cantilever of space under a force and a torque at its tip, and what gauges read."""
    mechanism = connect(
        {"it": body},
        [weld("it.root", GROUND.at(0.0, 0.0, 0.0)), force("it.tip", name="push"), torque("it.tip", name="turn")],
    )
    rest = mechanism.equilibrium(mechanism.assemble({"it": (0.0, 0.0, 0.0)}), inputs=load)
    names, at = [name for name in body.view.stresses if "shear_force" not in name], (GAUGE, 0.0, 0.0)
    sensors = {name: strain("it", name, at) for name in names}
    readings, _ = Panel(mechanism, sensors).read(rest.x)
    return readings, Panel(mechanism, {name: stress("it", name, at) for name in names}).read(rest.x)[0]


BARS = {
    "beam": fem.beam(LENGTH, METAL, SECTION, elements=4, dim=3),
    "split": fem.beam(LENGTH, METAL, SECTION, elements=6, dim=3, split=3),
    "rod": fem.rod(LENGTH, METAL, SECTION, elements=6, order=1),
}


@pytest.mark.parametrize("name", BARS)
def test_strains_of_bars_are_those_of_their_forces_and_moments(name):
    """N/EA, M/EI, T/GJ, and σ/E at the faces, under loads that bend by less than 1e-5 of the length."""
    push, twist = np.array([1e-3, 1e-3, 2e-3]), 1e-3
    told, given = gauged(BARS[name], {"push": push, "turn": (twist, 0.0, 0.0)})
    E, G, c = METAL.young, METAL.shear_modulus, 0.5 * np.array([SECTION.height, SECTION.width])
    inertia = np.array([SECTION.second_moment, SECTION.second_moment_y])
    moments = (LENGTH - GAUGE) * np.array([push[1], -push[2]])  # M_z, M_y
    expected = {
        "axial_force": push[0] / (E * SECTION.area),
        "bending_moment_z": moments[0] / (E * inertia[0]),
        "bending_moment_y": moments[1] / (E * inertia[1]),
        "torque": twist / (G * TORSION),
    }
    mean, bent = expected["axial_force"], moments * c / (E * inertia)
    expected |= {f"axial_stress_y_{side}": mean - sign * bent[0] for side, sign in (("upper", 1), ("lower", -1))}
    expected |= {f"axial_stress_z_{side}": mean + sign * bent[1] for side, sign in (("upper", 1), ("lower", -1))}
    assert told.keys() == expected.keys()
    # the force along the bar acts on its deflection: PL²/EI = 1e-6, where that is not left out as in one frame
    tolerance = 1e-9 if name == "beam" else 1e-5
    for field, value in expected.items():
        assert told[field] == pytest.approx(value, rel=tolerance), field
    assert given["axial_stress_y_upper"] == pytest.approx(E * told["axial_stress_y_upper"], rel=1e-12)


def test_strains_of_a_reduced_body_are_those_of_its_stresses(tmp_path):
    body = reduce_body(fem.beam(LENGTH, METAL, SECTION, elements=4, dim=3), modes=6)
    save_reduced(body, tmp_path / "body.h5", fields="stresses")
    for own in (body, load_reduced(tmp_path / "body.h5")):
        told, given = gauged(own, {"push": (0.0, 1e-3, 2e-3), "turn": (1e-3, 0.0, 0.0)})
        assert given["bending_moment_z"] == pytest.approx((LENGTH - GAUGE) * 1e-3, rel=0.1)  # of six modes
        for field, modulus in (("axial_stress_y_lower", METAL.young), ("torque", METAL.shear_modulus * TORSION)):
            assert given[field] == pytest.approx(modulus * told[field], rel=1e-6)  # kept in single precision


def test_strains_that_are_not_known_are_refused():
    plate = fem.plate(fem.box_mesh((0.4, 0.2), (2, 1)), METAL, thickness=2e-3, ports={"edge": "left"}, reference="edge")
    mechanism = connect({"plate": plate}, [])
    with pytest.raises(ValueError, match=r"'moment_xx' of body 'plate' has no compliance"):
        Panel(mechanism, {"it": strain("plate", "moment_xx", (0.2, 0.1))})
    assert Panel(mechanism, {"it": strain("plate", "stress_top", (0.2, 0.1))}).read(
        mechanism.consistent_state(mechanism.assemble()).x
    )[0]["it"].shape == (6,)


def test_the_moment_at_a_clamped_root_converges_with_the_square_of_the_elements():
    """Of a cantilever under its weight: elements have the moment wL²/2 short by wh²/12 at their ends."""
    weight, errors = 2700.0 * 0.03 * 0.02 * 9.81, []
    for elements in (4, 8):
        beam = fem.beam(LENGTH, METAL, SECTION, elements=elements)
        shelf = connect({"beam": beam}, [weld("beam.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
        (moment, _) = Panel(shelf, {"it": stress("beam", "bending_moment", (0.0, 0.01))}).read(at_rest(shelf, {}).x)
        errors.append(abs(moment["it"]) / (0.5 * weight * LENGTH**2) - 1.0)
    np.testing.assert_allclose(errors, [-1.0 / 96.0, -1.0 / 384.0], rtol=1e-6)


@pytest.mark.parametrize("at", [(1.001, 0.0), (-0.001, 0.0), (0.5, 0.0101)])
def test_points_off_a_body_are_refused(at):
    with pytest.raises(ValueError, match=r"point.*body 'beam' .*0.*1 m, -0.01.*0.01 m; got \("):
        Panel(BEAM, {"it": stress("beam", "bending_moment", at)})


def test_runs_events_observers_and_controllers_read_the_same():
    start = at_rest(BEAM, {"push": (0.0, LOAD)})
    seen, upper, whole = [], stress("beam", "axial_stress_upper", (0.1, 0.0)), energy("total")

    def note(time, see):
        seen.append(see["upper"])
        return {}

    run = integrate(
        BEAM,
        start,
        np.linspace(0.0, 1e-3, 6),
        method=Exact(),
        controllers={"note": Sampled(function=note, period=2e-4, sensors={"upper": upper})},
        observe=lambda t, x: x.measured(upper),
        events={"half": lambda t, x: x.measured(upper) - 0.9 * x.measured(upper)},
    )
    history = run.measured(upper)
    np.testing.assert_array_equal(history[:5], seen)
    np.testing.assert_array_equal(history, run.observations)
    assert history[0] != history[-1]
    np.testing.assert_allclose(run.measured(whole), run.ledger.total_energy, rtol=1e-12)
    elastic = run.measured(energy("elastic beam"))
    np.testing.assert_allclose(elastic, run.ledger.energy["elastic beam"], rtol=1e-12)
    np.testing.assert_allclose(
        run.measured(section_rotation("beam.tip")), run.measured(joint_angle("beam.tip")), rtol=1e-3
    )


def test_joint_forces_of_a_falling_bar():
    """From rest, level: 5/2 mg sin θ along it and mg/4 cos θ across, of second order at the saved times."""
    bar = connect({"bar": rigid.bar(1.0, 2.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = bar.consistent_state(bar.assemble({"bar": (0.0, 0.0, 0.0)}))
    joint = bar.connections[0].name
    errors = []
    for steps in (40, 80):
        run = integrate(bar, start, np.linspace(0.0, 0.4, steps + 1))
        below, weight = -run.measured(joint_angle("bar.root")), 2.0 * 9.81
        expected = np.stack([-2.5 * weight * np.sin(below), 0.25 * weight * np.cos(below)], axis=1)
        errors.append(np.abs(run.measured(joint_force(joint, frame="first")) - expected).max())
    assert errors[0] < 1e-2 * weight
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)
    with pytest.raises(ValueError, match=r"sensor 'it': the force of .* exists over steps"):
        Panel(bar, {"it": joint_force(joint)})
    with pytest.raises(ValueError, match="no joint 'hinge'"):
        run.measured(joint_force("hinge"))


def test_joint_torques_of_a_cantilever_at_rest():
    start = at_rest(BEAM, {"push": (0.0, LOAD)})
    joint = BEAM.connections[0].name
    for times in ([0.0, 1e-4], [0.0, 1e-4, 3e-4]):
        run = integrate(BEAM, start, times, inputs={"push": (0.0, LOAD)})
        torques = run.measured(joint_torque(joint))
        assert torques.shape == (len(times), 1)
        np.testing.assert_allclose(torques, -LOAD * LENGTH, rtol=1e-6)
        np.testing.assert_allclose(run.measured(joint_force(joint, on="second")), [[0.0, LOAD]] * len(times), atol=1e-4)


def test_strains_and_section_forces_of_a_solid_are_those_of_its_state():
    cut = {"middle": fem.Cut(lambda x: np.isclose(x[0], 0.2))}
    block = fem.solid(fem.box_mesh((0.4, 0.1, 0.1), (2, 1, 1)), METAL, sections=cut)
    mechanism = connect({"block": block}, [])
    x = np.random.default_rng(0).normal(size=mechanism.layout.size)
    field = block.view.tensors["stress"]
    at = field.positions[3]
    sensors = {"strain": strain("block", "stress", at), "force": section_force("block", "middle")}
    readings, _ = Panel(mechanism, sensors).read(x)
    tensor = tensors(field.at, x[mechanism.layout.parts["block.stress"]])[3]
    normal, shear = tensor[:3], tensor[3:]
    hooke = ((1.0 + METAL.poisson) * normal - METAL.poisson * normal.sum()) / METAL.young
    expected = [*hooke, *(2.0 * (1.0 + METAL.poisson) / METAL.young * shear)]
    np.testing.assert_allclose(readings["strain"], expected, rtol=1e-9)
    assert readings["force"].shape == (6,)
    for quantity in (strain, stress):
        with pytest.raises(ValueError, match="point of body 'block'"):
            Panel(mechanism, {"it": quantity("block", "stress", (0.4, 0.05, 0.13))})
    assert Panel(mechanism, {"it": stress("block", "stress", at)}).read(x)[0]["it"].shape == (6,)


def test_rotations_in_space_are_vectors():
    spin = np.array([0.1, -0.2, 0.3])
    body = rigid.body(1.0, inertia=np.diag([0.1, 0.2, 0.3]), ports={"pin": (0.1, 0.0, 0.0)})
    mechanism = connect({"it": body}, [])
    x = mechanism.consistent_state(mechanism.assemble({"it": Rotation.from_rotvec(spin)})).x
    readings, _ = Panel(mechanism, {"turn": section_rotation("it.pin")}).read(x)
    np.testing.assert_allclose(readings["turn"], spin, atol=1e-14)


@pytest.mark.parametrize(
    ("quantity", "told"),
    [
        (stress("beem", "bending_moment", (0.0,)), "no body 'beem'"),
        (stress("beam", "bend", (0.0,)), "no stress 'bend'"),
        (strain("beam", "stress", (0.0,)), "no stress 'stress': body 'beam' has"),
        (energy("kinetic rod"), "energy must be"),
        (section_force("beam", "middle"), "no section 'middle'"),
    ],
)
def test_what_is_not_there_is_named_with_the_sensor(quantity, told):
    with pytest.raises(ValueError, match=f"sensor 'it': .*{told}"):
        Panel(BEAM, {"it": quantity})


def test_rates_are_of_measures():
    with pytest.raises(ValueError, match="got energy 'total'"):
        rate(energy("total"))
    with pytest.raises(ValueError, match="got rate of the rate of the position"):
        rate(rate(rate(position("beam.tip"))))
