"""Gearboxes and direct-current motors as port-Hamiltonian systems between a supply or drive and a shaft."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE
from .laws import DryFriction, Limit, Terminated

STEEP = 1e3
"""Resistance against current above the limit, relative to that of the winding."""


@checked
def motor(
    *,
    constant: float,
    resistance: float,
    inductance: float = 0.0,
    inertia: float = 0.0,
    friction: float | Relation = 0.0,
    dry_friction: float = 0.0,
    ratio: float = 1.0,
    torque_limit: float | None = None,
    stiffness: float | None = None,
    damping: float = 0.0,
    axis: Sequence[float] | None = None,
) -> LinearPHDAE | Terminated:
    """A motor and its gearbox, ``L i̇ = −R i − kΩ + v``, ``J Ω̇ = k i − cΩ + λ``, ``Ω = n ω``, torque −nλ on the shaft.

    The energy is H = ½L i² + ½J Ω² [J], the dissipation R i² + cΩ², and the supplied power v i. Joined at its port
    ``shaft`` by :class:`flexph.control.Continuous`, whose ``inputs`` give the voltage of ``supply``, it is solved
    within each step: the inertia of the rotor takes part in the motion as n²J at the shaft.

    Parameters
    ----------
    constant : float
        k, torque over current [N m/A] and voltage over spin [V s].
    resistance : float
        R of the winding [ohm].
    inductance : float
        L of the winding [H]; with zero the current follows the voltage without delay.
    inertia : float
        J of the rotor and of all that turns with it before the gearbox [kg m²].
    friction : float or Relation
        Friction on the rotor's side: c, viscous [N m s], or a relation from spin [rad/s] to torque [N m].
    dry_friction : float
        Coulomb friction T on the rotor's side [N m], without regularisation (:class:`DryFriction`): a load of up to nT
        at the shaft is held at rest without creep.
    ratio : float
        n, turns of the rotor per turn of the shaft; negative if they turn in opposite senses.
    torque_limit : float, optional
        Largest torque k i of the rotor [N m]. An amplifier limits the current: a resistance of 1000 R acts against the
        current above the limit, and its loss counts as dissipation.
    stiffness, damping : float
        Elasticity of the gears, see :func:`gearbox`.
    axis : sequence of float, optional
        In space, the axis of the shaft in the axes of the torque that it is joined to (of the section for
        ``torque(..., axes="section")``); omit it in the plane.

    Returns
    -------
    LinearPHDAE or Terminated
        System with the states current, spin and load (of elastic gears as for :func:`gearbox`) and the ports ``supply``
        [V] and ``shaft``; a Terminated one if friction is dry or a relation, or the torque is limited. If the shaft
        turns at the start, give the motor's spin in ``Continuous(start=...)``.

    Raises
    ------
    ValueError
        If the constant, the resistance, the limit or the stiffness is not positive, inductance, inertia, friction or
        damping is negative, the ratio is zero, the axis is no direction in space, or friction is dry without inertia.

    Examples
    --------
    Without load the motor reaches the spin at which its back-EMF equals the supply voltage, v/(k n):

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
    drag, laws = _friction(friction, dry_friction)
    if torque_limit is not None:
        most = check.positive("torque_limit", torque_limit) / k
        laws["limit"] = "current", Limit(most, STEEP * check.positive("resistance", resistance))
    return _train(
        {"current": stored[0], "spin": stored[1]},
        lost=[check.positive("resistance", resistance), drag],
        J=np.array([[0.0, -k], [k, 0.0]]),
        given="supply",
        shaft=(_ratio(ratio), _direction(axis)),
        laws=laws,
        elastic=_elastic(stiffness, damping),
    )


@checked
def gearbox(
    *,
    ratio: float,
    inertia: float = 0.0,
    friction: float | Relation = 0.0,
    dry_friction: float = 0.0,
    stiffness: float | None = None,
    damping: float = 0.0,
    axis: Sequence[float] | None = None,
) -> LinearPHDAE | Terminated:
    """A gearbox between a driving torque and a shaft, ``J Ω̇ = τ − ρ(Ω) + λ``, ``Ω = n ω``, torque −nλ on the shaft.

    The energy is H = ½J Ω² [J], the dissipation Ω ρ(Ω), and the supplied power τΩ. Joined at its port ``shaft`` by
    :class:`flexph.control.Continuous`, whose ``inputs`` give the torque of ``drive``, it is solved within each step:
    its inertia adds n²J at the shaft.

    Elastic gears twist by φ between their output and the shaft, ``J Ω̇ = τ − ρ(Ω) − T/n``, ``φ̇ = Ω/n − ω``, with the
    torque T = kφ + dφ̇ on the shaft, the energy ½kφ² and the loss dφ̇²: the elasticity of a robot's joint.

    To drive it from a sampled controller, name its input ``CONTROLLER: drive``, or model the rotor as a body with a
    :func:`flexph.gear`, whose port takes the torque.

    Parameters
    ----------
    ratio : float
        n, turns of the driving side per turn of the shaft; negative if they turn in opposite senses.
    inertia : float
        J of all that turns on the driving side [kg m²].
    friction : float or Relation
        Friction on the driving side: c, viscous [N m s], or a relation from spin [rad/s] to torque [N m].
    dry_friction : float
        Coulomb friction T on the driving side [N m]; see :func:`motor`.
    stiffness : float, optional
        k of elastic gears on the side of the shaft [N m/rad]; by default they are rigid.
    damping : float
        d of elastic gears on the side of the shaft [N m s/rad].
    axis : sequence of float, optional
        In space, the axis of the shaft; see :func:`motor`.

    Returns
    -------
    LinearPHDAE or Terminated
        System with the states spin and load, of elastic gears spin, twist (the torque kφ) and with damping load (the
        torque T), and the ports ``drive`` [N m] and ``shaft``; a Terminated one if friction is dry or a relation.

    Raises
    ------
    ValueError
        If the ratio is zero, the stiffness is not positive, inertia, friction or damping is negative, the axis is no
        direction in space, or friction is dry without inertia.

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
    drag, laws = _friction(friction, dry_friction)
    return _train(
        {"spin": check.not_negative("inertia", inertia)},
        lost=[drag],
        J=np.zeros((1, 1)),
        given="drive",
        shaft=(_ratio(ratio), _direction(axis)),
        laws=laws,
        elastic=_elastic(stiffness, damping),
    )


def _train(
    stored: dict[str, float],
    *,
    lost: list[float],
    J: Array,
    given: str,
    shaft: tuple[float, Array],
    laws: dict[str, tuple[str, Any]],
    elastic: tuple[float, float] | None,
) -> LinearPHDAE | Terminated:
    """System of a motor or gearbox: an input acts on the first state, and the gears of a shaft load the spin.

    ``stored`` are inductance and inertia by name of the state, of which the spin is the last; ``lost`` is the diagonal
    of R, and ``given`` the name of the port of the input. ``shaft`` are ratio and axis. ``laws`` gives by name the
    state that a law acts on, and the law. ``elastic`` are stiffness and damping of the gears, None if they are rigid.
    """
    (ratio, axis), n = shaft, len(stored)
    if elastic is None:
        stored, gears, R = stored | {"load": 0.0}, [(n, n - 1, -1.0)], np.diag([*lost, 0.0])
    else:
        k, d = elastic
        stored = stored | {"twist": 1.0 / k} | ({"load": 0.0} if d else {})
        gears, R = [(len(stored) - 1, n - 1, 1.0 / ratio)], np.diag([*lost, *[0.0] * (len(stored) - n)])
        if d:
            R[n:, n:] = np.array([[1.0, -1.0], [-1.0, 1.0]]) / d
    size, states = len(stored), list(stored)
    structure = np.zeros((size, size))
    structure[:n, :n] = J
    for row, column, value in gears:
        structure[row, column], structure[column, row] = value, -value
    load = np.outer(np.eye(size)[:, -1], (ratio if elastic is None else -1.0) * axis)
    ends, first = 1 + axis.size, np.eye(size)[:, 0]
    columns = [load, *(np.eye(size)[:, [states.index(at)]] for at, _ in laws.values())]
    system = LinearPHDAE(
        E=np.diag(list(stored.values())),
        J=structure,
        R=R,
        B=np.column_stack([first, *columns]),
        ports={given: slice(0, 1), "shaft": slice(1, ends)}
        | {name: slice(ends + k, ends + k + 1) for k, name in enumerate(laws)},
        parts={name: slice(k, k + 1) for k, name in enumerate(states)},
        causality={"shaft": "velocity"},
    )
    return Terminated(system=system, laws={name: law for name, (_, law) in laws.items()}) if laws else system


def _elastic(stiffness: float | None, damping: float) -> tuple[float, float] | None:
    """Stiffness and damping of elastic gears; None if there is no stiffness, as for rigid gears."""
    d = check.not_negative("damping", damping)
    if stiffness is None:
        if d:
            raise ValueError("damping= needs stiffness=: rigid gears have no twist to damp")
        return None
    return check.positive("stiffness", stiffness), d


def _friction(friction: float | Relation, dry: float) -> tuple[float, dict[str, tuple[str, Any]]]:
    """Viscous coefficient of the friction against a spin, and laws of other friction by name."""
    laws: dict[str, tuple[str, Any]] = {}
    if isinstance(friction, Relation):
        laws["friction"] = "spin", friction
    if check.not_negative("dry_friction", dry) > 0.0:
        laws["dry friction"] = "spin", DryFriction(dry)
    return 0.0 if isinstance(friction, Relation) else check.not_negative("friction", friction), laws


def _ratio(ratio: float) -> float:
    if check.number("ratio", ratio) == 0.0:
        raise ValueError(f"ratio must not be zero, got {ratio}: it is turns of the driving side for one of the shaft")
    return ratio


def _direction(axis: Sequence[float] | None) -> Array:
    """Axis as a unit vector, (3,) in space and (1,) in the plane."""
    if axis is None:
        return np.ones(1)
    given = check.array("axis", axis, (3,))
    size = math.hypot(*given)
    if size == 0.0:
        raise ValueError("axis must be a direction, got (0, 0, 0)")
    return given / size
