"""Interconnection of multibody systems ([rigid] sec. 6, remark 4), its rank condition, and definition 7 along runs.

Five seconds, as steps of these systems are taken in Python.
"""

import re
from dataclasses import replace

import numpy as np
import pytest
from multibody_samples import (
    CRANK,
    ROD,
    crank,
    differential_drive,
    everything,
    link,
    planar_frame,
    planar_port,
    rod,
    rod_place,
    rolling_coin,
)
from scipy.linalg import block_diag

import rigid
from flexph import GROUND, ValidityWarning, integrate
from flexph.systems import Invariants

random_states = pytest.mark.parametrize("seed", range(3))
ROUND_OFF = 1e-14  # matrices are copies, or sums of two terms of size one


def slider_crank():
    return rigid.interconnect({"crank": crank(), "rod": rod()}, [("crank.C", "rod.C")])


def start(system, speed, seed=0):
    """A consistent state near the sample with velocities of the given size."""
    omega = speed * np.random.default_rng(seed).standard_normal(system.velocities)
    return system.state(*system.nearest(system.sample, omega))


def run(system, x, *, until=1.0, steps=200, inputs=None):
    return integrate(system.phdae(x), x, np.linspace(0.0, until, steps + 1), inputs=inputs or {})


def at_random(system, seed):
    rng = np.random.default_rng(seed)
    return system.sample + 0.5 * rng.standard_normal(system.positions), rng.standard_normal(system.velocities)


@random_states
def test_slider_crank_of_the_paper(seed):
    """[rigid] sec. 6 and 7.3: the blocks, and A(ζ) as it is printed."""
    whole, parts = slider_crank(), (crank(), rod())
    zeta, omega = at_random(whole, seed)
    first, second = zeta[:1], zeta[1:]
    for name, own in {"Z": (first, second), "B": (first, second)}.items():
        blocks = [getattr(s, name)(z) for s, z in zip(parts, own, strict=True)]
        wanted = block_diag(blocks[0][:, :1], blocks[1][:, :3]) if name == "B" else block_diag(*blocks)
        np.testing.assert_allclose(getattr(whole, name)(zeta), wanted, atol=ROUND_OFF)
    np.testing.assert_array_equal(whole.mass, block_diag(parts[0].mass, parts[1].mass))
    momenta = whole.mass @ omega
    np.testing.assert_array_equal(whole.G(zeta, momenta), block_diag(0.0, parts[1].G(second, momenta[1:])))
    np.testing.assert_array_equal(whole.c(zeta), [zeta[2]])
    np.testing.assert_array_equal(whole.c_jacobian(zeta), [[0.0, 0.0, 1.0, 0.0]])
    (s1, c1), (s2, c2) = ((np.sin(a), np.cos(a)) for a in (zeta[0], zeta[3]))
    printed = [[-CRANK * s1, -c2, s2, ROD * s2], [CRANK * c1, -s2, -c2, -ROD * c2]]
    np.testing.assert_allclose(whole.A(zeta), printed, atol=ROUND_OFF)
    assert list(whole.ports) == ["crank.M", "rod.F", "rod.B"]
    assert whole.constraint_names == ("'rod.bearing'", "'crank.C = rod.C'[0]", "'crank.C = rod.C'[1]")
    assert whole.parts["rod.angle"] == whole.velocity_parts["rod.spin"] == slice(3, 4)


@random_states
def test_all_terms_of_the_parts_are_there(seed):
    """Matrices, energies, dissipation and constraints of two systems that have everything."""
    one, two = everything(seed), everything(seed + 10)
    whole = rigid.interconnect({"a": one, "b": two}, [("a.out", GROUND)])
    zeta, omega = at_random(whole, seed)
    (za, zb), (va, vb) = np.split(zeta, 2), np.split(omega, 2)
    assert whole.energy(zeta, omega) == pytest.approx(one.energy(za, va) + two.energy(zb, vb), rel=1e-13)
    for name in ("V_gradient", "c"):
        np.testing.assert_array_equal(
            getattr(whole, name)(zeta), np.concatenate([getattr(one, name)(za), getattr(two, name)(zb)])
        )
    np.testing.assert_array_equal(whole.tau_d(zeta, omega), np.concatenate([one.tau_d(za, va), two.tau_d(zb, vb)]))
    coupled = np.hstack([one.B(za)[:, 1:].T, np.zeros((2, 4))])
    np.testing.assert_array_equal(whole.A(zeta), np.vstack([block_diag(one.A(za), two.A(zb)), coupled]))
    assert [d.name for d in whole.dissipation] == [f"{k}.{n}" for k in "ab" for n in ("friction", "drag", "oil")]
    assert dict(whole.parts) == {"a": slice(0, 5), "b": slice(5, 10)}


@pytest.mark.slow  # the crank turns around
def test_positions_are_kept_though_only_velocities_are_coupled():
    """[rigid] remark 4: p₁ − p₂ and y_B hold to round-off; the balance closes; the forces of the port are opposite."""
    system = slider_crank()
    x = start(system, 2.0)
    found = run(system, x, until=5.0, steps=500, inputs={"crank.M": lambda t: 2.0 * np.sin(t)})
    gap = system.velocity_constraints[-1].position
    zeta = system.split(found.states).positions
    assert np.ptp(zeta[:, 0]) > 2.0 * np.pi  # the crank turns around
    assert max(np.abs(gap.value(z)).max() for z in zeta) < 1e-13
    assert np.abs(zeta[:, 2]).max() < 1e-14
    assert found.ledger.largest_residual < 1e-13


def force_of_coupling(whole, one, zeta, omega, torque):
    """The force of the port C on the crank, from its own equation, and the multiplier of the coupling."""
    made = whole.accelerations(zeta, omega, inputs={"crank.M": torque})
    arm = one.B(zeta[:1])[:, 1:]
    return one.mass @ made.velocities[:1] - torque, arm, made.mu


def test_multipliers_are_the_forces_of_the_ports():
    """F₁ = −μ and F₂ = μ ([rigid] eq. (12)): the crank alone moves as in the mechanism under F₁."""
    whole = slider_crank()
    zeta, omega = whole.nearest(whole.sample, np.ones(4))
    needed, arm, mu = force_of_coupling(whole, crank(), zeta, omega, 0.7)
    np.testing.assert_allclose(needed, -arm @ mu, atol=1e-12)


def pendulums():
    """Three bars that hang together, with gravity, drag, and one through invariants."""
    bars = {
        "a": link(1.0, 0.8, gravity=9.81, drag=0.1, sample=(0.0, 0.0, -0.5)),
        "b": link(0.7, 0.6, gravity=9.81, sample=(0.8 * np.cos(0.5), -0.8 * np.sin(0.5), -1.0)),
    }
    x, y = bars["b"].sample[:2] + 0.6 * np.array([np.cos(1.0), -np.sin(1.0)])
    bars["c"] = link(1.4, 0.5, gravity=9.81, drag=0.05, sample=(x, y, 0.3))
    return bars


def test_interconnection_is_associative():
    """A with (B with C), (A with B) with C and all at once: the same matrices up to order, the same motion."""
    p = pendulums()
    ab = rigid.interconnect({"a": p["a"], "b": p["b"]}, [("a.left", GROUND), ("a.right", "b.left")])
    bc = rigid.interconnect({"b": p["b"], "c": p["c"]}, [("b.right", "c.left")])
    made = {
        "once": rigid.interconnect(p, [("a.left", None), ("a.right", "b.left"), ("b.right", "c.left")]),
        "(ab)c": rigid.interconnect({"ab": ab, "c": p["c"]}, [("ab.b.right", "c.left")]),
        "a(bc)": rigid.interconnect({"a": p["a"], "bc": bc}, [("a.left", GROUND), ("a.right", "bc.b.left")]),
    }
    zeta, omega = at_random(made["once"], 1)
    states = {name: start(s, 1.0, seed=4) for name, s in made.items()}
    found = {name: run(made[name], x, until=0.1, steps=10) for name, x in states.items()}
    for name, s in made.items():
        order = [2, 3, 4, 5, 0, 1] if name == "a(bc)" else range(6)  # the rows of a(bc) begin with those of b and c
        np.testing.assert_array_equal(s.A(zeta)[order], made["once"].A(zeta))
        for one, other in ((s.Z(zeta), made["once"].Z(zeta)), (s.G(zeta, omega), made["once"].G(zeta, omega))):
            np.testing.assert_array_equal(one, other)
        assert s.energy(zeta, omega) == pytest.approx(made["once"].energy(zeta, omega), rel=1e-14)
        np.testing.assert_allclose(found[name].states[:, :18], found["once"].states[:, :18], rtol=0.0, atol=1e-10)
        mu = s.split(found[name].states).mu
        np.testing.assert_allclose(mu[:, order], s.split(found["once"].states).mu, rtol=0.0, atol=1e-6)
    assert set(made["(ab)c"].ports) == {"c.right"}


def test_systems_side_by_side_move_as_alone():
    """Discrete gradients and Jacobians of one system do not touch the positions of the other."""
    alone, other = rod(), link(1.0, 0.8, gravity=9.81, drag=0.2)
    whole = rigid.interconnect({"rod": alone, "bar": other})
    xs = [start(s, 3.0, seed=k) for k, s in enumerate((alone, other))]
    (z1, v1, *_), (z2, v2, *_) = (s.split(x) for s, x in zip((alone, other), xs, strict=True))
    x = whole.state(np.concatenate([z1, z2]), np.concatenate([v1, v2]))
    together = whole.split(run(whole, x, until=0.15, steps=30).states)
    for k, (s, own) in enumerate(zip((alone, other), xs, strict=True)):
        apart = s.split(run(s, own, until=0.15, steps=30).states)
        span = slice(3 * k, 3 * k + 3)
        np.testing.assert_allclose(together.positions[:, span], apart.positions, atol=1e-11)  # 30 steps
        np.testing.assert_allclose(together.velocities[:, span], apart.velocities, atol=1e-11)


def massless(length, sample):
    """A rigid link without mass; its ports hold its angle too: ``left`` (a weld) and ``right`` (a pin)."""
    angle = rigid.PositionMap(lambda z: z.copy(), lambda z: np.eye(3))
    return rigid.MultibodySystem(
        mass=np.zeros((3, 3)),
        sample=np.array(sample),
        kinematics=planar_frame,
        ports={"left": rigid.ExternalPort(lambda z: planar_frame(z).T, angle), "right": planar_port(length)},
    )


def clamp(length):
    """The end of a bar with its angle, to which a link is welded."""

    def jacobian(z):
        return np.array([[1.0, 0.0, -length * np.sin(z[2])], [0.0, 1.0, length * np.cos(z[2])], [0.0, 0.0, 1.0]])

    ends = lambda z: z + np.array([length * np.cos(z[2]), length * np.sin(z[2]), 0.0])  # noqa: E731
    return rigid.ExternalPort(lambda z: (jacobian(z) @ planar_frame(z)).T, rigid.PositionMap(ends, jacobian))


def test_a_massless_rigid_link_is_a_hinge():
    """A bar with a welded massless link of 0.3 m, against a bar with a port there: a singular M."""
    a, b = link(1.0, 0.8, gravity=9.81, sample=(0.0, 0.0, -0.5)), link(0.7, 0.6, gravity=9.81)
    far = np.array([1.1 * np.cos(0.5), -1.1 * np.sin(0.5)])
    b = replace(b, sample=np.array([*far, -1.2]))
    a = replace(a, ports={"left": a.ports["left"], "far": planar_port(1.1), "end": clamp(0.8)})
    arm = massless(0.3, (0.8 * np.cos(0.5), -0.8 * np.sin(0.5), -0.5))
    hinge = rigid.interconnect({"a": a, "b": b}, [("a.left", GROUND), ("a.far", "b.left")])
    through = rigid.interconnect(
        {"a": a, "link": arm, "b": b}, [("a.left", GROUND), ("a.end", "link.left"), ("link.right", "b.left")]
    )
    zeta, omega = hinge.nearest(hinge.sample, np.array([0.0, 0.0, 2.0, 0.0, 0.0, -3.0]))
    x = hinge.state(zeta, omega)
    spin = np.array([0.0, 0.8 * omega[2], omega[2]])
    placed = np.concatenate([zeta[:3], clamp(0.8).position.value(zeta[:3]), zeta[3:]])
    y = through.state(placed, np.concatenate([omega[:3], spin, omega[3:]]))
    one, other = (s.split(run(s, at, until=0.5, steps=20).states) for s, at in ((hinge, x), (through, y)))
    kept = [0, 1, 2, 6, 7, 8]
    assert np.ptp(one.positions[:, 2]) > 0.4
    np.testing.assert_allclose(other.positions[:, kept], one.positions, atol=1e-10)
    np.testing.assert_allclose(other.velocities[:, kept], one.velocities, atol=1e-9)
    place = clamp(0.8).position.value
    np.testing.assert_allclose(other.positions[:, 3:6], [place(z[:3]) for z in one.positions], atol=1e-10)


def test_a_bar_held_by_the_ground_is_a_pendulum():
    """A bar held at its end is a pendulum: the angle of ½ẍ by hand; places stated hold, others stay where they are."""
    bar = link(1.0, 0.8, gravity=9.81, sample=(0.2, 0.1, 0.4))
    held = rigid.interconnect({"bar": bar}, [("bar.left", GROUND.at(0.2, 0.1))])
    assert held.velocity_constraints[0].name == "bar.left = GROUND at (0.2, 0.1)"
    zeta = held.sample
    np.testing.assert_array_equal(held.velocity_constraints[0].position.value(zeta), [0.0, 0.0])
    found = held.accelerations(zeta, np.zeros(3))
    assert found.velocities[2] == pytest.approx(-1.5 * 9.81 * np.cos(0.4) / 0.8, rel=1e-12)
    x = held.state(zeta, np.zeros(3))
    path = held.split(run(held, x).states).positions
    np.testing.assert_allclose(path[:, :2], np.tile([0.2, 0.1], (201, 1)), atol=1e-13)
    with pytest.raises(ValueError, match=r"crank.M has no position: .* but not at \(1.0,\)"):
        plain = replace(crank(), ports={"M": rigid.ExternalPort(np.ones((1, 1)))})
        rigid.interconnect({"crank": plain}, [("crank.M", GROUND.at(1.0))])


# --- the rank condition -----------------------------------------------------------------------------------------------


def test_couplings_that_repeat_one_another_are_named():
    two = {"one": link(1.0, 0.8), "two": link(1.0, 0.8)}
    named = r"'one.left = two.left'\[0\], .* 'one.right = two.right'\[0\], .* depend on each other .* all 4 rows is 3"
    with pytest.raises(ValueError, match=named):
        rigid.interconnect(two, [("one.left", "two.left"), ("one.right", "two.right")])
    with pytest.raises(ValueError, match=r"'rod.bearing', 'rod.B = GROUND'\[.\].* depend.*each other .*2"):
        rigid.interconnect({"rod": rod()}, [("rod.B", GROUND)])


def test_the_sample_may_be_given():
    """A parallelogram of links: its rows are independent, but not where all are in line ([rigid] eq. (13))."""
    bars = {name: link(1.0, length) for name, length in (("a", 0.8), ("b", 1.0), ("c", 0.8))}
    pins = [("a.left", GROUND.at(0.0, 0.0)), ("a.right", "b.left"), ("b.right", "c.right")]
    pins += [("c.left", GROUND.at(1.0, 0.0))]
    place = [0.0, 0.0, 1.0, 0.8 * np.cos(1.0), 0.8 * np.sin(1.0), 0.0, 1.0, 0.0, 1.0]
    system = rigid.interconnect(bars, pins, sample=place)
    np.testing.assert_array_equal(system.sample, place)
    with pytest.raises(ValueError, match=r"one rank around.*sample:.*8 rows 7 .* 'a.right = b.left'"):
        rigid.interconnect(bars, pins, sample=[0.0, 0.0, 0.0, 0.8, 0.0, 0.0, 1.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"sample must have shape \(9,\), got \(3,\)"):
        rigid.interconnect(bars, pins, sample=place[:3])


def equal_slider_crank():
    """Crank and rod of one length: where both stand upright, the bearing and the coupling hold the same."""
    return rigid.interconnect({"crank": crank(), "rod": rod(length=CRANK)}, [("crank.C", "rod.C")])


def cautioned(system, angle, before=()):
    zeta = np.array([*before, angle, *rod_place(angle, CRANK)])
    return [text for caution in system.all_cautions if (text := caution(zeta))]


def test_a_coupling_that_loses_rank_is_named():
    """Near the upright pose, and nowhere else; once, also where the mechanism is a part of another."""
    system = equal_slider_crank()
    assert not any(cautioned(system, angle) for angle in (0.9, 1.2, 1.5, 1.7, 2.5))
    (text,) = cautioned(system, 1.5707)
    assert re.search(r"lose rank: 'rod.bearing', 'crank.C = rod.C'\[1\] depend on each other", text)
    whole = rigid.interconnect({"bar": link(1.0, 0.8), "inner": system}, [("bar.left", GROUND)])
    (text,) = cautioned(whole, 1.5707, before=(0.1, -0.2, 0.3))
    assert "'inner.crank.C = rod.C'[1]" in text


def test_a_run_says_when_a_coupling_loses_rank():
    """A point held by two guides, one of which turns into the other: the time and the ports are in the warning."""
    guides = {
        "fixed": rigid.ExternalPort(np.array([[1.0], [0.0], [0.0]])),
        "turning": rigid.ExternalPort(lambda z: np.array([[np.cos(z[2])], [np.sin(z[2])], [0.0]])),
    }
    point = rigid.MultibodySystem(mass=np.eye(3), sample=np.array([0.2, 0.1, 1.0]), ports=guides)
    system = rigid.interconnect({"point": point}, [("point.fixed", GROUND), ("point.turning", GROUND)])
    x = system.state(system.sample, np.array([0.0, 0.0, -1.0]))
    named = r"t = 0\.9999 s, .* lose rank: 'point.fixed = GROUND', 'point.turning = GROUND' depend on each other"
    with pytest.warns(ValidityWarning, match=named):
        run(system, x, until=0.9999, steps=50)


def test_bad_input_is_refused():
    pair = {"crank": crank(), "rod": rod()}
    cases = [
        ([("crank.C", "rod.C"), ("rod.C", GROUND)], "a port can be coupled once, 'rod.C' is coupled twice"),
        ([("crank.M", "rod.C")], "equal widths: crank.M has 1, rod.C 2"),
        ([("crank.X", "rod.C")], "no port 'X': crank has 'M', 'C'"),
        ([("wheel.C", "rod.C")], "no system 'wheel': there are 'crank', 'rod'"),
        ([(None, GROUND)], "a coupling must have a port of a system"),
        (["crank.C"], r"couplings\[0\] must be a pair of entries that are a text or a Ground, got 'crank\.C'"),
        ([("crank.C", 3)], r"couplings\[0\]\[1\] must be a text or a Ground, got 3"),
    ]
    for couplings, message in cases:
        with pytest.raises(ValueError, match=message):
            rigid.interconnect(pair, couplings)
    with pytest.raises(ValueError, match="systems must be a dict of names with MultibodySystems, got"):
        rigid.interconnect([differential_drive(2.0, 0.3, 0.9, 0.5)])
    with pytest.raises(ValueError, match="names without dots"):
        rigid.interconnect({"a.b": crank()})
    with pytest.raises(ValueError, match=r"systems\['crank'\] must be a MultibodySystem, got str"):
        rigid.interconnect({"crank": "crank"})
    with pytest.raises(ValueError, match="must not be empty"):
        rigid.interconnect({})


def test_invariants_stay_invariants():
    """Springs through invariants, next to a potential of the positions: each keeps its own discrete gradient."""
    spring = Invariants(
        lambda z: np.array([z[:2] @ z[:2]]),
        lambda z: np.array([[2.0 * z[0], 2.0 * z[1], 0.0]]),
        lambda pi: float(np.sqrt(pi[0] + 1.0)),
        lambda pi: 0.5 / np.sqrt(pi + 1.0),
    )
    bar = link(1.0, 0.8, gravity=9.81)
    sprung = replace(bar, potential=(bar.potential, spring))
    whole = rigid.interconnect({"a": sprung, "b": bar})
    assert len(whole.potentials) == 3
    zeta, _ = at_random(whole, 0)
    np.testing.assert_allclose(
        whole.V_gradient(zeta), np.concatenate([sprung.V_gradient(zeta[:3]), bar.V_gradient(zeta[3:])]), rtol=1e-14
    )


# --- definition 7 -----------------------------------------------------------------------------------------------------


@random_states
@pytest.mark.parametrize("name", ["slider-crank", "everything", "coin"])
def test_equations_lie_in_the_structures(name, seed):
    """(ẋ, f_R, f_P; e_L, e_R, e_P) of the PHDAE's right-hand side in D, (x, e_L) in L, (e_R, f_R) in R, at states."""
    system = {"slider-crank": slider_crank, "everything": lambda: everything(seed), "coin": rolling_coin}[name]()
    u = np.random.default_rng(seed).standard_normal(system.B(system.sample).shape[1])
    zeta, omega = system.nearest(system.sample, np.random.default_rng(seed + 1).standard_normal(system.velocities))
    forces = {port: u[span] for port, span in system.port_slices.items()}
    x = system.state(zeta, omega, inputs=forces)
    equations, f = system.phdae(x), system.layout
    z = equations.z(x)
    flow = (equations.J(x) - equations.R(x)) @ z + equations.B(x) @ u
    tau = system.V_gradient(zeta) + system.c_jacobian(zeta).T @ x[f.lam]
    friction, momenta, rates = system.tau_d(zeta, omega), system.mass @ omega, system.B(zeta).T @ omega
    flows = {"positions": -flow[f.positions], "momenta": -flow[f.velocities], "resistive": -friction}
    efforts = {"positions": tau, "momenta": omega, "resistive": omega}
    flows |= {port: u[span] for port, span in system.port_slices.items()}
    efforts |= {port: rates[span] for port, span in system.port_slices.items()}
    D = rigid.dirac_structure(system, zeta, momenta)
    assert D.defect(flows, efforts) < 1e-12
    assert rigid.lagrangian_submanifold(system).defect(zeta, momenta, tau, omega) < 1e-12
    assert rigid.resistive_relation(system, zeta).contains(-friction, omega)
    # and ẋ is the rate of the motion: λ, μ are those with which the constraints go on to hold
    assert np.allclose(system.mass @ system.accelerations(zeta, omega, inputs=forces).velocities, flow[f.velocities])


def means_of(system, found, k):
    """Flows and efforts of a step, and the position and momenta in its middle."""
    x0, x1 = found.states[k], found.states[k + 1]
    h, f = found.times[k + 1] - found.times[k], system.layout
    middle = 0.5 * (x0 + x1)
    zeta, omega = middle[f.positions], middle[f.velocities]
    step = (x1 - x0) / h
    tau = system.V_gradient(zeta) + system.c_jacobian(zeta).T @ x1[f.lam]
    flows = {"positions": -step[f.positions], "momenta": -system.mass @ step[f.velocities]}
    flows["resistive"] = -system.tau_d(zeta, omega)
    efforts = {"positions": tau, "momenta": omega, "resistive": omega}
    rates = system.B(zeta).T @ omega
    efforts |= {port: rates[span] for port, span in system.port_slices.items()}
    return flows, efforts, zeta, system.mass @ omega


def defect_of_run(system, found, force):
    """The largest distance of the steps from D in their middles."""
    worst = 0.0
    for k in range(0, len(found.times) - 1, 7):
        flows, efforts, zeta, momenta = means_of(system, found, k)
        middle = 0.5 * (found.times[k] + found.times[k + 1])
        flows |= {p: np.atleast_1d(force.get(p, lambda t: np.zeros(0))(middle)) for p in system.ports}
        flows = {p: f if f.size else np.zeros_like(efforts[p]) for p, f in flows.items()}
        worst = max(worst, rigid.dirac_structure(system, zeta, momenta).defect(flows, efforts))
    return worst


def test_steps_of_a_nonholonomic_run_lie_in_the_dirac_structure():
    """Without position constraints all means are those in the middle: to round-off over a step of 0.02 s."""
    system, force = differential_drive(), {"left": lambda t: 1.0 + np.sin(t), "right": lambda t: 0.5}
    x = start(system, 1.0)
    found = run(system, x, until=2.0, steps=100, inputs=force)
    assert defect_of_run(system, found, force) < 1e-12


def test_steps_of_a_run_approach_the_dirac_structure():
    """With discrete Jacobians of positions: of second order in D; in L at every state, to round-off."""
    system, force = slider_crank(), {"crank.M": lambda t: 2.0 * np.sin(t)}
    x = start(system, 2.0)
    found = [run(system, x, until=0.5, steps=steps, inputs=force) for steps in (25, 50)]
    defects = np.array([defect_of_run(system, run_, force) for run_ in found])
    assert np.log2(defects[:-1] / defects[1:]) == pytest.approx(2.0, abs=0.15)  # the worst of other steps each time
    assert defects[-1] < 4e-4
    L = rigid.lagrangian_submanifold(system)
    for state in found[0].states:
        zeta, omega, lam, _ = system.split(state)
        tau = system.V_gradient(zeta) + system.c_jacobian(zeta).T @ lam
        assert L.contains(zeta, system.mass @ omega, tau, omega)


def test_members_of_the_structures_have_the_sizes_of_the_system():
    car = differential_drive(2.0, 0.3, 0.9, 0.5)
    for zeta, momenta, message in (
        (np.zeros(2), np.zeros(3), r"zeta must have shape \(3,\), got \(2,\)"),
        (np.zeros(3), np.zeros(4), r"momenta must have shape \(3,\), got \(4,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            rigid.dirac_structure(car, zeta, momenta)
    L, zero = rigid.lagrangian_submanifold(car), np.zeros(3)
    with pytest.raises(ValueError, match=r"tau must have shape \(3,\), got \(2,\)"):
        L.contains(zero, zero, np.zeros(2), zero)
    with pytest.raises(ValueError, match=r"tau must have shape \(3,\), got \(2,\)"):
        L.tangent(zero, np.zeros(2))
    relation = rigid.resistive_relation(car, zero)
    with pytest.raises(ValueError, match=r"effort must have shape \(3,\), got \(2,\)"):
        relation.contains(zero, np.zeros(2))
    with pytest.raises(ValueError, match=r"flow must have shape \(3,\), got \(2,\)"):
        relation.contains(np.zeros(2), zero)
