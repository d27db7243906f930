"""The analysis where it is hard: units, singular states, nonholonomic rest, redundant equations, other inputs."""

import numpy as np
import pytest
from scipy.sparse import block_array, csr_array, diags, eye_array

import rigid
from cases import four_particle, gyroscope, point_masses, spinning_body
from flexph import GROUND, PHDAE, LinearPHDAE, analyze, connect, hinge, integrate
from flexph.analysis.report import _relations
from flexph.analysis.view import as_general_system, view
from flexph.circuits import capacitor, circuit, inductor, resistor, switch, voltage_source
from flexph.circuits.nodal import to_nodal
from flexph.consistency import consistent
from flexph.switching import SwitchingPHDAE

pytestmark = pytest.mark.processor

TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])


def oscillator(rate, unit=1.0, loss=0.0):
    """q̇ = p, ṗ = −q − loss p in states of a unit: eigenvalues ± i rate."""
    k = rate / unit**2
    return PHDAE(
        E=np.eye(2),
        J=unit**2 * TURN,
        R=unit**2 * np.diag([0.0, loss]),
        z=lambda x: k * x,
        H=lambda x: 0.5 * k * float(x @ x),
        sample=np.full(2, unit),
    )


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("rate", [1e-9, 1.0, 1e9])
def test_units_and_rates_do_not_decide_on_stability(unit, rate):
    """An oscillator is stable, with a damper asymptotically: [survey] sec. 4.4."""
    assert analyze(oscillator(rate, unit), [0.0, 0.0]).stability.verdict == "stable"
    found = analyze(oscillator(rate, unit, 0.1), [0.0, 0.0]).stability
    assert found.verdict == "asymptotically stable"
    np.testing.assert_allclose(np.abs(found.eigenvalues), rate, rtol=1e-9)


@pytest.mark.parametrize("spread", [0, 3, 6])
def test_finite_eigenvalues_are_as_many_as_consistent_states(spread):
    """0 = Gᵀ∇H in mixed units: those of flexph.eliminate, none of the infinite ones made finite by round-off."""
    rng = np.random.default_rng(4)
    J, G = rng.standard_normal((5, 5)), rng.standard_normal((5, 1))
    unit = 10.0 ** rng.uniform(-spread, spread, 5)
    S = np.append(unit, 1.0)
    bordered = np.block([[J - J.T, G], [-G.T, np.zeros((1, 1))]]) * np.outer(S, S)
    system = PHDAE(
        E=np.diag([1.0] * 5 + [0.0]),
        J=bordered,
        z=lambda x: np.append(x[:5] / unit**2, x[5]),
        H=lambda x: 0.5 * float((x[:5] / unit) @ (x[:5] / unit)),
        sample=S.copy(),
    )
    found = analyze(system, np.zeros(6))
    assert found.index.constraints == (1, 0)
    free = np.linalg.svd(G)[0][:, 1:]
    exact = np.linalg.eigvals(free.T @ (J - J.T) @ free)
    np.testing.assert_allclose(
        np.sort(np.imag(found.stability.eigenvalues)), np.sort(exact.imag), atol=1e-8 * np.abs(exact).max()
    )
    assert found.stability.verdict == "stable"


def turning(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def test_a_singular_state_of_the_structure_is_named():
    """Rigid-body momenta at rest: J = 0 there, rank 2 beside it, where |p|² is conserved."""
    spin = PHDAE(
        E=np.eye(3),
        J=turning,
        z=lambda p: p / np.array([1.0, 2.0, 3.0]),
        H=lambda p: 0.5 * float(p @ (p / np.array([1.0, 2.0, 3.0]))),
        sample=np.ones(3),
    )
    found = analyze(spin, np.zeros(3))
    assert (found.casimirs.dimension, found.casimirs.flag, found.casimirs.same_rank) == (3, (1,), False)
    assert "the state is not regular: the dimension is 3 there, 1 near it" in str(found)
    assert found.stability.verdict == "stable"


@pytest.mark.slow
def test_rest_with_a_saddle_that_only_rolling_holds_is_undecided():
    """The rolling coin with V = ½(x² + θ² + φ² − y²): positive along the wheel, but no leaf keeps y from moving."""

    def J(x):
        A = np.array([[1.0, 0.0], [0.0, 1.0], [-np.cos(x[3]), -np.sin(x[3])], [0.0, 0.0]])
        made = np.zeros((10, 10))
        made[:4, 4:8], made[4:8, :4] = np.eye(4), -np.eye(4)
        made[4:8, 8:], made[8:, 4:8] = A, -A.T
        return made

    stiff = np.array([1.0, -1.0, 1.0, 1.0])
    coin = PHDAE(
        E=np.diag([1.0] * 8 + [0.0] * 2),
        J=J,
        z=lambda x: np.concatenate([stiff * x[:4], x[4:]]),
        H=lambda x: 0.5 * float(stiff @ x[:4] ** 2 + x[4:8] @ x[4:8]),
        sample=np.full(10, 0.1),
    )
    found = analyze(coin, np.zeros(10))
    assert found.casimirs.flag[-1] == 0
    assert found.stability.is_equilibrium
    assert found.stability.verdict == "undecided"


def bridged():
    """Two closed switches side by side: one of their currents is open."""
    return circuit(
        {
            "V": voltage_source("a", "gnd", 1.0),
            "R0": resistor("a", "x", 1.0),
            "S1": switch("x", "b"),
            "S2": switch("x", "b"),
            "R": resistor("b", "gnd", 1.0),
            "C": capacitor("b", "gnd", 1e-3),
        }
    ).at({"S1": True, "S2": True})


def test_equations_that_say_nothing_new_are_no_constraints():
    """Round-off that is left of them is no condition on the charge."""
    made = bridged()
    nodal = to_nodal(made.elements, made.edges, made.reduced_incidence, made.nodal_names)
    found = analyze(nodal, inputs=made.inputs).index
    assert (found.index, sum(found.constraints), found.undetermined, found.redundant) == (1, 0, 1, 1)


def test_large_resistances_beside_small_states_are_well_posed():
    """A linear circuit of 1 GΩ, 1 nF and 1 nH: ∂g/∂x₂ is constant, whatever differences would make of it."""
    made = circuit(
        {
            "V": voltage_source("in", "gnd", 1.0),
            "R": resistor("in", "a", 1e9),
            "C": capacitor("a", "gnd", 1e-9),
            "L": inductor("a", "b", 1e-9),
            "R2": resistor("b", "gnd", 1e9),
        }
    )
    seen = view(made.phdae(), made.state(), inputs=made.inputs)
    report = analyze(made.phdae(), made.state(), inputs=made.inputs)
    assert _relations(seen, report.index).startswith("well-posed")


def test_mechanisms_are_analysed_at_a_state():
    mechanism = connect({"bar": rigid.bar(1.0, 2.0)}, [hinge("bar.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    state = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.3)}))
    held = mechanism.consistent_multipliers(state)  # with the joint forces that the state does not have yet
    assert str(analyze(mechanism, state)) == str(analyze(mechanism.phdae(held)))
    assert str(analyze(mechanism, state).given) == "consistent"
    with pytest.raises(ValueError, match=r"a mechanism needs a state, see mechanism\.consistent_state"):
        analyze(mechanism)


def test_switching_systems_are_analysed_by_modes():
    system = SwitchingPHDAE({"slow": oscillator(1.0), "fast": oscillator(1.0)})
    with pytest.raises(ValueError, match=r"modes 'slow', 'fast': give system\.system\(mode\)"):
        analyze(system)
    assert analyze(system.system("slow")).index.index == 0


def test_a_chain_of_many_masses():
    """400 sparse states: damped everywhere, asymptotically stable, by derivatives that came with the system."""
    n = 200
    D = diags([np.ones(n), -np.ones(n - 1)], [0, -1])
    loss = block_array([[csr_array((n, n)), None], [None, 0.1 * eye_array(n)]])
    chain = LinearPHDAE(E=eye_array(2 * n).tocsr(), J=block_array([[None, D], [-D.T, None]]).tocsr(), R=loss.tocsr())
    found = analyze(chain, np.zeros(2 * n))
    assert (found.index.index, found.casimirs.count, found.passivity.passive) == (0, 0, "yes")
    assert found.stability.verdict == "asymptotically stable"


def with_another_energy(system, count):
    """The same E, J, R, B with Σ (¼ x⁴ + cos x) of the first states added to H; E is one there."""
    return PHDAE(
        E=system.E,
        J=system.J,
        R=system.R,
        B=system.B,
        z=lambda x: system.z(x) + np.append(x[:count] ** 3 - np.sin(x[:count]), np.zeros(x.size - count)),
        H=lambda x: system.H(x) + float(np.sum(0.25 * x[:count] ** 4 + np.cos(x[:count]))),
        sample=system.sample,
        parts=dict(system.parts),
        ports=dict(system.ports),
    )


@pytest.mark.parametrize(
    ("module", "moved", "count"),
    [
        (spinning_body, 3, 1),
        (gyroscope, 9, 6),
        pytest.param(four_particle, 12, 2, marks=pytest.mark.slow),
        (point_masses, 6, 2),
    ],
)
def test_quadratic_casimirs_stay_with_another_hamiltonian(module, moved, count):
    """|p|² of a body, the columns of a rotation, the lengths of rods: found by rank, kept to round-off."""
    system = module.case.system()
    found = analyze(system).casimirs
    assert (len(found.quadratic), found.linear.shape[1], found.count) == (count, 0, count)
    assert str(found).count("quadratic: ") == count
    other = with_another_energy(as_general_system(system), moved)
    start = consistent(other, other.sample + np.append(0.3, np.zeros(other.size - 1)) * (module is spinning_body))
    run = integrate(other, start, np.linspace(0.0, 0.1, 21), progress=False)
    states = run.states[:, : len(found.names)]
    assert np.abs(states[-1, :moved] - states[0, :moved]).max() > 1e-3  # it moves
    values = found.values(states)
    size = np.abs(states).max() ** 2
    assert np.abs(values - values[0]).max() < 1e-12 * max(size, 1.0)  # twenty steps of round-off and iterations
    assert values.shape == (21, count)


def test_products_of_linear_casimirs_are_no_news():
    """Two relations a − b and b − c, and a structure that depends on the state: no squares of them in the report."""

    def J(x):
        made = np.zeros((5, 5))
        made[3, :3], made[:3, 3] = -(1.0 + x[4] ** 2), 1.0 + x[4] ** 2
        return made

    system = PHDAE(E=np.eye(5), J=J, z=lambda x: x, H=lambda x: 0.5 * float(x @ x), sample=np.arange(1.0, 6.0))
    found = analyze(system).casimirs
    assert (found.linear.shape[1], found.quadratic, found.count) == (3, (), 3)
