"""Point on a curve: a port that slides along a flexible body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..systems.resistive_relations import Relation
from .rows.connection import Connection, Form, Input, PortName, Row
from .rows.curve_laws import CurveShape, PlaceOnCurve, PointOnCurve
from .rows.directions import axis
from .rows.friction import CoulombFriction
from .rows.resistance import friction_of_sliding, resists_along_curve
from .rows.signs import Solid
from .rows.vectors import GROUND, Ground, Product, along, between


@checked
def point_on_curve(
    port: str,
    curve: Sequence[PortName],
    *,
    degree: int = 1,
    at: Sequence[float] | None = None,
    friction: Relation | CoulombFriction | None = None,
    motor: bool = False,
    place: Callable[[float], float] | None = None,
    name: str | None = None,
) -> Connection:
    """A port slides on a curve through ports of a body, which moves and bends with it: 0 = n·(P − p(s)) for n ⟂ dp/ds.

    ``p(s) = Σ c_k(s) P_k`` is piecewise polynomial; where on it the port is, s, follows from the pose. Over a step the
    increments are exact, so that the port stays on the curve, no work is done, and both momenta are kept at any step
    size. A curve is exactly the axis of a beam of cubic elements with ports at thirds of its elements and ``degree=3``,
    and that of a rod of order p with ports at its nodes and ``degree=p``. The port turns freely.

    Parameters
    ----------
    port : str
        Port ``body.port`` of the body that slides.
    curve : sequence of str or Ground
        Ports of one body along the curve, or places ``GROUND.at(...)``; ``degree`` times the pieces and one more. The
        section at the first one gives the directions that rows are taken in.
    degree : int
        Degree of the polynomials, 1 for straight pieces.
    at : sequence of float, optional
        Places s of the ports, ascending; 0, 1, 2, … by default. Pieces are polynomials of s: of a beam, equal distances
        within each element.
    friction : Relation or CoulombFriction, optional
        Force [N] against the velocity [m/s] along the curve, or dry friction in proportion to the force across it
        (:class:`flexph.joints.CoulombFriction`).
    motor : bool
        Whether the joint is an external port, too: its input (1,) is a force F on the port along the curve, towards
        larger s, and as much against it on the body of the curve. Its output is ds/dt, of which
        :class:`flexph.sensors.place_on_curve` is the place, and F ds/dt its power: with places in metres along the
        undeformed body F is in newtons, whatever that stretches by.
    place : function of time, optional
        The place s(t), prescribed: the drive of the joint. Its multiplier ``NAME: along`` is the force of a motor that
        keeps to it, and does the work of the drive.
    name : str, optional
        Name of the joint and of its external port; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`, of d − 1 constraints, with a ``place`` d; its multipliers are forces
        across the curve [N].
        Runs are by ``Exact``, ``Exact4`` and ``Decaying``, and end where the port leaves the curve, or passes a kink
        of more than 0.1 rad between two pieces.

    Raises
    ------
    ValueError
        For numbers of ports that do not fit the degree, ports of several bodies or given twice, places that do not
        ascend, and for a motor where the place is prescribed.

    Examples
    --------
    A mass that slides down a beam which is held at its root and bends under it:

    >>> import numpy as np
    >>> import fem, rigid
    >>> from flexph import GROUND, connect, integrate, weld
    >>> from flexph.joints import point_on_curve
    >>> section, steel = fem.Section(width=0.05, height=0.02), fem.Material(young=2.1e11, density=7850.0)
    >>> thirds = {f"p{i}": i * 2.0 / 12 for i in range(1, 12)}  # of four elements of 0.5 m
    >>> beam = fem.beam(length=2.0, section=section, material=steel, elements=4, stations=thirds)
    >>> axis = ["beam.root", *(f"beam.{name}" for name in thirds), "beam.tip"]
    >>> bodies = {"beam": beam, "mass": rigid.point(3.0)}
    >>> joints = [weld("beam.root", GROUND), point_on_curve("mass.point", axis, degree=3)]
    >>> slope = connect(bodies, joints, gravity=(0.0, -9.81))
    >>> pose = slope.assemble({"beam": (0.0, 0.0, -0.3)}, guess={"mass": (0.5, -0.15, 0.0)})
    >>> run = integrate(slope, slope.consistent_state(pose), np.linspace(0.0, 0.5, 251))
    >>> bool(run.ledger.largest_residual < 1e-11)
    True
    """
    degree = check.count("degree", degree)
    count = len(curve)
    if motor and place is not None:
        raise ValueError("motor and place do not go together: what is prescribed moves whatever a motor does")
    if count < 2 or (count - 1) % degree:
        raise ValueError(
            f"curve must have {degree} ports for each piece and one more, as degree={degree}, got {count} ports"
        )
    if len(set(curve)) < count or port in curve:
        raise ValueError("curve must have different ports, and not the one that slides")
    if not isinstance(curve[0], Ground) and port.partition(".")[0] == curve[0].partition(".")[0]:
        raise ValueError(f"port must be one of another body than the curve, got {port!r} and {curve[0]!r}")
    if len({"" if isinstance(p, Ground) else p.partition(".")[0] for p in curve}) > 1:
        raise ValueError("curve must have ports of one body, or places of the ground")
    if any(p == GROUND for p in curve):
        raise ValueError("curve must have places of the ground, GROUND.at(...), got GROUND without a place")
    places = np.arange(float(count)) if at is None else check.array("at", at, (count,))
    if any(a >= b for a, b in pairwise(places)):
        raise ValueError(f"at must ascend, one place for each of {count} ports, got {check.shown(at)}")
    resists = friction_of_sliding("friction", friction)
    first = curve[0]
    frame = GROUND if isinstance(first, Ground) else first

    def make(dim: int) -> Form:
        gaps = [between(port, point) for point in curve]
        products = tuple(tuple(Product(along(frame, axis(j, dim)), gap) for gap in gaps) for j in range(dim))
        shape = CurveShape(products, tuple(places.tolist()), degree)
        names = ["across"] if dim == 2 else ["across 1", "across 2"]
        rows = tuple(Row(own, PointOnCurve(shape, i)) for i, own in enumerate(names))
        driven = () if place is None else (Row("along", PlaceOnCurve(shape, len(rows), place)),)
        slips, bearing = resists_along_curve(resists, pressing=len(rows))
        return Form((*rows, *driven), signs=(Solid("sleeve", port, axes=frame),), slips=slips, bearing=bearing)

    pushed = Input("along", port, against=None if isinstance(first, Ground) else first) if motor else None
    return Connection("point_on_curve", (port, first), make, input=pushed, label=name)
