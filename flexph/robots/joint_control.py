"""Control of joints by inverse dynamics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..control.sampled import Sampled
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..sensors.quantities import rate_of
from .kinematics import Kinematics
from .motions import Motion

Gains = float | Mapping[str, float] | Sequence[float] | Array


@checked
def computed_torque(
    kinematics: Kinematics,
    reference: Motion,
    *,
    period: float,
    ports: Sequence[str],
    stiffness: Gains,
    damping: Gains,
) -> Sampled:
    """Computed-torque controller: makes joints follow a motion by inverse dynamics.

        q̈ = q̈_d + K_d (q̇_d − q̇) + K_p (q_d − q),   τ = τ(q, q̇, q̈),

    with the efforts τ of :meth:`Kinematics.efforts`, constant within a period. The error e = q_d − q of a rigid
    mechanism satisfies ë + K_d ė + K_p e = 0 in the limit of short periods; the deviation is of first order in the
    period. The work of the torques is in the ledger of a run, ``ledger.controllers``.

    R. M. Murray, Z. Li, S. S. Sastry, A Mathematical Introduction to Robotic Manipulation, CRC Press (1994), sec. 4.5.

    Parameters
    ----------
    kinematics : Kinematics
        Kinematics of the controlled mechanism, or of a model of it with the same ports and coordinates.
    reference : Motion
        Desired motion q_d of all coordinates, by their names or in their order.
    period : float
        Time between two calls of the controller [s].
    ports : sequence of str
        External ports of the motors, see :meth:`Kinematics.inputs`.
    stiffness, damping : float, mapping or array
        Gains K_p [1/s²] and K_d [1/s], one for all coordinates or one each; critical damping is K_d = 2 √K_p.

    Returns
    -------
    Sampled
        Controller for :func:`flexph.integrate`.

    Raises
    ------
    ValueError
        For a motion of other coordinates, negative gains, and ports that cannot move the coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate, torque
    >>> from flexph.robots import Kinematics, computed_torque, polynomial
    >>> from flexph.sensors import joint_angle
    >>> axle, motor = hinge("arm.root", GROUND), torque("arm.root", name="motor")
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [axle, motor], gravity=(0.0, -9.81))
    >>> kinematics = Kinematics(arm, {"turn": joint_angle("arm.root")}, arm.assemble())
    >>> rise = polynomial({"turn": 0.0}, {"turn": 1.0}, duration=0.5)
    >>> servo = computed_torque(kinematics, rise, period=4e-3, ports=["motor"], stiffness=400.0, damping=40.0)
    >>> start = arm.consistent_state(kinematics.pose(rise(0.0)))
    >>> run = integrate(arm, start, np.linspace(0.0, 0.8, 201), controllers={"servo": servo})
    >>> round(float(run.measured(joint_angle("arm.root"))[-1]), 3), run.ledger.largest_residual < 1e-11
    (1.0, True)
    """
    names = kinematics.names
    if reference.size != len(names) or not set(reference.names) <= set(names):
        raise ValueError(f"reference must be a motion of the coordinates {', '.join(names)}, got {reference!r}")
    order = [reference.names.index(name) for name in names] if reference.names else list(range(len(names)))
    gains = [_gains(what, gain, names) for what, gain in (("stiffness", stiffness), ("damping", damping))]
    kinematics.inputs(kinematics.values(kinematics.home), np.ones(len(names)), ports)
    law = _Law(kinematics, reference, order, tuple(ports), gains[0], gains[1])
    rates = {f"{name} rate": rate_of(quantity) for name, quantity in kinematics.coordinates.items()}
    return Sampled(function=law, period=period, sensors={**kinematics.coordinates, **rates})


@dataclass(frozen=True, eq=False)
class _Law:
    """Function of a sampled controller: inputs of the ports from the readings of the coordinates and their rates."""

    kinematics: Kinematics
    reference: Motion
    order: list[int]
    ports: tuple[str, ...]
    stiffness: Array
    damping: Array

    def __call__(self, time: float, see: Mapping[str, Any]) -> dict[str, Array]:
        q, rate = self._read(see, ""), self._read(see, " rate")
        wanted, speed, change = (
            np.asarray(of(time)).reshape(-1)[self.order]
            for of in (self.reference, self.reference.velocity, self.reference.acceleration)
        )
        second = change + self.damping * (speed - rate) + self.stiffness * self.kinematics.difference(q, wanted)
        return self.kinematics.inputs(q, self.kinematics.efforts(q, rate, second), self.ports)

    def _read(self, see: Mapping[str, Any], suffix: str) -> Array:
        return np.array([float(see[name + suffix]) for name in self.kinematics.names])


def _gains(what: str, given: Gains, names: tuple[str, ...]) -> Array:
    """Gains as an array (n,), from one number for all coordinates, one for each by name, or an array.

    ``what`` names the gains in errors. Raises ValueError for missing or negative gains.
    """
    if isinstance(given, Mapping):
        for name in given:
            check.lookup("coordinate", name, dict.fromkeys(names), what)
        lacking = [name for name in names if name not in given]
        if lacking:
            raise ValueError(f"{what} must have a gain for every coordinate, {lacking[0]!r} has none")
        given = [given[name] for name in names]
    values = np.full(len(names), check.number(what, given)) if np.ndim(np.asarray(given)) == 0 else given
    gains = check.array(what, values, (len(names),))
    if (gains < 0.0).any():
        raise ValueError(f"{what} must not be negative, got {check.listed(gains)}")
    return gains
