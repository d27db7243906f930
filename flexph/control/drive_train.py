"""Gearboxes and direct-current motors, as port-Hamiltonian systems between a supply or a drive and a shaft."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from ..systems.resistive_relations import Relation

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
    friction: float | Relation = 0.0,
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
    friction : float or Relation
        Of what turns with the rotor: c, viscous [N m s], or the torque [N m] against the spin [rad/s], as
        :func:`flexph.coulomb` of dry gears.
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
        zero, an axis that is no direction of space, and a limit or a relation of a motor that stores no energy.

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
    drag = _drag(friction)
    lost = [check.positive("resistance", resistance), 0.0 if isinstance(drag, Relation) else drag, 0.0]
    ports = np.zeros((3, 2 if axis is None else 4))
    ports[CURRENT, 0] = 1.0
    ports[LOAD, 1:] = _ratio(ratio) * _direction(axis)
    J = np.array([[0.0, -k, 0.0], [k, 0.0, 1.0], [0.0, -1.0, 0.0]])
    most = None if torque_limit is None else check.positive("torque_limit", torque_limit) / k
    if most is not None and not any(stored):
        raise ValueError("torque_limit needs an inductance or an inertia, got a motor that stores no energy")

    def resisting(x: Array) -> list[float]:
        dropped, drawn = 0.0, 0.0 if most is None else max(abs(float(x[CURRENT])) - most, 0.0)
        if drawn > 0.0 and most is not None:
            dropped = STEEP * resistance * drawn / (most + drawn)
        return [dropped, float(drag.resistance(x[SPIN])) if isinstance(drag, Relation) else 0.0, 0.0]

    is_linear = most is None and not isinstance(drag, Relation)
    parts = {"current": slice(0, 1), "spin": slice(1, 2), "load": slice(2, 3)}
    return _between("supply", stored, lost, J, ports, parts, None if is_linear else resisting)


@checked
def gearbox(
    *,
    ratio: float,
    inertia: float = 0.0,
    friction: float | Relation = 0.0,
    axis: Sequence[float] | None = None,
) -> LinearPHDAE | PHDAE:
    """A gearbox between a driving torque and a shaft, ``J Ω̇ = τ − ρ(Ω) + λ``, ``Ω = n ω``, torque −nλ on the shaft.

    H = ½J Ω² [J], dissipation Ω ρ(Ω), supplied power τΩ. Joined at its port ``shaft`` by
    :class:`flexph.control.Continuous`, whose ``inputs`` give the torque of ``drive``, it is solved within each step:
    its inertia takes part in the motion as n²J at the shaft. Where a sampled controller gives the torque, the rotor is
    a body with a :func:`flexph.gear`, whose port takes it.

    Parameters
    ----------
    ratio : float
        n, turns of the driving side for one of the shaft; negative where they turn in opposite senses.
    inertia : float
        J of what turns on the driving side [kg m²].
    friction : float or Relation
        On the driving side: c, viscous [N m s], or the torque [N m] against the spin [rad/s].
    axis : sequence of float, optional
        In space the axis of the shaft, as of :func:`motor`.

    Returns
    -------
    LinearPHDAE or PHDAE
        With states spin and load and the ports ``drive`` [N m] and ``shaft``.

    Raises
    ------
    ValueError
        For a ratio of zero, negative inertia or friction, an axis that is no direction of space, and a relation without
        inertia.

    Examples
    --------
    A torque of 0.2 N m behind a gearbox of 10:1 turns a wheel of 0.01 kg m² and the gears, n²J = 0.01 kg m², with
    2 N m/0.02 kg m²:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.control import Continuous, gearbox
    >>> from flexph.sensors import joint_rate
    >>> wheel = rigid.body(1.0, inertia=0.01, ports={"hub": (0.0, 0.0)})
    >>> cart = connect({"wheel": wheel}, [hinge("wheel.hub", GROUND), torque("wheel.hub", name="axle")])
    >>> start = cart.consistent_state(cart.assemble())
    >>> gears = Continuous(system=gearbox(ratio=10.0, inertia=1e-4), ports={"shaft": "axle"}, inputs={"drive": 0.2})
    >>> run = integrate(cart, start, np.linspace(0.0, 0.1, 11), controllers={"gears": gears})
    >>> round(float(run.measured(joint_rate("wheel.hub"))[-1]), 9)
    10.0
    """
    drag = _drag(friction)
    ports = np.zeros((2, 2 if axis is None else 4))
    ports[0, 0] = 1.0
    ports[1, 1:] = _ratio(ratio) * _direction(axis)
    stored = [check.not_negative("inertia", inertia), 0.0]
    lost = [0.0 if isinstance(drag, Relation) else drag, 0.0]
    resisting = None
    if isinstance(drag, Relation):
        resisting = lambda x: [float(drag.resistance(x[0])), 0.0]  # noqa: E731
    J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return _between("drive", stored, lost, J, ports, {"spin": slice(0, 1), "load": slice(1, 2)}, resisting)


def _between(
    given: str,
    stored: list[float],
    lost: list[float],
    J: Array,
    ports: Array,
    parts: dict[str, slice],
    resisting: Callable[[Array], list[float]] | None,
) -> LinearPHDAE | PHDAE:
    """The system between the port that is given something, the first column, and the shaft.

    ``resisting`` are resistances besides those in ``lost``, where the system is nonlinear.
    """
    names = {given: slice(0, 1), "shaft": slice(1, ports.shape[1])}
    E, R = np.diag(stored), np.diag(lost)
    if resisting is None:
        return LinearPHDAE(E=E, J=J, R=R, B=ports, ports=names, parts=parts, causality={"shaft": "velocity"})
    if not any(stored):
        raise ValueError("friction that is a relation needs an inertia, got a system that stores no energy")
    return PHDAE(
        E=E,
        J=J,
        R=lambda x: R + np.diag(resisting(x)),
        B=ports,
        z=lambda x: x,
        H=lambda x: float(0.5 * x @ E @ x),
        sample=np.zeros(len(stored)),
        ports=names,
        parts=parts,
    )


def _drag(friction: float | Relation) -> float | Relation:
    return friction if isinstance(friction, Relation) else check.not_negative("friction", friction)


def _ratio(ratio: float) -> float:
    if check.number("ratio", ratio) == 0.0:
        raise ValueError("ratio must not be zero: it is turns of the driving side for one of the shaft")
    return ratio


def _direction(axis: Sequence[float] | None) -> Array:
    """The axis as a unit vector, (1,) in the plane."""
    if axis is None:
        return np.ones(1)
    given = check.array("axis", axis, (3,))
    size = math.hypot(*given)
    if size == 0.0:
        raise ValueError("axis must not be zero")
    return given / size
