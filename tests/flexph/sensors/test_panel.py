"""Readings of many sensors at once: loops against NumPy, in the plane and in space."""

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, weld
from flexph.sensors import distance, joint_angle, joint_rate, offset, position, rate, velocity
from flexph.sensors.panel import FULL, Panel

METAL = fem.Material(young=7e10, density=2700.0, poisson=0.3)


def mechanism_of(dim):
    beam = fem.beam(1.0, METAL, fem.Section(width=0.03, height=0.02), elements=2, dim=dim)
    other = rigid.body(1.0, inertia=(0.2, 0.3, 0.4) if dim == 3 else 0.3, ports={"pin": [0.1] * dim})
    mass = rigid.point(0.5, dim)
    return connect({"free": mass, "other": other, "beam": beam}, [weld("beam.root", GROUND.at(*[0.0] * dim))])


def sensors_of(dim):
    axis = {"axis": (0.0, 0.6, 0.8)} if dim == 3 else {}
    ports, along = ("beam.tip", "other.pin"), [0.6, 0.8, 0.0][:dim]
    return {
        "angle": joint_angle(*ports, **axis),
        "turn": joint_rate(*ports, **axis),
        "apart": distance("beam.tip", "free.point"),
        "parting": rate(distance("beam.tip", "free.point")),
        "out": offset("free.point", "beam.tip", along),
        "sliding": rate(offset("free.point", "beam.tip", along)),
        "place": position("other.pin"),
        "speed": velocity("beam.tip"),
    }


@pytest.mark.parametrize("dim", [2, 3])
def test_readings_of_loops_are_those_of_the_kernels(dim):
    mechanism = mechanism_of(dim)
    panel, state = Panel(mechanism, sensors_of(dim)), np.random.default_rng(dim).normal(size=mechanism.layout.size)
    readings, values = panel.read(state)
    panel._loop = None
    others, same = panel.read(state)
    np.testing.assert_allclose(values, same, rtol=1e-13)
    for name, reading in readings.items():
        np.testing.assert_allclose(reading, others[name], rtol=1e-12, atol=1e-14, err_msg=name)
        assert isinstance(reading, float) == (name not in ("place", "speed"))


@pytest.mark.parametrize("dim", [2, 3])
def test_gradients_of_measures_are_their_differences(dim):
    """At arbitrary states, with matrices R that turn nothing, central differences of fourth order agree to 1e-9."""
    mechanism = mechanism_of(dim)
    panel, rng = Panel(mechanism, sensors_of(dim)), np.random.default_rng(dim)
    states = rng.normal(size=(2, mechanism.layout.size))
    for name, sensor in sensors_of(dim).items():
        component = 0 if sensor.scalar else 1
        exact = panel.gradients(name, component, states)

        def read(x, name=name, component=component):
            return np.ravel(panel.read(x)[0][name])[component]

        for x, row in zip(states, exact, strict=True):
            steps = 1e-3 * np.eye(x.size)
            change = [8.0 * (read(x + e) - read(x - e)) - read(x + 2.0 * e) + read(x - 2.0 * e) for e in steps]
            np.testing.assert_allclose(row, np.array(change) / 12e-3, rtol=1e-8, atol=1e-8, err_msg=name)


def test_angles_are_those_nearest_to_the_last_ones():
    panel, state = Panel(mechanism_of(2), {"angle": joint_angle("other.pin")}), np.zeros(mechanism_of(2).layout.size)
    state[mechanism_of(2).layout.parts["other.rotation"]] = np.cos(0.5), np.sin(0.5)
    _, near = panel.read(state)
    assert near == pytest.approx([0.5])
    readings, _ = panel.read(state, [3.0 * FULL])
    assert readings["angle"] == pytest.approx(0.5 + 3.0 * FULL)


def test_ports_that_do_not_exist_are_named():
    with pytest.raises(ValueError, match=r"no port 'other.pim'"):
        Panel(mechanism_of(2), {"angle": joint_angle("other.pim")})
    with pytest.raises(ValueError, match="no body 'othr'"):
        Panel(mechanism_of(2), {"angle": joint_angle("othr.pin")})


def test_sensors_that_differ_by_their_zero_alone_are_told_apart():
    mechanism = mechanism_of(2)
    state = np.random.default_rng(4).normal(size=mechanism.layout.size)
    angles = [joint_angle("other.pin", zero=zero) for zero in (0.0, 0.5)]
    assert angles[0] == angles[1]  # functions are not compared
    first, second, again = (
        Panel(mechanism, {"angle": angle}).read(state)[0]["angle"] for angle in (*angles, angles[0])
    )
    assert first - second == pytest.approx(0.5, abs=1e-14)  # round-off of angles up to a turn
    assert again == first
