"""Bending blocks: exact spectra of both causalities, exact statics, signs of the ports, loads and damping."""

import numpy as np
import pytest
from exact_beams import bending_frequencies
from scipy import sparse

import fem
from flexph import eigenfrequencies, modes, poles
from flexph.linear.shifted import split

MATERIAL, SECTION = fem.Material(young=2.0, density=3.0), fem.Section(area=0.5, second_moment=0.7)
LENGTH, RIGIDITY, LINE = 1.3, 1.4, 1.5  # m, EI, ρA
UNIT = np.sqrt(RIGIDITY / (LINE * LENGTH**4))
both = pytest.mark.parametrize("causality", ["force", "velocity"])


def bending(elements=8, **options):
    return fem.bending(LENGTH, MATERIAL, SECTION, elements=elements, **options)


def deflection(system, load):
    """Static displacements, over the velocity coordinates, under inputs of all ports."""
    parts = split(system)
    return np.linalg.solve(parts.stiffness().toarray(), parts.B @ load)


SPECTRA = {  # ends, rigid motions, self-stresses
    ("force", ()): ("free-free", 2, 0),
    ("force", ("root",)): ("clamped-free", 0, 0),
    ("force", ("tip",)): ("clamped-free", 0, 0),
    ("force", ("root", "tip")): ("free-free", 0, 2),  # clamped at both ends, with the same frequencies
    ("velocity", ()): ("free-free", 0, 2),  # held where nothing drives it
    ("velocity", ("root",)): ("free-free", 0, 2),
}


@pytest.mark.parametrize("case", SPECTRA)
def test_the_whole_spectrum_is_clean(case):
    """One frequency for each exact one, none below it: a spurious one would shift all that follow.

    Cubic elements are too stiff by (βh)⁴/1440 where waves are long, by an eighth at two elements a wave, and the
    branch above ends at 1.7 times the exact value.
    """
    (causality, clamped), (ends, rigid, self_stress) = case, SPECTRA[case]
    for elements in (5, 16):
        system = bending(elements, causality=causality, clamped=clamped)
        found = modes(system)
        count = len(found.frequencies)
        exact = UNIT * bending_frequencies(ends, count)
        assert (found.rigid, found.self_stress) == (rigid, self_stress)
        assert count == int(system.kinetic.sum()) - rigid
        ratio = found.frequencies / exact
        assert ratio.min() > 1.0 - 1e-9
        assert ratio[: count // 2].max() < 1.125
        assert ratio.max() < 1.7
        assert ratio[0] < 1.0 + 1.1 * (np.sqrt(exact[0] / UNIT) / elements) ** 4 / 1440.0


@both
def test_frequencies_converge_with_the_fourth_power(causality):
    """Slope 4 ± 0.1 of the third frequency, and 1e-6 at 32 elements."""
    exact = UNIT * bending_frequencies("free-free", 3)[-1]
    errors = [eigenfrequencies(bending(n, causality=causality))[2] / exact - 1.0 for n in (8, 16, 32)]
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.1)
    assert errors[2] < 1e-4 / 4.0


def test_the_beam_of_the_reduction_study():
    """100 elements, clamped: 200 velocities and 200 moments, sparse, one port of a force and a moment."""
    one = fem.Material(young=1.0, density=1.0), fem.Section(area=1.0, second_moment=1.0)
    damping = fem.Damping(mass=0.5, stiffness=2e-4)
    system = fem.bending(1.0, *one, elements=100, clamped=("root",), damping=damping)
    assert system.is_sparse
    assert (system.size, int(system.kinetic.sum())) == (400, 200)
    assert dict(system.ports) == {"tip": slice(0, 2)}
    assert system.E.nnz + system.J.nnz + system.R.nnz < 5000


@pytest.mark.parametrize("elements", [1, 4])
def test_tip_loads_of_a_cantilever(elements):
    """w = F L³/3EI, w' = F L²/2EI and w = M L²/2EI, w' = M L/EI: cubics are exact; outputs are those displacements."""
    system = bending(elements, clamped=("root",))
    tip = split(system).B.toarray()
    flexibility = tip.T @ deflection(system, np.eye(2))
    expected = np.array([[LENGTH**3 / 3.0, LENGTH**2 / 2.0], [LENGTH**2 / 2.0, LENGTH]]) / RIGIDITY
    np.testing.assert_allclose(flexibility, expected, rtol=1e-11)


@pytest.mark.parametrize("elements", [1, 4])
def test_ports_of_a_rigid_motion(elements):
    """v = a + b x gives (a, b) at the root and (a + b L, b) at the tip."""
    system, a, b = bending(elements), 0.3, -0.7
    x = np.linspace(0.0, LENGTH, elements + 1)
    states = np.zeros(system.size)
    states[system.parts["velocity"]] = np.column_stack([a + b * x, np.full(x.size, b * LENGTH / elements)]).ravel()
    np.testing.assert_allclose(system.inputs("root").T @ states, [a, b], rtol=1e-13)
    np.testing.assert_allclose(system.inputs("tip").T @ states, [a + b * LENGTH, b], rtol=1e-13)
    mass = LINE * LENGTH * (a**2 + a * b * LENGTH + b**2 * LENGTH**2 / 3.0)
    assert system.energy(states) == pytest.approx(0.5 * mass, rel=1e-13)
    np.testing.assert_allclose(system.J @ states, 0.0, atol=1e-12)


@pytest.mark.parametrize("elements", [1, 4])
def test_ports_that_take_velocities(elements):
    """Rigid end velocities strain nothing once v is that motion; linear moments give the forces from outside.

    M = m₀ + m₁ x: (M', −M) at the root, (−M', M) at the tip; these four balance.
    """
    system, a, b = bending(elements, causality="velocity"), 0.3, -0.7
    assert dict(system.causality) == {"root": "velocity", "tip": "velocity"}
    ends = LENGTH / elements * (np.arange(elements)[:, None] + np.array([0.0, 1.0])).ravel()
    states = np.zeros(system.size)
    states[system.parts["velocity"]] = a + b * ends
    rate = system.J @ states + system.inputs("root") @ [a, b] + system.inputs("tip") @ [a + b * LENGTH, b]
    np.testing.assert_allclose(rate, 0.0, atol=1e-11)
    m0, m1, x = 0.4, 1.1, np.linspace(0.0, LENGTH, elements + 1)
    states = np.zeros(system.size)
    states[system.parts["moment"]] = np.column_stack([m0 + m1 * x, np.full(x.size, m1 * LENGTH / elements)]).ravel()
    np.testing.assert_allclose(system.inputs("root").T @ states, [m1, -m0], rtol=1e-12)
    np.testing.assert_allclose(system.inputs("tip").T @ states, [-m1, m0 + m1 * LENGTH], rtol=1e-12)


@pytest.mark.parametrize("degree", range(5))
def test_deflections_under_distributed_loads_are_exact(degree):
    """p = x^d on a cantilever: w(L) = ∫ p(s) s²(3L − s)/6EI ds, exact at the nodes whatever the mesh."""
    elements = 3
    system = bending(elements, clamped=("root",), load=degree)
    nodes = 0.5 * (np.polynomial.legendre.leggauss(degree + 1)[0] + 1.0)
    x = (LENGTH / elements * (np.arange(elements)[:, None] + nodes)).ravel()
    exact = (3.0 / (degree + 3) - 1.0 / (degree + 4)) * LENGTH ** (degree + 4) / (6.0 * RIGIDITY)
    found = split(system).B.toarray()[:, 0] @ deflection(system, np.concatenate([[0.0, 0.0], x**degree]))
    assert found == pytest.approx(exact, rel=1e-11)


@both
def test_the_power_of_a_load(causality):
    """y = ∫ψv dx: for v = 1 and p = 1, the outputs add up to the length."""
    system = bending(4, causality=causality, load=2)
    states = np.zeros(system.size)
    velocity = np.zeros(system.parts["velocity"].stop)
    velocity[:: 2 if causality == "force" else 1] = 1.0
    states[system.parts["velocity"]] = velocity
    assert np.sum(system.inputs("load").T @ states) == pytest.approx(LENGTH, rel=1e-13)
    assert system.inputs("load").shape[1] == 12


def test_poles_are_those_of_proportional_damping():
    """s² + (α + βω²) s + ω² = 0 for each undamped ω; rigid motions decay with α."""
    omega = eigenfrequencies(bending(3, clamped=("root",)))
    found = poles(bending(3, clamped=("root",), damping=fem.Damping(mass=0.4, stiffness=1e-3)))
    expected = np.concatenate([np.roots([1.0, 0.4 + 1e-3 * w**2, w**2]) for w in omega])
    assert np.abs(found[:, None] - expected[None, :]).min(axis=0).max() < 1e-7 * omega[-1]
    assert np.abs(found[:, None] - expected[None, :]).min(axis=1).max() < 1e-7 * omega[-1]
    free = bending(3, damping=fem.Damping(mass=0.4))
    np.testing.assert_allclose(np.sort(poles(free).real)[-1], -0.2, rtol=1e-6)
    np.testing.assert_allclose(np.sort(poles(free).real)[:2], -0.4, rtol=1e-6)
    dual = bending(3, causality="velocity", damping=fem.Damping(mass=0.4))
    assert sparse.issparse(dual.R)
    np.testing.assert_allclose(dual.R.toarray()[:6, :6], 0.4 * dual.E.toarray()[:6, :6], rtol=1e-14)


def test_modes_have_the_given_damping_ratios():
    omega = eigenfrequencies(bending(6, clamped=("root",)))
    found = poles(bending(6, clamped=("root",), damping=fem.Damping(ratios=(0.02, 0.0, 0.05))))
    ratio = -found.real / np.abs(found)
    lowest = np.argsort(np.abs(found))[:6:2]
    np.testing.assert_allclose(ratio[lowest], [0.02, 0.0, 0.05], atol=1e-7)
    np.testing.assert_allclose(np.abs(found[lowest]), omega[:3], rtol=1e-7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"elements": 0}, "elements must be at least 1, got 0"),
        ({"causality": "moment"}, "causality must be"),
        ({"clamped": ("middle",)}, "an end in clamped must be"),
        ({"clamped": "root"}, "clamped must be a list of names, got 'root'"),
        ({"load": 5}, "load must be a degree from 0 to 4, got 5"),
        ({"load": -1}, "load must be at least 0, got -1"),
        ({"causality": "velocity", "damping": fem.Damping(stiffness=1e-3)}, "takes mass damping only"),
        (
            {"clamped": ("root",), "elements": 1, "damping": fem.Damping(ratios=(0.1,) * 3)},
            "3 ratios, the beam 2 modes",
        ),
    ],
)
def test_bad_input_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        bending(**options)


def test_a_length_must_be_positive():
    with pytest.raises(ValueError, match=r"length must be positive, got -1\.0 m"):
        fem.bending(-1.0, MATERIAL, SECTION, elements=2)
