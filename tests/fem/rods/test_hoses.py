"""Hoses, rods and cables along which a fluid flows: balance, small motions by another route, published flutter."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss
from scipy.optimize import brentq

import fem
from flexph import GROUND, Solution, connect, eigenfrequencies, force, hinge, integrate, weld
from flexph.laws import polynomial, scheduled
from flexph.methods import Decaying, Exact, Exact4
from flexph.models import load_model, write_model
from flexph.numerics.rotations import rotation
from flexph.sensors import energy

SECTION = fem.RodSection(
    axial=1e3, shear=(800.0, 800.0), torsion=30.0, bending=(50.0, 50.0), mass=1.0, inertia=(0.02, 0.01, 0.01)
)
SPEEDS = {"constant": 3.0, "backwards": -2.0, "pulsating": lambda t: 3.0 + 2.0 * np.sin(20.0 * t)}


def cable(flow, dim=2):
    return fem.cable(1.0, mass_per_length=0.5, axial=1e3, bending=0.5, elements=4, dim=dim, flow=flow)


def rod(flow, dim=2):
    return fem.rod(2.0, None, SECTION, elements=3, dim=dim, flow=flow)


def thrown(body, turn=None):
    """A free hose whose nodes have random velocities, turned as a whole by a matrix."""
    mechanism, rng = connect({"a": body}, []), np.random.default_rng(1)
    Q = np.eye(body.dim) if turn is None else turn
    pose = mechanism.assemble({"a": 0.0 if body.dim == 2 else np.eye(3)} if turn is None else {"a": angle_of(turn)})
    start = mechanism.consistent_state(pose)
    x, own = start.x.copy(), mechanism.layout.parts["a.velocity"]
    x[own] = (0.3 * rng.standard_normal((len(body.frames), body.dim)) @ Q.T).ravel()
    return mechanism, replace(start, x=x)


def angle_of(Q):
    return float(np.arctan2(Q[1, 0], Q[0, 0]))


# --- in motion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Exact(), Exact4()], ids=["Exact", "Exact4"])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("make", [cable, rod], ids=["cable", "rod"])
@pytest.mark.parametrize("speed", SPEEDS)
def test_the_energy_is_what_the_ends_and_the_speed_bring(speed, make, dim, method):
    """At long steps, over which its parts fly apart and together."""
    run = integrate(*thrown(make(fem.Flow(0.4, SPEEDS[speed]), dim)), np.linspace(0.0, 0.2, 21), method=method)
    ledger = run.ledger
    assert np.abs(ledger.residual).max() <= 1e-13 * ledger.scale
    assert set(ledger.work) == {"a: inlet", "a: outlet", "a: speed"}
    assert ledger.work["a: inlet"].any() and ledger.work["a: outlet"].any()
    assert bool(ledger.work["a: speed"].any()) == (speed == "pulsating")


def test_a_hose_turned_with_the_world_moves_as_before():
    Q = np.array(rotation(0.7))
    runs = [integrate(*thrown(cable(fem.Flow(0.4, 3.0)), turn), np.linspace(0.0, 0.1, 11)) for turn in (np.eye(2), Q)]
    own = runs[0].mechanism.layout.parts["a.velocity"]
    first, second = (run.states[-1][own].reshape(-1, 2) for run in runs)
    np.testing.assert_allclose(second, first @ Q.T, rtol=0, atol=1e-11)


@pytest.mark.parametrize("make", [cable, rod], ids=["cable", "rod"])
def test_a_fluid_that_is_accelerated_pushes_its_hose_back(make):
    """A straight free hose of mass M, m of it per length the fluid's: M Δv = −m L Δu (closed form)."""
    body = make(fem.Flow(0.4, lambda t: 30.0 * t))
    mechanism = connect({"a": body}, [])
    run = integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), np.linspace(0.0, 0.1, 11))
    length = float(np.ptp(body.view.points[:, 0]))
    pushed = run.linear_momentum()[-1][0]
    assert pushed == pytest.approx(-0.4 * length * 3.0, rel=2e-2)  # its stretch by u² changes the length


# --- small motions ----------------------------------------------------------------------------------------------------


def pipe(u, beta, *, elements=8, ends="clamped", kind="cable"):
    """A pipe of length, EI and mass per length 1, with the share β of the fluid at the dimensionless speed u."""
    flow = fem.Flow(beta, u / np.sqrt(beta))
    if kind == "cable":
        options = {"mass_per_length": 1.0 - beta, "axial": 1e6, "bending": 1.0}
        body = fem.cable(1.0, **options, elements=elements, dim=2, flow=flow)
    else:
        own = {"torsion": 1.0, "bending": (1.0, 1.0), "mass": 1.0 - beta, "inertia": (2e-6, 1e-6, 1e-6)}
        section = fem.RodSection(axial=1e6, shear=(1e6, 1e6), **own)
        body = fem.rod(1.0, None, section, elements=elements, order=3, dim=2, flow=flow)
    at = GROUND.at(0.0, 0.0), GROUND.at(1.0, 0.0)
    joints = [weld("p.root", GROUND)] if ends == "clamped" else [hinge("p.root", at[0]), hinge("p.tip", at[1])]
    mechanism = connect({"p": body}, joints)
    return mechanism, mechanism.equilibrium(mechanism.assemble())


def exponents(u, beta, **options):
    """Those with positive frequencies, ascending."""
    mechanism, state = pipe(u, beta, **options)
    values = mechanism.spectrum(state).values
    return np.array(sorted(values[values.imag > 1e-3], key=lambda s: s.imag))


def by_modes(u, beta, count=10):
    """Exponents of η̈ + 2√β u η̇' + u²η'' + η'''' = 0 of a cantilever by Galerkin's method with its modes in vacuo."""
    x, w = leggauss(80)
    x, w = 0.5 * (x + 1.0), 0.5 * w
    shapes = [[], [], []]
    roots = [brentq(lambda z: np.cos(z) + 1.0 / np.cosh(z), z - 0.9, z + 0.9) for z in np.pi * (np.arange(count) + 0.5)]
    for z in roots:
        ratio = (np.sinh(z) - np.sin(z)) / (np.cosh(z) + np.cos(z))
        even, odd = np.cosh(z * x), np.sinh(z * x)
        c, s = np.cos(z * x), np.sin(z * x)
        values = even - c - ratio * (odd - s), odd + s - ratio * (even - c), even + c - ratio * (odd + s)
        for k, value in enumerate(values):
            shapes[k].append(z**k * value)
    of, slope, bend = map(np.array, shapes)
    mass, drag, pull = ((of * w) @ other.T for other in (of, slope, bend))
    stiffness = np.diag(np.array(roots) ** 4) + u**2 * pull
    none, one = np.zeros((count, count)), np.eye(count)
    rates = [-np.linalg.solve(mass, part) for part in (stiffness, 2.0 * beta**0.5 * u * drag)]
    matrix = np.block([[none, one], rates])
    values = np.linalg.eigvals(matrix)
    return np.array(sorted(values[values.imag > 1e-3], key=lambda s: s.imag))


@pytest.mark.parametrize(("beta", "u"), [(0.2, 1e-3), (0.2, 3.0), (0.2, 5.8), (0.5, 7.0)])
def test_exponents_of_a_cantilever_are_those_of_its_modes(beta, u):
    """Two routes to the first three: 3e-3 is the error of eight elements, and of ten modes, in the third."""
    own, other = exponents(u, beta)[:3], by_modes(u, beta)[:3]
    np.testing.assert_allclose(own, other, rtol=3e-3)


def test_a_rod_flutters_as_a_cable():
    """6e-3: eight elements of the rod are of second order, and its shear is left."""
    np.testing.assert_allclose(exponents(5.0, 0.2, elements=8, kind="rod")[:2], exponents(5.0, 0.2)[:2], rtol=6e-3)


def test_flutter_of_a_cantilever():
    """u = 5.6 and ω = 13.6 at β = 0.2, read from figures of Gregory and Païdoussis (1966): two digits."""
    critical = brentq(lambda u: exponents(u, 0.2, elements=4).real.max(), 5.0, 6.5, xtol=1e-3)
    assert critical == pytest.approx(5.6, abs=0.05)
    growing = max(exponents(critical, 0.2, elements=4), key=lambda s: s.real)
    assert growing.imag == pytest.approx(13.6, abs=0.2)  # the reading of a figure
    assert critical == pytest.approx(brentq(lambda u: by_modes(u, 0.2).real.max(), 5.0, 6.5), rel=3e-3)  # four elements


def test_a_pinned_pipe_buckles_at_pi():
    """The fluid presses as a force m u²; EA = 1e6 stretches it by 1e-5, and the exponent is real above."""
    assert pipe_grows(0.9995 * np.pi) == 0.0 < pipe_grows(1.0005 * np.pi)


def pipe_grows(u):
    mechanism, state = pipe(u, 0.5, ends="pinned")
    found = mechanism.spectrum(state)
    return found.values.real.max() if "unstable" in found.message else 0.0


# --- doors ------------------------------------------------------------------------------------------------------------


def test_what_flows_do_not_have_is_refused():
    mechanism, state = pipe(2.0, 0.3)
    for call in (mechanism.phdae, mechanism.linearize):
        with pytest.raises(ValueError, match="supports no flows"):
            call(state)
    with pytest.raises(ValueError, match="supports no flows"):
        eigenfrequencies(mechanism.linearize(mechanism.assemble()))
    with pytest.raises(ValueError, match="body of nodes"):
        integrate(mechanism, state, [0.0, 0.1], method=Decaying())
    pulsating, start = thrown(cable(fem.Flow(0.4, SPEEDS["pulsating"])))
    with pytest.raises(ValueError, match="flows of constant speed"):
        pulsating.spectrum(pulsating.consistent_state(pulsating.assemble()))
    with pytest.raises(ValueError, match="at a state needs laws"):
        integrate(pulsating, start, [0.0, 0.01]).measured(energy("flow a"))
    with pytest.raises(ValueError, match="mass_per_length must be positive"):
        fem.Flow(0.0, 1.0)
    with pytest.raises(ValueError, match="speed"):
        fem.Flow(1.0, "fast")


def test_a_speed_that_is_no_number_ends_the_run_by_name():
    mechanism, start = thrown(cable(fem.Flow(0.4, lambda t: np.nan if t > 0.05 else 1.0)))
    with pytest.raises(ValueError, match="a: the speed at t = "):
        integrate(mechanism, start, np.linspace(0.0, 0.1, 11))


@pytest.mark.parametrize("given", ["fast", [1.0, 2.0], None])
@pytest.mark.parametrize("part", ["speed", "schedule"])
def test_functions_of_time_that_return_no_number_are_refused_by_name(part, given):
    if part == "speed":
        hose = cable(fem.Flow(0.4, lambda t: given))
    else:
        law = scheduled(polynomial(1e4), lambda t: given)
        hose = fem.cable(1.0, mass_per_length=0.2, axial=1e4, bending=1.0, elements=2, dim=2, laws={"N": law})
    mechanism = connect({"a": hose}, [hinge("a.root", GROUND)])
    with pytest.raises(ValueError, match=r"(the speed|the factor) at t = 0.0 s must be a number, got"):
        integrate(mechanism, mechanism.consistent_state(mechanism.assemble()), [0.0, 0.1])
    with pytest.raises(ValueError, match=r"(speed|schedule|factor) at t = 0.0 s must be a number, got"):
        mechanism.equilibrium(mechanism.assemble())


def test_a_run_is_saved_and_refused_by_another_speed(tmp_path):
    run = integrate(*thrown(cable(fem.Flow(0.4, 2.0))), [0.0, 0.01])
    run.save(tmp_path / "run.h5")
    assert Solution.load(tmp_path / "run.h5", thrown(cable(fem.Flow(0.4, 2.0)))[0]).times.size == 2
    with pytest.raises(ValueError, match="mechanism"):
        Solution.load(tmp_path / "run.h5", thrown(cable(fem.Flow(0.4, 3.0)))[0])


TEXT = """
bodies:
  hose:
    kind: cable
    length: 1 m
    mass_per_length: 0.5
    axial: 1000
    bending: 0.5
    elements: 2
    dim: 2
    flow: {mass_per_length: 0.4, speed: SPEED}
connections:
  - {kind: weld, first: hose.root, second: ground}
"""


@pytest.mark.parametrize(("text", "speed"), [("3 m/s", 3.0), ("1 + t", 3.0)])
def test_flows_of_model_files(tmp_path, text, speed):
    (tmp_path / "model.yaml").write_text(TEXT.replace("SPEED", text))
    first = load_model(tmp_path / "model.yaml").mechanism
    write_model(tmp_path / "again.yaml", first)
    for read in (first, load_model(tmp_path / "again.yaml").mechanism):
        flow = read.network.arrays.flows[0]
        assert (flow.speed(2.0), flow.mass) == (speed, 0.4)


def test_work_of_an_outlet_is_that_of_its_momentum():
    """A tip that is held at rest takes no work; one that moves with v·y' = 0 loses m u v² each second."""
    flow = fem.Flow(0.4, 3.0)
    fixed = connect({"a": cable(flow)}, [weld("a.root", GROUND), hinge("a.tip", GROUND.at(1.0, 0.0))])
    run = integrate(fixed, fixed.equilibrium(fixed.assemble({"a": (0.0, 0.0, 0.0)})), [0.0, 0.05])
    assert abs(run.ledger.work["a: outlet"]).max() <= 1e-14
    held = connect({"a": cable(flow)}, [weld("a.root", GROUND), force("a.tip", name="F")])
    start = held.equilibrium(held.assemble(), inputs={"F": [0.0, 0.0]})
    run = integrate(held, start, np.linspace(0.0, 0.001, 101), inputs={"F": lambda t: [0.0, 1.0]})
    speed = 0.5 * (run.velocity("a.tip")[1:] + run.velocity("a.tip")[:-1])[:, 1]
    lost = 0.4 * 3.0 * (speed**2).sum() * 1e-5  # a still pipe that is pushed gives energy to the fluid
    assert run.ledger.work["a: outlet"].sum() == pytest.approx(
        -lost, rel=0.05
    )  # u v·y' is 3 % here, in proportion to time
