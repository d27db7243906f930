"""The largest stress of a body is one number in pictures, reports, envelopes, files and sensors, and the right one."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve
from streams import streams_of

import fem
from flexph import GROUND, connect, integrate, weld
from flexph.bodies import NodalBody, body_from_modes, reduce_body
from flexph.export import read_series, stress_envelope, write_envelope, write_series
from flexph.plot.stress_extremes import reported_quantities, stress_extremes
from flexph.results import static_solution
from flexph.scenes import motion_scene, read_scene, write_scene
from flexph.sensors import stress
from flexph.view import html_fragment
from flexph.view.looks import MAPS, is_diverging, limits_of

MISES, AXIAL = "von Mises stress, largest in cell", "size of axial stress, largest in cell"
STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
RUBBER = fem.Material(young=2e6, density=1000.0, poisson=0.3)
ENDS = {"root": "left", "tip": "right"}
ROUND, FLAT = fem.Section(diameter=0.02), fem.Section(width=0.02, height=0.01)
CONSTANTS = fem.Section(area=2e-4, second_moment=2e-9, fibre=0.01)
LONG = 0.3


def bar(size=(LONG, 0.02, 0.02), counts=(3, 1, 1), material=STEEL, **options):
    return fem.solid(fem.box_mesh(size, counts), material, ports=ENDS, degree=2, **options)


def modal():
    """A bar by two modes alone, with the stresses of another program at its nodes."""
    rng, mesh = np.random.default_rng(0), fem.box_mesh((LONG, 0.02, 0.02), (2, 1, 1))
    nodes = mesh.p.T
    rigid = np.hstack([np.tile(np.eye(3), (len(nodes), 1)), *(np.cross(e, nodes).reshape(-1, 1) for e in np.eye(3))])
    shapes = np.linalg.qr(np.hstack([rigid, rng.normal(size=(nodes.size, 2))]))[0][:, 6:]
    return body_from_modes(
        shapes,
        [50.0, 80.0],
        nodes,
        masses=np.full(len(nodes), 0.1),
        ports={"root": 0, "tip": 11},
        cells=("hexahedron", mesh.t.T[:, [0, 1, 4, 2, 3, 6, 7, 5]]),
        stresses={"s": ("Pa", 1e9 * rng.normal(size=(len(nodes), 6, 2)))},
    )


KINDS = {
    "beam": fem.beam(LONG, STEEL, ROUND, elements=2, dim=3),
    "tube": fem.beam(LONG, STEEL, fem.Section(diameter=0.02, inner_diameter=0.016), elements=2, dim=3),
    "beam of the plane": fem.beam(LONG, STEEL, FLAT, elements=2),
    "beam of constants": fem.beam(LONG, STEEL, CONSTANTS, elements=2),
    "beam of several frames": fem.beam(LONG, STEEL, FLAT, elements=4, dim=3, split=2),
    "reduced beam": reduce_body(fem.beam(LONG, STEEL, FLAT, elements=4, dim=3), modes=4, static=("tip",)),
    "rod": fem.rod(LONG, STEEL, ROUND, elements=2),
    "rod of the plane": fem.rod(LONG, STEEL, ROUND, elements=2, dim=2),
    "rod of the plane of constants": fem.rod(LONG, STEEL, CONSTANTS, elements=2, dim=2, shear_factors=(0.8, 0.8)),
    "tapered rod": fem.rod(LONG, STEEL, lambda s: fem.Section(width=0.02 - 0.02 * s, height=0.01), elements=2),
    "solid": bar(reference="root"),
    "solid of the plane": bar((LONG, 0.02), (3, 1), plane="strain", thickness=0.02),
    "reduced solid": reduce_body(bar(reference="root"), modes=3, static=("tip",)),
    "finite solid": bar((0.3, 0.06, 0.06), (2, 1, 1), RUBBER, strain="finite"),
    "plate": fem.plate(fem.box_mesh((LONG, 0.05), (3, 1)), STEEL, ports=ENDS, thickness=0.004, reference="root"),
    "modes of another program": modal(),
}


def one_state(body, stress=None):
    """A single state of a body, with the stresses that are given or with any."""
    mechanism, rng = connect({"b": body}, []), np.random.default_rng(3)
    state = mechanism.consistent_state(
        mechanism.assemble({"b": (0.0, 0.0, 0.0) if body.dim == 2 else ((0.0, 0.0, 0.0), np.eye(3))})
    )
    x, parts = state.x.copy(), mechanism.layout.parts
    x[parts["b.stress"]] = 1e3 * rng.normal(size=body.stress_size) if stress is None else stress
    if isinstance(body, NodalBody) and body.current:  # of finite strain: deformed, too
        x[parts["b.centre"]] *= 1.0 + 0.01 * rng.normal(size=x[parts["b.centre"]].size)
    return static_solution(mechanism, replace(state, x=x))


def cantilever(body, force, turn=None):
    """Stresses of a linear body whose frame is its root, under a force and a torque at its tip."""
    port, energy = body.ports["tip"], body.elasticity
    load = port.shape.T @ np.asarray(force)
    if turn is not None:
        load = load + port.rotation.T @ np.asarray(turn)
    D, S = energy.strain, energy.stiffness_of_stress
    return S @ (D @ spsolve((D.T @ S @ D).tocsc(), load))


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_stress_is_one_number_wherever_it_is_told(kind, tmp_path):
    run, label = one_state(KINDS[kind]), AXIAL if "of constants" in kind else MISES
    want = stress_envelope(run, "b").peak_von_mises.max()
    assert want > 0.0
    view = motion_scene(run).parts[0].point_fields[label].values
    report = stress_extremes(run, "b", reported_quantities(KINDS[kind])[0])
    name = "axial_size" if label == AXIAL else "von_mises"
    series = read_series(write_series(tmp_path / "a.pvd", run)[0]).cell_data[f"{name}_largest_in_cell"]
    with open(write_envelope(tmp_path / "a.csv", run), encoding="utf-8") as file:
        table = [float(row["peak_von_mises [Pa]"]) for row in csv.DictReader(file)]
    sensor = float(run.measured(stress("b", name))[0])
    np.testing.assert_allclose(
        [view.max(), report.largest.max(), np.nanmax(series), max(table), sensor], want, rtol=1e-12
    )
    worst = report.places[report.worst]
    assert report.quantity == label
    assert float(run.measured(stress("b", name, worst))[0]) == pytest.approx(want, rel=1e-12)


def test_beams_have_the_stresses_of_beam_theory():
    """A shaft that is bent, pulled, sheared and twisted: σ and τ at the outer fibre of its clamped root."""
    N, Q, T = 400.0, 60.0, 25.0
    torsion = T * 0.01 / (2.0 * ROUND.second_moment)
    axial = N / ROUND.area + Q * LONG * 0.01 / ROUND.second_moment
    for pair in ("compatible", "hermite", "quadratic"):
        body = fem.beam(LONG, STEEL, ROUND, elements=2, dim=3, pair=pair)
        peak = stress_envelope(one_state(body, cantilever(body, (N, 0.0, -Q), (T, 0.0, 0.0))), "b").peak_von_mises
        assert peak[0] == peak.max() == pytest.approx(np.sqrt(axial**2 + 3.0 * torsion**2), rel=1e-8)
        sections = body.view.sections.von_mises(cantilever(body, (0.0, Q, 0.0))[None])[0]
        assert sections[-1] == pytest.approx(np.sqrt(3.0) * 4.0 / 3.0 * Q / ROUND.area, rel=1e-6)  # nothing bends there
        ends = body.view.sections.of(cantilever(body, (0.0, 2.0, 3.0))[None])[0]
        np.testing.assert_allclose(ends[[0, -1], 1:3], [[2.0, 3.0]] * 2, atol=1e-6)


@pytest.mark.parametrize("order", [2, 3])
def test_rods_have_the_moment_of_their_ends(order):
    """What is linear within elements is met at nodes; what jumps from one to the next is told on both sides."""
    rod = fem.rod(LONG, STEEL, ROUND, elements=2, order=order)
    x = np.polynomial.legendre.leggauss(order)[0]
    s = np.concatenate([(k + 0.5 + 0.5 * x) * 0.5 * LONG for k in range(2)])
    moment, torque = 60.0 * (LONG - s), np.where(s < 0.5 * LONG, 25.0, 5.0)
    given = np.column_stack([0.0 * s, 0.0 * s, 0.0 * s, torque, 0.0 * s, moment]).ravel()
    found = stress_envelope(one_state(rod, given), "b").peak_von_mises
    for place, bent, twist in ((0, 60.0 * LONG, 25.0), (order, 30.0 * LONG, 5.0)):
        want = np.array([bent, np.sqrt(0.75) * twist]) * 0.01 / ROUND.second_moment
        assert found[place] == pytest.approx(np.hypot(*want), rel=1e-12)


def test_bending_does_not_cancel_in_a_cell():
    """Cells as high as the solid: the stress of beam theory at the points of the first of them."""
    body = bar((0.4, 0.02, 0.02), (8, 1, 1), reference="root")
    field = motion_scene(one_state(body, cantilever(body, (0.0, 0.0, -100.0)))).parts[0].point_fields[MISES]
    points = body.view.tensors["stress"].positions
    fibre, along = np.abs(points[:, 2] - 0.01).max(), 0.4 - points[:, 0].min()
    # within a height of the clamped end stresses are not those of a beam: 13 % above on this mesh
    assert field.values.max() == pytest.approx(100.0 * along * fibre / (0.02**4 / 12.0), rel=0.2)


def test_a_plate_that_is_pulled_and_bent_has_its_largest_stress_at_one_face():
    body = KINDS["plate"]
    run = one_state(body, cantilever(body, (1000.0, 0.0, -10.0)))
    faces = [stress_envelope(run, "b", name).peak_von_mises.max() for name in ("stress_top", "stress_bottom")]
    assert abs(faces[0] - faces[1]) > 0.05 * max(faces)
    assert motion_scene(run).parts[0].point_fields[MISES].values.max() == pytest.approx(max(faces))


@pytest.fixture(scope="module")
def swing():
    """A cantilever that swings after its start without load: its largest stress is between the times that are shown."""
    beam = fem.beam(LONG, STEEL, FLAT, elements=2)
    mechanism = connect({"b": beam}, [weld("b.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"b": (0.0, 0.0, 0.0)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.02, 22))


def test_colours_go_to_the_largest_value_of_the_whole_run(swing, tmp_path):
    scene = motion_scene(swing, frames=2)
    want = stress_envelope(swing, "b").peak_von_mises.max()
    assert scene.parts[0].point_fields[MISES].values.max() < 0.9 * want
    assert scene.limits(MISES)[1] == pytest.approx(want, rel=1e-12)
    assert limits_of(scene, MISES) == pytest.approx((0.0, 1e-6 * want))  # in MPa
    read = read_scene(write_scene(tmp_path / "a.vtkhdf", scene))
    assert read.limits(MISES)[1] == pytest.approx(want, rel=1e-6) and read.is_signed("axial stress")


def test_signed_fields_have_colours_about_zero(swing):
    scene = motion_scene(swing, frames=3)
    low, high = limits_of(scene, "axial stress")
    assert low == -high and is_diverging(scene, "axial stress") and not is_diverging(scene, MISES)
    (read,) = streams_of(html_fragment(scene))
    for name, colours in ((MISES, "sequential"), ("axial stress", "diverging")):
        assert read["fields"][name]["colours"] == list(MAPS[colours]) and read["fields"][name]["unit"] == "MPa"
    part = scene.parts[0]
    field = replace(part.point_fields[MISES], values=part.point_fields[MISES].values - 1e6, limits=None)
    below = replace(scene, parts=(replace(part, point_fields={"new": field}),))
    assert is_diverging(below, "new")  # whoever made it did not say so


def test_a_largest_stress_needs_no_point_and_other_fields_do():
    run = one_state(KINDS["solid"])
    with pytest.raises(ValueError, match=r"at must be a point of body 'b' for stress 'stress'"):
        run.measured(stress("b", "stress"))
