"""Switching systems: events, impulses on constraints, modes by their validity, the ledger, bad input.

Five seconds, as steps and switches of general systems are taken in Python.
"""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

from flexph import PHDAE, InputError, IntegrationError, IntegrationInterrupted, integrate
from flexph.consistency.equations import Equations
from flexph.methods import DiscreteGradient, Gauss, by_name
from flexph.switching import At, Every, Guard, Mode, Reset, SwitchingPHDAE, SwitchingTrajectory, Transition
from flexph.switching.arrival import impulsive
from flexph.systems.inputs import Forcing

GRID = np.linspace(0.0, 1.0, 11)


def run(system, start, times, **options):
    return integrate(system, start, times, progress=False, **options)


def quadratic(Q, J, R=None, *, free=0, B=None, **options):
    """H = ½xᵀQx of the first states, E = diag(1, 0) with ``free`` algebraic states."""
    n = len(Q)
    E = np.diag(np.append(np.ones(n), np.zeros(free)))
    return PHDAE(
        E=E,
        J=J,
        R=R,
        B=B,
        z=lambda x: np.append(Q @ x[:n], x[n:]),
        H=lambda x: 0.5 * float(x[:n] @ Q @ x[:n]),
        sample=np.ones(n + free),
        **options,
    )


def joined(G, on):
    """J (n + k) of ẋ = Gλ, 0 = Gᵀz, and R that lets λ vanish where the constraints are off."""
    n, k = G.shape
    J = np.zeros((n + k, n + k))
    if on:
        J[:n, n:], J[n:, :n] = G, -G.T
    return J, np.diag(np.append(np.zeros(n), np.zeros(k) if on else np.ones(k)))


def closing(Q, G, time=0.35):
    """Constraints Gᵀ∇H = 0 that begin at a time."""
    modes = {name: quadratic(Q, *joined(G, name == "on"), free=G.shape[1]) for name in ("off", "on")}
    return SwitchingPHDAE(modes, [Transition(source="off", target="on", when=At(time))])


# --- impulses ----------------------------------------------------------------------------------------------------


def test_capacitors_that_a_switch_connects_keep_their_charge():
    first, second = 2.0, 3.0
    system = closing(np.diag([1.0 / first, 1.0 / second]), np.array([[1.0], [-1.0]]))
    found = run(system, (4.0, 0.0, 0.0), GRID, mode="off")
    (switch,) = found.switches
    assert switch.time == 0.35
    np.testing.assert_allclose(switch.after[:2], [1.6, 2.4], rtol=1e-15)  # equal voltages, 4 C together
    np.testing.assert_allclose(np.abs(switch.free), [[math.sqrt(0.5), math.sqrt(0.5), 0.0]], atol=1e-15)
    assert switch.lost == pytest.approx(0.5 * first * second / (first + second) * 2.0**2, rel=1e-14)
    assert found.lost_at_switches == switch.lost
    assert found.energy_drift() < 1e-15
    np.testing.assert_array_equal(found.times, np.sort([*GRID, 0.35, 0.35]))
    assert found.modes.tolist() == ["off"] * 5 + ["on"] * 8
    assert switch.cause == "off to on"


def test_plastic_impact_keeps_the_momentum():
    """Two masses that stick: x = momenta, the loss is that of the reduced mass."""
    m, v = np.array([2.0, 0.5]), np.array([3.0, -1.0])
    found = run(closing(np.diag(1.0 / m), np.array([[1.0], [-1.0]])), (*(m * v), 0.0), GRID, mode="off")
    after = found.switches[0].after
    np.testing.assert_allclose(after[:2] / m, np.full(2, m @ v / m.sum()), rtol=1e-14)
    assert found.switches[0].lost == pytest.approx(0.5 * m.prod() / m.sum() * 16.0, rel=1e-14)
    np.testing.assert_allclose(found.switches[0].impulse[:2], after[:2] - m * v, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_state_after_is_the_nearest_consistent_one_in_energy(seed):
    """Another route: min ½(y − x)ᵀQ(y − x) over GᵀQy = 0, by orthogonal projection in the factor of Q."""
    rng = np.random.default_rng(seed)
    n, k = 7, 3
    root, G, x = rng.standard_normal((n, n)), rng.standard_normal((n, k)), rng.standard_normal(n)
    Q = root.T @ root + np.eye(n)
    found = run(closing(Q, G), (*x, *np.zeros(k)), GRID, mode="off").switches[0]
    factor = np.linalg.cholesky(Q).T
    basis = np.linalg.qr(factor @ G)[0]
    expected = np.linalg.solve(factor, factor @ x - basis @ (basis.T @ (factor @ x)))
    np.testing.assert_allclose(found.after[:n], expected, atol=1e-12)  # condition of Q about 1e2
    assert found.lost == pytest.approx(0.5 * (x - expected) @ Q @ (x - expected), rel=1e-10)
    assert found.free.shape == (n - k, n + k)
    np.testing.assert_allclose(found.free @ found.jump, 0.0, atol=1e-12)


def test_redundant_constraints_move_the_state_as_one():
    G = np.array([[1.0], [-1.0]])
    Q = np.diag([0.5, 0.25])
    single = run(closing(Q, G), (4.0, 0.0, 0.0), [0.0, 0.35], mode="off")
    # the algebraic states of redundant constraints are not determined, but the state after the impulses is
    twice = closing(Q, np.hstack([G, 2.0 * G])).system("on")
    made = impulsive(Equations(twice, Forcing({}, {}), (0.0, 1.0)), 0.0, np.array([4.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(made.state[:2], single.final[:2], rtol=1e-13)
    assert made.free.shape == (1, 4)


@pytest.mark.parametrize("unit", [1.0, 1e-6, 1e-13])
def test_units_of_equations_decide_of_no_impulse(unit):
    """Algebraic states that determine one another, two of them in other units, beside a constraint of capacitors."""
    J = np.zeros((7, 7))
    J[:2, 2] = 1.0, -1.0  # equal voltages by the third
    J[3, 4], J[5, 6] = 1.0, unit
    J[0, 3] = J[1, 5] = 1.0
    system = quadratic(np.diag([0.5, 0.25]), J - J.T, free=5)
    made = impulsive(Equations(system, Forcing({}, {}), (0.0, 1.0)), 0.0, np.array([4.0, 0.0, *np.zeros(5)]))
    np.testing.assert_allclose(made.state[:2], [4.0 / 3.0, 8.0 / 3.0], rtol=1e-12)  # their charge stays
    assert made.free.shape == (1, 7)


def source(J, on):
    """A capacitor of 3 F and a current: through a source, or none."""
    ports, B = {"source": slice(0, 1)}, np.array([[0.0], [1.0 if on else 0.0]])
    return quadratic(np.eye(1) / 3.0, J, np.diag([0.0, 0.0 if on else 1.0]), free=1, B=B, ports=ports)


def test_a_source_loses_as_much_as_it_stores():
    """A capacitor switched to an ideal source: work CV², half of it lost; the voltage then follows the source."""
    connected = np.array([[0.0, 1.0], [-1.0, 0.0]])
    system = SwitchingPHDAE(
        {"open": source(np.zeros((2, 2)), False), "closed": source(connected, True)},
        [Transition(source="open", target="closed", when=At(0.3))],
    )
    found = run(
        system, (0.0, 0.0), np.linspace(0.0, 1.0, 41), mode="open", inputs={"source": lambda t: 2.0 + math.sin(t)}
    )
    (switch,) = found.switches
    volt = 2.0 + math.sin(0.3)
    assert switch.work["source"] == pytest.approx(3.0 * volt**2, rel=1e-14)
    assert switch.lost == pytest.approx(1.5 * volt**2, rel=1e-14)
    assert switch.after == pytest.approx([3.0 * volt, 3.0 * math.cos(0.3)], rel=1e-9)  # the current by differences
    assert found.final[0] == pytest.approx(
        3.0 * (2.0 + math.sin(1.0)), abs=3e-4
    )  # 3 F · h²/8 · V̈, in turn to one side and the other
    assert found.energy_drift() < 1e-14


def test_a_switch_without_a_consistent_state_is_named():
    """Two sources of different voltage in parallel."""
    J = np.zeros((3, 3))
    J[0, 1:], J[1:, 0] = 1.0, -1.0
    ports = {"first": slice(0, 1), "second": slice(1, 2)}
    B = np.vstack([np.zeros((1, 2)), np.eye(2)])
    closed = quadratic(np.eye(1), J, free=2, B=B, ports=ports)
    off = quadratic(np.eye(1), np.zeros((3, 3)), np.diag([0.0, 1.0, 1.0]), free=2)
    system = SwitchingPHDAE(
        {"off": off, "short": closed}, [Transition(source="off", target="short", when=At(0.35), name="closing")]
    )
    message = r"closing at t = 0\.35 s, from mode 'off': mode 'short' has no consistent state here: no impulse"
    with pytest.raises(IntegrationError, match=message) as caught:
        run(system, (0.0, 0.0, 0.0), GRID, mode="off", inputs={"first": 1.0, "second": 2.0})
    assert caught.value.solution.times[-1] == 0.35


# --- guards and times -------------------------------------------------------------------------------------------


def ball(bounce=0.8, **options):
    """x = (height, momentum) of 1 kg; the floor returns a part of the speed."""
    flight = PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z=lambda x: np.array([10.0, x[1]]),
        H=lambda x: 10.0 * float(x[0]) + 0.5 * float(x[1]) ** 2,
        sample=np.ones(2),
    )
    reset = Reset(lambda t, x: np.array([x[0], -bounce * x[1]]), keeps={"height": lambda x: x[0]})
    floor = Transition(source="flight", target="flight", when=Guard(lambda t, x: x[0], -1), reset=reset, name="floor")
    return SwitchingPHDAE({"flight": flight}, [floor], **options)


def test_a_bouncing_ball_meets_the_floor_in_time():
    """t₁ = √(2h/g) and then 2eᵏt₁: the midpoint rule is exact for parabolas."""
    found = run(ball(), (0.8, 0.0), np.linspace(0.0, 2.4, 25), method=Gauss(2))
    falls = np.cumsum([0.4, *(0.8 * 0.8 ** np.arange(1, len(found.switches)))])
    np.testing.assert_allclose([s.time for s in found.switches], falls, atol=1e-12)
    lost = [8.0 * 0.8 ** (2 * k) * (1.0 - 0.8**2) for k in range(len(falls))]
    np.testing.assert_allclose([s.lost for s in found.switches], lost, rtol=1e-11)
    assert found.states[:, 0].min() > -1e-14
    assert found.energy_drift() < 1e-14


def test_switches_that_accumulate_are_a_zeno_point():
    """All bounces are over at 0.4 (1 + 2·0.5/(1 − 0.5)) = 1.2 s."""
    with pytest.raises(IntegrationError, match=r"switches accumulate \(Zeno\): more than limit = 20") as caught:
        run(ball(0.5, limit=20), (0.8, 0.0), np.linspace(0.0, 2.0, 21), method=Gauss(2))
    assert caught.value.solution.times[-1] == pytest.approx(1.2, abs=1e-6)


def clock(*transitions, modes=("a", "b", "c")):
    """ẋ = 1 in all modes: x is the time since the start."""
    one = quadratic(np.eye(1), np.zeros((1, 1)), B=np.eye(1), ports={"one": slice(0, 1)})
    return SwitchingPHDAE({name: one for name in modes}, transitions)


def causes(system, **options):
    found = run(system, (0.0,), GRID, mode="a", inputs={"one": 1.0}, **options)
    return [(pytest.approx(s.time, abs=1e-12), s.source, s.target) for s in found.switches], found


def test_pulses_are_met_exactly_and_once():
    on, off = (
        Transition(source="b", target="a", when=Every(0.1)),
        Transition(source="a", target="b", when=Every(0.1, 0.03)),
    )
    made, found = causes(clock(on, off))
    assert len(made) == 20
    assert found.switches[-1].time == 1.0  # 10 · 0.1, and the grid's own last time
    assert np.diff(found.times)[np.diff(found.times) > 0.0].min() > 0.029  # 0.30000000000000004 is no step of its own
    assert found.final == pytest.approx([1.0], abs=1e-14)


def test_a_mode_that_is_entered_beyond_a_guard_is_left_at_once():
    to_b = Transition(source="a", target="b", when=Guard(lambda t, x: x[0] - 0.55))
    to_c = Transition(source="b", target="c", when=Guard(lambda t, x: x[0] - 0.2))
    made, found = causes(clock(to_b, to_c))
    assert made == [(0.55, "a", "b"), (0.55, "b", "c")]
    assert found.modes[-1] == "c"
    assert (found.times == found.switches[0].time).sum() == 3  # before, between, after


def test_a_guard_that_is_zero_where_its_mode_begins_waits():
    """x − 0.5 is zero up to round-off there and then goes away from it."""
    there = Transition(source="a", target="b", when=Guard(lambda t, x: x[0] - 0.5))
    back = Transition(source="b", target="a", when=Guard(lambda t, x: x[0] - 0.5, -1))
    assert causes(clock(there, back))[0] == [(0.5, "a", "b")]


def test_either_way_is_a_passage():
    """A guard without direction is not left because it is entered beyond."""
    passing = Transition(source="a", target="b", when=Guard(lambda t, x: math.sin(10.0 * x[0]), 0))
    again = Transition(source="b", target="a", when=Guard(lambda t, x: math.sin(10.0 * x[0]), 0))
    assert causes(clock(passing, again))[0] == [
        (0.1 * math.pi, "a", "b"), (0.2 * math.pi, "b", "a"), (0.3 * math.pi, "a", "b")
    ]  # fmt: skip


def test_a_condition_that_does_not_hold_leaves_the_mode():
    first = Transition(source="a", target="b", when=Every(0.25), condition=lambda t, x: t > 0.4)
    waits = Transition(
        source="b", target="c", when=lambda t, x: 0.03 - abs(x[0] % 0.2 - 0.1), condition=lambda t, x: t > 0.8
    )
    assert causes(clock(first, waits))[0] == [(0.5, "a", "b"), (0.87, "b", "c")]


def test_a_mode_without_ports_gives_no_output():
    plain = quadratic(np.eye(1), np.zeros((1, 1)))
    driven = quadratic(np.eye(1), np.zeros((1, 1)), B=np.eye(1), ports={"one": slice(0, 1)})
    system = SwitchingPHDAE({"a": plain, "b": driven}, [Transition(source="a", target="b", when=At(0.45))])
    found = run(system, (1.0,), GRID, mode="a", inputs={"one": 1.0}, save_every=2)
    assert np.isnan(found.outputs["one"][:3]).all() and np.isfinite(found.outputs["one"][3:]).all()
    assert found.ledger.work["one"].sum() == pytest.approx(0.5 * (1.55**2 - 1.0), rel=1e-14)
    np.testing.assert_allclose(found.times, [0.0, 0.2, 0.4, 0.45, 0.45, 0.6, 0.8, 1.0])


# --- modes by their validity -----------------------------------------------------------------------------------

INDUCTANCE, CAPACITANCE, PERIOD, DUTY, VOLTAGE = 1e-3, 1e-3, 5e-4, 0.4, 10.0


def boost(load):
    """[survey] example 5.1: x = (flux, charge, λ), λ the voltage or current that a mode leaves open."""

    def mode(J, unused):
        R = np.diag([0.0, 1.0 / load, unused])
        options = {"B": np.array([[1.0], [0.0], [0.0]]), "ports": {"in": slice(0, 1)}}
        return quadratic(np.diag([1.0 / INDUCTANCE, 1.0 / CAPACITANCE]), np.array(J, dtype=float), R, free=1, **options)

    volt, current = (lambda t, x: x[1] / CAPACITANCE), (lambda t, x: x[0] / INDUCTANCE)
    modes = {
        "closed, blocks": Mode(mode(np.zeros((3, 3)), 1.0), {"−v": volt}, ["closed, conducts"]),
        "closed, conducts": Mode(
            mode([[0, 0, 0], [0, 0, 1], [0, -1, 0]], 0.0), {"i": lambda t, x: x[2]}, ["closed, blocks"]
        ),
        "open, blocks": Mode(
            mode([[0, 0, -1], [0, 0, 0], [1, 0, 0]], 0.0), {"−v": lambda t, x: volt(t, x) - x[2]}, ["open, conducts"]
        ),
        "open, conducts": Mode(mode([[0, -1, 0], [1, 0, 0], [0, 0, 0]], 1.0), {"i": current}, ["open, blocks"]),
    }  # fmt: skip
    closed, opened = ("closed, blocks", "closed, conducts"), ("open, blocks", "open, conducts")
    return SwitchingPHDAE(
        modes,
        [
            Transition(source=closed, target=opened, when=Every(PERIOD, DUTY * PERIOD)),
            Transition(source=opened, target=closed, when=Every(PERIOD)),
        ],
    )


def test_diodes_follow_their_inequalities():
    """A light load: the current ends in each period, M = ½(1 + √(1 + 4D²/K)), K = 2L/(RT), and nothing is lost."""
    load, periods = 100.0, 20
    ratio = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * DUTY**2 * load * PERIOD / (2.0 * INDUCTANCE)))
    start, times = (0.0, 0.95 * ratio * VOLTAGE * CAPACITANCE, 0.0), np.arange(periods + 1) * PERIOD
    found = run(boost(load), start, times, inputs={"in": VOLTAGE})
    assert found.modes[0] == "closed, blocks"
    last = [s for s in found.switches if s.time > (periods - 1.5) * PERIOD]
    assert [(s.source, s.target) for s in last[-3:]] == [
        ("closed, blocks", "open, conducts"), ("open, conducts", "open, blocks"), ("open, blocks", "closed, blocks"),
    ]  # fmt: skip
    # the balance of a period gives the rate at which the charge approaches its limit, ripple apart
    volts = found.states[[np.searchsorted(found.times, t) for t in times[[10, 20]]], 1] / CAPACITANCE
    mean = volts.mean()
    rate = (DUTY * PERIOD * VOLTAGE) ** 2 / (2.0 * INDUCTANCE * PERIOD) / (mean - VOLTAGE) - mean / load
    assert np.diff(volts)[0] == pytest.approx(rate / CAPACITANCE * 10 * PERIOD, rel=0.05)
    assert volts[0] < volts[1] < ratio * VOLTAGE
    assert found.states[:, 0].min() > -1e-12
    assert abs(found.lost_at_switches) < 1e-15
    assert found.energy_drift() < 1e-13


def test_a_diode_conducts_rather_than_break_a_current():
    """Both positions have a consistent state; the impulse that a blocking diode would need loses energy."""
    found = run(boost(10.0), (5e-3, 5e-3, 0.0), [0.0, PERIOD], mode="closed, blocks", inputs={"in": VOLTAGE})
    assert [s.target for s in found.switches[:1]] == ["open, conducts"]
    forced = SwitchingPHDAE(
        boost(10.0).modes, [Transition(source="closed, blocks", target="open, blocks", when=At(DUTY * PERIOD))]
    )
    broken = run(forced, (5e-3, 5e-3, 0.0), [0.0, 0.5 * PERIOD], mode="closed, blocks", inputs={"in": VOLTAGE})
    assert broken.switches[0].lost == pytest.approx(0.5 * 7e-3**2 / INDUCTANCE, rel=1e-10)  # 5 mWb + 10 V · 0.2 ms
    assert broken.energy_drift() < 1e-14


def test_no_valid_mode_is_told_with_the_reasons():
    driven = quadratic(np.eye(1), np.zeros((1, 1)), B=np.eye(1), ports={"one": slice(0, 1)})
    modes = {
        "a": Mode(driven, {"low": lambda t, x: 0.42 - x[0]}),
        "b": Mode(quadratic(np.eye(1), np.zeros((1, 1))), {"high": lambda t, x: x[0] - 0.5}),
    }  # fmt: skip
    message = (
        r"not valid: valid\['low'\] of mode 'a' at t = 0\.42 s, from mode 'a': no mode can follow\. "
        r"'b': valid\['high'\] of mode 'b' is -0\.08"
    )
    with pytest.raises(IntegrationError, match=message):
        run(SwitchingPHDAE(modes), (0.0,), GRID, mode="a", inputs={"one": 1.0})
    with pytest.raises(ValueError, match=r"no consistent start.*t = 0\.0 s\. 'a': valid\['low'\].*-0\.05; 'b':"):
        run(SwitchingPHDAE(modes), (0.47,), GRID)


# --- take-off by the sign of a multiplier -------------------------------------------------------------------------

BODY, FOOT, SPRING, DAMPER, LENGTH, GRAVITY = 2.0, 0.5, 2000.0, 12.0, 0.5, 9.81
"""Masses [kg], [N/m], [N s/m], [m], [m/s²] of a stick whose foot has a mass: [survey] example 5.2, last remark."""


def stick(scale=1.0, *, by_validity=False):
    """x = (height of the mass, of the foot, their momenta, force λ of the ground); forces in units of ``scale`` N.

    On the ground 0 = v_foot with λ ≥ 0 (index 2), in flight λ = 0. With kg as they are, lengths in units of 1/scale m
    and times in s, momenta and forces scale with 1/scale too.
    """

    def mode(contact):
        J, R = np.zeros((5, 5)), np.zeros((5, 5))
        for i, j, value in ((0, 2, 1.0), (1, 3, 1.0), (3, 4, contact)):
            J[i, j], J[j, i] = value, -value
        R[2:4, 2:4] = DAMPER * np.array([[1.0, -1.0], [-1.0, 1.0]])
        R[4, 4] = 1.0 - contact
        length, g = LENGTH * scale, GRAVITY * scale

        def z(x):
            pull = SPRING * (x[0] - x[1] - length)
            return np.array([pull + BODY * g, -pull + FOOT * g, x[2] / BODY, x[3] / FOOT, x[4]])

        def H(x):
            kinetic = 0.5 * x[2] ** 2 / BODY + 0.5 * x[3] ** 2 / FOOT
            return 0.5 * SPRING * (x[0] - x[1] - length) ** 2 + g * (BODY * x[0] + FOOT * x[1]) + kinetic

        return PHDAE(E=np.diag([1.0, 1.0, 1.0, 1.0, 0.0]), J=J, R=R, z=z, H=H,
                     sample=scale * np.array([0.6, 0.1, 1.0, 0.5, 1.0]))  # fmt: skip

    height, force = (lambda t, x: x[1]), (lambda t, x: x[4])
    modes = {"flight": mode(0.0), "contact": mode(1.0)}
    if by_validity:
        return SwitchingPHDAE(
            {n: Mode(s, {"λ": force} if n == "contact" else {"height": height}) for n, s in modes.items()}
        )
    return SwitchingPHDAE(
        modes,
        [
            Transition(source="flight", target="contact", when=Guard(height, -1), name="touch-down"),
            Transition(source="contact", target="flight", when=Guard(force, -1), name="take-off"),
        ],
    )


def taking_off(velocity):
    """When and where λ = m_f g − k s − d ṡ of a mass that sets out with a velocity from s = y − x₀ = 0 is zero.

    A damped oscillator about s = −mg/k, up to the root of one function.
    """
    decay = 0.5 * DAMPER / BODY
    omega, rest = math.sqrt(SPRING / BODY - decay**2), -BODY * GRAVITY / SPRING

    def motion(t):
        a, b = -rest, (velocity - decay * rest) / omega
        c, s = math.cos(omega * t), math.sin(omega * t)
        away = math.exp(-decay * t) * (a * c + b * s)
        return rest + away, math.exp(-decay * t) * omega * (b * c - a * s) - decay * away

    def pull(t):
        s, v = motion(t)
        return SPRING * s + DAMPER * v - FOOT * GRAVITY

    grid = np.linspace(1e-3, 0.25, 200)
    k = next(k for k in range(grid.size - 1) if pull(grid[k]) < 0.0 <= pull(grid[k + 1]))
    time = brentq(pull, grid[k], grid[k + 1], xtol=1e-15)
    return time, motion(time)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e-6])
def test_take_off_where_the_force_of_the_ground_becomes_negative(scale):
    """A guard on a multiplier of index 2, in m, mm and Mm: the instant in closed form, no jump, no loss."""
    start = scale * np.array([LENGTH, 0.0, -3.0 * BODY, 0.0, 0.0])
    found = run(stick(scale), start, np.linspace(0.0, 0.15, 76), mode="contact", method=Gauss(6))
    (switch,) = found.switches
    time, (stretch, velocity) = taking_off(-3.0)
    assert switch.cause == "take-off"
    assert switch.time == pytest.approx(time, abs=1e-9)  # sixth order at ωh = 0.06
    # λ is round-off of the weight there, and zero in the air
    assert abs(switch.before[4]) < 1e-9 * FOOT * GRAVITY * scale
    assert abs(switch.after[4]) < 1e-9 * FOOT * GRAVITY * scale
    np.testing.assert_allclose(switch.after[:4] / scale, [LENGTH + stretch, 0.0, BODY * velocity, 0.0], atol=1e-8)
    assert not switch.jump[:4].any() and switch.lost == 0.0
    assert found.energy_drift() < 1e-12
    contact = found.modes == "contact"
    assert (found.states[contact][1:-1, 4] > 0.0).all()
    assert (found.states[~contact][2:, 1] > 0.0).all()


def test_touch_down_of_a_foot_with_mass_loses_its_energy():
    """Falling with the spring at rest: the foot's momentum goes, the mass's stays, and λ takes it off again."""
    fall, times = 0.3, np.linspace(0.0, 0.45, 151)
    start = np.array([LENGTH + fall, fall, 0.0, 0.0, 0.0])
    found = run(stick(), start, times, mode="flight", method=Gauss(6))
    down, off = found.switches[:2]
    speed = math.sqrt(2.0 * GRAVITY * fall)
    assert down.time == pytest.approx(speed / GRAVITY, rel=1e-12)
    assert down.lost == pytest.approx(FOOT * GRAVITY * fall, rel=1e-10)
    assert down.after[2] == pytest.approx(-BODY * speed, rel=1e-10)
    assert off.time - down.time == pytest.approx(taking_off(-speed)[0], abs=1e-8)
    assert found.energy_drift() < 1e-12
    # the same by validity: a mode lasts as long as its inequality holds, the other one follows
    again = run(stick(by_validity=True), start, times, mode="flight", method=Gauss(6))
    assert [s.target for s in again.switches] == [s.target for s in found.switches]
    np.testing.assert_allclose([s.time for s in again.switches], [s.time for s in found.switches], atol=1e-9)


# --- resets ------------------------------------------------------------------------------------------------------


def test_resets_say_what_they_keep_and_gain_nothing():
    with pytest.raises(IntegrationError, match=r"would gain energy: H.*8 J before.*9\.68 J after, 1\.68 J more"):
        run(ball(1.1), (0.8, 0.0), GRID, method=Gauss(2))
    system = ball()
    (floor,) = system.transitions
    lying = Reset(lambda t, x: x * (1.0, -0.5), keeps={"momentum": lambda x: x[1]})
    wrong = SwitchingPHDAE(system.modes, [Transition(source="flight", target="flight", when=floor.when, reset=lying)])
    with pytest.raises(IntegrationError, match="does not keep 'momentum': -4 before and 2 after"):
        run(wrong, (0.8, 0.0), GRID, method=Gauss(2))
    assert run(system, (0.8, 0.0), GRID).switches[0].kept == {"height": pytest.approx(0.0, abs=1e-12)}


def test_a_reset_must_end_on_the_constraints():
    system = closing(np.eye(2), np.array([[1.0], [-1.0]]))
    bad = Transition(source="off", target="on", when=At(0.35), reset=lambda t, x: 0.5 * x)
    with pytest.raises(IntegrationError, match="mode 'on' has no consistent state here: violated"):
        run(SwitchingPHDAE(system.modes, [bad]), (1.0, 0.0, 0.0), GRID, mode="off")


# --- runs --------------------------------------------------------------------------------------------------------


def test_a_run_is_read_back(tmp_path):
    system = boost(10.0)
    found = run(system, (0.0, 0.0, 0.0), np.arange(4) * PERIOD, inputs={"in": VOLTAGE})
    found.save(tmp_path / "run.h5")
    again = SwitchingTrajectory.load(tmp_path / "run.h5", system)
    for name in ("times", "states", "modes", "output_times"):
        np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
    np.testing.assert_array_equal(again.outputs["in"], found.outputs["in"])
    for name in ("total_energy", "total_dissipation", "residual", "iterations", "steps", "rejected"):
        np.testing.assert_array_equal(getattr(again.ledger, name), getattr(found.ledger, name))
    assert len(again.switches) == len(found.switches) > 4
    for one, other in zip(again.switches, found.switches, strict=True):
        assert (one.time, one.source, one.target, one.cause, one.lost, one.energy) == (
            other.time, other.source, other.target, other.cause, other.lost, other.energy
        )  # fmt: skip
        np.testing.assert_array_equal(one.free, other.free)
        np.testing.assert_array_equal(one.after, other.after)
        assert one.work == other.work
    with pytest.raises(ValueError, match="another system: 'mode closed, blocks' there, 'mode flight' here"):
        SwitchingTrajectory.load(tmp_path / "run.h5", ball())


def test_what_is_finished_is_kept():
    def interrupted(t, x):
        if t > 0.75:
            raise KeyboardInterrupt
        return x[0] - 2.0

    to_b = Transition(source="a", target="b", when=Guard(lambda t, x: x[0] - 0.25))
    with pytest.raises(IntegrationInterrupted, match=r"interrupted at t = 0\.7 s") as caught:
        causes(
            clock(to_b, Transition(source="b", target="c", when=Guard(interrupted, 0), condition=lambda t, x: False))
        )
    solution = caught.value.solution
    assert solution.times[-1] == pytest.approx(0.7) and len(solution.switches) == 1
    assert solution.final == pytest.approx([0.7], abs=1e-14)
    with pytest.raises(InputError, match=r"in mode 'a'.*t = 0\.5 s:.*t = 0\.6 s:.*guard.*'bad' must.*finite"):
        causes(clock(Transition(source="a", target="b", name="bad", when=lambda t, x: -1.0 if t < 0.55 else math.nan)))


@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "midpoint", "gauss4", "gauss6"])
def test_orders_pass_through_switches(method):
    """A spring that is stiffer on one side: event and end states keep the order of the method."""

    def side(stiff):
        z = lambda x: np.array([x[0] if x[0] < 0.0 else 4.0 * x[0], x[1]])  # noqa: E731
        H = lambda x: 0.5 * float((x[0] if x[0] < 0.0 else 4.0 * x[0]) * x[0] + x[1] ** 2)  # noqa: E731
        return PHDAE(E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), z=z, H=H, sample=np.array([stiff, 1.0]))

    system = SwitchingPHDAE(
        {"soft": side(-1.0), "stiff": side(1.0)},
        [
            Transition(source="soft", target="stiff", when=Guard(lambda t, x: x[0])),
            Transition(source="stiff", target="soft", when=Guard(lambda t, x: x[0], -1)),
        ],
    )
    found = []
    for count in (40, 80):
        made = run(system, (-1.0, 0.0), np.linspace(0.0, 4.0, count + 1), mode="soft", method=by_name(method))
        exact = np.array([0.5, 1.0]) * math.pi
        found.append(np.abs([s.time for s in made.switches] - exact).max())
        assert made.energy_drift() < 1e-13
    order = {"gauss4": 4.0, "gauss6": 6.0}.get(method, 2.0)
    assert math.log2(found[0] / found[1]) == pytest.approx(order, abs=0.2)
    assert found[1] < {"gauss4": 1e-6, "gauss6": 1e-9}.get(method, 1e-2)


# --- bad input ---------------------------------------------------------------------------------------------------


def test_bad_systems_are_named():
    one, other = quadratic(np.eye(1), np.zeros((1, 1))), quadratic(2.0 * np.eye(1), np.zeros((1, 1)))
    with pytest.raises(ValueError, match=r"all modes must.*Hamiltonian: .* H.*mode 'b' is"):
        SwitchingPHDAE({"a": one, "b": other})
    with pytest.raises(ValueError, match="mode 'b' has 2 states, mode 'a' has 1"):
        SwitchingPHDAE({"a": one, "b": quadratic(np.eye(2), np.zeros((2, 2)))})
    with pytest.raises(ValueError, match="transition 'a to c': the system has 'a', 'b'"):
        SwitchingPHDAE({"a": one, "b": one}, [Transition(source="a", target="c", when=At(1.0))])
    with pytest.raises(ValueError, match="candidates of 'a': the system has 'a'"):
        SwitchingPHDAE({"a": Mode(one, candidates=["b"])})
    with pytest.raises(ValueError, match="modes must map names to systems"):
        SwitchingPHDAE({})
    with pytest.raises(ValueError, match="system must be a PHDAE, got float"):
        Mode(3.0)
    with pytest.raises(ValueError, match=r"valid\['v'\] must be a function"):
        Mode(one, {"v": 1.0})
    with pytest.raises(ValueError, match="direction of a guard must be -1, 0 or 1, got 2"):
        Guard(lambda t, x: 0.0, 2)
    with pytest.raises(ValueError, match="times of At must ascend"):
        At([1.0, 1.0])
    with pytest.raises(ValueError, match="period must be positive"):
        Every(0.0)


def test_bad_runs_are_named():
    system = closing(np.eye(2), np.array([[1.0], [-1.0]]))
    with pytest.raises(ValueError, match="mode must be one of 'off', 'on', got 'of'"):
        run(system, (1.0, 0.0, 0.0), GRID, mode="of")
    with pytest.raises(ValueError, match=r"no consistent start.*t = 0\.0 s\. mode 'on'.*no consistent state here"):
        run(system, (1.0, 0.0, 0.0), GRID, mode="on")
    with pytest.raises(ValueError, match="does not support tolerance, got"):
        run(system, (1.0, 0.0, 0.0), GRID, mode="off", method=DiscreteGradient(tolerance=1e-6))
    with pytest.raises(ValueError, match="mode needs a SwitchingPHDAE"):
        run(system.system("off"), (1.0, 0.0, 0.0), GRID, mode="off")
    with pytest.raises(ValueError, match="no external port 'u'"):
        run(system, (1.0, 0.0, 0.0), GRID, mode="off", inputs={"u": 1.0})


# what a stranger would try first


def bouncing(restitution, **options):
    """A ball of 1 kg under gravity, x = (h, p); its rebound keeps the height."""
    fall = PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        z=lambda x: np.array([9.81, x[1]]),
        H=lambda x: 9.81 * float(x[0]) + 0.5 * float(x[1]) ** 2,
        sample=np.array([1.0, 0.0]),
    )
    rebound = Reset(lambda t, x: np.array([x[0], -restitution * x[1]]), keeps={"height": lambda x: x[0]})
    return SwitchingPHDAE(
        {"air": fall},
        [Transition(source="air", target="air", when=Guard(lambda t, x: x[0], -1), reset=rebound, name="rebound")],
        **options,
    )


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e6])
@pytest.mark.parametrize("exactly", [True, False])
def test_a_quantity_may_be_kept_where_it_is_zero(size, exactly):
    """A reset to h = 0 keeps the height that the event found, round-off of zero; bounces are at closed-form times."""
    system = bouncing(0.8)
    if exactly:
        rebound = Reset(lambda t, x: np.array([0.0, -0.8 * x[1]]), keeps={"height": lambda x: x[0]})
        system = SwitchingPHDAE(
            system.modes, [Transition(source="air", target="air", when=Guard(lambda t, x: x[0], -1), reset=rebound)]
        )
    fall = math.sqrt(2.0 * size / 9.81)
    found = run(system, [size, 0.0], np.linspace(0.0, 3.5 * fall, 36))
    assert [s.time for s in found.switches] == pytest.approx([fall, 2.6 * fall], rel=1e-12)
    assert found.lost_at_switches == pytest.approx(9.81 * size * (1.0 - 0.8**4), rel=1e-10)
    # but no other change is let through
    wrong = Reset(lambda t, x: np.array([x[0] - 1e-6 * size, -0.8 * x[1]]), keeps={"height": lambda x: x[0]})
    shifted = SwitchingPHDAE(
        system.modes, [Transition(source="air", target="air", when=Guard(lambda t, x: x[0], -1), reset=wrong)]
    )
    with pytest.raises(IntegrationError, match="the reset does not keep 'height'"):
        run(shifted, [size, 0.0], np.linspace(0.0, 3.5 * fall, 36))


def test_bounces_that_accumulate_are_a_zeno_point():
    """At T (1 + 2 e/(1 − e)) = 3 T for e = ½."""
    with pytest.raises(IntegrationError, match="switches accumulate") as caught:
        run(bouncing(0.5), [1.0, 0.0], np.linspace(0.0, 3.0, 31))
    done = caught.value.solution
    assert done.times[-1] == pytest.approx(3.0 * math.sqrt(2.0 / 9.81), rel=1e-3)
    assert len(done.switches) > 8


def test_functions_that_fail_are_said_to_be_inputs():
    system = bouncing(0.8)
    broken = SwitchingPHDAE(
        system.modes, [Transition(source="air", target="air", when=lambda t, x: 1.0 / 0.0, name="broken")]
    )
    with pytest.raises(InputError, match="in mode 'air' after t = 0 s: float division by zero"):
        run(broken, [1.0, 0.0], GRID)
