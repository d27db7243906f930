"""MultibodySystem: [rigid] eq. (10) as a PHDAE, its conditions, and consistent starts."""

from dataclasses import replace

import numpy as np
import pytest
from multibody_systems import (
    ARM,
    MASS,
    MOMENTS,
    ROD,
    WEIGHT,
    body,
    damped,
    entry_map,
    matrix_top,
    orthogonal_slope,
    pendulum,
    quaternion_top,
    skew,
    sleigh,
    spinning,
    turning,
)
from scipy.spatial.transform import Rotation

import flexph
from flexph.methods import Radau
from flexph.systems import Invariants
from rigid import (
    Damper,
    Dissipation,
    ExternalPort,
    MultibodySystem,
    PositionConstraint,
    PositionMap,
    Potential,
    VelocityConstraint,
    interconnect,
    resolve,
)
from rigid.system.equations import resistance


def full(**options):
    """The pinned body with everything that [rigid] eq. (10) has."""
    swirl = lambda z, w: 0.3 * np.abs(w) * w + np.append(np.zeros(3), np.cross([0.1, 0.2, 0.3], w[3:]))  # noqa: E731
    made = {
        "velocity_constraints": (VelocityConstraint("edge", lambda z: np.append(z[3:6], [0.0, 1.0, z[0]])[None]),),
        "dissipation": (
            Damper("drag", lambda z: np.eye(6)[:, :2] + z[0], flexph.laws.quadratic(0.7)),
            Dissipation("swirl", swirl),
        ),
        "ports": {
            "tip": ExternalPort(lambda z: tip_rows(z).T, entry_map(2.0 * ARM)),
            "motor": ExternalPort(np.eye(6)[:, 5:]),
        },
        "potential": (
            WEIGHT,
            Invariants(
                lambda z: np.array([z[:3] @ z[:3]]),
                lambda z: np.append(2.0 * z[:3], np.zeros(9))[None],
                lambda p: 4.0 * p[0] ** 2,
                lambda p: 8.0 * p,
            ),
        ),
    }
    return body(**(made | options))


def tip_rows(z):
    R = z[3:].reshape(3, 3)
    return np.hstack([np.eye(3), -R @ skew(2.0 * ARM)])


def states(system, count=4, seed=0):
    """Random states with rotations."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        x = rng.standard_normal(system.layout.size)
        x[3:12] = Rotation.random(random_state=rng.integers(1 << 30)).as_matrix().ravel()
        yield x


# --- the equations ----------------------------------------------------------------------------------------------------


def test_the_equations_are_those_of_the_paper():
    """Term by term, written here without the matrices of the library."""
    system = full()
    made = system.phdae()
    rng = np.random.default_rng(1)
    for x in states(system):
        zeta, w, lam, mu = system.split(x)
        R, u = zeta[3:].reshape(3, 3), rng.standard_normal(4)
        right = (made.J(x) - made.R(x)) @ made.z(x) + made.B(x) @ u
        np.testing.assert_allclose(right[:3], w[:3], atol=1e-14)
        np.testing.assert_allclose(right[3:12].reshape(3, 3), R @ skew(w[3:]), atol=1e-14)
        W, spring = np.eye(6)[:, :2] + zeta[0], 16.0 * (zeta[:3] @ zeta[:3]) * zeta[:3]
        drag = W @ (0.7 * np.abs(W.T @ w) * (W.T @ w)) + 0.3 * np.abs(w) * w
        drag[3:] += np.cross([0.1, 0.2, 0.3], w[3:])
        force = -np.append(MASS * np.array([0.0, 0.0, 9.81]) + spring + lam, arm_torque(R, lam)) - drag
        force[3:] += np.cross(MOMENTS * w[3:], w[3:])
        force -= np.append(zeta[3:6], [0.0, 1.0, zeta[0]]) * mu
        force += np.append(u[:3], np.cross(2.0 * ARM, R.T @ u[:3]))
        force[5] += u[3]
        np.testing.assert_allclose(right[12:18], force, atol=1e-11)
        np.testing.assert_allclose(right[18:21], w[:3] + R @ np.cross(w[3:], ARM), atol=1e-14)
        assert right[21] == pytest.approx(np.append(zeta[3:6], [0.0, 1.0, zeta[0]]) @ w)
        np.testing.assert_array_equal(made.E(x) @ x, np.concatenate([zeta, system.mass @ w, np.zeros(4)]))


def arm_torque(R, lam):
    return np.cross(ARM, R.T @ lam)


def test_forces_of_several_dissipations_add_up():
    """Each has a part that does no work; R + S takes the velocities to the sum of all."""
    across = lambda axis: lambda z, w: 0.3 * np.abs(w) * w + np.append(np.zeros(3), np.cross(axis, w[3:]))  # noqa: E731
    terms = {"first": across([0.1, 0.2, 0.3]), "second": across([-0.5, 0.1, 0.0]), "third": across([0.0, 0.4, -0.2])}
    system = body(dissipation=tuple(Dissipation(name, force) for name, force in terms.items()))
    for x in states(system):
        zeta, w = system.split(x)[:2]
        made = resistance(system, zeta, w)
        np.testing.assert_allclose((made.R + made.S) @ w, sum(force(zeta, w) for force in terms.values()), rtol=1e-12)
        np.testing.assert_array_equal(made.S, -made.S.T)


def test_structure_and_power_at_random_states():
    system = full()
    made = system.phdae()
    u = np.array([1.0, -2.0, 3.0, 0.5])
    for x in states(system):
        made.check(x)  # J = −Jᵀ, R ⪰ 0, Eᵀz = ∇H
        zeta, w, _, _ = system.split(x)
        stored, exchanged = made.power_balance(x, u)
        assert stored == pytest.approx(exchanged, rel=1e-12, abs=1e-10)
        z = made.z(x)
        assert z @ made.R(x) @ z == pytest.approx(w @ system.tau_d(zeta, w), rel=1e-12)
        assert made.H(x) == pytest.approx(system.energy(zeta, w))
    assert set(made.ports) == {"tip", "motor"}
    assert made.parts["multipliers of edge"] == made.parts["mu"] == slice(21, 22)
    assert made.parts["omega"] == slice(15, 18)


def test_the_pair_is_a_discrete_gradient_pair_with_exact_increments():
    system = full()
    made, f = system.phdae(), system.layout
    rng = np.random.default_rng(2)
    for x0 in states(system):
        x1 = x0 + 0.1 * rng.standard_normal(x0.size)
        means = {name: mean(x0, x1) for name, mean in made.means.items()}
        step, z = x1 - x0, means["z"]
        assert z @ (made.E(x0) @ step) == pytest.approx(made.H(x1) - made.H(x0), rel=1e-11)
        assert np.abs(means["J"] + means["J"].T).max() == 0.0
        assert np.linalg.eigvalsh(means["R"])[0] > -1e-13
        # along ζ̇ = Z̄ϖ̄ constraints and ports say by how much their positions change
        zeta0 = x0[f.positions]
        end = zeta0 + 0.01 * rng.standard_normal(12)
        slope = made.means["J"](x0, np.append(end, x1[12:]))[f.lam, f.velocities]
        Z = system.kinematics_mean(zeta0, end)
        w = rng.standard_normal(6)
        np.testing.assert_allclose(slope @ w, entry_map(ARM).jacobian(zeta0) @ Z @ w, atol=1e-13)


def test_a_discrete_jacobian_of_a_position_that_is_not_quadratic():
    """p = |r|: p̄'Δζ = Δp exactly, in J, in B, and not where the change is round-off."""
    length = PositionMap(lambda r: np.array([np.linalg.norm(r)]), lambda r: (r / np.linalg.norm(r))[None])
    rows = lambda r: (r / np.linalg.norm(r))[None]  # noqa: E731
    system = pendulum(
        constraints=(),
        velocity_constraints=(VelocityConstraint("rope", rows, length),),
        ports={"pull": ExternalPort(lambda r: rows(r).T, length)},
    )
    made, x0 = system.phdae(), np.array([1.0, 0.2, 0.0, 0.0, 0.0])
    x1 = x0 + np.array([0.3, 0.5, 0.0, 0.0, 0.0])
    change = np.linalg.norm(x1[:2]) - np.linalg.norm(x0[:2])
    assert made.means["J"](x0, x1)[4, 2:4] @ (x1 - x0)[:2] == pytest.approx(change, rel=1e-14)
    assert made.means["B"](x0, x1)[2:4, 0] @ (x1 - x0)[:2] == pytest.approx(change, rel=1e-14)
    near = x0 + np.array([1e-12, 2e-12, 0.0, 0.0, 0.0])
    np.testing.assert_allclose(made.means["J"](x0, near)[4, 2:4], rows(x0[:2])[0], atol=1e-11)


def test_massless_velocities_are_stage_values():
    damped_everywhere = (Damper("drag", np.eye(2), flexph.laws.viscous(1.0)),)  # else nothing determines them
    system = pendulum(mass=np.diag([1.0, 0.0]), constraints=(), dissipation=damped_everywhere)
    assert system.massless.shape == (2, 1)
    np.testing.assert_array_equal(system.completed_mass, np.eye(2))
    x0, x1 = np.array([0.0, 0.0, 1.0, 5.0]), np.array([0.0, 0.0, 3.0, 7.0])
    np.testing.assert_array_equal(system.phdae().means["z"](x0, x1)[2:], [2.0, 7.0])
    mixed = pendulum(mass=np.ones((2, 2)), constraints=(), dissipation=damped_everywhere)
    z = mixed.phdae().means["z"](x0, x1)
    np.testing.assert_allclose(mixed.mass @ z[2:], mixed.mass @ [2.0, 6.0])  # the momentum is that in the middle
    np.testing.assert_allclose([1.0, -1.0] @ z[2:], -4.0)  # the rest that at the end


# --- conditions -------------------------------------------------------------------------------------------------------

BENT = VelocityConstraint("edge", np.array([[0.0, 1.0, 0.0]]), PositionMap(lambda z: z[2:], lambda z: np.eye(3)[2:]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: pendulum(mass=[[1.0, 0.1], [0.0, 1.0]]), r"mass must be symmetric: ‖mass − massᵀ‖/‖mass‖ = 1e-01"),
        (
            lambda: sleigh(mass=np.diag([1.0, 1.0, -0.5])),
            r"mass must be positive semi-definite, got the eigenvalue -0\.5 of omega: kinetic energy",
        ),
        (lambda: sleigh(mass=[[1, 2, 0], [2, 1, 0], [0, 0, 1]]), r"eigenvalue -1 of v\[0\], v\[1\]"),
        (lambda: pendulum(mass=[1.0, 1.0]), r"mass must have shape \(any, any\), got \(2,\)"),
        (lambda: body(kinematics=None), r"may be left out only for ζ̇ = ϖ: there are 12 positions and 6 velocities"),
        (lambda: body(kinematics=np.eye(6)), r"kinematics Z\(ζ\) must have shape \(12, 6\), got \(6, 6\)"),
        (lambda: sleigh(gyroscopic=lambda z, p: np.eye(2)), r"gyroscopic G\(ζ, Γ\) must have shape \(3, 3\)"),
        (lambda: sleigh(gyroscopic=lambda z, p: np.diag(p)), r"gyroscopic G\(ζ, Γ\) must be skew-symmetric"),
        (
            lambda: pendulum(potential=Potential(lambda r: 9.81 * r[1], lambda r: np.array([0.0, 9.8]))),
            r"the gradient of the potential is 9\.8 in row 0, column 1; differences give 9\.81",
        ),
        (
            lambda: pendulum(potential=(WEIGHT_2, Potential(lambda r: np.nan, lambda r: np.zeros(2)))),
            r"potential\[1\] must be finite, got nan",
        ),
        (
            lambda: pendulum(potential=invariants(lambda r: np.array([r[0] ** 3]), lambda r: [[3 * r[0] ** 2, 0.0]])),
            r"the invariants of the potential must be quadratic, .* invariant 0 is not",
        ),
        (
            lambda: pendulum(constraints=(replace(ROD, map=PositionMap(ROD.map.value, lambda r: 2.0 * r[None])),)),
            r"the jacobian of constraint 'rod' is 2 in row 0, column 0; differences give 1",
        ),
        (
            lambda: pendulum(constraints=(replace(ROD, map=PositionMap(ROD.map.value, lambda r: r)),)),
            r"the jacobian of constraint 'rod' must have shape \(1, 2\), got \(2,\)",
        ),
        (
            lambda: sleigh(velocity_constraints=(BENT,)),
            r"'edge' must be the rate of its position, p'Z = A: p'Z is 0, 1 is given for row 0, velocity 1",
        ),
        (
            lambda: sleigh(ports={"push": ExternalPort(np.eye(3)[:, :1], BENT.position)}),
            r"port 'push' must move with its position, p'Z = Bᵀ: p'Z is 0, 1 is given",
        ),
        (lambda: sleigh(ports={"push": ExternalPort(np.ones((2, 1)))}), r"port 'push' must have shape \(3, any\)"),
        (
            lambda: sleigh(dissipation=(Dissipation("wind", lambda z, w: -0.1 * w),)),
            r"dissipation 'wind' must not generate energy, ϖᵀτ_d >= 0: it feeds .* W into the system at velocities",
        ),
        (
            lambda: sleigh(dissipation=(Dissipation("wind", lambda z, w: np.ones(3)),)),
            r"dissipation 'wind' must (not generate energy|vanish at rest)",
        ),
        (
            lambda: sleigh(velocity_constraints=(VelocityConstraint("edge", lambda z: np.array([[z[0], 0, 0]])),)),
            r"must have one rank around the sample: of 1 rows 0 are independent at the sample, 1 to 1 near it; where "
            r"they lose rank, 'edge' depend",
        ),
        (
            lambda: sleigh(velocity_constraints=(BENT_FREE, replace(BENT_FREE, matrix=np.eye(3)[:2] * 1.0))),
            r"constraints must have names that differ, got 'edge' more than once",
        ),
        (
            lambda: sleigh(constraints=(BENT_FREE,)),
            r"constraints\[0\] must be a PositionConstraint, got Veloc",
        ),
        (lambda: sleigh(dissipation=(1.0,)), r"dissipation\[0\] must be a Damper or a Dissipation, got 1\.0"),
        (lambda: sleigh(ports={"push": np.eye(3)}), r"ports\['push'\] must be an ExternalPort, got ndarray"),
        (lambda: sleigh(dissipation=(Damper("d", np.eye(3), 0.1),)), r"relation must be a Relation, .* got float"),
        (lambda: sleigh(gyroscopic=np.zeros((2, 2))), r"gyroscopic must have shape \(3, 3\), got \(2, 2\)"),
        (lambda: sleigh(gyroscopic=np.eye(3)), r"gyroscopic G\(ζ, Γ\) must be skew-symmetric"),
        (
            lambda: pendulum(potential=lambda r: 0.0),
            "potential must be a Potential, an Invariants or a list of entries that are a Potential",
        ),
        (
            lambda: pendulum(potential=Potential(lambda r: r * r, lambda r: 2.0 * r)),
            r"potential must be a number, got array",
        ),
        (lambda: pendulum(constraints=ROD), "constraints must be a list of PositionConstraints, got"),
        (lambda: pendulum(ports=[np.eye(2)]), "ports must be a dict of names with ExternalPorts, got"),
        (lambda: pendulum(cautions=("x",)), r"cautions\[0\] must be a function, got 'x'"),
        (
            lambda: sleigh(velocity_constraints=(VelocityConstraint("no", np.diag([1.0, 0.0, 1.0])),)),
            r"must not be empty: all entries of A are zero in 'no'\[1\]",
        ),
        (lambda: sleigh(parts={"pose": slice(0, 4)}), r"parts\['pose'\] must end at 3 or before"),
        (lambda: sleigh(parts={"mu": slice(0, 3)}), r"parts must not be named 'positions', .* got \['mu'\]"),
        (
            lambda: quaternion_top(sample=np.zeros(4)),
            r"the sample must satisfy the conditions of the coordinates: '\|q\| = 1', which is 1 there",
        ),
        (
            lambda: quaternion_top(kinematics=lambda q: np.eye(4)[:, 1:] + q[:, None]),
            r"'\|q\| = 1' of the coordinates must be preserved by the kinematics, g'Z = 0 if it holds: got 2",
        ),
    ],
)
def test_violated_conditions_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_a_constant_gyroscopic_matrix():
    """Coriolis forces in axes that turn steadily: Mϖ̇ = −Gϖ."""
    G = np.array([[0.0, -0.6], [0.6, 0.0]])
    turning = MultibodySystem(mass=np.eye(2), sample=np.zeros(2), gyroscopic=G)
    np.testing.assert_array_equal(turning.accelerations(np.zeros(2), [1.0, 2.0]).velocities, -G @ [1.0, 2.0])
    both = interconnect({"a": turning, "b": turning})
    np.testing.assert_array_equal(both.G(np.zeros(4), np.ones(4))[2:, 2:], G)
    np.testing.assert_array_equal(resolve(turning, 2.0 * np.eye(2)).G(np.zeros(2), np.ones(2)), 4.0 * G)


def test_systems_are_compared_by_what_they_are_and_shown_briefly():
    one, other = pendulum(), pendulum()
    assert one == one
    assert one != other
    assert len({one, other}) == 2
    assert repr(one) == "<MultibodySystem: 2 positions, 2 velocities; constraints rod; ports none>"


def test_slices_of_parts_may_begin_at_none():
    half = pendulum(parts={"x": slice(None, 1)}, velocity_parts={"v": slice(None, 2)})
    assert half.parts["x"] == slice(0, 1)
    both = interconnect({"a": half, "b": half})
    assert both.parts["b.x"] == slice(2, 3)
    assert both.layout.parts["b.v"] == slice(6, 8)


WEIGHT_2 = Potential(lambda r: 9.81 * r[1], lambda r: np.array([0.0, 9.81]))
BENT_FREE = replace(BENT, position=None)


def invariants(values, slope):
    return Invariants(values, lambda r: np.array(slope(r)), lambda p: float(p[0]), lambda p: np.ones(1))


def test_redundant_constraints_are_named_and_allowed_until_equations_are_made():
    """[rigid] proposition 2 asks for a constant rank only; multipliers ask for more."""
    twice = pendulum(constraints=(ROD, replace(ROD, name="again")))
    assert twice.c(twice.sample).shape == (2,)
    with pytest.raises(ValueError, match=r"1.*2 constraints follow .* leave.*many out.*'rod', 'again'"):
        twice.phdae()
    found = twice.accelerations([1.0, 0.0], [0.0, 2.0])
    np.testing.assert_allclose(found.lam, [2.0, 2.0])  # of least norm, 4 N together
    # [rigid] sec. 5: RᵀR = 1 as a constraint has no part in the equations
    orthogonal = replace(body().coordinates[0], map=PositionMap(body().coordinates[0].map.value, orthogonal_slope))
    with pytest.raises(ValueError, match=r"6.*9 constraints follow.*others.*kinematics.*'RᵀR = 1'\[0"):
        body(constraints=(*body().constraints, orthogonal), coordinates=()).phdae()


def test_rank_is_looked_for_where_loops_are_closed():
    """A parallel four-bar has one redundant row of three beside its sample as there: its rank is constant."""
    ends = np.array([[0.0, 0.0], [2.0, 0.0]])

    def c(z):  # two cranks and a coupler point pair, all of unit length
        a, b = z.reshape(2, 2)
        return 0.5 * np.array([(a - ends[0]) @ (a - ends[0]) - 1.0, (b - ends[1]) @ (b - ends[1]) - 1.0])

    def slope(z):
        a, b = z.reshape(2, 2) - ends
        return np.array([[*a, 0.0, 0.0], [0.0, 0.0, *b]])

    coupler = VelocityConstraint("coupler", np.hstack([-np.eye(2), np.eye(2)]))
    made = MultibodySystem(
        mass=np.eye(4),
        sample=np.array([0.6, 0.8, 2.6, 0.8]),
        constraints=(PositionConstraint("cranks", PositionMap(c, slope)),),
        velocity_constraints=(coupler,),
    )
    with pytest.raises(ValueError, match=r"1 of 4 constraints follow from others"):
        made.phdae()


def test_a_dissipation_without_power_turns_through_the_skew_part():
    """τ_d = s × ω takes no power: R = 0, and J has all of it; [rigid] eq. (8) allows it."""
    axis = np.array([0.2, -0.3, 0.4])
    system = matrix_top(dissipation=(Dissipation("lift", lambda z, w: np.cross(axis, w)),))
    made = system.phdae()
    x = np.append(np.eye(3).ravel(), [1.0, 2.0, 3.0])
    assert np.abs(made.R(x)).max() < 1e-16
    free = matrix_top().phdae()
    np.testing.assert_allclose((made.J(x) - free.J(x))[9:, 9:] @ x[9:], -np.cross(axis, x[9:]), atol=1e-15)
    at_rest = np.append(np.eye(3).ravel(), np.zeros(3))
    assert not made.R(at_rest).any()


def test_resistance_goes_along_with_a_change_of_velocities():
    """ϖ = T v: R becomes TᵀRT, whichever velocities are taken."""
    T = np.array([[1.0, 0.2, 0.0], [0.0, 2.0, 0.1], [0.3, 0.0, 0.5]])
    drag = Dissipation("drag", lambda z, w: np.abs(w) * w)
    first = matrix_top(dissipation=(drag,))
    second = matrix_top(
        mass=T.T @ np.diag(MOMENTS) @ T,
        kinematics=lambda z: turning(z.reshape(3, 3)) @ T,
        gyroscopic=None,
        dissipation=(Dissipation("drag", lambda z, v: T.T @ (np.abs(T @ v) * (T @ v))),),
    )
    v = np.array([1.0, -2.0, 0.5])
    R1, R2 = (s.phdae().R(np.append(s.sample, w))[9:, 9:] for s, w in ((first, T @ v), (second, v)))
    np.testing.assert_allclose(R2, T.T @ R1 @ T, atol=1e-13)


# --- starts -----------------------------------------------------------------------------------------------------------


def test_multipliers_of_a_start():
    """The rod pulls with m v²/L + m g sin; λ is that of c = ½(r² − 1), per metre."""
    x = pendulum().state([0.6, -0.8], [1.6, 1.2])
    assert x[4] == pytest.approx(4.0 + 9.81 * 0.8, rel=1e-12)
    found = pendulum(ports={"push": ExternalPort(np.eye(2))}).accelerations(
        [0.6, -0.8], [1.6, 1.2], inputs={"push": lambda t: [6.0 * t, -8.0 * t]}, time=0.5
    )
    assert found.lam[0] == pytest.approx(4.0 + 9.81 * 0.8 + 5.0)
    np.testing.assert_allclose([0.6, -0.8] @ found.velocities, -4.0)


def test_accelerations_are_those_of_an_integration():
    """ϖ̇ against the change of velocities over short steps of radau, of everything at once."""
    pytest.importorskip("scipy_dae")
    system = full(velocity_constraints=())
    w = spinning([1.0, 2.0, 3.0])
    x = system.state(system.sample, w)
    inputs = {"tip": [1.0, 2.0, 3.0], "motor": 0.5}
    found = system.accelerations(system.sample, w, inputs=inputs)
    h = 1e-3
    run = flexph.integrate(
        system.phdae(), x, [0.0, h, 2 * h], method=Radau(1e-10, atol=1e-12), inputs=inputs, progress=False
    )
    w0, w1, w2 = run["velocities"]
    np.testing.assert_allclose(found.velocities, (-1.5 * w0 + 2.0 * w1 - 0.5 * w2) / h, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize(
    ("make", "positions", "velocities", "message"),
    [
        (pendulum, [1.0, 0.1], [0.0, 0.0], r"positions do not satisfy 'rod', which is 0\.005 there .* system\.nearest"),
        (pendulum, [1.0, 0.0], [0.1, 0.0], r"velocities do not satisfy 'rod', whose rate is 0\.1 \(terms of 0\.1\)"),
        (sleigh, np.zeros(3), [1.0, 0.5, 0.0], r"velocities do not satisfy 'edge', whose rate is 0\.5"),
        (quaternion_top, np.zeros(4), np.zeros(3), r"positions do not satisfy '\|q\| = 1', which is 1 there"),
        (
            body,
            np.append(-ARM, 1.01 * np.eye(3)),
            np.zeros(6),
            r"positions do not satisfy 'RᵀR = 1'\[\d\], which is 0\.02",
        ),
        (pendulum, [1.0, 0.0, 0.0], [0.0, 0.0], r"positions must have shape \(2,\), got \(3,\)"),
    ],
)
def test_an_inconsistent_start_is_named(make, positions, velocities, message):
    with pytest.raises(ValueError, match=message):
        make().state(positions, velocities)


def test_the_nearest_start_is_consistent_and_near():
    system = body()
    rng = np.random.default_rng(0)
    zeta = system.sample + 0.05 * rng.standard_normal(12)
    w = rng.standard_normal(6)
    near, moved = system.nearest(zeta, w)
    x = system.state(near, moved)
    assert np.abs(system.c(near)).max() < 1e-15
    assert np.abs(near - zeta).max() < 0.3
    rows = system.constraint_rows(near)
    # what is left of the change of velocities is along Kᵀ in the metric of M
    multipliers = np.linalg.lstsq(rows.T, system.mass @ (w - moved), rcond=None)[0]
    np.testing.assert_allclose(rows.T @ multipliers, system.mass @ (w - moved), atol=1e-12)
    again, same = system.nearest(near, moved)
    np.testing.assert_allclose(again, near, atol=1e-15)
    np.testing.assert_allclose(same, moved, atol=1e-14)
    np.testing.assert_array_equal(system.split(np.stack([x, x])).velocities, [moved, moved])


def test_no_start_where_constraints_contradict():
    far = PositionConstraint("far", PositionMap(lambda r: np.array([r @ r + 1.0]), lambda r: 2.0 * r[None]))
    with pytest.raises(ArithmeticError, match=r"no positions near the given ones satisfy 'far'"):
        pendulum(constraints=(far,)).nearest([1.0, 0.0], [0.0, 0.0])


def test_forces_on_massless_velocities_must_balance():
    system = pendulum(mass=np.diag([1.0, 0.0]), constraints=(), velocity_parts={"x": slice(0, 1), "y": slice(1, 2)})
    with pytest.raises(ValueError, match=r"forces.*massless velocities must balance.*start: y exceeds.*9\.81"):
        system.state([0.0, 0.0], [0.0, 0.0])


def test_a_general_relation_is_checked_row_by_row():
    """That one rate loses what the other gains does not hide it."""
    gains = flexph.laws.Relation("general", (), lambda s: -0.5 * s)
    with pytest.raises(ValueError, match=r"dissipation 'drag' must not generate energy"):
        damped(gains)
