"""Steady whirl of unbalanced rotors on either side of their critical speed, against its closed form."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, drive, integrate
from flexph.joints import cartesian_spring_damper

MASS, ECCENTRICITY, STIFFNESS, CRITICAL = 2.0, 1e-3, 800.0, 20.0


def rotor(damping, spin):
    """Disc whose centre of mass lies beside its shaft, on isotropic springs, driven at a rate [rad/s]."""
    body = rigid.body(MASS, inertia=0.02, centre=(ECCENTRICITY, 0.0), ports={"shaft": (0.0, 0.0)})
    support = cartesian_spring_damper(
        "rotor.shaft", GROUND.at(0.0, 0.0), stiffness=STIFFNESS, damping=damping, offset=(0.0, 0.0)
    )
    return connect({"rotor": body}, [support, drive("rotor.shaft", GROUND, angle=lambda t: spin * t)])


def whirl(damping, spin):
    """Place of the shaft z = m e Ω²/(k − mΩ² + i c Ω), complex [m]."""
    return MASS * ECCENTRICITY * spin**2 / (STIFFNESS - MASS * spin**2 + 1j * damping * spin)


def shaft(state):
    """Place of the shaft, at the angle zero of the rotor; positions are those of the centre of mass."""
    return complex(state.x[0] - ECCENTRICITY, state.x[1])


# 1e-12: the equations are linear, one correction and round-off of a centre 1e-3 m away
@pytest.mark.processor
@pytest.mark.parametrize(
    ("damping", "spin"),
    [(3.0, 10.0), (3.0, CRITICAL), (3.0, 30.0), (3.0, -30.0), (3.0, 300.0), (0.0, 10.0), (0.0, 30.0), (1e-3, CRITICAL)],
)
def test_an_unbalanced_rotor_whirls_as_its_closed_form(damping, spin):
    mechanism, expected = rotor(damping, spin), whirl(damping, spin)
    state = mechanism.equilibrium(mechanism.assemble(), spin=spin)
    assert abs(shaft(state) - expected) <= 1e-12 * max(abs(expected), ECCENTRICITY)
    again = mechanism.equilibrium(mechanism.assemble({"rotor": (expected.real, expected.imag, 0.0)}), spin=spin)
    np.testing.assert_allclose(again.x, state.x, rtol=1e-9, atol=1e-9 * max(abs(expected), ECCENTRICITY))
    # the drive puts in what the damper takes: τ Ω = c |Ω z|²
    torque = mechanism.reaction(state, "drive rotor.shaft–GROUND").torque[0, 0]
    assert torque == pytest.approx(damping * spin * abs(expected) ** 2, rel=1e-9, abs=1e-12)


def test_a_critical_speed_without_damping_has_no_steady_rotation():
    mechanism = rotor(0.0, CRITICAL)
    with pytest.raises(ArithmeticError, match="it is a critical speed"):
        mechanism.equilibrium(mechanism.assemble(), spin=CRITICAL)


def test_a_run_from_a_whirl_above_the_critical_speed_stays_there():
    mechanism = rotor(3.0, 30.0)
    start = mechanism.equilibrium(mechanism.assemble(), spin=30.0)
    solution = integrate(mechanism, start, np.linspace(0.0, 0.2, 401), progress=False)
    distance = np.linalg.norm(solution.position("rotor.shaft"), axis=1)
    # second order: ½ (Ω h)² /12 of the circle in steps of 5e-4 s is 1e-5
    np.testing.assert_allclose(distance, abs(whirl(3.0, 30.0)), rtol=1e-4)
