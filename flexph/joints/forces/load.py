"""External ports: forces, torques and distributed loads, given to ``integrate`` as functions of time."""

from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from ..rows.connection import Connection, Input

Axes = Literal["world", "section"]


@checked
def force(port: str, *, axes: Axes = "world", name: str | None = None) -> Connection:
    """An external force (d,) [N] at a port; its output is the velocity of the point.

    Its output is the velocity of the point.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    axes : {"world", "section"}
        ``section``: the force follows, its components are on the axes of the section at the port.
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
    >>> run = integrate(mechanism, start, [0.0, 1.0], inputs={"force mass.point": (6.0, 0.0)})
    >>> print(run["mass.velocity"][-1])
    [3. 0.]
    """
    follows = check.choice("axes", axes, ("world", "section")) == "section"
    return Connection("force", (port,), input=Input("force", port, follows), label=name)


@checked
def torque(port: str, *, against: str | None = None, axes: Axes = "world", name: str | None = None) -> Connection:
    """An external torque [N m] at a port, (1,) in the plane and (3,) in space; its output is the spin of the section.

    Its output is the spin of the section, or the relative spin of both.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    against : str, optional
        Port of another body, on which the torque acts with the opposite sign, as that of a motor in a joint.
    axes : {"world", "section"}
        ``section``: the torque follows, its components are on the axes of the section at the (first) port.
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
    """A force density on a load port: (k, d), one for each of its k elements, or (d,) for all.

    Constant on each element, it acts at the element's mean displacement: the exact work of the finite-element field. As
    an input it is (k, d), one density for each of the k elements of the load port, or (d,) for all: per length [N/m] on
    beams, per area or per volume on solids.

    Parameters
    ----------
    port : str
        Load port ``body.load`` of a flexible body.
    axes : {"world", "body", "face"}
        ``body``: the load follows, its components are on the axes of the frame of the body; a pressure p is ``-p *
        body.loads[port].normals``. On a rod they are on the axes of the section at each node, the first along the rod,
        on a beam that is split on those of each frame. Cables and solids of finite strain have no such axes.
        ``face``, on a surface of a solid of finite strain: the traction [N/m²] follows the deformed face and acts per
        area of it. Its last component is along the outward normal, −p of a pressure p; the others are along the
        tangent of the face, in space along the image of ``fem.Load(along=...)`` and across it.
    name : str, optional
        Name of the element; by default its kind and its ports.

    Returns
    -------
    Connection
        The external port, for :func:`flexph.connect`; its values are given to ``integrate(..., inputs=...)``.
    """
    kind = "face" if check.choice("axes", axes, ("world", "body", "face")) == "face" else "load"
    return Connection("load", (port,), input=Input(kind, port, axes == "body"), label=name)
