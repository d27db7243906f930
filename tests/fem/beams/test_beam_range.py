"""Range of validity of beams in statics and in runs: sections that turn far, buckling that the strain leaves out."""

import math
import warnings

import numpy as np
import pytest

import fem
from flexph import GROUND, ValidityWarning, connect, distributed_load, force, hinge, integrate, torque, weld
from flexph.bodies import reduce_body
from flexph.methods import Gauss
from flexph.results import static_solution

L = 0.24
BLADE = fem.Section(width=0.6e-3, height=30e-3)
ALLOY = fem.Material(young=7.124e10, density=2700.0, poisson=0.31)
SOFT = ALLOY.young * BLADE.second_moment_y
TORSION = ALLOY.shear_modulus * BLADE.torsion_constant
PRANDTL = 4.0126 * math.sqrt(SOFT * TORSION) / L**2
"""Critical tip force of a cantilever in its stiff plane (Prandtl 1899)."""
SAID = r"'b0' carries a mean bending moment of .* N m, more than half of .*lateral-torsional buckling.*split the body"


def cantilever(bodies=1, length=L, section=BLADE, elements=4, **options):
    names = [f"b{i}" for i in range(bodies)]
    own = fem.beam(length / bodies, ALLOY, section, elements=elements, dim=3, **options)
    joints = [weld("b0.root", GROUND)]
    joints += [weld(f"b{i}.root", f"b{i - 1}.tip") for i in range(1, bodies)]
    tip = f"{names[-1]}.tip"
    return connect(dict.fromkeys(names, own), [*joints, force(tip, name="push"), torque(tip, name="twist")])


def rest(mechanism, **inputs):
    count = len(mechanism.bodies)
    guess = {name: (i * L / count, 0.0, 0.0) for i, name in enumerate(mechanism.bodies)}
    return mechanism.equilibrium(mechanism.assemble(guess=guess), inputs=inputs)


def test_an_equilibrium_warns_of_sections_that_turn_far():
    """The Princeton beam (Dowell and Traybar 1975) under 13.3 N; `static_solution` and a run say it as well."""
    section = fem.Section(width=12.7e-3, height=3.2e-3)
    mechanism = cantilever(length=0.508, section=section, strain="von_karman")
    with pytest.warns(
        ValidityWarning,
        match=r"'b0' turns.*0\.[67]\d rad.*frame, .* off.*about 2\d %: .*body.*6.*more",
    ):
        state = rest(mechanism, push=(0.0, 13.3, 0.0))
    with pytest.warns(ValidityWarning, match=r"a section of 'b0' turns by"):
        static_solution(mechanism, state)
    with pytest.warns(ValidityWarning, match=r"a section of 'b0' turns by.*or more$"):  # its strain is von_karman
        integrate(mechanism, state, [0.0, 1e-4], inputs={"push": (0.0, 13.3, 0.0)})


def test_a_quasi_static_start_warns_too():
    own = fem.beam(0.5, ALLOY, fem.Section(width=0.02, height=0.001), elements=4)
    mechanism = connect({"rod": own}, [weld("rod.root", GROUND)], gravity=(0.0, -200.0))
    with pytest.warns(ValidityWarning, match=r"a section of 'rod' turns by"):
        state = mechanism.consistent_state(mechanism.assemble(), elastic="quasi_static")
    with pytest.warns(ValidityWarning, match=r"a section of 'rod' turns by.*strain='von_karman' if it spins"):
        integrate(mechanism, state, [0.0, 1e-5], method=Gauss(4))


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
def test_lateral_buckling_that_one_body_does_not_see_is_said(strain):
    """One body under 1.2 of Prandtl's load with a thousandth aside bends aside as if nothing pressed."""
    mechanism, load = cantilever(strain=strain), np.array([0.0, 1.2 * PRANDTL, 1.2e-3 * PRANDTL])
    with pytest.warns(ValidityWarning, match=SAID):
        state = rest(mechanism, push=load)
    aside = mechanism.position(state, "b0.tip")[2]
    # sections turn by a tenth in the stiff plane; nothing of the first order is coupled
    assert aside == pytest.approx(load[2] * L**3 / (3.0 * SOFT), rel=0.05)
    with pytest.warns(ValidityWarning, match=SAID):
        integrate(mechanism, state, [0.0, 1e-5], inputs={"push": load})


@pytest.mark.slow
def test_eight_bodies_buckle_aside():
    """The same load on a beam that is split: bending and torsion are coupled between its bodies."""
    mechanism = cantilever(8, elements=2, strain="von_karman")
    state = rest(mechanism, push=(0.0, 1.2 * PRANDTL, 1.2e-3 * PRANDTL))
    assert mechanism.position(state, "b7.tip")[2] == pytest.approx(0.085, abs=1e-3)  # as docs/guide/spatial.md says


def test_several_bodies_and_small_loads_are_not_doubted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rest(cantilever(strain="von_karman"), push=(0.0, 0.35 * PRANDTL, 0.0))
        rest(cantilever(8, elements=2, strain="von_karman"), push=(0.0, 0.98 * PRANDTL, 0.0))
        rest(cantilever(strain="linear"), push=(-0.5 * 0.25 * math.pi**2 * SOFT / L**2, 0.0, 0.0))
        round_bar = cantilever(section=fem.Section(diameter=2e-3), strain="von_karman")
        rest(round_bar, push=(0.0, 0.2, 0.0))  # has no stiff plane


LOADS = {  # stress, closed form of its critical load by the stated source, and what the body makes of it
    "Euler's column": ("push", (-0.25 * math.pi**2 * SOFT / L**2, 0.0, 0.0), 1.0),
    "Michell's moment": ("twist", (0.0, 0.0, 0.5 * math.pi * math.sqrt(SOFT * TORSION) / L), 1.0),
    "Prandtl's force": ("push", (0.0, PRANDTL, 0.0), 4.0126 / math.pi),
}


@pytest.mark.parametrize("name", LOADS)
def test_shares_of_the_buckling_load(name):
    """Over the closed forms of a cantilever; of a force at its tip the mean moment is half of the largest."""
    port, load, expected = LOADS[name]
    mechanism = cantilever(strain="linear")
    with pytest.warns(ValidityWarning):
        state = rest(mechanism, **{port: load})
    sigma = state.x[None, mechanism.layout.parts["b0.stress"]]
    body = mechanism.bodies["b0"]
    # loads act on the deformed body: its tip turns by a tenth, whose square is lost
    assert max(load.share(sigma)[0] for load in body.buckling) == pytest.approx(expected, rel=0.02)
    small = reduce_body(body, basis=np.eye(body.size))
    coordinates = state.x[mechanism.layout.parts["b0.deformation"]]
    same = small.elasticity.stress_of(coordinates)[None]
    for whole, part in zip(body.buckling, small.buckling, strict=True):
        assert part.share(same) == pytest.approx(whole.share(sigma), rel=1e-9, abs=1e-12)


def test_what_a_plane_leaves_out():
    """Linear strain the buckling of a column, von Kármán strain nothing."""
    modes = lambda **options: [load.mode for load in fem.beam(L, ALLOY, BLADE, elements=2, **options).buckling]  # noqa: E731
    assert modes() == ["Euler buckling"] and modes(strain="von_karman") == []
    assert modes(dim=3) == ["Euler buckling", "lateral-torsional buckling"]
    assert modes(dim=3, strain="von_karman") == ["lateral-torsional buckling"]


def test_long_steps_of_slender_beams():
    """Held at both ends, 316 radii of gyration long: the axial force of a trial end is far from that of the solution.

    Newton's method alone does not settle a step; the balance is that of all steps.
    """
    slender = fem.Section(area=1e-4, second_moment=1e-9)
    body = fem.beam(1.0, fem.Material(young=1e9, density=1000.0), slender, elements=4, strain="von_karman")
    ends = [hinge("b.root", GROUND.at(0.0, 0.0)), hinge("b.tip", GROUND.at(1.0, 0.0))]
    mechanism = connect({"b": body}, [*ends, distributed_load("b.load", name="q")])
    start = mechanism.consistent_state(mechanism.assemble({"b": (0.0, 0.0, 0.0)}))
    run = integrate(mechanism, start, 0.02 * np.arange(9), inputs={"q": [0.0, 3.0]})
    assert run.ledger.largest_residual <= 1e-12
    assert run.ledger.position_residual.max() <= 1e-14
    assert run.ledger.iterations.max() > 20
