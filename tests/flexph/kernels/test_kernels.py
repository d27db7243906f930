"""The step's Jacobian against differences of its residual, and dense kernels against sparse ones."""

import math

import numpy as np
import pytest
from covering import covering
from step_samples import StepEquations

import fem
import rigid
from flexph import (
    GROUND,
    connect,
    distance,
    distributed_load,
    drive,
    force,
    hinge,
    integrate,
    slider,
    spring_damper,
    torque,
    torsion_spring,
    weld,
)
from flexph.kernels.arrays import Springs
from flexph.kernels.springs import add_forces, measure, tangent
from flexph.mechanisms.arrays import network
from flexph.mechanisms.model.state import configuration
from flexph.mechanisms.model.time_table import TimeTable, schedule

SOFT = fem.Material(young=20.0, density=2.0)  # with this section, all entries of the matrices are of order one
SECTION = fem.Section(width=1.0, height=0.8)
DAMPED = fem.Damping(mass=0.3, stiffness=0.02)


def beam(length, **options):
    return fem.beam(length, SOFT, SECTION, elements=2, **options)


def everything(strain="von_karman", momenta="full", damping=DAMPED):
    """A mechanism with every joint and force element, on flexible and rigid bodies and point masses."""
    kind = {"strain": strain, "momenta": momenta, "damping": damping}
    bodies = {
        "crank": rigid.bar(0.5, 1.0),
        "arm": beam(1.0, **kind).with_mass("tip", 0.2, 0.05),
        "rod": beam(1.3, reference="simply_supported", stations={"middle": 0.65}, **kind),
        "block": rigid.body(0.7, inertia=0.1, ports={"pin": (0.1, -0.2), "side": (0.3, 0.1)}, centre=(0.05, 0.1)),
        "bob": rigid.point(0.4),
        "cart": rigid.point(0.3),
    }
    connections = [
        hinge("crank.root", GROUND.at(0.0, 0.0)),
        drive("crank.root", angle=lambda t: 0.3 + 1.5 * t),
        weld("crank.tip", "arm.root", angle=-0.2),
        hinge("arm.tip", "rod.root"),
        slider("block.pin", "rod.middle", direction=(0.6, 0.8)),
        slider("bob.point", "block.side", turning=True),
        distance("bob.point", "arm.tip"),
        drive("cart.point", position=lambda t: (3.0 + 0.1 * math.sin(t), 1.0 - 0.2 * t)),
        spring_damper("rod.tip", "cart.point", stiffness=3.0, damping=0.4, length=0.5),
        spring_damper("block.side", GROUND.at(0.0, -1.0), stiffness=2.0),
        torsion_spring("rod.tip", "crank.root", stiffness=1.5, damping=0.2, angle=0.1),
        force("rod.middle"),
        torque("arm.tip"),
        distributed_load("rod.load"),
    ]
    return connect(bodies, connections, gravity=(0.4, -9.81))


def start_of(mechanism):
    """A consistent state that moves."""
    places = {"crank": 0.3, "rod": -0.4, "block": 0.2, "bob": (0.9, 0.5, 0.0)}
    pose = mechanism.assemble(guess={k: v for k, v in places.items() if k in mechanism.bodies})
    return mechanism.consistent_state(
        pose, velocities={name: 0.7 for name, body in mechanism.bodies.items() if body.turns}
    )


def random_state(mechanism, rng):
    """Arrays of a state that fits no joint: the residual is defined there as well."""
    parts, x = mechanism.layout.parts, rng.standard_normal(mechanism.layout.size)
    for name in mechanism.bodies:
        if f"{name}.rotation" in parts:
            angle = rng.uniform(-3.0, 3.0)
            x[parts[f"{name}.rotation"]] = np.cos(angle), np.sin(angle)
    return configuration(mechanism, x)


class RandomStep(StepEquations):
    """A step of length h from a random state with random inputs, and a random iterate."""

    def __init__(self, mechanism, h, seed=0):
        rng, layout = np.random.default_rng(seed), mechanism.layout
        state = random_state(mechanism, rng)
        inputs = rng.standard_normal(sum(s.stop - s.start for s in mechanism.network.input_slices.values()))
        prescribed = schedule(TimeTable(mechanism, start_of(mechanism).anchors), 0.0, h, inputs)
        y = rng.standard_normal(layout.velocities + layout.multipliers)
        super().__init__(mechanism, h, state, schedule=prescribed, y=y)


@pytest.fixture(params=["dense", "sparse"])
def kernels(request, monkeypatch):
    use(monkeypatch, request.param)


def use(monkeypatch, kind):
    monkeypatch.setattr(network, "DENSE_LIMIT", 10**6 if kind == "dense" else 0)


@pytest.mark.usefixtures("kernels")
@covering("strain, momenta, h", ("linear", "von_karman"), ("full", "constant"), (0.05, 0.5))
def test_the_jacobian_is_the_derivative_of_the_residual(strain, momenta, h):
    step = RandomStep(everything(strain, momenta), h)
    # differences are good to 1e-16/1e-3 and 1e-3**4 of entries of order ten, the inverse amplifies by up to 1e4;
    # a missing term shows as h or more
    assert step.newton_error() < 1e-7


def bars():
    return connect(
        {"crank": rigid.bar(1.0, 1.0), "rod": rigid.bar(0.5, 2.0)},
        [hinge("crank.root", GROUND.at(0.0, 0.0)), hinge("crank.tip", "rod.root")],
        gravity=(0.0, -9.81),
    )


def points():
    spring = spring_damper("crank.point", "bob.point", stiffness=2.0, damping=0.1, length=0.2)
    return connect({"crank": rigid.point(1.0), "bob": rigid.point(0.5)}, [spring, force("bob.point")])


def free_beam():
    return connect({"rod": beam(1.3)}, [], gravity=(0.1, 0.0))


def mixed():
    """Bodies with and without flexible coordinates and rotations in an unsorted order."""
    bodies = {"bob": rigid.point(0.5), "rod": beam(1.3), "block": rigid.bar(0.4, 0.3), "arm": beam(0.5)}
    connections = [hinge("rod.tip", "arm.root"), distance("bob.point", "rod.root"), weld("block.root", "arm.tip")]
    return connect(bodies, connections, gravity=(0.0, -9.81))


MAKERS = {"everything": everything, "bars": bars, "points": points, "free_beam": free_beam, "mixed": mixed}


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("make", list(MAKERS.values())[1:], ids=list(MAKERS)[1:])
def test_the_jacobian_of_small_mechanisms(make):
    """Without rotations, deformations, constraints or nodes some arrays are empty."""
    step = RandomStep(make(), 0.1)
    assert step.newton_error() < 1e-7  # as above


def compare(monkeypatch, compute):
    """What `compute` returns with dense and with sparse kernels, and the largest entry."""
    results = []
    for kind in ("dense", "sparse"):
        use(monkeypatch, kind)
        results.append(np.asarray(compute()))
    return np.abs(results[0] - results[1]).max(), np.abs(results[0]).max()


@pytest.mark.parametrize("seed", range(2))
def test_dense_and_sparse_kernels_solve_the_same_step(monkeypatch, seed):
    def residual_and_correction():
        step = RandomStep(everything(), 0.1, seed)
        return np.column_stack([step.residual(step.y), step.solve(np.eye(step.y.size))])

    difference, size = compare(monkeypatch, residual_and_correction)
    # another order of summation in the residual, another order of pivots in the solution; the condition is 1e3 to 1e5
    assert difference < 1e-16 * 1e4 * size


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_dense_and_sparse_kernels_make_the_same_run(monkeypatch, make):
    def run():
        mechanism = make()
        return integrate(mechanism, start_of(mechanism), np.linspace(0.0, 0.1, 6)).states

    difference, size = compare(monkeypatch, run)
    # round-off of one step and five steps of growth; forces of order ten act on masses of order one tenth
    assert difference < 1e-11 * size


@pytest.mark.parametrize("turn", [1e-5, 0.9e-3, 1.1e-3, 0.7, 2.6], ids=lambda t: f"{t} rad")
def test_the_spring_tangent_is_the_derivative_of_the_forces(turn):
    """Small turns use a series, others the arc tangent; the last one passes a right angle between both ends."""
    springs = Springs(
        component_product=np.zeros(0, dtype=int),
        length_product=np.array([0]),
        sine_product=np.array([1]),
        cosine_product=np.array([2]),
        stiffness=np.array([3.0, 2.0]),
        damping=np.array([0.5, 0.3]),
        state=np.array([0, 1]),
    )
    before = np.array([1.3, 0.9 * math.sin(0.4), 0.9 * math.cos(0.4)])
    after = np.array([1.3 + turn, 1.1 * math.sin(0.4 + turn), 1.1 * math.cos(0.4 + turn)])
    forces_at = lambda p: spring_forces(springs, before, p)[1]  # noqa: E731
    numeric = np.array([(forces_at(after + e) - forces_at(after - e)) / 2e-5 for e in 1e-5 * np.eye(3)]).T
    analytic = tangent(springs, spring_forces(springs, before, after)[0], 0.1, (before, after))
    assert np.abs(numeric - analytic).max() < 1e-8  # differences: 1e-5**2 and 1e-16/1e-5 of entries of order one


def spring_forces(springs, before, after):
    measured = measure(springs, np.array([0.2, -0.4]), 0.1, (before, after))
    on_product = np.zeros(3)
    add_forces(springs, measured, on_product)
    return measured, on_product
