"""Bodies about mean axes: the shift beside sparse matrices is that of filled ones, frequencies are the same."""

import numpy as np
import pytest
from scipy import sparse

import fem
import rigid
from flexph import GROUND, connect, eigenfrequencies, hinge, integrate, modes, spherical
from flexph.bodies import floating_body, mean_axes, reduce_body
from flexph.bodies.floating.linear_system import linear_body
from flexph.bodies.inertia import contract
from flexph.bodies.mean_axes import about_mean_axes
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, ExactGauss
from flexph.numerics.arrays import dense
from flexph.numerics.factors.low_rank import Bordered
from flexph.numerics.rotations import cross

pytestmark = pytest.mark.processor

RUBBER = fem.Material(young=2e6, density=1000.0, poisson=0.3)
PORTS = {"root": "left", "tip": fem.Tie("right", "mean")}
LENGTHS = (1.0, 0.2, 0.15)


def bar(counts=(2, 1, 1), **options):
    mesh = fem.box_mesh(LENGTHS, counts, simplices=True)
    given = {"reference": "root", "loads": {"wind": "back"}, "degree": 2} | options
    return fem.solid(mesh, RUBBER, ports=PORTS, **given)


@pytest.fixture
def pair(monkeypatch):
    """The same small body about mean axes, filled and bordered."""
    body = bar()
    full = about_mean_axes(body)
    monkeypatch.setattr(mean_axes, "FILLED", 0)
    return full, about_mean_axes(body)


@pytest.fixture(scope="module")
def large():
    """More than 1000 coordinates, about mean axes and from the root."""
    return {name: bar((8, 2, 2), reference=name) for name in ("mean_axis", "root")}


def close(found, want, digits=1e-12):
    assert np.abs(found - want).max() <= digits * np.abs(want).max()


@pytest.mark.parametrize("lumped", [0.0, 0.02])
def test_the_mean_motion_is_zero(lumped):
    """That of the integrals, with a lumped mass and a rotary inertia that turns too; masses are those of the body."""
    body = bar().with_mass("tip", 20.0 * lumped, lumped)
    found = about_mean_axes(body)
    before, after = (contract(b.inertia, about_centre=True) for b in (body, found))
    assert np.abs(found.inertia.shape_first).max() < 1e-13 * np.abs(body.inertia.shape_first).max()
    assert np.abs(after.n).max() < 1e-12 * np.abs(before.n).max()
    assert np.abs(before.n).max() > 1e-3  # there was something to take out
    assert np.array_equal(after.J, before.J)


def test_the_shift_is_the_rigid_motion_of_the_view():
    """Points of the view move by a rigid motion against those before, and ports, loads and sections with them."""
    body = bar()
    found, u = about_mean_axes(body), np.random.default_rng(0).standard_normal(body.size)
    moved = ((body.view.shape - found.view.shape) @ u).reshape(-1, 3)
    X = body.view.points
    rows = np.concatenate([np.tile(np.eye(3), (len(X), 1, 1)), np.einsum("aij,nj->nia", cross(3), X)], axis=2)
    motion, left, *_ = np.linalg.lstsq(rows.reshape(-1, 6), moved.ravel(), rcond=None)
    assert left[0] < 1e-24 * np.sum(moved**2)
    tip = (body.ports["tip"], found.ports["tip"])
    close((tip[0].rotation - tip[1].rotation) @ u, motion[3:])
    at = motion[:3] + np.cross(motion[3:], tip[0].position)
    close((tip[0].shape - tip[1].shape) @ u, at)
    wind = [b.loads["wind"] for b in (body, found)]
    close((wind[0].shapes - wind[1].shapes) @ u, motion[:3] + np.cross(motion[3:], wind[0].positions[0]))
    turned = (body.section_rotation - found.section_rotation) @ u
    close(turned.reshape(-1, 3), np.tile(motion[3:], (len(turned) // 3, 1)))


def test_bordered_integrals_are_the_filled_ones(pair):
    full, thin = pair
    assert isinstance(thin.inertia.shape_pair[0][1], Bordered) and sparse.issparse(full.inertia.shape_pair[0][1])
    want, found = (contract(b.inertia, about_centre=False) for b in (full, thin))
    for one, other in [(want.M, found.M), *zip(want.N, found.N, strict=True), *zip(want.K[0], found.K[0], strict=True)]:
        close(other.toarray(), one.toarray())
        assert other.right.shape == (15, thin.size)  # forms share their rows
    close(found.M.diagonal(), want.M.diagonal())
    x = np.random.default_rng(1).standard_normal((thin.size, 2))
    close(found.N[0].T @ x, want.N[0].T @ x)
    close((found.M + want.M) @ x, 2.0 * (want.M @ x))
    close(thin.view.shape @ x, full.view.shape @ x)


def test_mean_axes_of_any_start_have_the_same_kinetic_energy():
    """Seen from the root, from the tip, and in the coordinates of conditions on small bodies: at the same motion."""
    rng = np.random.default_rng(2)
    direct = bar(reference="mean_axis")
    u, du, spin = (rng.standard_normal(n) for n in (direct.size, direct.size, 3))
    energy = []
    for body in (direct, about_mean_axes(bar()), about_mean_axes(bar(reference="tip"))):
        same = [np.linalg.lstsq(body.view.shape.toarray(), direct.view.shape @ x, rcond=None)[0] for x in (u, du)]
        close(body.view.shape @ same[0], direct.view.shape @ u, 1e-9)  # one deformation, other coordinates
        c = contract(body.inertia, about_centre=True)
        N = np.array([form @ same[0] for form in c.N])
        K = np.array(
            [
                [(2.0 * s + form @ same[0]) @ same[0] for s, form in zip(*x, strict=True)]
                for x in zip(c.s, c.K, strict=True)
            ]
        )
        energy.append(0.5 * spin @ (c.J + K) @ spin + spin @ (c.n + N) @ same[1] + 0.5 * same[1] @ (c.M @ same[1]))
    assert energy == pytest.approx([energy[0]] * 3, rel=1e-9)


@pytest.mark.slow
def test_frequencies_of_large_bodies(large):
    """Free, on a hinge and reduced: those seen from the root; the free modes are in the span of the reduced ones."""
    assert large["mean_axis"].unshifted is not None and large["mean_axis"].size > 1000
    for want in (linear_body(large["root"], "b"), swing(large["root"])):
        other = swing(large["mean_axis"]) if want.constraints else linear_body(large["mean_axis"], "b")
        expected = eigenfrequencies(want, 6)
        assert eigenfrequencies(other, 6) == pytest.approx(expected, rel=1e-8)  # round-off of K, squared ratio 1e8
    small = reduce_body(large["mean_axis"], modes=6, static=("root",))
    assert small.unshifted is None
    found = eigenfrequencies(linear_body(small, "b"))[:6]
    assert found == pytest.approx(eigenfrequencies(linear_body(large["root"], "b"), 6), rel=1e-8)


def swing(body):
    """Linearised on a hinge."""
    mechanism = connect({"b": body}, [hinge("b.root", GROUND, axis=(0.0, 1.0, 0.0))])
    return mechanism.linearize(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))


def test_named_parts_are_those_about_mean_axes(large):
    """Velocities of the tip from the parts of a mode: as seen from the root; and no mean motion against the frame."""
    tips = []
    for body in large.values():
        system = linear_body(body, "b")
        shape = modes(system, 1).shapes[:, 0].real
        v, omega, du = (shape[system.parts[f"b.{part}"]] for part in ("velocity", "spin", "deformation_rate"))
        tip = body.ports["tip"]
        tips.append(v + np.cross(omega, tip.position) + tip.shape @ du)
        if body.unshifted is not None:  # a free mode has no momentum: the frame rests
            assert np.abs(np.concatenate([v, omega])).max() < 1e-6 * np.abs(tips[-1]).max()
    assert abs(tips[0] @ tips[1]) == pytest.approx(tips[0] @ tips[0], rel=1e-5)  # bending in two planes lies close


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize("sparse_kernels", [False, True])
def test_runs_are_those_of_filled_matrices(pair, sparse_kernels, monkeypatch):
    """The same coordinates, so the same states; energy and momenta kept to round-off by both."""
    monkeypatch.setattr(network, "DENSE_LIMIT", 0 if sparse_kernels else 10**6)
    runs = []
    for body in pair:
        block = rigid.body(2.0, inertia=(0.02, 0.03, 0.04), ports={"p": (0.1, 0.0, 0.05)})
        mechanism = connect({"bar": body, "block": block}, [spherical("bar.tip", "block.p")])
        pose = mechanism.assemble({"bar": ((0.0, 0.0, 0.0), np.eye(3))})
        spin = {"bar": ((1.0, 0.0, 0.2), (0.5, -2.0, 1.0)), "block": ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))}
        start = mechanism.consistent_state(pose, velocities=spin)
        runs.append(integrate(mechanism, start, np.linspace(0.0, 0.1, 6)))
    close(runs[1].states, runs[0].states, 1e-9)
    for run in runs:
        assert run.ledger.largest_residual < 1e-12
        assert run.ledger.position_residual.max() < 1e-13
        momentum = np.hstack([run.linear_momentum(), run.angular_momentum()])
        assert np.abs(momentum - momentum[0]).max() < 1e-12 * np.abs(momentum).max()
    assert runs[0].ledger.kind("elastic").max() > 0.0


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_a_large_body_falls_alike_in_both_frames(large):
    """On a hinge under its weight: the linear strain is against other frames, which differs at second order."""
    ends = []
    for body in large.values():
        mechanism = connect({"b": body}, [hinge("b.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
        start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
        run = integrate(mechanism, start, np.linspace(0.0, 0.02, 5))
        assert run.ledger.largest_residual < 1e-12
        tip = body.ports["tip"]
        ends.append(run.points("b", tip.position[None], tip.shape)[-1, 0] - tip.position)
    assert abs(ends[0][2]) > 1e-3  # it has moved
    assert np.abs(ends[0] - ends[1]).max() < 4.0 * np.linalg.norm(ends[0]) ** 2 / LENGTHS[0]  # a few squares of turns


def test_J_is_skew_at_any_state(pair):
    for body in pair:
        system = floating_body(body)
        J = dense(system.J(np.random.default_rng(0).standard_normal(system.size)))
        assert np.abs(J + J.T).max() < 1e-13 * np.abs(J).max()


def test_what_cannot_be_seen_from_mean_axes(pair, large):
    beam = fem.beam(1.0, RUBBER, fem.Section(width=0.1, height=0.1), elements=2, strain="von_karman")
    with pytest.raises(ValueError, match=r"flexible.* linear strain .* this one has von Kármán strain"):
        about_mean_axes(beam)
    with pytest.raises(ValueError, match="this one is rigid"):
        about_mean_axes(rigid.body(1.0, inertia=(1.0, 1.0, 1.0), ports={}))
    with pytest.raises(ValueError, match=r"damping must not.*ratios.*large body about mean axes"):
        bar((8, 2, 2), reference="mean_axis", damping=fem.Damping(ratios=(0.01,)))
    damped = bar((8, 2, 2), reference="mean_axis", damping=fem.Damping(mass=0.1))
    with pytest.raises(ValueError, match=r"damping.* of a large body about mean axes .* reduce the body"):
        _ = connect({"b": damped}, []).network
    assert reduce_body(damped, modes=2).elasticity.mass_damping == 0.1
    mechanism = connect({"b": large["mean_axis"]}, [])
    start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    for method in (Decaying(), ExactGauss()):
        with pytest.raises(ValueError, match=r"supports no large body about mean axes, such as 'b': reduce it"):
            integrate(mechanism, start, np.linspace(0.0, 1e-3, 2), method=method)
    assert integrate(mechanism, start, np.linspace(0.0, 1e-3, 2)).ledger.largest_residual < 1e-12


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
def test_a_body_of_thirty_thousand_coordinates_is_reduced_and_run():
    """Reduced on free modes, as seen from a face; and two steps in full, with nothing filled."""
    mesh = fem.box_mesh((1.0, 0.1, 0.1), (50, 5, 5), simplices=True)
    make = lambda reference: fem.solid(mesh, RUBBER, degree=2, ports=PORTS, reference=reference)  # noqa: E731
    body = make("mean_axis")
    assert body.size > 30000
    want = eigenfrequencies(linear_body(make("tip"), "b"), 6)
    found = eigenfrequencies(linear_body(reduce_body(body, modes=6, static=("root",)), "b"))[:6]
    assert found == pytest.approx(want, rel=1e-7)  # round-off of K, squared ratio 1e9
    mechanism = connect({"b": body}, [hinge("b.root", GROUND, axis=(0.0, 1.0, 0.0))], gravity=(0.0, 0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"b": ((0.0, 0.0, 0.0), np.eye(3))}))
    run = integrate(mechanism, start, np.linspace(0.0, 0.002, 3))
    assert run.ledger.largest_residual < 1e-12 and run.ledger.position_residual.max() < 1e-13
