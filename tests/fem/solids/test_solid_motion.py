"""Solids in mechanisms: energy, momenta, joints, reduced bodies."""

import meshio
import numpy as np
import pytest
from solid_meshes import box
from spatial_bodies import Sight, random_rotation

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distributed_load,
    eigenfrequencies,
    force,
    hinge,
    integrate,
    revolute,
    spherical,
    torque,
    weld,
)
from flexph.bodies import floating_body, principal_stresses, reduce_body, von_mises
from flexph.bodies.floating.linear_system import linear_body
from flexph.bodies.mean_axes import about_mean_axes
from flexph.export import write_series
from flexph.linear import craig_bampton
from flexph.mechanisms.poses import quasistatic
from flexph.numerics.arrays import dense

RUBBER = fem.Material(young=2e5, density=200.0, poisson=0.3)
LENGTHS = (1.0, 0.2, 0.15)
PORTS = {"root": "left", "tip": fem.Tie("right", "mean")}


def bar(kind="tetra10", counts=(2, 1, 1), **options):
    return fem.solid(box(kind, counts, LENGTHS), RUBBER, ports=PORTS, **({"reference": "root"} | options))


def train(body):
    """A solid between a beam and a rigid body, free in space."""
    beam = fem.beam(0.8, RUBBER, fem.Section(width=0.15, height=0.2), elements=2, dim=3, strain="von_karman")
    block = rigid.body(2.0, inertia=(0.02, 0.03, 0.04), ports={"p": (0.1, 0.0, 0.05)})
    joints = [weld("beam.tip", "solid.root"), spherical("solid.tip", "block.p")]
    return connect({"beam": beam, "solid": body, "block": block}, joints)


def thrown(mechanism, seed=1):
    rng = np.random.default_rng(seed)
    spin = {name: (rng.standard_normal(3), rng.standard_normal(3)) for name in mechanism.bodies}
    pose = mechanism.assemble({"beam": ((0.0, 0.0, 0.0), random_rotation(rng))})
    return mechanism.consistent_state(pose, velocities=spin)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize(
    "body",
    [
        bar(),
        bar("hexahedron", (3, 1, 1), reference="mean_axis"),
        bar("tetra", (2, 1, 1), reference="tip"),
        reduce_body(bar(), modes=4, static=("tip",)),
    ],
    ids=["tetra10", "mean axes", "mean port", "reduced"],
)
def test_a_free_flight_keeps_energy_and_momenta(body):
    mechanism = train(body)
    run = integrate(mechanism, thrown(mechanism), np.linspace(0.0, 0.3, 16))
    found = np.array([Sight(mechanism, x).momentum() for x in run.states])
    assert np.abs(found[0]).max() > 1.0  # there is something to keep
    assert run.ledger.kind("elastic").max() > 1e-3 * run.ledger.total_energy.max()  # and bodies deform
    impulse = 0.02 * np.abs(run.stage_multipliers).max()  # enters and cancels, to 1e-16 of itself
    assert np.abs(found - found[0]).max() < 1e-13 * max(1.0, impulse)
    assert run.energy_drift() < 1e-12
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.position_residual.max() < 1e-13
    assert run.orthogonality() < 1e-13


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_plane_body_in_a_pendulum():
    """A plane-stress bar on a hinge: energy balance, drift, and the work of traction on a named edge."""
    plate = fem.solid(
        box("triangle6", (4, 1), (1.0, 0.1)),
        RUBBER,
        plane="stress",
        thickness=0.05,
        ports={"root": "left", "tip": "right"},
        reference="root",
        loads={"wind": lambda x: x[1] > 0.0999},
    )
    mechanism = connect(
        {"p": plate}, [hinge("p.root", GROUND), distributed_load("p.wind", name="wind")], gravity=(0, -9.81)
    )
    start = mechanism.consistent_state(mechanism.assemble({"p": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.5, 26), inputs={"wind": lambda t: (0.0, 20.0 * t)})
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.position_residual.max() < 1e-13
    port = plate.loads["wind"]
    assert port.measures == pytest.approx([0.05])
    places = run.points("p", port.positions, port.shapes)[:, 0, 1]
    middle = 20.0 * 0.5 * (run.times[1:] + run.times[:-1])
    assert run.ledger.work["wind"] == pytest.approx(0.05 * middle * np.diff(places), rel=1e-3, abs=1e-12)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_pressure_turns_with_the_body():
    """Pressure all around pushes no free body away and does not turn it, however it lies; on one side it does."""
    skin = {"skin": fem.Load(lambda x: x[0] > -1.0, on="surface", uniform=False), "side": "top"}
    body = fem.solid(box("tetra", (2, 1, 1), LENGTHS), RUBBER, ports=PORTS, reference="root", loads=skin)
    loads = [distributed_load("b.skin", axes="body", name="all"), distributed_load("b.side", axes="body", name="side")]
    mechanism = connect({"b": body}, loads)
    pose = mechanism.assemble({"b": ((0.0, 0.0, 0.0), random_rotation(np.random.default_rng(3)))})
    start = mechanism.consistent_state(pose)
    pressure = lambda t: -40.0 * body.loads["skin"].normals  # noqa: E731
    none = {"side": lambda t: np.zeros((1, 3))}
    run = integrate(mechanism, start, np.linspace(0.0, 0.1, 6), inputs={"all": pressure, **none})
    scale = 40.0 * body.loads["skin"].measures.sum() * 0.1
    assert np.abs(run.linear_momentum()).max() < 1e-13 * scale
    assert np.abs(run.angular_momentum()).max() < 1e-3 * scale  # facets turn with the frame, not with their strain
    assert run.ledger.largest_residual < 1e-12
    assert run.ledger.kind("elastic").max() > 0.0  # and it is pressed together
    push = {"all": lambda t: np.zeros_like(body.loads["skin"].normals), "side": lambda t: np.array([0.0, 0.0, -5.0])}
    run = integrate(mechanism, start, np.linspace(0.0, 0.02, 3), inputs=push)
    turned = run.rotations("b")[0] @ [0.0, 0.0, -1.0]
    momentum = run.linear_momentum()[-1]
    assert momentum == pytest.approx(0.02 * 5.0 * 0.2 * turned, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("reference", ["root", "tip", "mean_axis"])
def test_J_is_skew_at_any_state(reference):
    system = floating_body(bar("tetra", (2, 1, 1), reference=reference))
    rng = np.random.default_rng(0)
    for _ in range(2):
        J = dense(system.J(rng.standard_normal(system.size)))
        assert np.abs(J + J.T).max() < 1e-13 * np.abs(J).max()


def test_reduced_bodies_converge_from_above():
    full = bar("hexahedron20", (3, 1, 1))
    want = eigenfrequencies(linear_body(full, "b"))[:6]
    errors = []
    for count in (6, 20):
        reduced = reduce_body(full, modes=count, static=("tip",), inertia=True)
        found = eigenfrequencies(linear_body(reduced, "b"))[:6]
        assert np.all(found > want * (1.0 - 1e-10))
        errors.append(np.abs(found / want - 1.0).max())
    assert errors[0] < 0.05 and errors[1] < 1e-2
    field = reduced.view.tensors["stress"]
    assert field.at.shape[0] == full.view.tensors["stress"].at.shape[0]


def test_craig_bampton_of_a_solid():
    """The block on constraint modes of its two faces and 16 fixed-interface modes."""
    full = connect({"b": bar()}, [f(f"b.{p}", name=p + w) for p in PORTS for f, w in ((force, ""), (torque, " turn"))])
    block = full.linearize(full.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    small = craig_bampton(block, list(block.ports), modes=16)
    want = eigenfrequencies(block)[:4]
    assert eigenfrequencies(small)[:4] == pytest.approx(want, rel=1e-3)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_large_bodies_keep_the_shift_outside():
    """Beyond 300 velocities the kernels are sparse: the same motion as of the folded ones, same balance."""
    mesh = box("tetra10", (4, 1, 1), LENGTHS)
    body = fem.solid(mesh, RUBBER, ports=PORTS, reference="root")
    assert body.size > 200
    mechanism = connect(
        {"a": body, "b": body}, [revolute("a.root", GROUND, axis=(0.0, 0.0, 1.0)), spherical("a.tip", "b.root")]
    )
    pose = mechanism.assemble({"a": ((0.0, 0.1, 0.075), np.eye(3))})
    start = mechanism.consistent_state(pose, velocities={"a": (0.0, 0.0, 2.0), "b": (0.5, 0.0, 1.0)})
    run = integrate(mechanism, start, np.linspace(0.0, 0.02, 3))
    assert run.ledger.largest_residual < 1e-11
    assert run.ledger.position_residual.max() < 1e-13


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_series_shows_the_stress_tensor(tmp_path):
    body = reduce_body(bar(), modes=3, static=("tip",))
    mechanism = connect(
        {"b": body, "beam": fem.beam(0.3, RUBBER, fem.Section(width=0.1, height=0.1), elements=2, dim=3)},
        [weld("b.root", GROUND), weld("b.tip", "beam.root")],
        gravity=(0.0, 0.0, -9.81),
    )
    start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.05, 6))
    _, *frames = write_series(tmp_path / "run.pvd", run, frames=2)
    data = meshio.read(frames[-1]).cell_data
    of_solid = {name: next((s for s in blocks if len(s) == 12), None) for name, blocks in data.items()}
    stress, peak, error = (of_solid[name] for name in ("stress", "stress_peak_von_mises", "stress_error"))
    large, small = of_solid["stress_largest_principal"], of_solid["stress_smallest_principal"]
    mean = principal_stresses(stress)
    assert stress.shape == (12, 6) and np.all(error > 0.0) and mean.max() > 0.0
    # von Mises and the largest principal stress are convex: at some point they are above those of the mean
    assert np.all(peak >= 0.999 * von_mises(stress))
    assert np.all(large >= mean[:, 0] - 1e-9 * peak) and np.all(small <= mean[:, 2] + 1e-9 * peak)
    np.testing.assert_array_equal(of_solid["von_mises_largest_in_cell"], peak)


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize(
    ("kept", "spin"),
    [(lambda body: body, 3.0), pytest.param(about_mean_axes, 0.0, marks=pytest.mark.slow)],
    ids=["face", "mean axes"],
)
def test_large_bodies_start_quasi_statically(monkeypatch, kept, spin):
    """By sparse factors, the shifts of the mass integrals beside them: the deformation of the least-norm solution."""
    body = kept(fem.solid(box("tetra10", (6, 1, 1), LENGTHS), RUBBER, ports=PORTS, reference="root"))
    mechanism = connect({"b": body}, [revolute("b.root", GROUND, axis=(0.0, 0.0, 1.0))], gravity=(0.0, 0.0, -1.0))
    assert mechanism.network.arrays.mean is not None  # the shift is beside them
    pose = mechanism.assemble({"b": ((0.0, 0.1, 0.075), np.eye(3))})
    found = []
    for few in (0, body.size):
        monkeypatch.setattr(quasistatic, "FEW", few)
        state = mechanism.consistent_state(pose, velocities={"b": (0.0, 0.0, spin)}, elastic="quasi_static")
        assert not state.x[mechanism.layout.parts["b.deformation_rate"]].any()
        found.append(state.x[mechanism.layout.parts["b.deformation"]])
    assert np.abs(found[0] - found[1]).max() < 1e-8 * np.abs(found[1]).max()  # where the passes end
    drift = integrate(mechanism, state, np.linspace(0.0, 1e-3, 3))["b.deformation"] - found[1]
    assert np.abs(drift).max() < 1e-4 * np.abs(found[1]).max()  # it stays
