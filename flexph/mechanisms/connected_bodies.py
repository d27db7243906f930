"""Connection of bodies at their ports into a mechanism, with the checks of its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..bodies.body import Body
from ..bodies.nodal_body import AnyBody
from ..bodies.ports import named
from ..joints.rows.connection import Connection
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .forming import formed
from .mechanism import Mechanism
from .model.accounts import Accounts
from .model.model import CENTRE, PARTS

AT_CENTRE = 1e-9
"""Distance of a port from the centre of mass, relative to the furthest port, up to which the port is at the centre."""


@quantities(gravity="m/s^2")
@checked
def connect(
    bodies: Mapping[str, Any], connections: Sequence[Connection], *, gravity: Sequence[float] | None = None
) -> Mechanism:
    """Connect bodies at their ports into a :class:`Mechanism`.

    Parameters
    ----------
    bodies : mapping
        Bodies by name, all planar or all spatial; one body may be used under several names.
    connections : sequence of Connection
        Joints and force elements between ports ``body.port``, or ``GROUND``.
    gravity : array_like, optional
        Acceleration (d,) [m/s²]; none by default.

    Returns
    -------
    Mechanism
        Bodies with their joints; its methods assemble poses, find equilibria and frequencies, and start runs.

    Raises
    ------
    ValueError
        For an unknown port (naming the existing ones), a connection given twice, bodies of different dimension, a
        name with a dot, and a port named as another part of the states of its body (``centre``, ``velocity``).

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge
    >>> pins = [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("upper.tip", "lower.root")]
    >>> pendulum = connect({"upper": rigid.bar(1.0, 2.0), "lower": rigid.bar(0.5, 1.0)}, pins, gravity=(0.0, -9.81))
    >>> pose = pendulum.assemble({"upper": 0.0, "lower": 1.0})
    >>> pendulum.position(pendulum.consistent_state(pose), "lower.tip").round(3)
    array([1.27 , 0.421])
    """
    if not isinstance(bodies, Mapping):
        raise ValueError(f"bodies must be a mapping of names to bodies, got {check.shown(bodies)}")
    if not bodies:
        raise ValueError("bodies must not be empty")
    for name, body in bodies.items():
        if not isinstance(body, AnyBody):
            raise ValueError(f"bodies[{name!r}] must be a Body, {Body.remedy}, got {type(body).__name__}")
    dim = next(iter(bodies.values())).dim
    for name, body in bodies.items():
        if "." in check.name("a body", name):
            raise ValueError(f"the name of a body must not be empty or contain a dot, got {name!r}")
        if body.dim != dim:
            raise ValueError(f"all bodies must have dimension {dim}, {name!r} has {body.dim}")
        _check_names(name, body)
    bodies = named(bodies)
    formed_connections = formed(bodies, connections)
    acceleration = check.array("gravity", [0.0] * dim if gravity is None else gravity, (dim,))
    mechanism = Mechanism(bodies, formed_connections, acceleration)
    # both are cached properties, built here so that bad connections and names fail in connect
    mechanism.network  # noqa: B018
    mechanism.once(Accounts)
    return mechanism


def _check_names(name: str, body: AnyBody) -> None:
    """Raise ValueError if a port of a body has the name of a part of the state, such as ``deformation``.

    A port may be named ``centre`` if it lies at the centre of mass.
    """
    if not isinstance(body, Body):
        return
    for port in sorted({*PARTS} & {*body.ports}):
        if port != CENTRE:
            raise ValueError(f"{name}.{port} names a part of the states of {name!r}: give the port another name")
        away = float(np.abs(body.ports[port].position).max())
        if away > AT_CENTRE * max(float(np.abs(p.position).max()) for p in body.ports.values()):
            raise ValueError(
                f"{name}.{port} names the centre of mass of {name!r} in its states, but is {away:.3g} m away from it: "
                "give the port another name"
            )
