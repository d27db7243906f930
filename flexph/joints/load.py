"""External ports: forces, torques and distributed loads, given to ``integrate`` as functions of time."""

from .connection import Connection, Input


def force(port: str, *, name: str | None = None) -> Connection:
    """An external force (2,) [N] in world axes at a port; its output is the velocity of the point."""
    return Connection("force", (port,), input=Input("force", port), label=name)


def torque(port: str, *, name: str | None = None) -> Connection:
    """An external torque (1,) [N m] at a port; its output is the spin of the section."""
    return Connection("torque", (port,), input=Input("torque", port), label=name)


def distributed_load(port: str, *, name: str | None = None) -> Connection:
    """A force per length [N/m] in world axes on a load port: (k, 2), one for each of its k elements, or (2,) for all.

    Constant on each element, it acts at the element's mean displacement: the exact work of the finite-element field.
    """
    return Connection("load", (port,), input=Input("load", port), label=name)
