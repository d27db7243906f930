"""External ports for forces, torques and distributed loads, whose values ``integrate`` takes as functions of time."""

from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from ..rows.connection import Connection, Input

Axes = Literal["world", "section"]


@checked
def force(port: str, *, axes: Axes = "world", name: str | None = None) -> Connection:
    """External port for a force (d,) [N] at a port of a body; its output is the velocity of this port.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    axes : {"world", "section"}
        ``section`` makes it a follower force, with components in the axes of the section at the port.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The external port, for :func:`flexph.connect`; its values (d,) [N] are given to ``integrate(..., inputs=...)``.

    Examples
    --------
    A mass of 2 kg is pushed by 6 N for a second:

    >>> import rigid
    >>> from flexph import connect, force, integrate
    >>> mechanism = connect({"mass": rigid.point(2.0)}, [force("mass.point")])
    >>> start = mechanism.consistent_state(mechanism.assemble())
    >>> run = integrate(mechanism, start, [0.0, 0.5, 1.0], inputs={"force mass.point": (6.0, 0.0)})
    >>> print(run["mass.velocity"][-1])
    [3. 0.]
    """
    follows = check.choice("axes", axes, ("world", "section")) == "section"
    return Connection("force", (port,), input=Input("force", port, follows), label=name)


@checked
def torque(port: str, *, against: str | None = None, axes: Axes = "world", name: str | None = None) -> Connection:
    """External port for a torque [N m] on the section at a port of a body, (1,) in the plane and (3,) in space.

    Its output is the spin of the section, or with ``against`` the spin relative to the section at that port.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    against : str, optional
        Port of another body that takes the reaction, as for a motor in a joint.
    axes : {"world", "section"}
        ``section`` makes it a follower torque, with components in the axes of the section at the first port.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The external port, for :func:`flexph.connect`; its values are (1,) in the plane and (3,) in space [N m].
    """
    follows = check.choice("axes", axes, ("world", "section")) == "section"
    ports = (port,) if against is None else (port, against)
    return Connection("torque", ports, input=Input("torque", port, follows, against), label=name)


@checked
def distributed_load(
    port: str, *, axes: Literal["world", "body", "face"] = "world", name: str | None = None
) -> Connection:
    """External port for a distributed load: a force density on each of the k elements of a load port.

    Its values are (k, d), or (d,) for the same density on all elements. The density is per length [N/m] on beams, per
    area or per volume on solids. It is constant on each element and acts at the element's mean displacement, which
    gives the exact work of the finite-element field.

    Parameters
    ----------
    port : str
        Load port ``body.load`` of a flexible body.
    axes : {"world", "body", "face"}
        ``body``: the load follows the body, with components in the axes of its frame; a pressure p is ``-p *
        body.loads[port].normals``. On a rod the axes are those of the section at each node, the first along the rod; on
        a split beam those of each frame. Cables and solids of finite strain have no such axes.
        ``face``, for a surface of a solid of finite strain: the traction [N/m²] follows the deformed face and acts on
        its deformed area. Its last component is along the outward normal (−p for a pressure p); the others are
        tangential, in space along the image of ``fem.Load(along=...)`` and perpendicular to it.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The external port, for :func:`flexph.connect`; its values are given to ``integrate(..., inputs=...)``.
    """
    kind = "face" if check.choice("axes", axes, ("world", "body", "face")) == "face" else "load"
    return Connection("load", (port,), input=Input(kind, port, axes == "body"), label=name)
