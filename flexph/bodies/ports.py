"""Look-up of ports and frames by name."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from itertools import accumulate

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.memo import Memo, Named, once
from ..numerics.rotations import spins
from .body import Body, Port
from .nodal_body import AnyBody, FramedBody, NodalBody

ALONG = 1e-6
"""Sine of an angle up to which a direction is along a cable: slopes of curves are differences, and not exact."""


class NamedBodies(Mapping[str, AnyBody], Memo):
    """Read-only mapping of bodies by name, with the index of the first frame of each."""

    def __init__(self, bodies: Mapping[str, AnyBody]) -> None:
        self._bodies = Named(bodies, "bodies")

    def __repr__(self) -> str:
        return f"<bodies {', '.join(self._bodies)}>"

    def __getitem__(self, name: str) -> AnyBody:
        return self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)

    def values(self) -> ValuesView[AnyBody]:
        """View of the bodies."""
        return self._bodies.values()

    def items(self) -> ItemsView[str, AnyBody]:
        """View of the pairs of names and bodies."""
        return self._bodies.items()

    @once
    def first_frames(self) -> Mapping[str, int]:
        """Index of the first frame of each body, by name."""
        counts = [len(body.frames) for body in self._bodies.values()]
        return dict(zip(self._bodies, accumulate(counts, initial=0), strict=False))


def named(bodies: Mapping[str, AnyBody]) -> NamedBodies:
    """Convert a mapping of bodies to :class:`NamedBodies`."""
    return bodies if isinstance(bodies, NamedBodies) else NamedBodies(bodies)


def frames_of(bodies: Mapping[str, AnyBody]) -> dict[str, Body]:
    """Frames of all bodies by name, in order.

    The name of a frame is that of its body, with an index if the body has several frames, such as ``rod[3]``.
    """
    frames: dict[str, Body] = {}
    for name, body in bodies.items():
        several = {f"{name}[{i}]": frame for i, frame in enumerate(body.frames)}
        frames |= {name: body} if isinstance(body, Body) else several
    return frames


def pieces_of(bodies: Mapping[str, AnyBody]) -> dict[str, Body | NodalBody]:
    """Bodies by name, in which numbered pieces such as ``blade[3]`` take the place of a split body."""
    pieces: dict[str, Body | NodalBody] = {}
    for name, body in bodies.items():
        pieces |= {name: body} if isinstance(body, NodalBody) else frames_of({name: body})
    return pieces


def first_frame(name: str, bodies: Mapping[str, AnyBody]) -> int:
    """Index, among the frames of all bodies, of the first frame of the body ``name``."""
    return named(bodies).first_frames[name]


def split_port(name: str, bodies: Mapping[str, AnyBody]) -> tuple[int, AnyBody, str]:
    """Index of the first frame of the body, the body, and the name of the port, for a port name ``body.port``."""
    owner, _, port = str(name).partition(".")
    if owner.upper() == "GROUND" and owner not in bodies:
        raise ValueError(f"{name!r} is a text, but the ground is the object GROUND: from flexph import GROUND")
    body: AnyBody = check.lookup("body", owner, bodies)
    return first_frame(owner, bodies), body, port


def find_port(name: str, bodies: Mapping[str, AnyBody]) -> tuple[int, Port]:
    """Frame and port of a port name ``body.port``: index of the frame, and the port in the coordinates of that frame.

    Raises ValueError for unknown names.
    """
    index, body, port = split_port(name, bodies)
    if port not in body.ports:
        owner = str(name).partition(".")[0]
        raise ValueError(f"no port {name!r}: {owner} has {', '.join(map(repr, body.ports))}")
    if not isinstance(body, FramedBody):
        return index, body.ports[port]
    node = body.node_of(port)
    return index + node, body.ports[port] if isinstance(body, NodalBody) else body.frames[node].ports[port]


def weights_of(name: str, bodies: Mapping[str, AnyBody]) -> Array | None:
    """Weights (N,) of the nodes in the port ``body.port``, if it is a mean of nodes; None for other ports."""
    owner, _, port = str(name).partition(".")
    body = bodies[owner]
    return body.weights.get(port) if isinstance(body, NodalBody) else None


def slope_of(name: str, direction: Array, bodies: Mapping[str, AnyBody]) -> Array | None:
    """Weights (N,) by which the nodes give the slope of a cable at the port ``body.port``; None for other bodies.

    ``direction`` is given in the axes of the undeformed body and determines the sign. Raises ValueError unless it is
    along the cable.
    """
    owner, _, port = str(name).partition(".")
    body = bodies[owner]
    if not isinstance(body, NodalBody) or port not in body.slopes:
        return None
    slope = body.slopes[port]
    tangent = slope @ body.places
    along = float(direction @ tangent)
    if np.linalg.norm(direction - along / (tangent @ tangent) * tangent) > ALONG:
        own = tuple((tangent / np.linalg.norm(tangent)).round(6).tolist())
        raise ValueError(
            f"port {name!r} of a cable has one direction, its slope {own} at the start, got "
            f"{tuple(direction.tolist())}: name this port first; in the plane take weld or torsion_spring, in space a "
            "hinge with axis= along the slope"
        )
    weights: Array = np.sign(along) * slope
    return weights


def find_place(name: str, bodies: Mapping[str, AnyBody]) -> tuple[int, Port]:
    """Index of the frame, and the port, for the name ``body.port`` of a port or of a load port.

    The result for a port is that of :func:`find_port`. A load port is represented by a port at the centre of mass,
    whose section turns with the frame of the body.
    """
    index, body, port = split_port(name, bodies)
    if isinstance(body, Body) and port in body.loads and port not in body.ports:
        no_turn = sparse.csr_array((spins(body.dim), body.size))
        return index, Port(body.centre, sparse.csr_array(body.inertia.mean_shape), no_turn)
    return find_port(name, bodies)
