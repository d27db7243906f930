"""Mechanisms as general systems: dense equations, their derivatives, agreement and orders of methods, failures.

Twenty seconds, as steps of general systems are taken in Python, by every method.
"""

import gc
import math
import tracemalloc

import numpy as np
import pytest
from covering import covering
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import fem
import flexph.mechanisms.arrays.network
import rigid
from flexph import (
    GROUND,
    PHDAE,
    IntegrationError,
    connect,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    slider,
    spherical,
    spring_damper,
    torque,
    torsion_spring,
)
from flexph.integration.general import library
from flexph.integration.general.library import EXTRAS
from flexph.joints import bushing
from flexph.methods import by_name
from flexph.systems.derivatives import Derivatives

SOFT = fem.Material(young=2e6, density=200.0, poisson=0.3)
STRIP = fem.Section(width=0.1, height=0.05)
LOSS = fem.Damping(mass=0.5, stiffness=1e-3)


def beam(length, strain, dim=2, **options):
    return fem.beam(length, SOFT, STRIP, elements=2, strain=strain, dim=dim, damping=LOSS, **options)


def integrated(mechanism, state, end, steps, **options):
    return integrate(mechanism, state, np.linspace(0.0, end, steps + 1), progress=False, **options)


# --- dense equations and derivatives ----------------------------------------------------------------------------------


def planar(strain):
    """Beams and a point mass with every planar drive, spring and input."""
    bodies = {
        "crank": rigid.bar(0.3, 0.5),
        "rod": beam(0.8, strain, reference="simply_supported", stations={"middle": 0.4}),
        "arm": beam(0.6, strain),
        "bob": rigid.point(0.4),
    }
    joints = [
        hinge("crank.root", GROUND.at(0.1, 0.2)),
        drive("crank.root", angle=lambda t: 0.7 + 6.0 * t),
        hinge("crank.tip", "rod.root"),
        slider("bob.point", GROUND.at(0.1, 0.2), direction=(1.0, 0.0), turning=True),
        drive("bob.point", GROUND.at(0.1, 0.2), displacement=lambda t: 0.9 + t, direction=(1.0, 0.0)),
        drive("arm.root", position=lambda t: (1.0 + t, 0.5)),
        spring_damper("rod.tip", "bob.point", stiffness=30.0, damping=0.7, length=0.1),
        spring_damper("arm.tip", GROUND.at(2.0, 1.0), stiffness=0.0, damping=0.2),
        torsion_spring("arm.root", "rod.tip", stiffness=2.0, damping=0.3),
        force("rod.middle"),
        force("arm.tip", axes="section"),
        torque("rod.tip"),
        distributed_load("rod.load"),
    ]
    return connect(bodies, joints, gravity=(1.0, -9.81))


def spatial(strain):
    """A beam, boxes and a point mass with bushing, springs, driven rotation, and loads that follow sections."""
    box = rigid.box((0.1, 0.06, 0.4), density=900.0, ports={"up": (0.0, 0.0, 0.2), "down": (0.0, 0.01, -0.2)})
    bodies = {"box": box, "spun": box, "rod": beam(0.7, strain, dim=3), "bob": rigid.point(0.4, dim=3)}
    joints = [
        drive("spun.up", GROUND, rotation=lambda t: Rotation.from_rotvec([0.3 * t, t, 0.0])),
        spherical("spun.down", "rod.root"),
        hinge("rod.tip", "box.up", axis=(0.0, 1.0, 0.0)),
        drive("rod.tip", "box.up", angle=lambda t: 0.2 * t, axis=(0.0, 1.0, 0.0)),
        spring_damper("box.down", "bob.point", stiffness=30.0, damping=0.7, length=0.1),
        bushing("rod.root", GROUND.at(1.0, 0.0, 0.0), stiffness=2.0, damping=0.1, torsional_stiffness=0.2),
        force("rod.tip"),
        force("rod.root", axes="section"),
        torque("rod.tip"),
        torque("box.up", axes="section"),
        distributed_load("rod.load"),
    ]
    return connect(bodies, joints, gravity=(0.0, 1.0, -9.81))


MECHANISMS = {"planar": planar, "spatial": spatial}
each_mechanism = pytest.mark.parametrize("kind", MECHANISMS)
each_strain = pytest.mark.parametrize("strain", ["linear", "von_karman"])


def any_state(mechanism, rng):
    """A random state of the size of one with proper rotations: joints are open."""
    layout = mechanism.layout
    x = 0.5 * rng.standard_normal(layout.size + layout.multipliers)
    for name, part in layout.parts.items():
        if name.endswith(".rotation"):
            angle = rng.uniform(-3.0, 3.0)
            plane = [math.cos(angle), math.sin(angle)]
            x[part] = plane if layout.dim == 2 else Rotation.random(random_state=rng).as_matrix().ravel()
    return x


def equations_of(mechanism):
    """Equations at an undeformed state; joints need not be closed for what is compared here."""
    pose = mechanism.assemble(guess={"rod": 0.2, "arm": 0.4} if mechanism.layout.dim == 2 else None)
    return mechanism.phdae(mechanism.consistent_state(pose))


def dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@covering("kind, strain", tuple(MECHANISMS), ("linear", "von_karman"))
def test_dense_equations_are_the_sparse_ones(kind, strain, monkeypatch):
    """Small and large mechanisms are evaluated by different code: the same sums in another order."""
    small = equations_of(MECHANISMS[kind](strain))
    monkeypatch.setattr(flexph.mechanisms.arrays.network, "DENSE_LIMIT", 0)
    mechanism = MECHANISMS[kind](strain)
    large = equations_of(mechanism)
    rng = np.random.default_rng(4)
    assert isinstance(small.J(small.sample), np.ndarray)
    assert hasattr(large.J(large.sample), "toarray")
    for x in (any_state(mechanism, rng) for _ in range(2)):
        for name in ("E", "J", "R", "B", "z"):
            one, other = dense(getattr(small, name)(x)), dense(getattr(large, name)(x))
            assert np.abs(one - other).max() < 1e-13 * np.abs(other).max(), name
        assert small.H(x) == pytest.approx(large.H(x), rel=1e-13)


@covering("kind, strain", tuple(MECHANISMS), ("linear", "von_karman"))
def test_derivatives_are_those_of_differences(kind, strain):
    """At random states, rotations off the circle included: fourth-order differences, see Derivatives.check."""
    mechanism = MECHANISMS[kind](strain)
    system, rng = equations_of(mechanism), np.random.default_rng(5)
    x = any_state(mechanism, rng) * rng.uniform(0.8, 1.2)
    Derivatives.check(system.derivatives, system, x)


def test_matrices_are_read_only():
    """They are shared by all who ask at the same state."""
    system = equations_of(planar("linear"))
    for name in ("E", "J", "R", "B", "z"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(system, name)(system.sample)[0] = 1.0


# --- agreement --------------------------------------------------------------------------------------------------------


def small_crank_slider(speed=6.0, rod=None):
    """A rod of two elements, damped: axial motions of 1e3/s die out in a hundredth of a second."""
    mechanism = connect(
        {
            "crank": rigid.bar(0.3, 0.5),
            "rod": beam(0.8, "von_karman", reference="simply_supported") if rod is None else rod,
            "s": rigid.point(0.4),
        },
        [
            hinge("crank.root", GROUND.at(0.0, 0.0)),
            drive("crank.root", angle=lambda t: 0.7 + speed * t),
            hinge("crank.tip", "rod.root"),
            hinge("rod.tip", "s.point"),
            slider("s.point", GROUND.at(0.0, 0.0), turning=True),
        ],
        gravity=(0.0, -9.81),
    )
    pose = mechanism.assemble(guess={"crank": (0.0, 0.0, 0.7), "rod": -0.3})
    return mechanism, mechanism.consistent_state(pose)


END = 0.04  # [s], a hundred radians of the fastest motion


@pytest.fixture(scope="module")
def reference():
    """The exact scheme at two steps, extrapolated: positions to 4e-9, a sixteenth of what the finer pair adds."""
    coarse, fine = (integrated(*small_crank_slider(), END, n).states[-1] for n in (400, 800))
    return (4.0 * fine - coarse) / 3.0


def distances(found, reference):
    """Largest error of positions, at most 1 m, and of velocities, up to 6 rad/s."""
    mechanism, _ = small_crank_slider()
    q, n = sum(mechanism.layout.position_sizes), mechanism.layout.velocities
    gap = np.abs(found.states[-1][: reference.size] - reference)
    return gap[:q].max(), gap[q : q + n].max()


@pytest.mark.parametrize(
    "method", ["exact", "gonzalez", *(pytest.param(m, marks=pytest.mark.slow) for m in ("mean_value", "midpoint"))]
)
def test_methods_of_order_two_agree(method, reference):
    """With h of 4e-4 s and axial motions of 1e3/s, (ωh)²/12 is 1e-2 of those motions: 1e-4 m and 2e-2 m/s."""
    found = integrated(*small_crank_slider(), END, 100, method=by_name(method))
    position, velocity = distances(found, reference)
    assert 1e-7 < position < 3e-6  # measured 1.1e-6
    assert 1e-5 < velocity < 6e-4  # measured 2.0e-4


@pytest.mark.parametrize(
    ("method", "steps", "speed"),
    [pytest.param("gauss4", 50, 1e-5, marks=pytest.mark.slow), ("gauss6", 20, 2e-6)],
)
def test_collocation_agrees_with_the_reference(method, steps, speed, reference):
    """Positions are better than the reference; velocities lose order to the constraints (see below)."""
    position, velocity = distances(integrated(*small_crank_slider(), END, steps, method=by_name(method)), reference)
    assert position < 2e-8
    assert velocity < speed


@pytest.mark.parametrize("method", ["radau", pytest.param("bdf", marks=pytest.mark.slow), "ida"])
def test_adaptive_methods_agree_to_their_tolerance(method, reference):
    """Errors of 20 to 100 steps add up, each below the tolerance times the size of a state: 6 rad/s, a metre."""
    pytest.importorskip(EXTRAS[method][0])
    errors = [
        distances(integrated(*small_crank_slider(), END, 1, method=by_name(method, tolerance=tolerance)), reference)
        for tolerance in (1e-5, 1e-7)
    ]
    for tolerance, (position, velocity) in zip((1e-5, 1e-7), errors, strict=True):
        assert position < 10.0 * tolerance
        assert velocity < 6.0 * 100.0 * tolerance
    assert errors[1][0] < 0.1 * errors[0][0]


@pytest.mark.parametrize(("method", "end"), [pytest.param("bdf", 6e-3, marks=pytest.mark.slow), ("ida", 2e-3)])
def test_bdf_keeps_to_order_two_where_fast_motions_are_not_damped(method, end, monkeypatch):
    """Orders from 3 on amplify them until steps resolve the fastest, here 2e5/s: several times the steps, at 1e-5."""
    pytest.importorskip(EXTRAS[method][0])
    steel = fem.Material(young=2e11, density=7870.0)
    rod = fem.beam(0.3, steel, fem.Section(diameter=6e-3), elements=4, reference="simply_supported")
    joints = [hinge("crank.root", GROUND.at(0.0, 0.0)), drive("crank.root", angle=lambda t: 150.0 * t)]
    joints += [hinge("crank.tip", "rod.root"), hinge("rod.tip", "s.point")]
    joints += [slider("s.point", GROUND.at(0.0, 0.0), turning=True)]
    mechanism = connect({"crank": rigid.bar(0.15, 0.1), "rod": rod, "s": rigid.point(0.033)}, joints)
    state = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    counts = []
    for ratio in (library.RINGING, math.inf):
        monkeypatch.setattr(library, "RINGING", ratio)
        found = integrated(mechanism, state, end, 1, method=by_name(method, tolerance=1e-5))
        counts.append(found.ledger.iterations.sum())
    assert counts[0] < 0.5 * counts[1]


# --- orders on index 2 ------------------------------------------------------------------------------------------------


ROOT, TIME = (0.5, 0.8), 0.5  # length [m] and mass [kg] of a bar, duration [s]


def pendulum():
    mechanism = connect({"bar": rigid.bar(*ROOT)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, -0.4)}))


@pytest.fixture(scope="module")
def swung():
    """(x, y, c, s, ẋ, ẏ, ω) of θ'' = −(3g/2L) cos θ."""
    half = 0.5 * ROOT[0]
    rate = lambda t, y: [y[1], -0.75 * 9.81 / half * math.cos(y[0])]  # noqa: E731
    angle, spin = solve_ivp(rate, (0.0, TIME), [-0.4, 0.0], method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    c, s = math.cos(angle), math.sin(angle)
    return np.array([half * c, half * s, c, s, -half * s * spin, half * c * spin, spin])


@pytest.mark.parametrize(
    ("method", "steps", "orders"),
    [
        ("exact", 32, (2.0, 2.0)),
        ("gonzalez", 32, (2.0, 2.0)),
        pytest.param("mean_value", 32, (2.0, 2.0), marks=pytest.mark.slow),  # two nested iterations
        ("midpoint", 32, (2.0, 2.0)),
        ("gauss4", 16, (4.0, 2.0)),
        ("gauss6", 16, (6.0, 4.0)),
    ],
)
def test_orders_on_a_pendulum(method, steps, orders, swung):
    """Collocation loses order on index 2: s-stage Gauss has s + 1 for odd, s for even s (Hairer, Lubich, Roche 1989).

    The loss is along the constraints, in velocities that leave them at the ends of steps. Positions, which velocities
    in the constraints move, keep 2s; and constraints, quadratic here, are kept by every one of these methods.
    """
    errors = []
    for n in (steps, 2 * steps):
        x = integrated(*pendulum(), TIME, n, method=by_name(method)).states[-1][:7]
        errors.append([np.abs(x[:4] - swung[:4]).max(), np.abs(x[4:] - swung[4:]).max()])
        assert math.hypot(x[0], x[1]) == pytest.approx(0.5 * ROOT[0], abs=1e-14)
        assert math.hypot(x[2], x[3]) == pytest.approx(1.0, abs=1e-14)
    assert np.log2(np.divide(*errors)) == pytest.approx(orders, abs=0.1)


# --- memory -----------------------------------------------------------------------------------------------------------


def peak_memory(method, steps, save_every):
    """Largest memory of a run in use beyond what was there before [bytes]; loops are loaded before."""
    integrated(*pendulum(), 1e-2, 10, method=by_name(method))
    gc.collect()  # cycles that others left would be freed during the run, or not
    tracemalloc.start()
    try:
        integrated(*pendulum(), 1e-3 * steps, steps, method=by_name(method), save_every=save_every)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def memory_at_the_end(method, steps, save_every):
    """Memory of a run in use at its last saved step [bytes], without the freed tuples that Python keeps for reuse."""
    seen = []

    def observe(time, state):
        if time > 1e-3 * (steps - 0.5):
            gc.collect()  # which gives back those tuples, too
            seen.append(tracemalloc.get_traced_memory()[0])

    integrated(*pendulum(), 1e-2, 10, method=by_name(method))
    gc.collect()
    tracemalloc.start()
    try:
        integrated(*pendulum(), 1e-3 * steps, steps, method=by_name(method), save_every=save_every, observe=observe)
        (end,) = seen
        return end
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("method", ["exact", pytest.param("gonzalez", marks=pytest.mark.slow)])
def test_steps_that_are_not_saved_take_no_memory(method):
    """Times, their copies and what a block of steps prescribes take up to 90 bytes a step; a row would add 184 or more.

    That is a state of nine numbers, two energies, two multipliers twice, and the ledger.
    """
    short, long = (memory_at_the_end(method, steps, 25) for steps in (50, 150))
    assert long - short < 100 * 100


@pytest.mark.slow
@pytest.mark.parametrize("method", ["exact", "gonzalez"])
def test_a_long_run_takes_little_memory(method):
    assert peak_memory(method, 20_000, 1000) < 2e6


# --- failures ---------------------------------------------------------------------------------------------------------


STEPPING = ("gonzalez", "mean_value", "midpoint", "gauss4", "gauss6")
each_stepping = pytest.mark.parametrize("method", STEPPING)


@each_stepping
def test_an_index_above_two_is_named(method):
    """A multiplier that its own constraint does not feel, not even after a derivative."""
    system = PHDAE(
        E=np.diag([1.0, 1.0, 0.0]),
        J=np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
        z=lambda x: x * [1.0, 1.0, 0.0],
        H=lambda x: 0.5 * float(x[:2] @ x[:2]),
        sample=np.ones(3),
    )
    with pytest.raises(IntegrationError, match=rf"from t = 0 s .*{method}.*singular .* index above 2") as caught:
        integrate(system, (1.0, 0.0, 0.0), [0.0, 0.1], method=by_name(method), progress=False)
    assert caught.value.solution.times.size == 1


def beyond_reach():
    """Two bars of 1 m in all, whose end is pulled from 0.9 m on by 0.5 m/s: stretched at 0.2 s."""
    mechanism = connect(
        {"a": rigid.bar(0.5, 1.0), "b": rigid.bar(0.5, 1.0)},
        [
            hinge("a.root", GROUND.at(0.0, 0.0)),
            hinge("a.tip", "b.root"),
            drive("b.tip", position=lambda t: (0.9 + 0.5 * t, 0.0)),
        ],
    )
    pose = mechanism.assemble(guess={"a": 0.5, "b": -0.5})
    return mechanism, mechanism.consistent_state(pose)


@pytest.mark.processor
@pytest.mark.parametrize(
    "method",
    [
        "exact",
        *(
            pytest.param(m, marks=pytest.mark.slow)
            for m in ("radau", "ida", "bdf", "gonzalez", "mean_value", "midpoint", "gauss4", "gauss6")
        ),
    ],
)
def test_a_mechanism_without_a_way_on_keeps_what_is_finished(method):
    options = {}
    if method in EXTRAS:
        pytest.importorskip(EXTRAS[method][0])
        options = {"tolerance": 1e-3}  # the tighter, the more steps towards the end
    with pytest.raises(IntegrationError, match=r"at t = |from t = .*try a (smaller step|looser tolerance)") as caught:
        integrated(*beyond_reach(), 0.4, 20, method=by_name(method, **options))
    assert 0.1 < caught.value.solution.times[-1] < 0.25
    assert np.all(np.isfinite(caught.value.solution.states))


@pytest.mark.parametrize(
    "method",
    ["midpoint", *(pytest.param(m, marks=pytest.mark.slow) for m in ("gonzalez", "mean_value", "gauss4", "gauss6"))],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # numbers overflow on the way
def test_a_step_that_diverges_says_so(method):
    """A turn of the crank by six radians in a step of 0.1 s; of a rigid rod, as sixty iterations take their time."""
    mechanism, state = small_crank_slider(speed=60.0, rod=rigid.bar(0.8, 0.8))
    with pytest.raises(IntegrationError, match=r"from t = 0 s to 0.1 s .* after \d+ iterations.* smaller step"):
        integrate(mechanism, state, [0.0, 0.1], method=by_name(method), progress=False)
