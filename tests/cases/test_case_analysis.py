"""What the analysis says of published circuits and rigid systems: index, conserved quantities, passivity.

Five seconds, as the analysis takes dense matrices of mechanisms.
"""

import numpy as np
import pytest

from cases import (
    andrews_squeezer,
    clamped_capacitor,
    controlled_lc,
    crank_slider,
    differential_drive,
    double_four_bar,
    flexible_pendulum,
    four_bar,
    four_particle,
    gyroscope,
    hinged_beam,
    lc_circuit,
    pogo_stick,
    point_masses,
    rigid_slider_crank,
    rlc_graph,
    rolling_coin,
    van_der_pol,
)
from flexph import analyze
from flexph.analysis import impasse_points
from flexph.consistency import inconsistency


@pytest.mark.parametrize(
    ("module", "index", "freedom", "casimirs"),
    [
        (lc_circuit, 2, 2, 0),  # index one of [survey] proposition 4.1, where multipliers do not count
        (rlc_graph, 1, 3, 0),
        (controlled_lc, 0, 3, 1),  # the total flux, [survey] example 4.2
        (clamped_capacitor, 2, 1, 1),  # the flux stays: all current goes around the capacitor
        # rolling is not holonomic: nothing is conserved, [survey] example 4.3
        pytest.param(rolling_coin, 2, 6, 0, marks=pytest.mark.slow),
        (differential_drive, 2, 5, 0),
    ],
)
def test_index_and_casimirs_of_the_cases_are_found(module, index, freedom, casimirs):
    found = analyze(module.case.system())
    assert (found.index.index, found.index.freedom) == (index, freedom)
    assert found.casimirs.linear.shape[1] == casimirs
    assert found.passivity.bounded == "yes"
    assert found.passivity.dissipative == (module is rlc_graph)


def test_the_casimir_of_a_controlled_circuit_is_its_total_flux():
    found = analyze(controlled_lc.case.system()).casimirs
    flux = dict(zip(found.names, found.linear[:, 0] / np.abs(found.linear).max(), strict=True))
    assert abs(flux["C"]) < 1e-12
    assert flux["L1"] == pytest.approx(flux["L2"], abs=1e-12)


@pytest.mark.parametrize(
    ("module", "constraints", "conserved"),
    [
        # 9 of joints, 3 unit circles, 18 relations of deformations and stresses
        pytest.param(four_bar, 9, 30, marks=pytest.mark.slow),
        pytest.param(crank_slider, 8, None, marks=pytest.mark.slow),
        pytest.param(four_particle, 2, 2, marks=pytest.mark.slow),
        pytest.param(andrews_squeezer, 20, 28, marks=pytest.mark.slow),  # joints, 7 unit circles, length of the spring
        pytest.param(hinged_beam, 3, 15, marks=pytest.mark.slow),
        # the joint, a rotation matrix, 6 relations of deformations and stresses
        pytest.param(flexible_pendulum, 3, 15, marks=pytest.mark.slow),
        (point_masses, 2, 2),
        (rigid_slider_crank, 3, 3),
        (gyroscope, 0, 6),  # a rotation matrix
    ],
)
def test_mechanisms_by_what_their_joints_hold(module, constraints, conserved):
    """Index two by joints at velocities; positions behind them are Casimirs, all integrable (Frobenius)."""
    given = module.case.system()
    system, inputs = given if isinstance(given, tuple) else (given, None)
    found = analyze(system, inputs=inputs)
    if module is four_bar:
        assert "hinge coupler.tip–follower.root: x" in found.equations
        assert found.stability.verdict == "stable"
    if module is four_particle:
        assert found.index.freedom == 22
    assert found.index.index == (2 if constraints else 0)
    assert found.index.constraints == ((constraints, 0) if constraints else ())
    assert (found.index.undetermined, found.index.redundant) == (0, 0)
    assert found.index.freedom == found.index.differential - constraints
    assert found.casimirs.count == found.casimirs.dimension
    if conserved is not None:
        assert found.casimirs.flag == (conserved,)
    if constraints:  # the state that is reported solves the equations and their rates
        assert not found.note
        assert not inconsistency(system, found.state, inputs=inputs)


@pytest.mark.parametrize(
    "module", [andrews_squeezer, crank_slider, double_four_bar, flexible_pendulum, four_bar, hinged_beam]
)
def test_starts_of_mechanisms_are_consistent(module):
    """With the joint forces of their motion, such as what holds bodies on their circles."""
    given = module.case.system()
    system, inputs = given if isinstance(given, tuple) else (given, None)
    assert not inconsistency(system, system.sample, inputs=inputs)


def test_a_driven_mechanism_is_analysed_as_it_moves():
    """Its drive and its joint forces belong to the state: nothing is violated, and nothing has to be given."""
    mechanism = crank_slider.crank_slider(1, "linear")
    state = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
    assert str(analyze(mechanism, state).given) == "consistent"


def test_modes_of_switching_cases():
    """[survey] example 5.2: the foot on the ground stays there; example 4.4: both branches are of index one."""
    stick = pogo_stick.case.system()
    flight, contact = (analyze(stick.system(mode)) for mode in stick.modes)
    assert (flight.casimirs.count, contact.casimirs.expressions) == (0, ("−length + height",))
    oscillator, inputs = van_der_pol.case.system()
    for mode in oscillator.modes:
        found = analyze(oscillator.system(mode), inputs=inputs)
        assert (found.index.index, found.passivity.passive) == (1, "yes")
    # the jumps of [survey] example 4.4, with the part of the characteristic that is a source at its port
    left = oscillator.system("left")
    current = np.linspace(-2.2, -0.3, 12)
    (impasse,) = impasse_points(left, np.column_stack([van_der_pol.characteristic(current), current]), inputs=inputs)
    assert impasse.state[1] == pytest.approx(-1.0, abs=1e-9)
    beside = analyze(left, [van_der_pol.characteristic(-1.02), -1.02], inputs=inputs)
    assert beside.well_posed.startswith("ill-posed near the state")
