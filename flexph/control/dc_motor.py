"""Direct-current motors with their gearboxes, as port-Hamiltonian systems between a supply and a shaft."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE

CURRENT, SPIN, LOAD = range(3)
"""States: the current, the spin of the rotor, the torque of the gearbox on the rotor."""
STEEP = 1e3
"""Resistance to current in excess of a limit, over that of the winding."""


@checked
def motor(
    *,
    constant: float,
    resistance: float,
    inductance: float = 0.0,
    inertia: float = 0.0,
    friction: float = 0.0,
    ratio: float = 1.0,
    torque_limit: float | None = None,
    axis: Sequence[float] | None = None,
) -> LinearPHDAE | PHDAE:
    """A motor and its gearbox, ``L i̇ = −R i − kΩ + v``, ``J Ω̇ = k i − cΩ + λ``, ``Ω = n ω``, torque −nλ on the shaft.

    H = ½L i² + ½J Ω² [J], dissipation R i² + cΩ², supplied power v i. Joined at its port ``shaft`` by
    :class:`flexph.control.Continuous`, whose ``inputs`` give the voltage of ``supply``, it is solved within each step:
    the inertia of the rotor takes part in the motion as n²J at the shaft.

    Parameters
    ----------
    constant : float
        k, torque over current [N m/A] and voltage over spin [V s].
    resistance : float
        R of the winding [ohm].
    inductance : float
        L of the winding [H]; where it is zero, the current follows at once.
    inertia : float
        J of the rotor and of what turns with it before the gearbox [kg m²].
    friction : float
        c, viscous, of what turns with the rotor [N m s].
    ratio : float
        n, turns of the rotor for one of the shaft; negative where they turn in opposite senses.
    torque_limit : float, optional
        Largest torque k i of the rotor [N m], by an amplifier that limits the current: beyond it, it drops voltage as
        a resistance of 1000 R would for the current in excess, which is dissipated. The system is then nonlinear, and
        has an inductance or an inertia.
    axis : sequence of float, optional
        In space the axis of the shaft, in the axes of the torque that it is joined to (of the section for
        ``torque(..., axes="section")``); none in the plane.

    Returns
    -------
    LinearPHDAE or PHDAE
        With states current, spin and load and the ports ``supply`` [V] and ``shaft``. A motor that starts with a
        shaft that turns needs its spin in ``Continuous(start=...)``.

    Raises
    ------
    ValueError
        For a constant, resistance or limit that is not positive, negative inductance, inertia or friction, a ratio of
        zero, an axis that is no direction of space, and a limit of a motor that stores no energy.

    Examples
    --------
    Without load it comes to the spin at which its voltage is that of the supply, v/(k n):

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.control import Continuous, motor
    >>> from flexph.sensors import joint_rate
    >>> wheel = rigid.body(1.0, inertia=0.01, ports={"hub": (0.0, 0.0)})
    >>> cart = connect({"wheel": wheel}, [hinge("wheel.hub", GROUND), torque("wheel.hub", name="drive")])
    >>> start = cart.consistent_state(cart.assemble())
    >>> geared = motor(constant=0.05, resistance=1.0, inertia=1e-5, ratio=20.0)
    >>> by_motor = {"motor": Continuous(system=geared, ports={"shaft": "drive"}, inputs={"supply": 24.0})}
    >>> run = integrate(cart, start, np.linspace(0.0, 0.5, 101), controllers=by_motor)
    >>> round(float(run.measured(joint_rate("wheel.hub"))[-1]), 3), bool(run.ledger.largest_residual < 1e-12)
    (24.0, True)
    """
    k = check.positive("constant", constant)
    stored = [check.not_negative("inductance", inductance), check.not_negative("inertia", inertia), 0.0]
    lost = [check.positive("resistance", resistance), check.not_negative("friction", friction), 0.0]
    if check.number("ratio", ratio) == 0.0:
        raise ValueError("ratio must not be zero: it is turns of the rotor for one of the shaft")
    ports = np.zeros((3, 2 if axis is None else 4))
    ports[CURRENT, 0] = 1.0
    ports[LOAD, 1:] = ratio * _direction(axis)
    names = {"supply": slice(0, 1), "shaft": slice(1, ports.shape[1])}
    parts = {"current": slice(0, 1), "spin": slice(1, 2), "load": slice(2, 3)}
    E, R = np.diag(stored), np.diag(lost)
    J = np.array([[0.0, -k, 0.0], [k, 0.0, 1.0], [0.0, -1.0, 0.0]])
    if torque_limit is None:
        return LinearPHDAE(E=E, J=J, R=R, B=ports, ports=names, parts=parts, causality={"shaft": "velocity"})
    most = check.positive("torque_limit", torque_limit) / k
    if not any(stored):
        raise ValueError("torque_limit needs an inductance or an inertia, got a motor that stores no energy")

    def limited(x: Array) -> Array:
        excess = max(abs(float(x[CURRENT])) - most, 0.0)
        return R + np.diag([STEEP * resistance * excess / (most + excess), 0.0, 0.0])

    return PHDAE(
        E=E,
        J=J,
        R=limited,
        B=ports,
        z=lambda x: x,
        H=lambda x: float(0.5 * x @ E @ x),
        sample=np.zeros(3),
        ports=names,
        parts=parts,
    )


def _direction(axis: Sequence[float] | None) -> Array:
    """The axis as a unit vector, (1,) in the plane."""
    if axis is None:
        return np.ones(1)
    given = check.array("axis", axis, (3,))
    size = math.hypot(*given)
    if size == 0.0:
        raise ValueError("axis must not be zero")
    return given / size
