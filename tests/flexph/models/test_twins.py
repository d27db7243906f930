"""The model files that are shipped give the numbers of the same mechanisms written in Python."""

import math

import numpy as np
import pytest

import fem
import rigid
from cases import bouncing_ball, crank_slider, four_bar, slider_crank_3d
from flexph import GROUND, connect, force, hinge, integrate, slider
from flexph.bodies import reduce_body
from flexph.joints import CoulombFriction
from flexph.models import load_model
from flexph.models.commands import FOLDER

SAME = {"rtol": 1e-9, "atol": 1e-12}
"""The same operations, but for units that are converted: round-off of those, which runs make larger."""


def model(name, **settings):
    return load_model(FOLDER / f"{name}.yaml", settings=settings)


def test_the_file_of_the_crank_slider_is_its_case():
    file = model("crank-slider", **{"runs.two_turns.steps": 200, "runs.two_turns.end": "41.8879 ms"})
    run = file.run("two_turns")
    twin = crank_slider.crank_slider(8, "linear")
    start = twin.consistent_state(twin.assemble({"crank": (0.0, 0.0, 0.0)}))
    solution = integrate(twin, start, np.linspace(0.0, 41.8879e-3, 201))
    np.testing.assert_allclose(run.solution.states, solution.states, rtol=1e-7, atol=1e-7)
    deflection = np.abs(solution.displacement("rod.middle")[:, 1]).max()
    assert run.figures()["deflection_max_m"] == pytest.approx(deflection, rel=1e-9)


def test_the_file_of_the_four_bar_is_its_case():
    data = four_bar.DATA["si"]._replace(second_moments=(161.577465e-12, 8.676056e-12, 8.676056e-12))
    twin = four_bar.four_bar(data, 8)
    expected = twin.eigenfrequencies(four_bar.poses_at(twin, data, np.radians([0.0, 90.0, 180.0, 270.0])), 3)
    np.testing.assert_allclose(model("four-bar").run("frequencies").frequencies, expected, rtol=1e-7)


def test_slider_crank_in_space():
    file = model("slider-crank-3d", **{"runs.one_second.steps": 100, "runs.one_second.end": 0.1})
    result = slider_crank_3d.solve("slender", 100, 0.1)
    solution = file.run("one_second").solution
    np.testing.assert_allclose(solution.position("slider.centre")[:, 0], result.position, **SAME)
    np.testing.assert_allclose(solution.spin("crank")[:, 0], result.solution.spin("crank")[:, 0], rtol=1e-8)


def test_the_file_of_the_bouncing_ball_is_its_case():
    file = model("bouncing-ball", **{"runs.falls.steps": 50, "runs.falls.end": 0.5})
    run = file.run("falls")
    twin = bouncing_ball.run(step=0.01, end=0.5)
    np.testing.assert_allclose(run.solution["ball.centre"], twin["ball.centre"], rtol=1e-9, atol=1e-12)
    assert run.figures()["lowest_m"] == pytest.approx(twin["ball.centre"][:, 1].min(), rel=1e-9)
    arm = run.solution.rotations("arm")
    assert np.arctan2(arm[:, 1, 0], arm[:, 0, 0]).min() < math.radians(-120.0)  # the lower stop is soft
    assert run.solution.ledger.dissipation["stops"].sum() > 0.1


def test_solid_from_a_mesh():
    file = model("solid-bar", **{"runs.swing.steps": 20, "runs.swing.end": "40 ms"})
    plastic = fem.Material(young=2e9, density=1200.0, poisson=0.35)
    ports = {"hinge": "fixed", "end": "end"}
    solid = fem.solid(FOLDER / "bar.msh", plastic, degree=2, ports=ports, reference="hinge")
    twin = connect(
        {"bar": reduce_body(solid, modes=4, static=["end"])},
        [hinge("bar.hinge", GROUND.at(0.0, 0.01, 0.005), axis=(0.0, 1.0, 0.0)), force("bar.end", name="push")],
        gravity=(0.0, 0.0, -9.81),
    )
    start = twin.consistent_state(twin.assemble({"bar": (0.0, 0.0, 0.0)}))
    push = lambda t: (0.0, 0.0, 0.2 * math.sin(20.0 * math.pi * t))  # noqa: E731 - as the file has it up to 50 ms
    expected = integrate(twin, start, np.linspace(0.0, 0.04, 21), inputs={"push": push})
    solution = file.run("swing").solution
    np.testing.assert_allclose(solution.position("bar.end"), expected.position("bar.end"), **SAME)


def test_the_mesh_that_a_study_varies():
    file = model("crank-slider")
    (path, values) = next(iter(file.document.studies["mesh"].vary.items()))
    sizes = [file.with_settings({path: value}).mechanism.bodies["rod"].size for value in values]
    assert sizes == [crank_slider.crank_slider(n, "linear").bodies["rod"].size for n in values]


RELATIONS = """
gravity: [0, -9.81 m/s^2]
bodies:
  block: {kind: rigid_body, mass: 2 kg, inertia: 0.04 kg*m^2, ports: {centre: [0, 0]}}
connections:
  - {kind: slider, port: block.centre, rail: ground, name: rail, friction: {kind: coulomb_friction, coefficient: 0.3}}
start:
  velocities: {block: [0.06 m/s, 0, 0]}
runs:
  stop:
    end: 0.03 s
    steps: 30
    outputs:
      measures:
        friction_N: {of: friction_force of rail}
        stuck: {of: {measure: sticks, joint: rail}, take: last}
"""


def test_files_declare_friction_of_joints(tmp_path):
    """A block that stops on its rail; friction, what presses it and whether it sticks are read by the joint."""
    path = tmp_path / "model.yaml"
    path.write_text(RELATIONS)
    file = load_model(path)
    run = file.run("stop")
    body = rigid.body(2.0, inertia=0.04, ports={"centre": (0.0, 0.0)})
    rail = slider("block.centre", GROUND.at(0.0, 0.0), friction=CoulombFriction(0.3), name="rail")
    twin = connect({"block": body}, [rail], gravity=(0.0, -9.81))
    start = twin.consistent_state(twin.assemble(), velocities={"block": (0.06, 0.0, 0.0)})
    solution = integrate(twin, start, np.linspace(0.0, 0.03, 31))
    np.testing.assert_allclose(run.solution.states, solution.states, **SAME)
    assert run.figures()["friction_N"] == pytest.approx(0.3 * 2.0 * 9.81, rel=1e-9)
    assert run.figures()["stuck"] == 1.0
    path.write_text(RELATIONS.replace("of rail", "of rial"))
    with pytest.raises(ValueError, match=r"friction_force of 'rial': .*'rail'"):
        load_model(path).run("stop")
