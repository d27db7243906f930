"""Resistive ports: characteristics of several entries, flow-controlled and modulated ones ([survey] sec. 2.3)."""

import numpy as np
import pytest
from dirac_samples import ported

import flexph
from flexph.analysis import impasse_points, turning_points
from flexph.dirac import (
    Characteristic,
    DiracStructure,
    InputStateOutput,
    LinearResistance,
    ModulatedResistance,
    MultiportCharacteristic,
    PortHamiltonian,
    compose,
    input_state_output,
    interconnect,
    transformer_structure,
)
from flexph.dirac.characteristic import splitting
from flexph.methods import Gauss

pytestmark = pytest.mark.processor

TIMES = np.linspace(0.0, 0.1, 6)
RELATIONS = (flexph.laws.quadratic(0.7), flexph.laws.coulomb(0.4, speed=0.5), flexph.laws.viscous(0.3))
seeds = pytest.mark.parametrize("seed", range(3))


def mixing(seed):
    """W (3, 3), of condition below 20."""
    rng = np.random.default_rng([7, seed])
    return np.linalg.qr(rng.standard_normal((3, 3)))[0] @ np.diag(rng.uniform(0.3, 3.0, 3))


def rho(s):
    """RELATIONS of three rates."""
    return np.array([0.7 * abs(s[0]) * s[0], 0.4 * np.tanh(2.0 * s[1]), 0.3 * s[2]])


def rho_slope(s):
    return np.diag([1.4 * abs(s[0]), 0.8 * (1.0 - np.tanh(2.0 * s[1]) ** 2), 0.3])


def mixed(W):
    """F(e) = W ρ(Wᵀe): relations one by one behind a transformer."""
    return MultiportCharacteristic(
        entries=3, function=lambda e: W @ rho(W.T @ e), slope=lambda e: W @ rho_slope(W.T @ e) @ W.T
    )


def quartic(structure, size, **resistive):
    """H = ½xᵀx + ¼Σx⁴."""
    return PortHamiltonian(
        structure=structure,
        H=lambda x: 0.5 * float(x @ x) + 0.25 * float(np.sum(x**4)),
        gradient=lambda x: x + x**3,
        sample=np.linspace(1.0, 2.0, size),
        resistive=resistive,
    )


def direct(outer):
    """ẋ = J∇H + g_R f_R, e_R = g_Rᵀ∇H."""
    n, m = outer.shape
    J = np.random.default_rng(n).standard_normal((n, n))
    matrix = np.block([[J.T - J, -outer], [outer.T, np.zeros((m, m))]])
    return DiracStructure.from_hybrid(matrix, np.arange(n + m) >= n, {"x": slice(0, n), "R": slice(n, n + m)})


def run(system, start, **options):
    made = system if isinstance(system, flexph.PHDAE) else system.phdae()
    return flexph.integrate(made, start, TIMES, progress=False, **options)


# --- several entries together -------------------------------------------------------------------------------------


@seeds
def test_a_multiport_is_its_diagonal_form_behind_a_transformer(seed):
    """F(e) = W ρ(Wᵀe) in one port, and ρ entry by entry with g_R W: the same rates at random states, the same runs."""
    W, outer = mixing(seed), np.random.default_rng(seed).standard_normal((5, 3))
    whole = quartic(direct(outer), 5, R=mixed(W)).phdae()
    parts = quartic(direct(outer @ W), 5, R=Characteristic(RELATIONS)).phdae()
    for x in np.random.default_rng(seed).standard_normal((5, 5)) * 10.0 ** np.arange(-3, 2)[:, None]:
        one, other = ((s.J(x) - s.R(x)) @ s.z(x) for s in (whole, parts))
        np.testing.assert_allclose(one, other, atol=1e-13 * np.abs(other).max() * 10)
        assert np.linalg.eigvalsh(whole.R(x)).min() > -1e-13 * np.abs(whole.R(x)).max()
    if seed:
        return
    found = [run(s, s.sample, method=Gauss(4)) for s in (whole, parts)]
    # stages solve the same equations, to the tolerance of Newton's method
    np.testing.assert_allclose(found[0].final, found[1].final, rtol=1e-9)
    assert found[0].ledger.total_dissipation.sum() == pytest.approx(found[1].ledger.total_dissipation.sum(), rel=1e-9)
    discrete = run(whole, whole.sample)
    assert discrete.ledger.largest_residual < 1e-12
    assert (discrete.ledger.total_dissipation > 0.0).all()


@seeds
def test_a_multiport_that_feeds_through(seed):
    """e_R as algebraic states, in random structures: composed with the transformer W, and in one port."""
    W = mixing(seed)
    D = ported(seed, {"x": 4, "R": 3}, free=1)
    behind = compose(D, transformer_structure(("R", "Q"), W))
    systems = quartic(D, 4, R=mixed(W)), quartic(behind, 4, Q=Characteristic(RELATIONS))
    if systems[0].phdae().size == 4:
        pytest.skip("nothing feeds through")
    found = []
    for system in systems:
        made = system.phdae()
        start = flexph.consistency.consistent(made, np.concatenate([system.sample, 0.1 * np.ones(made.size - 4)]))
        found.append(run(made, start, method=Gauss(2)))
        assert (found[-1].ledger.total_dissipation > -1e-12).all()
    # at the stages e_R are states in both, which solve the same equations
    np.testing.assert_allclose(found[0]["x"], found[1]["x"], atol=1e-8)


def test_linear_characteristics_with_a_skew_part():
    """F(e) = (K + A) e: K resists, A is a gyrator that belongs to J; and A alone keeps the energy."""
    rng = np.random.default_rng(3)
    root, skew, outer = rng.standard_normal((3, 3)), rng.standard_normal((3, 3)), rng.standard_normal((5, 3))
    K, A = root @ root.T, skew - skew.T
    whole = quartic(direct(outer), 5, R=MultiportCharacteristic(entries=3, function=lambda e: (K + A) @ e)).phdae()
    linear = quartic(direct(outer), 5, R=K).phdae()
    for x in rng.standard_normal((4, 5)):
        np.testing.assert_allclose(whole.R(x), linear.R(x), atol=1e-9)  # slopes by differences
        np.testing.assert_allclose(whole.J(x), linear.J(x) - outer @ A @ outer.T, atol=1e-9)
        rate = (linear.J(x) - outer @ A @ outer.T - linear.R(x)) @ linear.z(x)
        np.testing.assert_allclose((whole.J(x) - whole.R(x)) @ whole.z(x), rate, rtol=1e-12, atol=1e-12)
    lossless = quartic(direct(outer), 5, R=MultiportCharacteristic(entries=3, function=lambda e: A @ e)).phdae()
    found = run(lossless, lossless.sample)
    assert np.ptp(found.ledger.total_energy) < 1e-13 * found.ledger.total_energy[0] * 10


def test_friction_on_a_plane_against_its_closed_form():
    """F(v) = c|v|v of a puck: v keeps its direction, 1/|v| grows by c/m per unit of time ([survey] footnote 4)."""
    puck = MultiportCharacteristic(entries=2, function=lambda v: 0.8 * np.linalg.norm(v) * v)
    D = DiracStructure.from_hybrid(
        np.block([[np.zeros((2, 2)), -np.eye(2)], [np.eye(2), np.zeros((2, 2))]]), np.arange(4) >= 2,
        {"p": slice(0, 2), "R": slice(2, 4)})  # fmt: skip
    system = PortHamiltonian(structure=D, H=lambda p: 0.25 * float(p @ p), gradient=lambda p: 0.5 * p,
                             sample=np.array([3.0, 4.0]), resistive={"R": puck})  # fmt: skip
    found = run(system, [3.0, 4.0], method=Gauss(6))
    speed = 1.0 / (1.0 / 2.5 + 0.4 * TIMES[-1])
    np.testing.assert_allclose(found.final, 2.0 * speed * np.array([0.6, 0.8]), rtol=1e-9)
    assert found.ledger.total_dissipation.sum() == pytest.approx(6.25 - speed**2, rel=1e-9)
    at_rest = run(system, [0.0, 0.0])
    assert not at_rest.final.any()


@seeds
def test_the_splitting_is_exact(seed):
    """(R + S)e = F, R ⪰ 0, eᵀRe = eᵀF for any slopes L, those of the force or not; R and S are L's where L e = F."""
    rng = np.random.default_rng(seed)
    L, e, force = rng.standard_normal((4, 4)), rng.standard_normal(4), rng.standard_normal(4)
    force *= np.sign(force @ e)
    for slopes in (L, -L @ L.T, L - L.T, 0.0 * L, 1e-12 * L @ L.T):
        R, S = splitting(slopes, e, force, float(e @ force))
        np.testing.assert_allclose((R + S) @ e, force, atol=1e-12)
        assert e @ R @ e == pytest.approx(e @ force, rel=1e-12)
        assert np.linalg.eigvalsh(R).min() > -1e-14 * np.abs(R).max()
        assert np.abs(S + S.T).max() < 1e-15 * np.abs(S).max() + 1e-15
    own = L @ L.T + L - L.T
    R, S = splitting(own, e, own @ e, float(e @ own @ e))
    np.testing.assert_allclose(R, L @ L.T, atol=1e-13)
    np.testing.assert_allclose(S, L - L.T, atol=1e-13)


def test_characteristics_have_no_units():
    """Efforts in other units, with their scale: R and S are those of the first ones."""
    W, units = mixing(0), np.array([1e-6, 1.0, 1e5])
    first = mixed(W)
    other = MultiportCharacteristic(entries=3, function=lambda e: first.function(e / units) / units, scale=units)
    e = np.array([0.4, -1.2, 0.7])
    for mine, theirs in zip(first.matrices(e, e), other.matrices(e, units * e), strict=True):
        np.testing.assert_allclose(theirs * np.outer(units, units), mine, atol=1e-8)  # slopes by differences


def test_a_characteristic_that_saturates():
    """Slopes vanish where the force does not: F = clip(e) far out, whose slopes at the nodes are zero."""
    limited = MultiportCharacteristic(
        entries=2, function=lambda e: np.clip(e, -1e-9, 1e-9), slope=lambda e: np.zeros((2, 2))
    )
    R, S = limited.matrices(np.zeros(1), np.array([3.0, -2.0]))
    np.testing.assert_allclose((R + S) @ [3.0, -2.0], [1e-9, -1e-9], rtol=1e-12)
    assert np.linalg.eigvalsh(R).min() > -1e-24


# --- flow-controlled ----------------------------------------------------------------------------------------------


def discharge(relation):
    """A capacitor of 1 F across a resistor: V_C = v_R, currents −Q̇ = −f."""
    D = DiracStructure([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, -1.0]], {"Q": slice(0, 1), "R": slice(1, 2)})
    return PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x, sample=np.ones(1),
                           resistive={"R": relation})  # fmt: skip


def test_flow_controlled_relations_discharge_as_in_closed_form():
    """v = 2|i|i: √Q falls linearly, √Q = 1 − t/(2√2); as one relation, as a multiport, and by its inverse."""
    drag = flexph.laws.quadratic(2.0)
    by_flow = Characteristic((drag,), controlled="flow")
    multiport = MultiportCharacteristic(entries=1, function=lambda i: 2.0 * np.abs(i) * i, controlled="flow")
    exact = (1.0 - TIMES / (2.0 * np.sqrt(2.0))) ** 2
    for relation in (by_flow, multiport):
        made = discharge(relation).phdae()
        assert list(made.parts) == ["Q", "R"]
        start = flexph.consistency.consistent(made, np.concatenate([[1.0], -0.5 * np.ones(made.size - 1)]))
        found = run(made, start, method=Gauss(6))
        np.testing.assert_allclose(found["Q"][:, 0], exact, rtol=1e-10)
        np.testing.assert_allclose(np.abs(start[1]), np.sqrt(0.5), rtol=1e-12)  # the current
    inverse = discharge(flexph.laws.resistive(lambda v: np.sign(v) * np.sqrt(0.5 * abs(v))))
    np.testing.assert_allclose(run(inverse, [1.0], method=Gauss(6)).final, exact[-1], rtol=1e-10)


def test_impasse_points_of_a_flow_controlled_characteristic():
    """v = h(i) that bends back, and dissipates: where V is that of a turning point ([survey] sec. 4.5), no current
    follows."""
    bent = lambda i: i**3 - 3.0 * i**2 + 2.5 * i  # noqa: E731  i h(i) ≥ 0
    made = discharge(Characteristic((flexph.laws.resistive(bent),), controlled="flow")).phdae()
    path = np.array([[-bent(f), f] for f in np.linspace(0.2, 2.0, 40)])  # v = −h(f)
    found = impasse_points(made, path)
    turning = turning_points(bent, (0.2, 2.0))
    assert len(found) == len(turning) == 2
    np.testing.assert_allclose([p.state[1] for p in found], [i for i, _ in turning], atol=1e-3)  # on straight pieces
    np.testing.assert_allclose([i for i, _ in turning], 1.0 + np.array([-1.0, 1.0]) * np.sqrt(1.0 / 6.0), rtol=1e-9)


# --- modulated ----------------------------------------------------------------------------------------------------


def oscillator(relation, port="R"):
    """q̇ = p, ṗ = −q + f_R, e_R = p."""
    J = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    D = DiracStructure.from_hybrid(J, [False, False, True], {"q": slice(0, 1), "p": slice(1, 2), port: slice(2, 3)})
    return PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x,
                           sample=np.array([1.0, 0.5]), resistive={port: relation})  # fmt: skip


def by_hand(resistance):
    """The same with R = diag(0, r(q, p))."""
    return flexph.PHDAE(
        E=np.eye(2), J=[[0.0, 1.0], [-1.0, 0.0]], R=lambda x: np.diag([0.0, resistance(x)]), z=lambda x: x,
        H=lambda x: 0.5 * float(x @ x), sample=np.array([1.0, 0.5]))  # fmt: skip


@pytest.mark.parametrize(
    ("relation", "resistance"),
    [
        (lambda x: 0.5 + x[0] ** 2, lambda x: 0.5 + x[0] ** 2),
        (lambda x: flexph.laws.quadratic(0.3 + x[0] ** 2), lambda x: (0.3 + x[0] ** 2) * abs(x[1])),
        (
            lambda x: MultiportCharacteristic(entries=1, function=lambda e: (1.0 + x[0] ** 2) * e**3),
            lambda x: (1.0 + x[0] ** 2) * x[1] ** 2,
        ),
    ],
    ids=["linear", "relation", "characteristic"],
)
def test_modulated_resistances_are_those_of_systems_written_by_hand(relation, resistance):
    """R_x of a position, against a system written by hand: van der Pol's and others, rates and runs."""
    made, hand = oscillator(relation).phdae(), by_hand(resistance)
    for x in np.random.default_rng(0).standard_normal((5, 2)):
        np.testing.assert_allclose(made.R(x), hand.R(x), rtol=1e-9, atol=1e-12)  # mean slopes by differences
    found = [run(s, [1.0, 0.5], method=Gauss(6)) for s in (made, hand)]
    np.testing.assert_allclose(found[0].final, found[1].final, rtol=1e-10)
    assert (found[0].ledger.total_dissipation > 0.0).all()
    assert run(made, [1.0, 0.5]).ledger.largest_residual < 1e-13


def test_modulated_relations_that_do_not_admit_every_effort():
    """A coupling that turns with q: no effort across a direction, resistance along it; T(x) is continuous."""

    def relation(x):
        c, s = np.cos(x[0]), np.sin(x[0])
        # along (c, s) f = −2 e, across it e = 0
        return LinearResistance(np.array([[c, s], [0.0, 0.0]]), np.array([[2.0 * c, 2.0 * s], [-s, c]]))

    zero, one = np.zeros, np.eye(2)
    J = np.block([[zero((1, 1)), zero((1, 2)), zero((1, 2))], [zero((2, 1)), zero((2, 2)), -one],
                  [zero((2, 1)), one, zero((2, 2))]])  # fmt: skip
    D = DiracStructure.from_hybrid(J, np.arange(5) >= 3, {"q": slice(0, 1), "p": slice(1, 3), "R": slice(3, 5)})
    system = PortHamiltonian(structure=D, H=lambda x: 0.5 * float(x[1:] @ x[1:]), sample=np.array([0.3, 1.0, 0.0]),
                             gradient=lambda x: np.append(0.0, x[1:]), resistive={"R": relation})  # fmt: skip
    made = system.phdae()
    for angle in (0.3, 0.4, 1.0):
        along = np.array([np.cos(angle), np.sin(angle)])
        x = np.concatenate([[angle], 1.7 * along, np.zeros(3)])
        flow = made.J(x) - made.R(x)
        # 0 = Gᵀe for a, and the rate of a momentum along (c, s) for λ: across it λ holds the momentum at zero
        a = np.linalg.lstsq(flow[4:, 3:4], -flow[4:, :3] @ made.z(x)[:3], rcond=None)[0]
        state = np.concatenate([x[:3], a, np.zeros(2)])
        assert np.abs((flow @ made.z(state))[4:]).max() < 1e-15
        state[4:] = np.linalg.lstsq(flow[3:4, 4:], -flow[3:4, :4] @ made.z(state)[:4], rcond=None)[0]
        rate = flow @ made.z(state)
        assert rate[3] == pytest.approx(0.0, abs=1e-14)
        assert rate[1:3] @ along == pytest.approx(-2.0 * 1.7, rel=1e-13)
        assert made.z(state) @ made.R(state) @ made.z(state) == pytest.approx(2.0 * 1.7**2, rel=1e-13)
    family = ModulatedResistance(lambda x: LinearResistance(np.diag([1.0, float(x[0] > 0.0)]), np.eye(2)), np.ones(1))
    with pytest.raises(ValueError, match=r"space.*constant dimension: rank R_f.*1.*x = \[-1\.\], 2.*x = \[1\.\]"):
        family.admitted(-np.ones(1))
    with pytest.raises(ValueError, match="of one kind and size"):
        ModulatedResistance(lambda x: LinearResistance.of_efforts(np.eye(int(x[0]))), np.ones(1)).here(2.0 * np.ones(1))


def test_interconnected_systems_keep_their_own_states():
    """Each resistance is a function of the energy variables of its own system."""
    second = PortHamiltonian(
        structure=DiracStructure.from_hybrid([[0.0, -1.0, -1.0], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], [False, True, True],
                                             {"s": slice(0, 1), "S": slice(1, 2), "F": slice(2, 3)}),
        H=lambda x: float(x @ x), gradient=lambda x: 2.0 * x, sample=np.array([2.0]),
        resistive={"S": lambda x: 3.0 + x[0]})  # fmt: skip
    ends = PortHamiltonian(structure=ported(1, {"w": 1, "F": 1}), H=lambda x: 0.5 * float(x @ x), gradient=lambda x: x,
                           sample=np.ones(1))  # fmt: skip
    x = np.array([1.5, 0.7])
    for whole, own in ((interconnect(second, ends), 1.5), (interconnect(ends, second), 0.7)):
        assert whole.resistive["S"].matrices(x, np.ones(1))[0][0, 0] == pytest.approx(3.0 + own, rel=1e-15)


def test_input_state_output_with_a_modulated_resistance():
    """(2.43) with R(x), P(x), S(x): to structure, energy and resistance and back; rates are the same."""

    def R(x):
        return np.diag([0.2 + x[0] ** 2, 0.3])

    made = InputStateOutput(
        J=[[0.0, 1.0], [-1.0, 0.0]], R=R, g=[[0.0], [1.0]], P=lambda x: np.array([[0.1 * x[0]], [0.2]]), S=[[0.8]],
        H=lambda x: 0.25 * float(np.sum(x**4)), gradient=lambda x: x**3, sample=np.array([1.0, 0.5]))  # fmt: skip
    again = input_state_output(made.port_hamiltonian())
    for x in np.random.default_rng(2).uniform(-1.0, 1.0, (4, 2)):
        u = np.array([0.7])
        np.testing.assert_allclose(again.Z(x), made.Z(x), atol=1e-12)
        np.testing.assert_allclose(again.rate(x, u), made.rate(x, u), atol=1e-12)
        np.testing.assert_allclose(again.output(x, u), made.output(x, u), atol=1e-12)


def test_bad_resistances_are_refused():
    with pytest.raises(ValueError, match=r"eᵀF\(e\) must not be negative, it is -"):
        MultiportCharacteristic(entries=2, function=lambda e: np.array([e[0], -e[1]]))
    with pytest.raises(ValueError, match=r"F\(0\) must be zero"):
        MultiportCharacteristic(entries=1, function=lambda e: e + 1.0)
    with pytest.raises(ValueError, match=r"F\(e\) must have shape \(2,\), got \(1,\)"):
        MultiportCharacteristic(entries=2, function=lambda e: e[:1])
    with pytest.raises(ValueError, match="controlled must be one of 'effort', 'flow', got 'voltage'"):
        Characteristic((flexph.laws.viscous(1.0),), controlled="voltage")
    with pytest.raises(ValueError, match="scale must be positive efforts"):
        MultiportCharacteristic(entries=2, function=lambda e: e, scale=[1.0, 0.0])
    # generated where the check at the door did not look
    far = MultiportCharacteristic(entries=1, function=lambda e: e * (1.0 if abs(e[0]) < 1e6 else -1.0))
    with pytest.raises(ValueError, match="it is -1e\\+14"):
        far.matrices(np.zeros(1), np.array([1e7]))
    with pytest.raises(ValueError, match="resistance of 'R' must have 1 entries, got 2"):
        oscillator(lambda x: np.eye(2))
    with pytest.raises(ValueError, match="the relation of 'R' must be linear"):
        input_state_output(oscillator(lambda x: flexph.laws.quadratic(1.0)))
