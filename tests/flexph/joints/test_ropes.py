"""Ropes over sheaves: lengths against geometry, theorems of free bodies, closed forms, refusals."""

import math
import warnings

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import fem
import rigid
from flexph import GROUND, ValidityWarning, connect, drive, eigenfrequencies, hinge, integrate, slider, weld
from flexph.analysis import floquet
from flexph.integration.loops import build
from flexph.joints import Sheave, rope
from flexph.joints.rows.rope_path import PIECES, rope_line
from flexph.kernels.ropes import arcs, rope_curvature, rope_lengths, rope_rows, rope_slope_changes, wound_off
from flexph.kernels.state import derive
from flexph.kernels.stiffness.stiffness_size import stiffness_size
from flexph.kernels.stiffness.tangent import Forces, tangent_stiffness
from flexph.laws import polynomial
from flexph.mechanisms.arrays.network import build_network
from flexph.mechanisms.model.state import configuration
from flexph.methods import Decaying, Exact, Exact4, ExactGauss
from flexph.numerics.arrays import dense
from flexph.results import IntegrationError, Solution
from flexph.sensors import position, spring_force

pytestmark = pytest.mark.filterwarnings("ignore:.* free to move:UserWarning")
G = 9.81
ROUND_OFF = 2e-13
"""Of energies and momenta, relative to their size, over some hundred steps."""
NATURAL = {2: 5.8375, 3: 5.8384}
"""Free lengths, 0.1 m less than in PLACES [m]."""
METHODS = Exact(), ExactGauss(2)
PLACES = {"a": (-1.0, -1.0), "b": (-0.5, 0.3), "c": (0.0, -0.6), "d": (0.6, 0.4), "e": (1.1, -1.0)}


def at(*place):
    return GROUND.at(*place)


def five(dim, **pull):
    """Five free bodies with a rope over sheaves of three of them, by default stretched by 0.1 m in PLACES."""
    inertia, more = (0.05, ()) if dim == 2 else ((0.05, 0.06, 0.07), (0.03,))
    ports = {"axle": (0.02, 0.03, *more), "end": (0.1, -0.05, *more)}
    bodies = {name: rigid.body(1.0 + 0.3 * i, inertia=inertia, ports=ports) for i, name in enumerate(PLACES)}
    axis = {} if dim == 2 else {"axis": (0.1, 0.05, 1.0)}
    radii = {"b": -0.1, "c": 0.12, "d": -0.08}
    over = [Sheave(f"{name}.axle", radius, **axis) for name, radius in radii.items()]
    given = {"stiffness": 200.0, "length": NATURAL[dim]} | pull
    return connect(bodies, [rope(["a.end", *over, "e.end"], **given, name="rope")])


def thrown(mechanism, turn=None, scale=1.0):
    """State of the five bodies at random velocities, the whole turned by a rotation of the world."""
    dim = mechanism.layout.dim
    Q, draw = np.eye(dim) if turn is None else turn, np.random.default_rng(5)
    poses, velocities = {}, {}
    for name, place in PLACES.items():
        centre = Q @ np.array([*place, *(0.1,) * (dim - 2)])
        v, w = scale * draw.normal(size=dim), scale * draw.normal(size=1 if dim == 2 else 3)
        if dim == 2:
            poses[name] = (*centre, math.atan2(Q[1, 0], Q[0, 0]))
            velocities[name] = (*(Q @ v), w[0])
        else:
            poses[name] = (centre, Q)
            velocities[name] = (Q @ v, Q @ w)
    return mechanism.consistent_state(mechanism.assemble(poses), velocities=velocities)


def turned(dim, angle=0.7):
    c, s = math.cos(angle), math.sin(angle)
    flat = np.array([[c, -s], [s, c]])
    if dim == 2:
        return flat
    whole = np.eye(3)
    whole[:2, :2] = flat
    return whole[:, [1, 2, 0]]


def products_of(mechanism, state):
    a = mechanism.network.arrays
    return a.springs.ropes, derive(a, configuration(mechanism, state.x)).product


def common_tangent(first, second, rho, sigma):
    """Points of contact of a rope from one circle to another, by complex numbers.

    Counterclockwise radii count positive. The angle of the tangent t obeys Im((q − p) conj(t)) = σ − ρ.
    """
    p, q = complex(*first), complex(*second)
    gap = q - p
    miss = lambda angle: (gap * np.exp(-1j * angle)).imag - (sigma - rho)  # noqa: E731
    about = np.angle(gap)
    t = np.exp(1j * brentq(miss, about - 0.5 * math.pi, about + 0.5 * math.pi))
    return p - 1j * rho * t, q - 1j * sigma * t, t


def geometric_length(points, radii):
    """Length of a rope in the plane from its tangents and arcs."""
    spans = [common_tangent(*points[j : j + 2], *radii[j : j + 2]) for j in range(len(points) - 1)]
    length = sum(abs(end - start) for start, end, _ in spans)
    for j in range(1, len(points) - 1):
        length += abs(radii[j]) * (np.sign(radii[j]) * np.angle(spans[j][2] / spans[j - 1][2]) % (2.0 * math.pi))
    return length


def test_length_is_that_of_tangents_and_arcs():
    points = [(-1.0, -0.5), (-0.4, 0.6), (0.3, -0.4), (0.5, 0.7), (0.1, -1.5)]
    radii = [0.0, -0.2, 0.1, -0.15, 0.0]
    over = [Sheave(at(*p), r) for p, r in zip(points[1:4], radii[1:4], strict=True)]
    bodies = {"load": rigid.body(1.0, inertia=0.1, ports={"hook": (0.0, 0.2)})}
    mechanism = connect(bodies, [rope([at(*points[0]), *over, "load.hook"], stiffness=1.0)])
    pose = mechanism.assemble({"load": (0.1, -1.7, 0.0)})
    ropes, product = products_of(mechanism, mechanism.consistent_state(pose))
    assert rope_lengths(ropes, product)[0] == pytest.approx(geometric_length(points, radii), rel=1e-12)  # bisection
    assert pose.anchors.springs[0] == pytest.approx(rope_lengths(ropes, product)[0], rel=1e-15)


@pytest.mark.parametrize("turns", [0, 2])
def test_half_a_turn_and_full_turns(turns):
    """A rope of two vertical spans of 2 m about a sheave of 0.1 m."""
    bodies = {"load": rigid.body(1.0, inertia=0.1, ports={"hook": (0.0, 0.0)})}
    line = [at(-0.1, 0.0), Sheave(at(0.0, 2.0), -0.1, turns=turns), "load.hook"]
    mechanism = connect(bodies, [rope(line, stiffness=1.0)])
    pose = mechanism.assemble({"load": (0.1, 0.0, 0.0)})
    assert pose.anchors.springs[0] == pytest.approx(4.0 + 0.1 * math.pi * (1 + 2 * turns), rel=1e-14)


@pytest.mark.parametrize("dim", [2, 3])
def test_derivatives_of_the_length(dim):
    mechanism = five(dim)
    ropes, product = products_of(mechanism, thrown(mechanism))
    step, rate = 1e-6, np.random.default_rng(1).normal(size=product.size)
    ways = np.eye(product.size) * step
    slopes = [(rope_lengths(ropes, product + d) - rope_lengths(ropes, product - d)) / (2 * step) for d in ways]
    np.testing.assert_allclose(rope_rows(ropes, product).toarray(), np.array(slopes).T, atol=1e-8)  # differences
    rows = [(rope_rows(ropes, product + d) - rope_rows(ropes, product - d)).toarray() / (2 * step) for d in ways]
    curved = rope_curvature(ropes, product, np.array([3.0])).toarray()
    np.testing.assert_allclose(curved, 3.0 * np.array(rows)[:, 0], atol=1e-7)
    np.testing.assert_allclose(
        rope_slope_changes(ropes, product, rate).toarray()[0], np.array(rows)[:, 0] @ rate, atol=1e-6
    )


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize(
    "method, h", [(Exact(), 0.05), (Exact(), 0.01), (ExactGauss(2), 0.02), (ExactGauss(), 0.05)], ids=str
)
def test_free_bodies_keep_energy_and_momenta(dim, method, h):
    mechanism = five(dim)
    start = thrown(mechanism)
    run = integrate(mechanism, start, np.arange(0.0, 0.41, h), method=method)
    energy = run.ledger.total_energy
    assert np.ptp(run.ledger.energy["stored rope"]) > 0.01 * energy[0]  # the rope is pulled
    assert np.abs(energy - energy[0]).max() < ROUND_OFF * energy[0]
    for momenta in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momenta - momenta[0]).max() < ROUND_OFF * np.abs(momenta).max()


@pytest.mark.parametrize("dim", [2, 3])
def test_motion_does_not_depend_on_the_direction_of_the_world(dim):
    mechanism, Q = five(dim), turned(dim)
    times = np.linspace(0.0, 0.4, 21)
    plain = integrate(mechanism, thrown(mechanism), times).measured(position("c.end"))
    other = integrate(mechanism, thrown(mechanism, Q), times).measured(position("c.end"))
    np.testing.assert_allclose(other, plain @ Q.T, atol=1e-11)  # Newton's tolerance


@pytest.mark.parametrize("dim", [2, 3])
def test_lengths_by_collocation_are_those_of_the_pose(dim):
    """Extensions are sums of rates at the nodes, and differences of lengths."""
    mechanism, method = belted(dim, law=polynomial(20.0)), ExactGauss(2)
    run = integrate(mechanism, thrown_discs(mechanism), 0.02 * np.arange(11), method=method)
    ends = [configuration(mechanism, run.states[k]) for k in (0, -1)]
    ropes, a = mechanism.network.arrays.springs.ropes, mechanism.network.arrays
    first, last = (rope_lengths(ropes, derive(a, c).product) for c in ends)
    np.testing.assert_allclose(ends[1].spring - ends[0].spring, last - first, atol=2e-13)  # 64 ulp a span and step
    assert np.abs(last - first).max() > 0.05


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("make", ["five", "belted"])
def test_collocation_at_one_point_is_the_exact_scheme(dim, make):
    """Also at long steps, where sums of rates at nodes are far from changes of lengths; with a winch."""
    if make == "five":
        mechanism = five(dim, stiffness=200.0, length=lambda t: NATURAL[dim] - 0.3 + 0.1 * math.sin(9.0 * t))
        start = thrown(mechanism)
    else:
        mechanism = belted(dim, law=polynomial(20.0, 0.0, 90.0))
        start = thrown_discs(mechanism)
    runs = [integrate(mechanism, start, 0.04 * np.arange(6), method=method) for method in (Exact(), ExactGauss(1))]
    np.testing.assert_allclose(runs[1].final.x, runs[0].final.x, atol=1e-9)  # tolerances of both iterations


@pytest.mark.parametrize(
    "method, steps", [(Exact(), (40, 80)), (Exact4(), (40, 80)), (ExactGauss(2), (20, 40)), (ExactGauss(), (10, 20))]
)
@pytest.mark.covering
@pytest.mark.parametrize("dim", [2, 3])
def test_ropes_have_the_order_of_their_method(dim, method, steps):
    """A law without kink, as order 4 needs smooth forces."""
    order = {Exact(): 2, Exact4(): 4, ExactGauss(2): 4, ExactGauss(): 6}[method]
    mechanism = five(dim, stiffness=0.0, law=polynomial(200.0), length=lambda t: NATURAL[dim] + 0.1 * math.sin(2.0 * t))
    start, ends = thrown(mechanism, scale=0.3), []
    finest = integrate(mechanism, start, np.linspace(0.0, 0.2, 321), method=Exact4()).final.x
    for n in steps:
        run = integrate(mechanism, start, np.linspace(0.0, 0.2, n + 1), method=method)
        assert run.ledger.largest_residual < ROUND_OFF
        ends.append(run.final.x)
    errors = [np.abs(end - finest).max() for end in ends]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def hung(masses, connections, places):
    """Point-like bodies that move vertically along guides."""
    bodies = {name: rigid.body(m, inertia=0.01, ports={"centre": (0.0, 0.0)}) for name, m in masses.items()}
    guides = [
        slider(f"{name}.centre", at(*place), direction=(0.0, 1.0), name=f"guide {name}")
        for name, place in places.items()
    ]
    mechanism = connect(bodies, [*guides, *connections], gravity=(0.0, -G))
    return mechanism, mechanism.assemble({name: (*place, 0.0) for name, place in places.items()})


def stretched(line, tension, length, stiffness=1e5, **options):
    """Rope that has a tension at a geometric length."""
    return rope(line, stiffness=stiffness, length=length - tension / stiffness, **options)


def test_a_double_atwood_machine_accelerates_as_in_closed_form():
    """Acceleration g(m₁ − M_e)/(m₁ + M_e) with M_e = M + 4m₂m₃/(m₂ + m₃), tensions constant."""
    m1, M, m2, m3, r = 3.0, 0.5, 1.0, 2.0, 0.1
    effective = M + 4.0 * m2 * m3 / (m2 + m3)
    a = G * (m1 - effective) / (m1 + effective)
    upper = m1 * (G - a)
    lower = 0.5 * (upper - M * (G + a))
    places = {"one": (-0.2, -1.0), "sheave": (0.2, -1.5), "two": (0.1, -2.5), "three": (0.3, -2.5)}
    over = [
        stretched(
            ["one.centre", Sheave(at(0.0, 0.0), -0.2), "sheave.centre"], upper, 2.5 + 0.2 * math.pi, name="upper"
        ),
        stretched(["two.centre", Sheave("sheave.centre", -r), "three.centre"], lower, 2.0 + r * math.pi, name="lower"),
    ]
    mechanism, pose = hung({"one": m1, "sheave": M, "two": m2, "three": m3}, over, places)
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.6, 31))
    one, free = (run.measured(position(f"{name}.centre"))[:, 1] for name in ("one", "sheave"))
    np.testing.assert_allclose(one - one[0], -0.5 * a * run.times**2, atol=1e-10)  # Newton's tolerance, 30 steps
    np.testing.assert_allclose(free - free[0], 0.5 * a * run.times**2, atol=1e-10)
    assert run.ledger.largest_residual < ROUND_OFF


def test_a_four_part_tackle_accelerates_as_in_closed_form():
    """Block on four parts of rope with a counterweight: g(4m_c − m)/(16m_c + m) upwards."""
    m, mc, r = 10.0, 4.0, 0.1
    a = G * (4.0 * mc - m) / (16.0 * mc + m)
    tension = mc * (G - 4.0 * a)
    block = rigid.body(m, inertia=0.3, ports={"left": (-2 * r, 0.0), "right": (2 * r, 0.0), "centre": (0.0, 0.0)})
    weight = rigid.body(mc, inertia=0.1, ports={"hook": (0.0, 0.0)})
    line = [at(0.0, 2.0), Sheave("block.left", r), Sheave(at(3 * r, 2.0), -r), Sheave("block.right", r)]
    line += [Sheave(at(7 * r, 2.0), -r), "weight.hook"]
    length = 4 * 2.0 + 1.0 + 4 * math.pi * r
    bodies = {"block": block, "weight": weight}
    mechanism = connect(bodies, [stretched(line, tension, length, name="rope")], gravity=(0.0, -G))
    pose = mechanism.assemble({"block": (3 * r, 0.0, 0.0), "weight": (8 * r, 1.0, 0.0)})
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 0.5, 51))
    np.testing.assert_allclose(run.measured(position("block.centre"))[:, 1], 0.5 * a * run.times**2, atol=1e-9)
    np.testing.assert_allclose(run.measured(position("weight.hook"))[:, 1], 1.0 - 2.0 * a * run.times**2, atol=1e-9)
    assert run.ledger.largest_residual < ROUND_OFF


def test_winch_lifts_a_load_and_its_work_is_booked():
    """L₀ shortened by ½·0.8t²: in 1.5 s 0.9 m, work mgh + ½mv² = 9.549 J of 1 kg."""
    k, tension = 1e4, G + 0.8
    winch = rope(
        [at(0.0, 3.0), "load.centre"], stiffness=k, length=lambda t: 3.0 - tension / k - 0.4 * t**2, name="winch"
    )
    mechanism, pose = hung({"load": 1.0}, [winch], {"load": (0.0, 0.0)})
    run = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 1.5, 76))
    assert run.measured(position("load.centre"))[-1, 1] == pytest.approx(0.9, abs=1e-11)
    assert run.ledger.work["winch"].sum() == pytest.approx(9.549, abs=1e-10)
    assert run.ledger.largest_residual < ROUND_OFF


def snapped(damping=0.0, step=0.002, method=None):
    """A load falls 0.5 m on a slack rope, which then brakes it."""
    line = rope([at(0.0, 0.0), "load.centre"], stiffness=2000.0, length=1.0, damping=damping, name="rope")
    mechanism, pose = hung({"load": 1.0}, [line], {"load": (0.0, -0.5)})
    return integrate(mechanism, mechanism.consistent_state(pose), np.arange(0.0, 1.0, step), method=method or Exact())


def test_a_winch_that_winds_up_more_than_the_rope_is_told():
    hook = rigid.body(1.0, inertia=0.1, ports={"eye": (0.0, 0.0)})
    winch = rope([at(0.0, 2.0), "hook.eye"], stiffness=1e4, length=lambda t: 1.0 - t, name="hoist")
    mechanism = connect({"hook": hook}, [winch], gravity=(0.0, -G))
    start = mechanism.consistent_state(mechanism.assemble({"hook": (0.0, 1.0, 0.0)}))
    with pytest.raises(ValueError, match="length of 'hoist' must stay positive, got 0 m at t = 1 s"):
        integrate(mechanism, start, np.linspace(0.0, 1.5, 151))


@pytest.mark.parametrize("method", [Exact(), ExactGauss(2), ExactGauss()], ids=str)
def test_slack_rope_snaps_taut_elastically(method):
    """Lowest place by the energy mg(0.5 + e) = ½ke²; the largest height again is that of the start."""
    run = snapped(method=method)
    y = run.measured(position("load.centre"))[:, 1]
    e = (G + math.sqrt(G**2 + 2.0 * 2000.0 * G * 0.5)) / 2000.0
    assert y.min() == pytest.approx(-1.0 - e, abs=2e-3 * e)  # of the step
    assert y[len(y) // 2 :].max() == pytest.approx(-0.5, abs=2e-3)
    assert run.ledger.largest_residual < ROUND_OFF


@pytest.mark.parametrize("method, step", [(Exact(), 5e-4), (ExactGauss(2), 1e-4)], ids=str)
def test_damping_of_a_rope_acts_while_it_is_taut_and_never_pushes(method, step):
    """Against an independent integration of m ÿ = −mg + max(kx + cẋ, 0) where x > 0.

    The force jumps within a step: collocation takes it at the nodes, with an error of order 1.
    """
    run = snapped(damping=20.0, step=step, method=method)
    y = run.measured(position("load.centre"))[:, 1]
    assert (run.ledger.dissipation["rope"] >= 0.0).all()
    taut = y < -1.0
    assert run.ledger.dissipation["rope"][~taut[1:] & ~taut[:-1]].sum() == 0.0
    assert run.ledger.largest_residual < ROUND_OFF

    def falls(_, z):
        x = -1.0 - z[0]
        return z[1], -G + (max(2000.0 * x - 20.0 * z[1], 0.0) if x > 0.0 else 0.0)

    own = solve_ivp(
        falls, (0.0, run.times[-1]), (-0.5, 0.0), "DOP853", run.times, rtol=1e-10, atol=1e-12, max_step=1e-3
    )
    np.testing.assert_allclose(y, own.y[0], atol=3e-4)


@pytest.mark.parametrize("method", [Exact(), ExactGauss(2)], ids=str)
def test_damping_of_free_bodies_keeps_the_momenta(method):
    mechanism = five(3, damping=5.0)
    run = integrate(mechanism, thrown(mechanism), np.linspace(0.0, 0.4, 41), method=method)
    assert run.ledger.dissipation["rope"].sum() > 0.01
    assert (run.ledger.dissipation["rope"] >= 0.0).all()
    assert run.ledger.largest_residual < ROUND_OFF
    for momenta in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momenta - momenta[0]).max() < ROUND_OFF * np.abs(momenta).max()


def test_decaying_keeps_the_balance():
    mechanism = five(2)
    run = integrate(mechanism, thrown(mechanism), np.linspace(0.0, 0.4, 41), method=Decaying(radius=0.5))
    assert run.ledger.largest_residual < ROUND_OFF


def tackle(dim=2, damping=0.0):
    """Block with a sheave that hangs in two parts of a rope."""
    block = rigid.body(40.0, inertia=0.5 if dim == 2 else (0.5, 0.4, 0.3), ports={"axle": (0.0, 0.3, 0.0)[:dim]})
    axis = {} if dim == 2 else {"axis": (0.0, 0.0, 1.0)}
    ends = at(*(-0.1, 3.0, 0.0)[:dim]), at(*(0.1, 3.0, 0.0)[:dim])
    line = rope([ends[0], Sheave("block.axle", 0.1, **axis), ends[1]], stiffness=2e4, damping=damping, name="rope")
    mechanism = connect({"block": block}, [line], gravity=(0.0, -G, 0.0)[:dim])
    where = (0.0, 0.7, 0.0) if dim == 2 else ((0.0, 0.7, 0.0), np.eye(3))
    return mechanism, mechanism.equilibrium(mechanism.assemble({"block": where}))


@pytest.mark.parametrize("dim", [2, 3])
def test_a_tackle_hangs_and_bounces_as_in_closed_form(dim):
    """Two parts stretch by mg/2k each 2x = mg/(2k); the block bounces at ω² = 4k/m."""
    mechanism, hanging = tackle(dim)
    low = configuration(mechanism, hanging.x).r[0, 1]
    assert low == pytest.approx(0.7 - 40.0 * G / (4.0 * 2e4), rel=1e-9)
    exponents = mechanism.spectrum(hanging).values
    assert np.abs(exponents.imag - math.sqrt(4.0 * 2e4 / 40.0)).min() < 1e-6
    linear = mechanism.linearize(hanging)
    poles = np.linalg.eigvals(np.linalg.solve(linear.E, linear.J - linear.R))
    assert np.abs(poles.imag - math.sqrt(4.0 * 2e4 / 40.0)).min() < 1e-6


def test_damping_in_small_motions():
    """Bounce with the damping 4c: decay rate 2c/m."""
    mechanism, hanging = tackle(damping=30.0)
    exponents = mechanism.spectrum(hanging).values
    assert np.abs(exponents.real + 2.0 * 30.0 / 40.0).min() < 1e-8


@pytest.mark.parametrize("dim", [2, 3])
def test_general_equations_and_steps_agree(dim):
    """The port-Hamiltonian equations of the mechanism, integrated by DOP853, against steps of order 2."""
    mechanism = five(dim)
    start = thrown(mechanism, scale=0.3)
    system, span = mechanism.phdae(start), 0.1
    rate = lambda t, x: np.linalg.solve(  # noqa: E731
        system.E(x), (system.J(x) - system.R(x)) @ system.z(x)
    )
    own = solve_ivp(rate, (0.0, span), start.x, "DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    errors = []
    for n in (40, 80):
        run = integrate(mechanism, start, np.linspace(0.0, span, n + 1))
        errors.append(np.abs(run.final.x - own).max())
    assert errors[1] < 1e-3 * np.abs(own).max()
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.5)


@pytest.mark.parametrize("method", [Exact(), ExactGauss()], ids=str)
def test_a_rope_that_leaves_its_sheave_ends_the_run(method):
    """A load that is pushed up beside its sheave until the rope is straight."""
    line = [at(-0.5, 0.0), Sheave(at(0.0, 0.1), -0.1, turns=0), "load.centre"]
    bodies = {"load": rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})}
    mechanism = connect(bodies, [rope(line, stiffness=10.0, name="rope")])
    state = mechanism.consistent_state(
        mechanism.assemble({"load": (0.6, 0.0, 0.0)}), velocities={"load": (0.0, 1.0, 0.0)}
    )
    with pytest.raises(IntegrationError, match=r"'rope' leaves.*sheave.*about t = .*: end.*run before.*event"):
        integrate(mechanism, state, np.linspace(0.0, 1.0, 101), method=method)


def test_sheaves_that_touch_are_refused():
    line = [at(-0.5, 0.0), Sheave(at(0.0, 0.1), -0.1), Sheave("load.centre", 0.2), at(1.0, 1.0)]
    bodies = {"load": rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})}
    mechanism = connect(bodies, [rope(line, stiffness=10.0, name="rope")])
    with pytest.raises(
        ValueError, match=r"rope.*two sheaves.*ports without.*straight span .* place them further apart"
    ):
        mechanism.assemble({"load": (0.2, 0.1, 0.0)})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: rope(["a.end"], stiffness=1.0), "path must have at least two ends, got 1 points"),
        (
            lambda: rope(["a.end", Sheave("b.centre", 0.1)], stiffness=1.0),
            "path must begin and end at ports or at discs that the rope grips, got a sheave at 'b.centre'",
        ),
        (
            lambda: rope(["a.end", Sheave("b.centre", 0.1, grips=True), "c.end"], stiffness=1.0),
            "the rope grips the sheave at 'b.centre' within its path",
        ),
        (
            lambda: rope(["a.end", Sheave("b.centre", 0.1, grips=True)], stiffness=1.0, length=lambda t: 1.0 - t),
            "length of a rope on a disc that it grips must be a number",
        ),
        (lambda: Sheave("b.centre", 0.1, turns=1, grips=True), "turns must be 0 on a disc that the rope grips, got 1"),
        (lambda: rope([at(0.0, 0.0), at(1.0, 0.0)], stiffness=1.0), "path must have a port of a body"),
        (lambda: rope(["a.end", "a.end"], stiffness=1.0), "path must have different neighbours, got 'a.end' twice"),
        (lambda: rope(["a.end", GROUND], stiffness=1.0), r"a rope needs a position of the ground, GROUND.at\(x, y\)"),
        (lambda: rope(["a.end", "b.end"]), "a rope needs stiffness > 0 or a law, got none of them"),
        (lambda: rope(["a.end", "b.end"], stiffness=1.0, law=polynomial(2.0)), "stiffness and law exclude each other"),
        (lambda: rope(["a.end", "b.end"], stiffness=1.0, damping=-1.0), "damping"),
        (lambda: rope(["a.end", "b.end"], stiffness=1.0, length=-1.0), "length must be positive"),
        (lambda: Sheave("b.centre", 0.0), "radius of the sheave at 'b.centre' must not be zero"),
        (lambda: Sheave("b.centre", 0.1, turns=-1), "turns must not be negative, got -1"),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("dim, axis, message", [(2, (0.0, 0.0, 1.0), "has no axis in the plane"), (3, None, "axis")])
def test_axes_are_asked_for_in_space_only(dim, axis, message):
    more = (0.0,) * (dim - 2)
    body = rigid.body(1.0, inertia=0.1 if dim == 2 else (0.1,) * 3, ports={"centre": (0.0, 0.0, *more)})
    line = rope([at(0.0, 1.0, *more), Sheave("load.centre", 0.1, axis=axis), at(1.0, 1.0, *more)], stiffness=1.0)
    with pytest.raises(ValueError, match=message):
        connect({"load": body}, [line])


def test_positions_of_the_ground_have_the_components_of_the_space():
    body = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    with pytest.raises(ValueError, match=r"a ground position must.*2 coordinates, got \(0.0, 1.0, 0.0\)"):
        connect({"load": body}, [rope([at(0.0, 1.0, 0.0), "load.centre"], stiffness=1.0)])


def test_sheave_on_a_point_mass_is_refused():
    line = rope([at(0.0, 1.0), Sheave("load.point", 0.1), at(1.0, 1.0)], stiffness=1.0)
    with pytest.raises(ValueError, match=r"load.point"):
        connect({"load": rigid.point(1.0)}, [line])


def test_what_ropes_cannot_do_is_refused_by_name():
    mechanism = five(2, length=None)
    damped = five(2, damping=1.0)
    with pytest.raises(ValueError, match=r"Exact4\(\) is for mechanisms without damping.*rope"):
        integrate(damped, thrown(damped), np.linspace(0.0, 0.1, 3), method=Exact4())
    with pytest.raises(ValueError, match=r"general equations do not support ropes.*damping.*'rope'"):
        damped.phdae(thrown(damped))
    with pytest.raises(ValueError, match=r"linearize needs ropes under tension,.*rope.*has no tension"):
        mechanism.linearize(mechanism.assemble({name: (*place, 0.0) for name, place in PLACES.items()}))


def test_arcs_run_from_zero_to_a_full_turn():
    """An arc of 3π/2, and one of zero that round-off may put on either side."""
    bodies = {"load": rigid.body(1.0, inertia=0.1, ports={"hook": (0.0, 0.0)})}
    line = [at(0.1, -1.0), Sheave(at(0.0, 0.0), 0.1), "load.hook"]
    mechanism = connect(bodies, [rope(line, stiffness=1.0)])
    for end, arc in (((1.0, -0.1), 1.5 * math.pi), ((0.1, 1.0), 0.0)):
        pose = mechanism.assemble({"load": (*end, 0.0)})
        ropes, product = products_of(mechanism, mechanism.consistent_state(pose))
        assert arcs(ropes, product)[0] == pytest.approx(arc, abs=1e-12)


def test_sensor_of_the_tension():
    """mg/2 in each of two parts of a tackle at rest."""
    mechanism, hanging = tackle()
    run = integrate(mechanism, hanging, [0.0, 0.1])
    np.testing.assert_allclose(run.measured(spring_force("rope")), 0.5 * 40.0 * G, rtol=1e-9)
    with pytest.raises(ValueError, match="no elastic spring 'string'"):
        run.measured(spring_force("string"))


@pytest.mark.parametrize("dim", [2, 3])
def test_picture_of_a_rope_is_as_long_as_the_rope(dim):
    """The drawn line has chords in place of arcs: it is shorter by φ²/24n² of each arc φ of n pieces."""
    mechanism = five(dim)
    state = thrown(mechanism)
    form = mechanism.connections[0].form
    line = rope_line(form.signs[0].points, Drawn(mechanism, state))[0]
    ropes, product = products_of(mechanism, state)
    drawn = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    chords = arcs(ropes, product) / PIECES
    missing = (np.abs(ropes.sheave) * PIECES * (chords - 2.0 * np.sin(0.5 * chords))).sum()
    # in space the ports lie off the planes of the sheaves, and the angles are those of the projection
    assert drawn + missing == pytest.approx(rope_lengths(ropes, product)[0], abs=1e-12 if dim == 2 else 1e-3)


class Drawn:
    """Places of the ports of a mechanism at one state."""

    def __init__(self, mechanism, state):
        self.c, self.bodies = configuration(mechanism, state.x), list(mechanism.bodies.items())

    def _body(self, port):
        name, _, own = port.partition(".")
        index = [body for body, _ in self.bodies].index(name)
        return index, self.bodies[index][1], own

    def position(self, port):
        index, body, own = self._body(port)
        place = np.zeros((1, 3))
        place[0, : self.c.r.shape[1]] = self.c.r[index] + self.c.R[index] @ np.array(body.ports[own].position)
        return place

    def axes(self, port):
        index, *_ = self._body(port)
        turned = np.eye(3)[None].copy()
        d = self.c.R.shape[1]
        turned[0, :d, :d] = self.c.R[index]
        return turned


def test_runs_with_ropes_are_saved_and_loaded(tmp_path):
    mechanism, hanging = tackle(damping=10.0)
    run = integrate(mechanism, hanging, np.linspace(0.0, 0.1, 11))
    run.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", mechanism)
    np.testing.assert_array_equal(again.states, run.states)


@pytest.mark.parametrize("dim", [2, 3])
def test_sparse_arrays_give_the_same_tangent(dim):
    """Large mechanisms have sparse arrays."""
    mechanism, hanging = tackle(dim)
    connections, gravity = mechanism.connections, mechanism.gravity
    c = configuration(mechanism, hanging.x)
    spring = mechanism.network.arrays.springs.forces(c.spring)
    found = []
    for folded in (True, False):
        a = build_network(mechanism.bodies, connections, gravity, folded=folded).arrays
        p, none = a.first.size, np.zeros(0)
        forces = Forces(np.zeros(p), spring, np.array([2e4]), np.zeros(1), none, none)
        at_rest = a, c, derive(a, c), forces
        spin = np.zeros(1 if dim == 2 else 3)
        found.append([dense(of(*at_rest, spin=spin)) for of in (tangent_stiffness, stiffness_size)])
    for plain, sparse in zip(*found, strict=True):
        np.testing.assert_allclose(sparse, plain, rtol=1e-12, atol=1e-9)
    assert (np.abs(found[0][0]) <= found[0][1] * (1.0 + 1e-12)).all()


@pytest.mark.parametrize("dim", [2, 3])
def test_a_wide_border_takes_the_same_steps(dim, monkeypatch):
    """Plates and solids have a sparse border."""
    times = np.linspace(0.0, 0.2, 11)
    banded = [integrate(five(dim), thrown(five(dim)), times, method=method).final.x for method in METHODS]
    monkeypatch.setattr(build, "WIDE", 0.0)
    wide = five(dim)
    assert wide.once(build.is_wide)
    for method, expected in zip(METHODS, banded, strict=True):
        found = integrate(wide, thrown(wide), times, method=method).final.x
        np.testing.assert_allclose(found, expected, atol=1e-11)  # Newton's


def test_multipliers_over_a_period_are_those_of_the_exponents_at_rest():
    """e^{λT} of the exponents λ of a load that hangs on a damped rope over a sheave; 16 steps of order 6."""
    line = rope([at(0.0, 3.0), Sheave(at(0.5, 3.2), -0.1), "load.centre"], stiffness=300.0, damping=4.0, length=3.0)
    mechanism, pose = hung({"load": 2.0}, [line], {"load": (0.6, 1.0)})
    hanging = mechanism.equilibrium(pose)
    multipliers = floquet(mechanism, hanging, period=0.5, steps=16).multipliers
    expected = np.exp(0.5 * mechanism.spectrum(hanging).values)
    assert expected.size == 2
    np.testing.assert_allclose(np.sort_complex(multipliers), np.sort_complex(expected), atol=1e-6)


def test_rope_on_a_flexible_beam():
    """A rope over a sheave at the tip of a cantilever bends it; ports of flexible bodies turn with their sections."""
    steel, strip = fem.Material(young=2.1e11, density=7850.0), fem.Section(width=0.05, height=0.02)
    bodies = {
        "beam": fem.beam(1.0, steel, strip, elements=4),
        "load": rigid.body(5.0, inertia=0.1, ports={"hook": (0.0, 0.0)}),
    }
    line = [at(0.9, -1.0), Sheave("beam.tip", -0.05), "load.hook"]
    mechanism = connect(bodies, [weld("beam.root", GROUND), rope(line, stiffness=1e5)], gravity=(0.0, -G))
    state = mechanism.consistent_state(mechanism.assemble({"beam": (0.0, 0.0, 0.0), "load": (1.05, -0.8, 0.0)}))
    run = integrate(mechanism, state, np.linspace(0.0, 0.05, 101))
    assert run.measured(position("beam.tip"))[:, 1].min() < -1e-4
    assert run.ledger.largest_residual < ROUND_OFF


# --- discs that the rope grips ----------------------------------------------------------------------------------------


def belted(dim, **pull):
    """Three free discs: a belt of two ropes round two of them, and a rope over the third, which does not turn it."""
    inertia, more = (0.05, ()) if dim == 2 else ((0.05, 0.06, 0.07), (0.03,))
    bodies = {
        name: rigid.body(1.0 + 0.3 * i, inertia=inertia, ports={"axle": (0.02, 0.03, *more)})
        for i, name in enumerate("bcd")
    }
    axis = {} if dim == 2 else {"axis": (0.1, 0.05, 1.0)}
    disc = lambda name, radius, grips=True: Sheave(f"{name}.axle", radius, grips=grips, **axis)  # noqa: E731
    lines = {
        "above": [disc("b", -0.2), disc("c", -0.1)],
        "below": [disc("b", 0.2), disc("c", 0.1)],
        "over": [disc("b", -0.15), disc("d", -0.1, grips=False), disc("c", 0.1)],
    }
    lengths = {"above": 1.0, "below": 1.0, "over": 1.7}  # shorter than in the pose of thrown_discs
    return connect(bodies, [rope(line, length=lengths[name], **pull, name=name) for name, line in lines.items()])


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("method, h", [(Exact(), 0.05), (Exact(), 0.002), (ExactGauss(2), 0.05)], ids=str)
def test_discs_that_are_gripped_keep_energy_and_momenta(dim, method, h):
    mechanism = belted(dim, stiffness=20.0)
    run = integrate(mechanism, thrown_discs(mechanism), np.arange(0.0, 0.51, h), method=method)
    energy = run.ledger.total_energy
    for name in ("above", "below", "over"):
        assert np.ptp(run.ledger.energy[f"stored {name}"]) > 0.01 * energy[0]  # all ropes are pulled
    assert np.abs(energy - energy[0]).max() < ROUND_OFF * energy[0]
    for momenta in (run.linear_momentum(), run.angular_momentum()):
        assert np.abs(momenta - momenta[0]).max() < ROUND_OFF * np.abs(momenta).max()


@pytest.mark.parametrize("method", [Exact(), ExactGauss(2)], ids=str)
def test_discs_that_come_to_touch_are_named(method):
    mechanism = belted(2, stiffness=200.0)
    with pytest.raises(IntegrationError, match=r"two sheaves or ports of '\w+' come to touch at about t = 0.2"):
        integrate(mechanism, thrown_discs(mechanism), np.linspace(0.0, 0.5, 51), method=method)


def thrown_discs(mechanism, turn=None, scale=0.3):
    """State of the three discs at random velocities, the whole turned by a rotation of the world."""
    dim = mechanism.layout.dim
    Q, draw = np.eye(dim) if turn is None else turn, np.random.default_rng(7)
    poses, velocities = {}, {}
    for name, place in zip("bcd", ((-0.5, 0.3), (0.6, 0.1), (0.2, 0.9)), strict=True):
        v, w = scale * draw.normal(size=dim), 3.0 * draw.normal(size=1 if dim == 2 else 3)
        centre = Q @ np.array([*place, *(0.1,) * (dim - 2)])
        poses[name] = (*centre, math.atan2(Q[1, 0], Q[0, 0])) if dim == 2 else (centre, Q)
        velocities[name] = (*(Q @ v), w[0]) if dim == 2 else (Q @ v, Q @ w)
    return mechanism.consistent_state(mechanism.assemble(poses), velocities=velocities)


@pytest.mark.parametrize("dim", [2, 3])
def test_motion_of_gripped_discs_does_not_depend_on_the_direction_of_the_world(dim):
    mechanism, Q = belted(dim, stiffness=20.0, damping=1.0), turned(dim)
    runs = [integrate(mechanism, thrown_discs(mechanism, way), 0.01 * np.arange(51)) for way in (None, Q)]
    places = [run.measured(position("c.axle")) for run in runs]
    np.testing.assert_allclose(places[1], places[0] @ Q.T, atol=1e-11)


def atwood(inertia, stiffness, grips=True):
    """Two weights on both sides of a disc, with a stiff rope to each."""
    disc = rigid.body(3.0, inertia=inertia, ports={"axle": (0.0, 0.0)})
    weights = {
        name: rigid.body(mass, inertia=0.1, ports={"hook": (0.0, 0.0)}) for name, mass in (("a", 2.0), ("b", 1.0))
    }
    over = Sheave("disc.axle", -0.2, grips=grips)
    ropes = [
        rope(["a.hook", over], stiffness=stiffness, name="left"),
        rope([over, "b.hook"], stiffness=stiffness, name="right"),
    ]
    bearing = hinge("disc.axle", GROUND.at(0.0, 0.0))
    mechanism = connect({"disc": disc, **weights}, [bearing, *ropes], gravity=(0.0, -G))
    pose = mechanism.assemble({"disc": (0.0, 0.0, 0.0), "a": (-0.2, -1.0, 0.0), "b": (0.2, -6.0, 0.0)})
    return mechanism, mechanism.consistent_state(pose)


def test_atwood_with_a_heavy_disc():
    """a = (m₁ − m₂) g/(m₁ + m₂ + I/r²) of rigid ropes; the stretch of stiff ones adds up to m g/k."""
    mechanism, start = atwood(0.05, 1e6)
    run = integrate(mechanism, start, np.linspace(0.0, 1.5, 3001))
    a = G / (3.0 + 0.05 / 0.2**2)
    fallen = -1.0 - run.position("a.hook")[-1, 1]
    assert fallen == pytest.approx(0.5 * a * 1.5**2, abs=4.0 * 2.0 * G / 1e6)
    turns = (run.position("b.hook")[-1, 1] + 6.0) / (2.0 * math.pi * 0.2)
    assert turns > 2.0
    assert run.ledger.largest_residual < ROUND_OFF


def test_traction_sheave_that_turns_by_a_law_carries_a_cabin():
    """x = ½at² − (a/ω²)(1 − cos ωt) of a mass on a spring whose other end moves by ½at²; order 2."""
    cabin = rigid.body(100.0, inertia=10.0, ports={"hook": (0.0, 0.0)})
    disc = rigid.body(3.0, inertia=0.05, ports={"axle": (0.0, 0.0)})
    a, k, r, end = 0.8, 2e4, 0.25, 1.5
    line = rope(["cabin.hook", Sheave("disc.axle", -r, grips=True)], stiffness=k)
    motor = drive("disc.axle", GROUND.at(0.0, 0.0), angle=lambda t: -0.5 * a * t**2 / r)
    mechanism = connect(
        {"cabin": cabin, "disc": disc}, [line, hinge("disc.axle", GROUND.at(0.0, 0.0)), motor], gravity=(0.0, -G)
    )
    pose = mechanism.assemble({"disc": (0.0, 0.0, 0.0), "cabin": (-r, -3.0, 0.0)})
    rest = mechanism.equilibrium(pose)
    omega = math.sqrt(k / 100.0)
    exact = 0.5 * a * end**2 - a / omega**2 * (1.0 - math.cos(omega * end))
    errors = []
    for steps in (300, 600):
        run = integrate(mechanism, rest, np.linspace(0.0, end, steps + 1))
        risen = run.position("cabin.hook")[-1, 1] - run.position("cabin.hook")[0, 1]
        errors.append(abs(risen - exact))
        assert run.ledger.largest_residual < ROUND_OFF
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-4


def test_given_length_is_that_between_the_discs():
    """A length of 0.9 m of a span of 1 m on a disc that stands at any angle stretches it by 0.1 m."""
    load = rigid.body(1.0, inertia=0.1, ports={"hook": (0.0, 0.0)})
    disc = rigid.body(1.0, inertia=0.1, ports={"axle": (0.0, 0.0)})
    for angle in (-2.5, 0.0, 1.0, 3.0):
        line = rope(["load.hook", Sheave("disc.axle", -0.2, grips=True)], stiffness=10.0, length=0.9, name="rope")
        mechanism = connect({"load": load, "disc": disc}, [line])
        pose = mechanism.assemble({"load": (-0.2, -1.0, 0.0), "disc": (0.0, 0.0, angle)})
        run = integrate(mechanism, mechanism.consistent_state(pose), [0.0, 1e-6])
        assert run.measured(spring_force("rope"))[0] == pytest.approx(1.0, rel=1e-13)


def test_frequency_of_a_belt_drive():
    """ω² = 2k(r₁²/I₁ + r₂²/I₂) of two pulleys on fixed axles with a taut belt."""
    pulley = lambda inertia: rigid.body(1.0, inertia=inertia, ports={"axle": (0.0, 0.0)})  # noqa: E731
    spans = {
        sign: [Sheave("a.axle", 0.2 * sign, grips=True), Sheave("b.axle", 0.1 * sign, grips=True)] for sign in (1, -1)
    }
    straight = math.sqrt(1.0 - 0.1**2)
    belt = [rope(span, stiffness=1e3, length=0.9 * straight, name=f"span {sign}") for sign, span in spans.items()]
    axles = [hinge("a.axle", GROUND.at(0.0, 0.0)), hinge("b.axle", GROUND.at(1.0, 0.0))]
    mechanism = connect({"a": pulley(0.03), "b": pulley(0.02)}, [*axles, *belt])
    rest = mechanism.equilibrium(mechanism.assemble({"a": (0.0, 0.0, 0.0), "b": (1.0, 0.0, 0.0)}))
    found = eigenfrequencies(mechanism.linearize(rest))
    expected = math.sqrt(2e3 * (0.2**2 / 0.03 + 0.1**2 / 0.02))
    assert found.max() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dim", [2, 3])
def test_picture_of_a_rope_on_discs_has_its_length(dim):
    """The line ends at the tangent points: it is as long as the rope without what is wound off from the marks."""
    mechanism = belted(dim, stiffness=200.0)
    state = thrown_discs(mechanism)
    ropes, product = products_of(mechanism, state)
    between = rope_lengths(ropes, product) - wound_off(ropes, product)
    for i in (0, 1):
        line = rope_line(mechanism.connections[i].form.signs[0].points, Drawn(mechanism, state))[0]
        assert np.linalg.norm(np.diff(line, axis=0), axis=1).sum() == pytest.approx(
            between[i], abs=1e-12 if dim == 2 else 1e-3
        )


@pytest.mark.parametrize("h", [0.05, 0.013])
def test_a_guided_load_that_passes_its_drum_ends_the_run(h):
    """Its rope touches the drum within a step, and at no end of one."""
    load = rigid.body(1.0, inertia=0.1, ports={"hook": (0.0, 0.0)})
    disc = rigid.body(1.0, inertia=0.1, ports={"axle": (0.0, 0.0)})
    line = rope(["load.hook", Sheave("disc.axle", -0.2, grips=True)], stiffness=10.0, length=0.9, name="rope")
    guide = slider("load.hook", at(-0.2, 0.0), direction=(0.0, 1.0))
    mechanism = connect({"load": load, "disc": disc}, [line, guide, hinge("disc.axle", at(0.0, 0.0))])
    pose = mechanism.assemble({"disc": (0.0, 0.0, 0.0)}, guess={"load": (-0.2, -1.0, 0.0)})
    start = mechanism.consistent_state(pose, velocities={"load": (0.0, 2.0, 0.0)})
    with pytest.raises(IntegrationError, match=r"ports of 'rope' come to touch at about t = 0\.5"):
        integrate(mechanism, start, np.arange(0.0, 1.0, h))


def test_a_rope_out_of_the_plane_of_its_drum_is_told_with_the_distance():
    bodies = {"load": rigid.body(1.0, inertia=(0.1, 0.1, 0.1), ports={"hook": (0.0, 0.0, 0.0)})}
    line = [at(0.0, 1.0, 0.0), Sheave(at(0.5, 1.0, 0.0), -0.1, axis=(0.0, 0.0, 1.0)), "load.hook"]
    mechanism = connect(bodies, [rope(line, stiffness=10.0, name="rope")])
    start = mechanism.consistent_state(mechanism.assemble({"load": ((0.6, -0.5, 0.4), np.eye(3))}))
    with pytest.warns(ValidityWarning, match=r"rope leaves the plane.* radius 0\.1 m.* 0\.4 m out of it"):
        integrate(mechanism, start, [0.0, 0.001, 0.002])


@pytest.mark.parametrize(("length", "short"), [(0.5, True), (0.76, True), (0.8, False), (None, False)])
def test_a_rope_far_shorter_than_its_way_is_named(length, short):
    """One metre of way; the tension is that of the stiffness."""
    load = rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})
    line = rope([GROUND.at(0.0, 1.0), "load.centre"], stiffness=1e4, length=length, name="hoist")
    mechanism = connect({"load": load}, [line])
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        mechanism.assemble({"load": (0.0, 0.0, 0.0)})
    texts = [str(each.message) for each in given if issubclass(each.category, ValidityWarning)]
    assert len(texts) == short
    if short:
        assert f"hoist is shorter than its path: {length:g} m" in texts[0]
        assert f"by {100.0 / length - 100.0:.0f} % with {1e4 * (1.0 - length):.3g} N" in texts[0]
