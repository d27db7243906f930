"""Point on a curve: a port that slides along a flexible body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics import checks as check
from ..numerics.arguments import checked
from .rows.connection import Connection, Form, Input, PortName, Row
from .rows.friction import CoulombFriction
from .rows.laws import CurveShape, PlaceOnCurve, PointOnCurve
from .rows.resistance import friction_of_sliding, resists_along_curve
from .rows.signs import Solid
from .rows.vectors import GROUND, Ground, Product, along, axis, between


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
    """Joint of a port that slides along a curve through ports of another body.

    The curve moves and bends with that body. It is piecewise polynomial, ``p(s) = Σ c_k(s) P_k`` with the positions P_k
    of its ports, and the rows are ``0 = n·(P − p(s))`` for the directions n ⟂ dp/ds, with the position P of the port
    that slides. Its coordinate s on the curve follows from the pose. Increments over a step are exact: the port stays
    on the curve, the joint does no work, and both momenta are conserved at any step size. The curve is exactly the axis
    of a beam of cubic elements if its ports lie at thirds of the elements and ``degree=3``, and that of a rod of order
    p if they lie at its nodes and ``degree=p``. The port turns freely.

    Parameters
    ----------
    port : str
        Port ``body.port`` of the body that slides.
    curve : sequence of str or Ground
        Ports of one body along the curve, or places ``GROUND.at(...)``: ``degree`` times the number of pieces, plus
        one. The constraint rows use the axes of the section at the first one.
    degree : int
        Degree of the polynomials, 1 for straight pieces.
    at : sequence of float, optional
        Values of s at the ports, ascending; 0, 1, 2, … by default. Pieces are polynomials in s: on a beam, space them
        equally within each element.
    friction : Relation or CoulombFriction, optional
        Force [N] against the velocity [m/s] along the curve, or dry friction in proportion to the force across it
        (:class:`flexph.joints.CoulombFriction`).
    motor : bool
        True if the joint is an external port, too. Its input (1,) is a force F on the port along the curve, towards
        larger s, with its reaction on the body of the curve. Its output is ds/dt (s is read by
        :class:`flexph.sensors.place_on_curve`), its power F ds/dt. With s in metres along the undeformed body, F is in
        newtons, also where the body stretches.
    place : function of time, optional
        Prescribed place s(t), which makes the joint a drive. The multiplier ``NAME: along`` is the force of its motor
        and does the work of the drive.
    name : str, optional
        Name of the joint and of its external port; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`, with d − 1 constraints, or d with a ``place``; its multipliers are forces
        across the curve [N]. The methods ``Exact``, ``Exact4`` and ``Decaying`` integrate it. A run ends where the port
        leaves the curve or passes a kink of more than 0.1 rad between two pieces.

    Raises
    ------
    ValueError
        For a number of ports that does not fit the degree, ports of several bodies, a port given twice, values of s
        that do not ascend, and for a motor together with a prescribed place.

    Examples
    --------
    A mass slides down a clamped beam, which bends under it:

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
        raise ValueError(
            "motor and place cannot be given together: a prescribed place leaves a motor no freedom; leave one out"
        )
    if count < 2 or (count - 1) % degree:
        raise ValueError(
            f"curve must have {degree} ports for each piece, plus one, for degree={degree}; got {count} ports"
        )
    if len(set(curve)) < count or port in curve:
        raise ValueError("curve must have different ports, and not the sliding port itself")
    if not isinstance(curve[0], Ground) and port.partition(".")[0] == curve[0].partition(".")[0]:
        raise ValueError(f"port and curve must belong to different bodies, got {port!r} and {curve[0]!r}")
    if len({"" if isinstance(p, Ground) else p.partition(".")[0] for p in curve}) > 1:
        raise ValueError("curve must have ports of one body, or places of the ground only")
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
        rows = tuple(Row(row_name, PointOnCurve(shape, i)) for i, row_name in enumerate(names))
        driven = () if place is None else (Row("along", PlaceOnCurve(shape, len(rows), place)),)
        slips, bearing = resists_along_curve(resists, pressing=len(rows))
        return Form((*rows, *driven), signs=(Solid("sleeve", port, axes=frame),), slips=slips, bearing=bearing)

    pushed = Input("along", port, against=None if isinstance(first, Ground) else first) if motor else None
    return Connection("point_on_curve", (port, first), make, input=pushed, label=name)
