"""Circuits with ideal switches and diodes: modes, schedules, complementarity, energy lost at switches."""

import re

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from flexph import integrate
from flexph.circuits import Pulse, capacitor, circuit, diode, inductor, resistor, switch, voltage_source

MAINS = 2.0 * np.pi * 50.0


def shared():
    """A charged capacitor that a switch connects to another one at 1 ms."""
    return circuit(
        {
            "C1": capacitor("a", "gnd", 1e-6),
            "C2": capacitor("b", "gnd", 3e-6),
            "R": resistor("a", "gnd", 1e4),
            "S": switch("a", "b", Pulse(2e-3, 0.5, start=1e-3)),
        }
    )


def rectifier():
    """Four diodes between a source with a resistance and a load with a capacitor."""
    return circuit(
        {
            "V": voltage_source("in", "n", lambda t: 10.0 * np.sin(MAINS * t)),
            "Ri": resistor("in", "p", 0.2),
            "D1": diode("p", "out"),
            "D2": diode("n", "out"),
            "D3": diode("gnd", "p"),
            "D4": diode("gnd", "n"),
            "C": capacitor("out", "gnd", 1e-3),
            "R": resistor("out", "gnd", 50.0),
        }
    )


def half_bridge(duty=0.3, period=1e-4):
    """Two switches that take turns, and a load with an inductor."""
    return circuit(
        {
            "V": voltage_source("in", "gnd", 10.0),
            "S1": switch("in", "x", Pulse(period, duty)),
            "S2": switch("x", "gnd", Pulse(period, 1.0 - duty, start=duty * period)),
            "L": inductor("x", "out", 1e-3),
            "R": resistor("out", "gnd", 5.0),
        }
    )


def test_modes_share_their_states():
    """Multipliers of one mode are states of all, held at zero in the others."""
    made = shared().switching()
    assert list(made.modes) == ["S closed", "S open"]
    assert list(made.parts) == ["C1", "C2", "i(C2)", "i(R)", "algebraic"]
    system = made.system("S open")
    x = np.ones(made.size)
    row = made.parts["i(C2)"].start
    assert ((system.J(x) - system.R(x)) @ system.z(x))[row] == -1.0 and not system.J(x)[row].any()


def test_charge_is_kept_and_energy_lost_where_capacitors_meet():
    """½ C₁C₂/(C₁ + C₂) (v₁ − v₂)², whatever the resistance of the switch would have been."""
    made = shared()
    system = made.switching()
    start = made.stored(system, {"C1": 4.0, "C2": 1.0})
    found = integrate(system, start, np.linspace(0.0, 1.5e-3, 16), progress=False)
    (one,) = found.switches
    q, apart = one.before[:2], one.before[0] / 1e-6 - one.before[1] / 3e-6
    assert one.time == pytest.approx(1e-3, rel=1e-12)
    assert one.after[:2].sum() == pytest.approx(q.sum(), rel=1e-14)
    assert one.lost == pytest.approx(0.5 * 0.75e-6 * apart**2, rel=1e-12)
    assert found.ledger.largest_residual < 1e-13


def test_a_rectifier_against_an_equation_of_its_own():
    """C v̇ = max(|u| − v, 0)/Rᵢ − v/R, which knows no modes; sixteen of them are possible."""
    made = rectifier()
    system = made.switching()
    assert len(system.modes) == 16
    times = np.linspace(0.0, 0.01, 101)
    found = integrate(system, made.stored(system, {"C": 1.0}), times, inputs=made.inputs, progress=False)

    def rate(t, v):
        return (max(abs(10.0 * np.sin(MAINS * t)) - v[0], 0.0) / 0.2 - v[0] / 50.0) / 1e-3

    exact = solve_ivp(rate, (0.0, 0.01), [1.0], t_eval=times, rtol=1e-9, atol=1e-10, max_step=1e-4).y[0]
    at = np.searchsorted(found.times, times - 1e-12)
    # of second order in steps of half a time constant RᵢC
    np.testing.assert_allclose(found["C"][at, 0] / 1e-3, exact, atol=1e-2)
    voltages, currents = made.along(found)
    for name in ("D1", "D2", "D3", "D4"):
        assert np.all(voltages[name] * currents[name] == 0.0)
        assert voltages[name].max() < 1e-9 and currents[name].min() > -1e-9
    assert {len(set(mode.split(", ")) & {f"D{k} closed" for k in range(1, 5)}) for mode in found.modes} == {1, 2}
    assert found.ledger.largest_residual < 1e-12


def test_switches_of_one_instant_switch_together():
    """Never both closed, which would short the source, nor both open, which would break the current."""
    made = half_bridge()
    system = made.switching()
    assert list(system.modes) == ["S1 closed, S2 open", "S1 open, S2 closed", "S1 open, S2 open"]
    tau, low, high = 1e-3 / 5.0, 0.7e-4, 0.3e-4
    # the periodic current: i → 2 A towards the source, → 0 away from it
    rise, fall = np.exp(-high / tau), np.exp(-low / tau)
    first = 2.0 * (1.0 - rise) * fall / (1.0 - rise * fall)
    times = np.linspace(0.0, 3e-4, 301)
    start = made.stored(system, {}, {"L": first})
    found = integrate(system, start, times, inputs=made.inputs, mode="S1 closed, S2 open", progress=False)
    assert set(found.modes) == {"S1 closed, S2 open", "S1 open, S2 closed"}
    assert found.lost_at_switches == 0.0
    assert found["L"][-1, 0] / 1e-3 == pytest.approx(first, rel=1e-6)  # (h/τ)²/12 of a decay, h = τ/200
    flux = found["L"][:, 0]
    mean = np.sum(0.5 * (flux[1:] + flux[:-1]) * np.diff(found.times)) / 3e-4 / 1e-3
    assert mean == pytest.approx(0.3 * 10.0 / 5.0, rel=1e-6)


def test_a_system_may_have_some_positions_only():
    made = half_bridge()
    chosen = [{"S1": True, "S2": False}, {"S1": False, "S2": True}]
    system = made.switching(positions=chosen)
    assert list(system.modes) == ["S1 closed, S2 open", "S1 open, S2 closed"]
    assert list(made.at({"S1": False}).switching().modes) == ["S1 open, S2 closed", "S1 open, S2 open"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: half_bridge().switching(positions=[{"S1": True, "S2": True}]), "no position of the switches and"),
        (lambda: half_bridge().at({"S1": False, "S2": True}).switching(), "has no switches or diodes without a posi"),
        (lambda: half_bridge().switching({"W": 1.0}), "no source 'W': there are 'V'"),
        (
            lambda: circuit({f"S{k}": switch("a", "gnd") for k in range(13)}).switching(),
            "13 switches and diodes have 8192",
        ),
    ],
)
def test_bad_input_is_refused(make, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        make()
