"""Storage by Lagrangian subspaces and submanifolds: [rigid] definitions 5 and 7, proposition 5; [survey] sec. 2.2."""

import numpy as np
import pytest
from dirac_samples import ported

import flexph
import rigid
from flexph import analyze
from flexph.consistency import consistent
from flexph.dirac import (
    DiracStructure,
    LagrangianStorage,
    LagrangianSubspace,
    PortHamiltonian,
    input_state_output,
    interconnect,
    kirchhoff,
)
from flexph.methods import Gauss

pytestmark = pytest.mark.processor

TIMES = np.linspace(0.0, 0.5, 11)
seeds = pytest.mark.parametrize("seed", range(3))


def run(system, start, times=TIMES, **options):
    made = system if isinstance(system, flexph.PHDAE) else system.phdae()
    start = np.concatenate([start, 0.1 * np.ones(made.size - len(start))])
    return flexph.integrate(made, consistent(made, start), times, progress=False, **options)


def explicit(structure, Q, **more):
    return PortHamiltonian(structure=structure, H=lambda x: 0.5 * float(x @ Q @ x), gradient=lambda x: Q @ x,
                           hessian=lambda x: Q, sample=np.ones(len(Q)), **more)  # fmt: skip


def positive(seed, n):
    a = np.random.default_rng([seed, n]).standard_normal((n, n))
    return a @ a.T + 0.5 * np.eye(n)


@seeds
def test_the_same_energy_by_parameters(seed):
    """x = Pξ, e = QPξ of a random P against H = ½xᵀQx: the same motion, energy, index, Casimirs and passivity."""
    n, rng = 4, np.random.default_rng(seed)
    Q, P = positive(seed, n), rng.standard_normal((n, n))
    D = ported(seed, {"x": n, "R": 2, "u": 1}, free=seed % 2)
    usual = explicit(D, Q, resistive={"R": positive(seed, 2)})
    made = PortHamiltonian(structure=D, lagrangian=LagrangianSubspace(P, Q @ P), sample=np.linalg.solve(P, np.ones(n)),
                           resistive={"R": positive(seed, 2)})  # fmt: skip
    inputs = {"u": lambda t: [0.3 * np.sin(t)]}
    one, other = usual.phdae(), made.phdae()
    assert list(one.parts) == list(other.parts) and one.size == other.size
    assert other.H(other.sample) == pytest.approx(one.H(one.sample), rel=1e-12)
    first = consistent(one, np.concatenate([np.ones(n), 0.1 * np.ones(one.size - n)]), inputs=inputs)
    start = np.concatenate([np.linalg.solve(P, first[:n]), first[n:]])
    found = [flexph.integrate(s, x, TIMES, inputs=inputs, method=Gauss(2), progress=False)
             for s, x in ((one, first), (other, consistent(other, start, inputs=inputs)))]  # fmt: skip
    # the midpoint rule is covariant under linear maps; conditions of P and Q below 1e4
    np.testing.assert_allclose(found[1]["x"] @ P.T, found[0]["x"], atol=1e-9)
    np.testing.assert_allclose(found[1].ledger.total_energy, found[0].ledger.total_energy, rtol=1e-9)
    assert found[1].ledger.largest_residual < 1e-10
    reports = [analyze(s) for s in (usual, made)]
    for name in ("index", "constraints", "undetermined", "freedom"):
        assert getattr(reports[0].index, name) == getattr(reports[1].index, name)
    assert reports[0].casimirs.count == reports[1].casimirs.count
    assert reports[0].passivity.passive == reports[1].passivity.passive == "yes"


def parallel(*names):
    """Elements in parallel: equal voltages, currents that add up to zero."""
    return kirchhoff([[1.0] * len(names), [-1.0] * len(names)], names)


def test_a_capacitor_of_no_capacitance_is_none():
    """Q = C v, e = v: C₁ = 2 F beside C₂ = 0, of which the charge is zero, and a resistor: V = V₀ e^{−t/RC}."""
    capacities = np.array([2.0, 0.0])
    D = parallel("C1", "C2", "R")
    both = PortHamiltonian(structure=D, lagrangian=LagrangianSubspace(np.diag(capacities), np.eye(2)),
                           sample=np.array([3.0, 3.0]), resistive={"R": 0.5})  # fmt: skip
    found = run(both, [3.0, 3.0], method=Gauss(6))
    volts = 3.0 * np.exp(-0.25 * TIMES)
    np.testing.assert_allclose(found["C1"][:, 0], volts, rtol=1e-10)
    np.testing.assert_allclose(found["C2"][:, 0], volts, rtol=1e-7)  # a stage value, of lower order
    np.testing.assert_allclose(found.ledger.total_energy, volts**2, rtol=1e-9)
    # with C₂ > 0 they are one capacitor of C₁ + C₂: the limit is continuous
    small = PortHamiltonian(structure=D, lagrangian=LagrangianSubspace(np.diag([2.0, 1e-6]), np.eye(2)),
                            sample=np.array([3.0, 3.0]), resistive={"R": 0.5})  # fmt: skip
    np.testing.assert_allclose(run(small, [3.0, 3.0], method=Gauss(6))["C1"][:, 0], volts, rtol=1e-6)


def spring_between_masses():
    """Two masses with a spring between them: s' = p₁/m₁ − p₂/m₂."""
    J = np.array([[0.0, 1.0, -1.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    return DiracStructure.from_skew(-J, {"s": slice(0, 1), "p1": slice(1, 2), "p2": slice(2, 3)})


def test_a_spring_without_compliance_is_a_rigid_link():
    """(s, F) = (c F, F): c = 0 is s = 0 with any force. The masses move as one; for c > 0 as an oscillator."""
    m = np.array([2.0, 3.0])
    S = np.diag([1.0, *(1.0 / m)])

    def linked(compliance):
        return PortHamiltonian(structure=spring_between_masses(), sample=np.array([0.5, 2.0, 3.0]),
                               lagrangian=LagrangianSubspace(np.diag([compliance, 1.0, 1.0]), S))  # fmt: skip

    rigidly = linked(0.0)
    report = analyze(rigidly)
    assert report.index.index == 2  # the force of a constraint on velocities is a multiplier
    assert report.casimirs.expressions == analyze(linked(0.1)).casimirs.expressions == ("p1 + p2",)
    found = run(rigidly, [0.0, 2.0, 3.0])
    np.testing.assert_allclose(found["p1"][:, 0], 2.0, rtol=1e-12)
    assert np.ptp(found.ledger.total_energy) < 1e-13
    # an oscillator of the reduced mass 6/5
    compliance, omega = 0.01, np.sqrt(5.0 / 6.0 / 0.01)
    swinging = run(linked(compliance), [0.0, 2.0, 0.0], method=Gauss(6), times=np.linspace(0.0, 0.5, 101))
    relative = swinging["p1"][:, 0] / m[0] - swinging["p2"][:, 0] / m[1]
    np.testing.assert_allclose(relative, np.cos(omega * np.linspace(0.0, 0.5, 101)), atol=1e-8)


def test_tangent_space_of_a_pendulum_swings_with_its_frequency():
    """[rigid] proposition 5: T L of a hanging pendulum in Cartesian coordinates, c = |r|² − l², as storage of its small
    motions: ω = √(g/l), and along the rod nothing moves."""
    mass, length, gravity = 0.7, 1.3, 9.81
    pendulum = rigid.MultibodySystem(
        mass=mass * np.eye(2), sample=np.array([0.0, -length]),
        potential=rigid.Potential(lambda r: mass * gravity * r[1], lambda r: np.array([0.0, mass * gravity])),
        constraints=(rigid.PositionConstraint(
            "rod", rigid.PositionMap(lambda r: np.array([r @ r - length**2]), lambda r: 2.0 * r[None, :])),),
    )  # fmt: skip
    tangent = rigid.lagrangian_submanifold(pendulum).tangent(np.array([0.0, -length]), np.zeros(2))
    zero, one = np.zeros((2, 2)), np.eye(2)
    D = DiracStructure.from_skew(np.block([[zero, -one], [one, zero]]), {"r": slice(0, 2), "p": slice(2, 4)})
    small = PortHamiltonian(structure=D, lagrangian=tangent, sample=np.zeros(4))
    omega = np.sqrt(gravity / length)
    parameters = np.linalg.lstsq(np.vstack([tangent.P, tangent.S]), np.array(
        [0.01, 0.0, 0.0, 0.0, 0.01 * mass * gravity / length, 0.0, 0.0, 0.0]), rcond=None)[0]  # fmt: skip
    found = run(small, parameters, method=Gauss(6), times=np.linspace(0.0, 2.0, 41))
    motion = found.states[:, :4] @ tangent.P.T
    np.testing.assert_allclose(motion[:, 0], 0.01 * np.cos(omega * found.times), atol=1e-9)
    assert np.abs(motion[:, 1]).max() < 1e-12
    assert np.ptp(found.ledger.total_energy) < 1e-12 * found.ledger.total_energy[0]


def coil_and_capacitor(storage=None):
    """Q̇ = −i, φ̇ = v of a saturating coil φ = tanh i."""
    D = DiracStructure.from_skew(-np.array([[0.0, -1.0], [1.0, 0.0]]), {"Q": slice(0, 1), "phi": slice(1, 2)})
    if storage is not None:
        return PortHamiltonian(structure=D, lagrangian=storage, sample=np.array([0.8, 0.3]))
    return PortHamiltonian(
        structure=D, sample=np.array([0.8, np.tanh(0.3)]),
        H=lambda x: 0.5 * x[0] ** 2 + x[1] * np.arctanh(x[1]) + 0.5 * np.log(1.0 - x[1] ** 2),
        gradient=lambda x: np.array([x[0], np.arctanh(x[1])]))  # fmt: skip


def saturating(**changed):
    functions = {
        "states": lambda xi: np.array([xi[0], np.tanh(xi[1])]),
        "descriptor": lambda xi: np.diag([1.0, 1.0 - np.tanh(xi[1]) ** 2]),
        "efforts": lambda xi: xi,
        "H": lambda xi: 0.5 * xi[0] ** 2 + xi[1] * np.tanh(xi[1]) - np.log(np.cosh(xi[1])),
    }
    return LagrangianStorage(**(functions | changed))


def test_a_submanifold_by_its_parameters():
    """A coil by its current, φ = tanh i, against H(φ): the same motion to the order of the method."""
    systems = coil_and_capacitor(), coil_and_capacitor(saturating())
    found = [run(s, s.sample, method=Gauss(6), times=np.linspace(0.0, 2.0, 41)) for s in systems]
    np.testing.assert_allclose(np.tanh(found[1]["phi"]), found[0]["phi"], atol=1e-7)
    np.testing.assert_allclose(found[1].ledger.total_energy, found[0].ledger.total_energy, rtol=1e-7)
    assert run(systems[1], systems[1].sample).ledger.largest_residual < 1e-12


def test_storages_are_interconnected():
    """A Lagrangian storage and an energy as one system: H adds up, and both orders give the same motion."""

    def element(name, port, **energy):
        D = DiracStructure([[1.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, -1.0]], {name: slice(0, 1), port: slice(1, 2)})
        return PortHamiltonian(structure=D, sample=np.ones(1), **energy)

    spring = element("q", "spring", lagrangian=LagrangianSubspace([[0.2]], [[1.0]]))  # 5 N/m by its force
    mass = element("p", "mass", H=lambda x: 0.25 * float(x @ x), gradient=lambda x: 0.5 * x)
    one = interconnect(spring, mass, ports={"spring": "mass"}, gyrative=True)
    other = interconnect(mass, spring, ports={"mass": "spring"}, gyrative=True)
    assert one.phdae().H(np.array([2.0, 3.0])) == pytest.approx(0.1 * 4.0 + 0.25 * 9.0, rel=1e-14)
    omega = np.sqrt(2.5)
    for system in (one, other):
        start = np.array([1.0, 0.0]) if system is one else np.array([0.0, 1.0])
        found = run(system, start, method=Gauss(6))
        np.testing.assert_allclose(found["q"][:, 0], np.cos(omega * TIMES), atol=1e-9)


def test_a_subspace_has_no_units():
    """x₁ = c (a + b), e₁ = 0, x₂ = 0, e₂ = a + 2b is Lagrangian in every unit of x₁."""
    for c in (1.0, 1e-13, 1e13):
        L = LagrangianSubspace(np.array([[c, c], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 2.0]]))
        assert L.contains(np.array([c, 0.0]), np.array([0.0, 3.0]))
        with pytest.raises(ValueError, match="symplectic"):
            LagrangianSubspace(np.array([[c, c], [0.0, 0.0]]), np.array([[1.0 / c, 0.0], [1.0, 2.0]]))


def test_bad_storages_are_refused():
    D = coil_and_capacitor().structure
    L = LagrangianSubspace(np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match=r"lagrangian replaces H, gradient and hessian, .* got \['H'\]"):
        PortHamiltonian(structure=D, H=lambda x: 0.0, lagrangian=L, sample=np.ones(2))
    with pytest.raises(ValueError, match=r"H and gradient must be given, or lagrangian; got \['H'\]"):
        PortHamiltonian(structure=D, H=lambda x: 0.0, sample=np.ones(2))
    with pytest.raises(ValueError, match="sample must have the 2 parameters of the subspace, got 3"):
        PortHamiltonian(structure=D, lagrangian=L, sample=np.ones(3))
    with pytest.raises(ValueError, match="descriptor must be the Jacobian of states"):
        coil_and_capacitor(saturating(descriptor=np.eye(2)))
    with pytest.raises(ValueError, match="a Lagrangian storage is symplectic"):
        coil_and_capacitor(saturating(efforts=lambda xi: xi[::-1] * np.array([1.0, 2.0])))
    with pytest.raises(ValueError, match=r"a Lagrangian storage.*maximal: rank \[X'; ε'\] = 1,.*must.*2"):
        first = lambda xi: np.array([xi[0], 0.0])  # noqa: E731
        coil_and_capacitor(
            LagrangianStorage(
                states=first, efforts=first, descriptor=np.diag([1.0, 0.0]), H=lambda xi: 0.5 * xi[0] ** 2
            )
        )
    with pytest.raises(ValueError, match="must be a gradient pair of H"):
        coil_and_capacitor(saturating(H=lambda xi: 0.5 * float(xi @ xi))).phdae()
    with pytest.raises(ValueError, match="an input-state-output form needs efforts"):
        input_state_output(coil_and_capacitor(saturating()))
