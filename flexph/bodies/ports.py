"""Finding ports by name."""

from __future__ import annotations

from collections.abc import Mapping

from scipy import sparse

from ..numerics import checks as check
from ..numerics.rotations import spins
from .body import Body, Port


def split_port(name: str, bodies: Mapping[str, Body]) -> tuple[int, Body, str]:
    """Index and body of a port name ``body.port``, and the name of the port on it."""
    owner, _, port = str(name).partition(".")
    body: Body = check.lookup("body", owner, bodies)
    return list(bodies).index(owner), body, port


def find_port(name: str, bodies: Mapping[str, Body]) -> tuple[int, Port]:
    """Index of the body and the port of a name ``body.port``."""
    index, body, port = split_port(name, bodies)
    if port not in body.ports:
        owner = list(bodies)[index]
        raise ValueError(f"no port {name!r}: {owner} has {', '.join(map(repr, body.ports))}")
    return index, body.ports[port]


def find_place(name: str, bodies: Mapping[str, Body]) -> tuple[int, Port]:
    """Index of the body and the port, or for a load port the frame of the body, which does not turn with u."""
    index, body, port = split_port(name, bodies)
    if port in body.loads and port not in body.ports:
        no_turn = sparse.csr_array((spins(body.dim), body.size))
        return index, Port(body.centre, sparse.csr_array(body.inertia.mean_shape), no_turn)
    return find_port(name, bodies)
