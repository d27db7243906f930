"""Massless ropes over sheaves (reeving)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ...laws.elastic_laws import ElasticLaw, one_sided
from ...laws.spring_law import SpringLaw, check_law
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...units.arguments import quantities
from ..rows.connection import Connection, Form, Measure
from ..rows.rope_path import RopeLine, RopePoint, path_over
from ..rows.signs import Solid
from ..rows.vectors import GROUND, Direction, Ground, PortName, unit


@dataclass(frozen=True, init=False)
class Sheave:
    """Sheave that a :func:`rope` passes without friction, or a turning disc or drum at the end of a rope that grips it.

    Parameters
    ----------
    port : str or Ground
        Port at the centre, of the housing or of any rigid body with inertia, or a position of the ground. Of a disc
        that the rope grips: of the disc itself, which turns.
    radius : float
        Signed radius ρ ≠ 0 of the centre line of the rope [m]: positive if the rope, followed along its path, turns
        counterclockwise round the axis, negative if clockwise.
    axis : array_like, optional
        In space the axis of the sheave in the section at the port, for the ground in world axes.
    turns : int
        Full turns of the rope round the sheave in addition to its arc between 0 and 2π.
    grips : bool
        True for a disc that the rope grips, without slip: the first or last point of a rope. The rope winds onto it and
        turns it, as a drum, a driving pulley of a belt, or a traction sheave with a rope to each side.
    """

    port: PortName
    radius: float
    axis: Direction | None = None
    turns: int = 0
    grips: bool = False

    @quantities(radius="m")
    @checked
    def __init__(
        self,
        port: str | Ground,
        radius: float,
        *,
        axis: Sequence[float] | None = None,
        turns: int = 0,
        grips: bool = False,
    ) -> None:
        rho = check.number("radius", radius)
        if rho == 0.0:
            raise ValueError(f"radius of the sheave at {str(port)!r} must not be zero: give the port itself for an eye")
        if turns < 0:
            raise ValueError(f"turns must not be negative, got {turns}")
        if grips and turns:
            raise ValueError(
                f"turns must be 0 on a disc that the rope grips, got {turns}: how often it is wound does not matter"
            )
        _check_place(port)
        for name, value in (
            ("port", port),
            ("radius", rho),
            ("axis", None if axis is None else unit("axis", axis)),
            ("turns", turns),
            ("grips", grips),
        ):
            object.__setattr__(self, name, value)


@quantities(damping="N*s/m", length="m", stiffness="N/m")
@checked
def rope(
    path: Sequence[str | Ground | Sheave],
    *,
    stiffness: float = 0.0,
    law: SpringLaw | None = None,
    damping: float = 0.0,
    length: float | Callable[[float], float] | None = None,
    name: str | None = None,
) -> Connection:
    """Massless rope through eyes and over sheaves without friction: tension k(L − L₀) where L > L₀, else none.

    The length L is the sum of the straight spans and of the arcs on the sheaves. The rope slips freely, so that its
    tension is the same everywhere. Its extension x = L − L₀ is a state, with the energy ``½ k max(x, 0)²``. The
    increment of x over a step is exact: the energy balance and both momenta hold to round-off at any step size.

    A rope may begin and end on a turning disc that it grips, a drum or pulley: its tension turns the disc, and the disc
    winds it up. A belt, or a rope over a traction sheave, is several ropes, one for each span between gripped discs.

    Parameters
    ----------
    path : sequence of str, Ground or Sheave
        First end, eyes and sheaves in the order of the rope, last end. An end or eye is a port ``body.port`` or
        ``GROUND.at(...)``, a sheave a :class:`Sheave`. The radius of an eye counts as zero. An end may be a disc that
        the rope grips, ``Sheave(..., grips=True)``.
    stiffness : float
        k > 0 of the whole rope [N/m], about EA/L₀.
    law : ElasticLaw, optional
        Law V'(L − L₀) in place of the stiffness, with no force for L < L₀.
    damping : float
        c ≥ 0 [N s/m]: the tension has c ẋ in addition while the rope is taut, but is never negative.
    length : float or function, optional
        Length L₀ without tension [m], by default that of the assembled pose; of a rope that is wound on discs the part
        between them at the assembled pose. A function of time is a winch that winds the rope up without a drum; the
        ledger shows its work under the name of the rope. A warning names a rope that is far shorter than its path.
    name : str, optional
        Name of the rope; by default its kind and the ports along its path.

    Returns
    -------
    Connection
        The force element, for :func:`flexph.connect`. ``Exact``, ``Exact4`` (undamped), ``ExactGauss`` and
        ``Decaying`` integrate it. A run ends where the rope leaves a sheave, winds round it by a full turn, or has no
        straight span left.

    Raises
    ------
    ValueError
        For paths of less than two points, ends on sheaves that do not grip, sheaves that grip between the ends,
        neighbours that are equal, paths without a body, GROUND without a position, neither or both of stiffness and
        law, a function as length of a rope on a drum; when connected, for a missing or superfluous axis.

    Notes
    -----
    With centre lines V_j, signed radii ρ_j, δ_j = ρ_j − ρ_{j+1} and ℓ_j² = V_j·V_j − δ_j², the length is
    ``Σ [ℓ_j + δ_j atan2(δ_j, ℓ_j)] + Σ ρ_j [∠V_j − ∠V_{j−1}]``, with angles in the section of each sheave, and of a
    disc at an end the one angle of its span. Sheaves in space whose planes differ need spans within both planes;
    otherwise put an eye between them. When a state is made by ``consistent_state``, a disc that a rope grips has turned
    by less than half a turn since the assembled pose; in a run it may turn by any angle.

    Examples
    --------
    A crate of 40 kg hangs from a block with a sheave; the winch pulls the rope in by 0.1 m/s, so that the crate rises
    by half of this:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate, slider
    >>> from flexph.joints import Sheave, rope
    >>> from flexph.sensors import position
    >>> block = rigid.body(40.0, inertia=0.5, ports={"axle": (0.0, 0.3)})
    >>> line = [GROUND.at(-0.1, 3.0), Sheave("block.axle", 0.1), GROUND.at(0.1, 3.0)]
    >>> guide = slider("block.axle", GROUND.at(0.0, 0.0), direction=(0.0, 1.0))
    >>> slack = 4.0 + 0.1 * np.pi
    >>> winch = rope(line, stiffness=2e5, damping=2e3, length=lambda t: slack - 0.1 * t)
    >>> crane = connect({"block": block}, [guide, winch], gravity=(0.0, -9.81))
    >>> hanging = crane.equilibrium(crane.assemble({"block": (0.0, 0.7, 0.0)}))
    >>> run = integrate(crane, hanging, np.linspace(0.0, 2.0, 201))
    >>> rise = run.measured(position("block.axle"))[:, 1]
    >>> round(float(rise[-1] - rise[0]), 3)
    0.1
    """
    points = [_point(given) for given in path]
    if len(points) < 2:
        raise ValueError(f"path must have at least two ends, got {len(points)} points")
    is_wound = _check_grips(path)
    if all(isinstance(p.port, Ground) for p in points):
        raise ValueError("path must have a port of a body, got positions of the ground only")
    for a, b in pairwise(points):
        if a.port == b.port:
            raise ValueError(f"path must have different neighbours, got {str(a.port)!r} twice in succession")
    pull = _pull(stiffness, law)
    resistance = check.not_negative("damping", damping)
    free = length if length is None else _length(length, "the rope" if name is None else repr(name))
    if is_wound and callable(free):
        raise ValueError("length of a rope on a disc that it grips must be a number: turn the disc to wind it up")
    wheels = tuple(Solid("wheel", p.port, p.axis, radius=abs(p.radius)) for p in points if p.radius)

    def make(dim: int) -> Form:
        measure = Measure("rope", (), 0.0, resistance, free, law=pull, path=path_over(points, dim))
        return Form(measures=(measure,), signs=(RopeLine(tuple(points)), *wheels))

    return Connection("rope", tuple(p.port for p in points), make, label=name)


def _point(given: str | Ground | Sheave) -> RopePoint:
    """Point of the path of a rope from what a user gave: a port, a position of the ground, or a sheave."""
    if isinstance(given, Sheave):
        return RopePoint(given.port, given.radius, given.axis, given.turns)
    _check_place(given)
    return RopePoint(given)


def _length(length: float | Callable[[float], float], rope: str) -> float | Callable[[float], float]:
    """Length without tension of the rope named ``rope``, after its check: a number, or a function of time.

    The function that is returned raises ValueError for values that are not positive.
    """
    if not callable(length):
        return check.positive("length", length, "m")

    def positive(time: Any) -> Any:
        value = length(time)
        lengths = np.atleast_1d(value)
        if lengths.dtype.kind in "fiu" and (lengths <= 0.0).any():
            first = int(np.argmax(lengths <= 0.0))
            at = np.atleast_1d(time)[first]
            raise ValueError(f"length of {rope} must stay positive, got {lengths[first]:.6g} m at t = {at:.6g} s")
        return value

    return positive


def _check_grips(path: Sequence[str | Ground | Sheave]) -> bool:
    """True if a rope grips a sheave at one of its ends.

    Raises ValueError if the rope ends on a sheave without gripping it, or grips a sheave between its ends.
    """
    ends = [given for given in (path[0], path[-1]) if isinstance(given, Sheave)]
    for end in ends:
        if not end.grips:
            raise ValueError(
                f"path must begin and end at ports or at discs that the rope grips, got a sheave at {str(end.port)!r}: "
                "give grips=True for a drum or pulley that turns, or a length that is a function of time for a winch"
            )
    for given in path[1:-1]:
        if isinstance(given, Sheave) and given.grips:
            raise ValueError(
                f"the rope grips the sheave at {str(given.port)!r} within its path, so that the tensions on both sides "
                "differ: use two ropes, one that ends and one that begins there"
            )
    return bool(ends)


def _check_place(port: str | Ground) -> None:
    """Raise ValueError if the point of a rope is GROUND without a position."""
    if port == GROUND:
        raise ValueError("a rope needs a position of the ground, GROUND.at(x, y), got GROUND without a position")


def _pull(stiffness: float, law: SpringLaw | None) -> ElasticLaw:
    """Elastic law of the tension of a rope, from the stiffness [N/m] or from the law that a user gave.

    Raises ValueError for both or neither of them, and for a law that is not elastic.
    """
    k = check.not_negative("stiffness", stiffness)
    if law is not None and k:
        raise ValueError(f"stiffness and law exclude each other, got stiffness={k:.6g} and {law}")
    if check_law("law", law) is not None:
        if not isinstance(law, ElasticLaw):
            raise ValueError(f"law must be elastic, such as one_sided(k, side='tension'), got {law}")
        return law
    if not k:
        raise ValueError("a rope needs stiffness > 0 or a law, got none of them")
    return one_sided(k, side="tension")
