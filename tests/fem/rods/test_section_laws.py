"""Laws of the cross-sections of rods and cables: N(ε), M(κ), slack, softening, by schedules."""

from dataclasses import replace
from math import cos, exp, sin

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
import rigid
from flexph import GROUND, Solution, connect, eigenfrequencies, force, hinge, integrate, spherical, torque, weld
from flexph.changes import lock
from flexph.laws import backlash, bilinear, controlled, force_law, one_sided, polynomial, potential, scheduled, table
from flexph.mechanisms.arrays import network
from flexph.methods import Decaying, Exact, Exact4, ExactGauss, Gauss
from flexph.models import load_model, write_model
from flexph.sensors import energy

SECTION = fem.RodSection(
    axial=1e3, shear=(800.0, 800.0), torsion=30.0, bending=(50.0, 50.0), mass=1.0, inertia=(0.02, 0.01, 0.01)
)
HARD = polynomial(50.0, 0.0, 400.0)
SOFT_BENDING = polynomial(0.05, 0.0, 0.01)
SOFT = potential(lambda x: 500.0 * (1.0 - exp(-x)) ** 2, lambda x: 1e3 * (1.0 - exp(-x)) * exp(-x))
YIELDING = bilinear(50.0, second=20.0, beyond=0.2)
SLACK = one_sided(1e3, side="tension")
BREATHES = scheduled(HARD, lambda t: 1.0 + 0.5 * sin(30.0 * t))
LAWS = {
    (2, "stiff and slack"): {"M3": HARD, "N": SLACK},
    (2, "soft by functions"): {"M3": YIELDING, "N": SOFT, "Q2": polynomial(800.0)},
    (2, "by a schedule"): {"M3": BREATHES, "N": scheduled(1e3, lambda t: 1.0 + t)},
    (3, "all"): {"M3": HARD, "M2": YIELDING, "N": SLACK, "T": HARD, "Q3": polynomial(800.0)},
    (3, "by a schedule"): {"T": BREATHES, "N": scheduled(SLACK, lambda t: 2.0 - t)},
}
ROUND_OFF = 1e-13
"""Balance of a step and changes of momenta over the energy and the momenta."""


def rod(dim=2, laws=None, **options):
    return fem.rod(2.0, None, SECTION, elements=3, dim=dim, laws=laws, **options)


def cable(dim=2, laws=None, **options):
    return fem.cable(2.0, mass_per_length=0.5, axial=1e3, bending=0.5, elements=4, dim=dim, laws=laws, **options)


def tumbling(body, speed=3.0, seed=1):
    """A free body whose nodes have random velocities."""
    mechanism, rng = connect({"a": body}, []), np.random.default_rng(seed)
    start = mechanism.consistent_state(mechanism.assemble())
    x = start.x.copy()
    for part in ("a.velocity", "a.spin"):
        if part in mechanism.layout.parts:
            own = mechanism.layout.parts[part]
            x[own] = speed * rng.standard_normal(own.stop - own.start)
    return mechanism, replace(start, x=x)


def flown(body, method=None, end=0.4, speed=3.0):
    mechanism, start = tumbling(body, speed)
    return integrate(mechanism, start, np.linspace(0.0, end, 21), method=method or Exact())


# --- in motion --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [Exact(), Exact4()], ids=["Exact", "Exact4"])
@pytest.mark.parametrize("kind", LAWS, ids=lambda kind: f"{kind[1]}, {kind[0]}")
def test_energy_and_momenta_of_a_tumbling_rod(kind, method):
    """At long steps, in which its strains are of the order of one, slack and beyond kinks."""
    run = flown(rod(kind[0], LAWS[kind]), method)
    assert np.abs(run.ledger.residual).max() <= ROUND_OFF * run.ledger.scale
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() <= ROUND_OFF * max(np.abs(momentum).max(), 1.0)
    works = {"by a schedule"} & {kind[1]}
    assert bool(run.ledger.work) == bool(works)
    if not works:
        assert np.ptp(run.ledger.total_energy) <= 20 * ROUND_OFF * run.ledger.scale


@pytest.mark.parametrize("dim", [2, 3])
def test_energy_of_a_slack_cable(dim):
    """While its parts fly apart and together."""
    run = flown(cable(dim, {"N": SLACK}, damping=fem.Damping(stiffness=1e-3)), end=0.1, speed=0.3)
    assert np.abs(run.ledger.residual).max() <= ROUND_OFF * run.ledger.scale
    assert (run.ledger.dissipation["a"] >= 0.0).all()
    tension = run.states[:, run.mechanism.layout.parts["a.stress"]][1:, :9]
    assert tension.min() == 0.0 < tension.max()


@pytest.mark.parametrize("dim", [2, 3])
def test_linear_laws_are_the_stiffness_of_the_section(dim):
    """A law is evaluated by its strain, a stiffness by the stress as a state: equal up to what steps are solved to."""
    names = ("N", "M3") if dim == 2 else ("N", "T", "M2", "M3")
    own = {"N": 1e3, "T": 30.0, "M2": 50.0, "M3": 50.0}
    lawful = flown(rod(dim, {name: polynomial(own[name]) for name in names}))
    plain = flown(rod(dim))
    np.testing.assert_allclose(lawful.states, plain.states, rtol=0, atol=1e-9 * np.abs(plain.states).max())
    np.testing.assert_allclose(lawful.ledger.total_energy, plain.ledger.total_energy, rtol=1e-12)


def test_a_schedule_does_the_work_of_its_factor():
    """A rod held stretched by ε between two walls while its EA doubles: ½ EA ε² L more, forces follow."""
    doubles = scheduled(1e3, lambda t: 1.0 + t)
    pulled = [weld("a.root", GROUND), force("a.tip", name="F")]
    mechanism = connect({"a": rod(2, {"N": doubles})}, pulled)
    stretched = mechanism.equilibrium(mechanism.assemble(), inputs={"F": [100.0, 0.0]})
    wall = lock(weld("a.tip", GROUND, name="wall"), at=0.0)
    pull = {"F": lambda t: [100.0, 0.0]}
    run = integrate(mechanism, stretched, np.linspace(0.0, 1.0, 11), inputs=pull, changes=[wall])
    assert run.ledger.work["a"].sum() == pytest.approx(0.5 * 1e3 * 0.1**2 * 2.0, rel=1e-12)
    assert run.states[-1][mechanism.layout.parts["a.stress"]][::3] == pytest.approx(200.0, rel=1e-12)


CURLED = polynomial(0.5, 0.3, 0.4)
"""Moment of a strip that is softer where it bends to the right."""


LAWS_OF_BENDING = [{"M3": CURLED}, {"M3": bilinear(0.5, second=0.2, beyond=0.3), "N": SOFT}]


@pytest.mark.parametrize("method", [Exact(), Exact4()], ids=["Exact", "Exact4"])
@pytest.mark.parametrize("laws", LAWS_OF_BENDING, ids=["polynomial", "bilinear"])
def test_energy_and_momenta_of_a_tumbling_cable_with_a_law_of_bending(laws, method):
    run = flown(cable(2, laws), method, end=0.2, speed=1.0)
    assert np.abs(run.ledger.residual).max() <= ROUND_OFF * run.ledger.scale
    for momentum in (run.linear_momentum(), run.angular_momentum()):
        assert np.ptp(momentum, axis=0).max() <= ROUND_OFF * max(np.abs(momentum).max(), 1.0)
    assert np.ptp(run.ledger.total_energy) <= 20 * ROUND_OFF * run.ledger.scale


def test_a_linear_law_of_bending_is_the_stiffness_of_a_cable():
    """In its equilibrium and its frequencies: the energy is another sum of the same squares."""
    curve = lambda s: (sin(s), 1.0 - cos(s))  # noqa: E731
    ends = []
    for laws in (None, {"M3": polynomial(0.5)}):
        mechanism = connect({"a": cable(2, laws, curve=curve)}, [weld("a.root", GROUND)], gravity=(0.0, -1.0))
        rest = mechanism.equilibrium(mechanism.assemble())
        waves = eigenfrequencies(mechanism.linearize(rest), count=4)
        ends.append((mechanism.position(rest, "a.tip"), waves))
    for plain, lawful in zip(*ends, strict=True):
        np.testing.assert_allclose(lawful, plain, rtol=1e-8)


# --- at rest ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("law", "moment"), [(HARD, 30.0), (YIELDING, 14.0)], ids=["hard", "yielding"])
@pytest.mark.parametrize("dim", [2, 3])
def test_a_moment_bends_a_rod_to_the_circle_of_its_law(dim, law, moment):
    """M(κ) = M: a circle of curvature κ, whose chord p = 2 shortens by 1e-4 of its length."""
    laws = {"M3": law} | ({"M2": law} if dim == 3 else {})
    mechanism = connect({"a": rod(dim, laws)}, [weld("a.root", GROUND), torque("a.tip", name="M")])
    given = {"M": [moment] if dim == 2 else [0.0, 0.0, moment]}
    state = mechanism.equilibrium(mechanism.assemble(), inputs=given)
    k = brentq(lambda x: float(law.force(x)) - moment, 0.0, 10.0)
    circle = [sin(2.0 * k) / k, (1.0 - cos(2.0 * k)) / k, 0.0]
    np.testing.assert_allclose(mechanism.position(state, "a.tip"), circle[:dim], rtol=0, atol=2e-4)
    own = state.x[mechanism.layout.parts["a.stress"]].reshape(-1, 3 if dim == 2 else 6)
    np.testing.assert_allclose(own[:, -1], moment, rtol=2e-3)


@pytest.mark.parametrize("moment", [1.2, -0.4])
def test_a_moment_bends_a_cable_to_the_circle_of_its_law(moment):
    """Curvatures of both signs of a law that is not odd; the moment acts on a plate at the tip."""
    plate = rigid.body(1e-3, inertia=1e-6, ports={"own": (0.0, 0.0)})
    joints = [weld("a.root", GROUND), weld("a.tip", "plate.own"), torque("plate.own", name="M")]
    rope = fem.cable(1.0, mass_per_length=0.5, axial=1e6, bending=0.5, elements=12, dim=2, laws={"M3": CURLED})
    mechanism = connect({"a": rope, "plate": plate}, joints)
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"M": [moment]})
    k = brentq(lambda x: float(CURLED.force(x)) - moment, -2.0, 5.0)
    # of the fourth order in κL/12
    tip = mechanism.position(state, "a.tip") - mechanism.position(state, "a.root")
    np.testing.assert_allclose(tip, [sin(k) / k, (1.0 - cos(k)) / k], rtol=0, atol=1e-6)
    own = state.x[mechanism.layout.parts["a.stress"]][25:]
    np.testing.assert_allclose(own, moment, rtol=1e-3)


@pytest.mark.parametrize("dim", [2, 3])
def test_a_force_stretches_a_cable_by_its_table(dim):
    measured = table([-1.0, 0.0, 0.1, 0.2, 1.0], [-100.0, 0.0, 100.0, 150.0, 200.0])
    root = hinge("a.root", GROUND) if dim == 2 else spherical("a.root", GROUND)
    mechanism = connect({"a": cable(dim, {"N": measured})}, [root, force("a.tip", name="F")])
    state = mechanism.equilibrium(mechanism.assemble(), inputs={"F": [125.0, *[0.0] * (dim - 1)]})
    assert mechanism.position(state, "a.tip")[0] == pytest.approx(2.0 * 1.15, rel=1e-12)
    assert state.x[mechanism.layout.parts["a.stress"]][:9] == pytest.approx(125.0, rel=1e-12)
    # a string of the length 2.3 m and the mass 1 kg: ω₁ = ½π/L √(F/μ) for a free end that no mass holds across is not
    # that of a hinge; its axial motion has the tangent stiffness 500 N: ω = ½π/2 √(500/0.5), two decimals by 4 elements
    exponents = mechanism.spectrum(state, inputs={"F": [125.0, *[0.0] * (dim - 1)]})
    assert np.abs(exponents.frequencies - 0.25 * np.pi * np.sqrt(500.0 / 0.5)).min() <= 0.01


def test_small_motions_have_the_tangent_of_the_law():
    """A rod under a moment beyond the kink bends as one with the second stiffness; at rest with the first one."""
    given = {"M": [6.0]}
    both = [bilinear(50.0, second=20.0, beyond=0.02), polynomial(20.0)]
    both = [connect({"a": rod(2, {"M3": law})}, [weld("a.root", GROUND), torque("a.tip", name="M")]) for law in both]
    loaded = both[0].equilibrium(both[0].assemble(), inputs={"M": [50.0 * 0.02 + 20.0 * 0.28]})
    plain = both[1].equilibrium(both[1].assemble(), inputs=given)
    first = both[0].spectrum(loaded, inputs={"M": [6.6]}).frequencies
    np.testing.assert_allclose(first[0], both[1].spectrum(plain, inputs=given).frequencies[0], rtol=3e-3)
    at_rest = connect({"a": rod()}, [weld("a.root", GROUND)])
    np.testing.assert_allclose(
        eigenfrequencies(both[0].linearize(both[0].assemble()), count=3),
        eigenfrequencies(at_rest.linearize(at_rest.assemble()), count=3),
        rtol=1e-9,
    )


# --- doors ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("laws", "message"),
    [
        ({"M2": HARD}, "no resultant of laws 'M2': a rod in the plane has 'N', 'Q2', 'M3'"),
        ({"N": backlash(1.0, play=0.1)}, r"laws\['N'\] must have no force and a positive stiffness at strain zero"),
        ({"N": table([-1.0, 1.0], [1.0, 3.0])}, "must have no force"),
        ({"N": 3.0}, r"laws\['N'\] must be an ElasticLaw, got float 3.0"),
        ({"N": force_law(lambda x, v, t: x)}, r"laws\['N'\] must be an ElasticLaw, got ForceLaw"),
    ],
)
def test_wrong_laws_are_refused(laws, message):
    with pytest.raises(ValueError, match=message):
        rod(2, laws)


def test_a_cable_has_a_law_of_its_tension_only():
    with pytest.raises(ValueError, match="no resultant of laws 'M': a cable in the plane has 'N'"):
        cable(2, {"M": HARD})


@pytest.mark.parametrize("method", [Decaying(), ExactGauss()], ids=["Decaying", "ExactGauss"])
def test_methods_that_do_not_know_strains_of_nodes_refuse_them(method):
    with pytest.raises(ValueError, match="body of nodes"):
        flown(rod(2, {"M3": HARD}), method)


def test_laws_of_time_are_refused_where_there_is_none():
    mechanism, start = tumbling(rod(2, {"M3": BREATHES}))
    with pytest.raises(ValueError, match="supports no laws of rods that depend on time"):
        mechanism.linearize(mechanism.assemble())
    with pytest.raises(ValueError, match="at a state needs laws"):
        integrate(mechanism, start, [0.0, 0.01]).measured(energy("elastic a"))
    with pytest.raises(ValueError, match="supports no laws of rods that depend on time"):
        mechanism.phdae(start)


RUBBER = fem.Material(young=1e4, poisson=0.3, density=1e3)
NEO, PLANE = fem.NeoHooke(4e3, 6e3), {"plane": "stress", "thickness": 0.1}
GENERAL = {
    "rod": (lambda: rod(2, {"M3": HARD, "N": SLACK}, damping=fem.Damping(stiffness=0.01)), 0.03, 1e-6),
    "cable": (lambda: cable(2, {"M3": HARD}), 0.03, 1e-6),
    "rod of space": (lambda: rod(3, {"M3": HARD, "T": YIELDING}), 0.03, 1e-6),
    "rubber": (
        lambda: fem.solid(fem.box_mesh((1.0, 0.5), (1, 1)), RUBBER, strain="finite", law=NEO, **PLANE),
        1e-4,
        1e-7,
    ),
}


@pytest.mark.parametrize("make, size, step", GENERAL.values(), ids=GENERAL)
def test_general_equations_have_strains_as_states(make, size, step, monkeypatch):
    """Dense and sparse ones agree, Eᵀz is the gradient of H, and derivatives are those of differences."""
    mechanism, start = tumbling(make())
    system = mechanism.phdae(start)
    rng = np.random.default_rng(2)
    x = system.sample + size * rng.standard_normal(system.sample.size)
    w, units = rng.standard_normal(x.size), step * np.eye(x.size)
    gradient = np.array([system.H(x + e) - system.H(x - e) for e in units]) / (2.0 * step)
    np.testing.assert_allclose(system.E(x).T @ system.z(x), gradient, rtol=0, atol=1e-7 * np.abs(gradient).max())
    for name, field in (
        ("costate", system.z),
        ("structure", lambda at: (system.J(at) - system.R(at)) @ w),
    ):
        slopes = np.array([field(x + e) - field(x - e) for e in units]).T / (2.0 * step)
        own = getattr(system.derivatives, name)(*((x,) if name == "costate" else (x, w)))
        np.testing.assert_allclose(own, slopes, rtol=0, atol=1e-7 * np.abs(slopes).max())
    monkeypatch.setattr(network, "DENSE_LIMIT", 0)
    other = tumbling(make())[0].phdae(start)
    first = mechanism.layout.parts["a.velocity"].start
    x[:first] = system.sample[:first]  # with rotations: off them both matrices differ
    for name in "EJR":
        own, theirs = getattr(system, name)(x), getattr(other, name)(x).toarray()
        np.testing.assert_allclose(theirs, own, rtol=0, atol=1e-13 * np.abs(own).max())
    np.testing.assert_allclose(other.z(x), system.z(x), rtol=1e-13)
    assert other.H(x) == pytest.approx(system.H(x), rel=1e-13)


def test_a_run_of_the_general_equations_is_that_of_the_mechanism():
    """A cable whose curvature has a law, by collocation of order 4 and by Exact: of second order apart."""
    line = fem.cable(1.0, mass_per_length=0.2, axial=2e2, bending=0.05, elements=1, dim=2, laws={"M3": SOFT_BENDING})
    mechanism = connect({"a": line}, [hinge("a.root", GROUND)], gravity=(0.0, -9.81))
    start, apart = mechanism.consistent_state(mechanism.assemble()), []
    system, places = mechanism.phdae(start), mechanism.layout.parts["a.centre"]
    for steps in (10, 20):
        times = np.linspace(0.0, 0.05, steps + 1)
        own = integrate(mechanism, start, times).states[-1][places]
        apart.append(np.abs(integrate(system, system.sample, times, method=Gauss(2)).states[-1][places] - own).max())
    assert apart[0] < 1e-6 and 3.5 < apart[0] / apart[1] < 4.5


def test_a_run_with_laws_is_saved_and_refused_by_other_laws(tmp_path):
    run = flown(rod(2, {"M3": HARD, "N": SOFT}), end=0.04)
    run.save(tmp_path / "run.h5")
    again = Solution.load(tmp_path / "run.h5", tumbling(rod(2, {"M3": HARD, "N": SOFT}))[0])
    np.testing.assert_array_equal(again.states, run.states)
    with pytest.raises(ValueError, match="mechanism"):
        Solution.load(tmp_path / "run.h5", tumbling(rod(2, {"M3": YIELDING, "N": SOFT}))[0])


TEXT = """
materials: {steel: {young: 1 MPa, density: 1000, poisson: 0.3}}
sections: {square: {width: 10 mm, height: 10 mm}}
bodies:
  a:
    kind: rod
    length: 1 m
    material: steel
    section: square
    elements: 2
    dim: 2
    laws:
      N: {kind: one_sided, stiffness: 100 N, side: tension}
      M3: {kind: bilinear, stiffness: 2, second: 1, beyond: 0.1}
  c:
    kind: cable
    length: 1 m
    mass_per_length: 0.1
    axial: 100
    bending: 0.01
    elements: 2
    dim: 2
    laws: {N: {kind: scheduled, law: 100 N, factor: 1 + t}}
connections:
  - {kind: weld, first: a.root, second: ground}
  - {kind: hinge, first: c.root, second: a.tip}
"""


def test_laws_of_model_files(tmp_path):
    """Read, written and read again they are those of Python."""
    (tmp_path / "model.yaml").write_text(TEXT)
    first = load_model(tmp_path / "model.yaml").mechanism
    write_model(tmp_path / "again.yaml", first)
    for read in (first, load_model(tmp_path / "again.yaml").mechanism):
        laws = [part.law.law for name in ("a", "c") for part in read.bodies[name].elasticity.laws]
        named = [str(one_sided(100.0, side="tension")), str(bilinear(2.0, second=1.0, beyond=0.1))]
        assert [str(law) for law in laws[:2]] == named
        assert str(laws[2]).startswith("scheduled(polynomial(100)")
        assert laws[2].factor(2.0) == 3.0


@pytest.mark.parametrize(
    ("right", "given", "message"),
    [
        ("100 N, side", "100 N/m, side", r"N: stiffness: got '100 N/m'.*a force such as '5 N'"),
        (
            "stiffness: 2, second",
            "stiffness: 2 N, second",
            "M3: stiffness: got",
        ),
        ("beyond: 0.1", "beyond: 0.1 m", r"M3: beyond: got '0.1 m'"),
        ("law: 100 N", "law: 100 N*m^2", r"N: law: got '100 N\*m\^2'"),
        ("mass_per_length: 0.1", "mass_per_length: 0.1 kg", r"a mass per length such as '0.2 kg/m'"),
        ("bending: 0.01", "bending: 0.01 N", "a bending stiffness such as"),
    ],
)
def test_units_of_laws_in_model_files_are_those_of_their_resultant(tmp_path, right, given, message):
    (tmp_path / "model.yaml").write_text(TEXT.replace(right, given))
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "model.yaml").mechanism  # noqa: B018


def test_cables_and_laws_of_model_files_take_units(tmp_path):
    units = {"mass_per_length: 0.1": "mass_per_length: 100 g/m", "axial: 100": "axial: 0.1 kN"}
    units |= {"bending: 0.01": "bending: 1e4 N*mm^2", "stiffness: 2, second": "stiffness: 2 N*m^2, second"}
    text = TEXT.replace("beyond: 0.1}", "beyond: 0.1 1/m}")
    for plain, own in units.items():
        text = text.replace(plain, own)
    paths = tmp_path / "plain.yaml", tmp_path / "units.yaml"
    for path, own in zip(paths, (TEXT, text), strict=True):
        path.write_text(own)
    first, second = (load_model(path).mechanism for path in paths)
    assert first.bodies["c"].mass == pytest.approx(second.bodies["c"].mass, rel=1e-15)
    named = [[str(part.law.law) for part in own.bodies["a"].elasticity.laws] for own in (first, second)]
    assert named[0] == named[1]


@pytest.mark.parametrize(("dim", "names"), [(2, "in the plane has 'N', 'Q2', 'M3'"), (3, "in space has 'N', 'Q2'")])
def test_other_resultants_are_refused_by_name(dim, names):
    with pytest.raises(ValueError, match=f"no resultant of laws 'M': a rod {names}"):
        rod(dim, {"M": HARD})


def test_a_controlled_law_is_refused():
    with pytest.raises(ValueError, match="must not be controlled"):
        fem.cable(1.0, mass_per_length=1.0, axial=1e3, bending=1.0, elements=2, dim=2, laws={"N": controlled(1e3)})
