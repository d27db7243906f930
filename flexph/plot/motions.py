"""Pictures of motions against time: ports, bodies and parts of states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bodies.nodal_body import FramedBody
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.result import Result
from ..results.solution import Solution
from .axes import draw
from .panels import MOST, Curve, Panel, largest_of

UNITS = {
    "centre": "m",
    "velocity": "m/s",
    "spin": "rad/s",
    "rotation": "",
    "deformation": "m",
    "deformation_rate": "m/s",
    "stress": "",
}
"""Units of the parts of the state of a body."""


@checked
def motion(run: Result, names: Sequence[str] = (), ax: Any = None) -> Any:
    """Positions of ports and of centres of mass, or parts of the states, against time.

    Parameters
    ----------
    run : Result
        A :class:`flexph.Solution`, :class:`flexph.Trajectory` or another result of a run.
    names : sequence of str, optional
        Ports (``"rod.tip"``: its position), bodies (their centre of mass), and parts of the states (``"rod.spin"``, for
        a system ``"q"``). The default is all bodies and, in the plane, their angles; for a system all parts.
    ax : Axes or a sequence of them, optional
        One for each panel: a coordinate of all positions, or a part of the states; by default of a new figure.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> from flexph import plot
    >>> x, y = plot.motion(solution, ["rod.tip"])  # doctest: +SKIP
    """
    panels = motion_panels(run, names)
    return draw(panels, ax, size=(8.0, 1.5 + 1.8 * len(panels)))


def motion_panels(run: Result, names: Sequence[str] = ()) -> list[Panel]:
    """Panels of position coordinates of ports and bodies, then of parts of the states.

    ValueError for an unknown name.
    """
    if isinstance(run, Solution):
        return _of_mechanism(run, names)
    parts = list(names) or list(run.parts)[:MOST]
    return [_of_part(run, name) for name in parts]


def _of_mechanism(run: Solution, names: Sequence[str]) -> list[Panel]:
    bodies = run.mechanism.bodies
    ports = {f"{name}.{port}" for name, body in bodies.items() for port in body.ports}
    positions = {}
    for name in names or bodies:
        check.lookup("port, body or part", name, {**dict.fromkeys([*bodies, *ports]), **run.parts})
        if name in ports:
            positions[name] = run.position(name)
        elif isinstance(bodies.get(name), FramedBody):
            positions |= {port: run.position(port) for port in ports if port.startswith(f"{name}.")}
        elif name in bodies:
            positions[f"{name}, centre"] = run[f"{name}.centre"]
    panels = _coordinates(run.times, positions)
    if not names and run.mechanism.layout.dim == 2:
        turning = [name for name, body in bodies.items() if body.turns and not isinstance(body, FramedBody)]
        angles = [Curve(run.times, _angle(run.rotations(name)), name) for name in turning]
        panels += [Panel(largest_of(angles), "angle", "rad")] if angles else []
    return panels + [_of_part(run, name) for name in names if name not in ports and name not in bodies]


def _coordinates(times: Array, positions: dict[str, Array]) -> list[Panel]:
    """A panel for each coordinate in which any position changes, or for all coordinates if none changes."""
    if not positions:
        return []
    axes = range(next(iter(positions.values())).shape[1])
    panels = [
        Panel(largest_of([Curve(times, p[:, k], name) for name, p in positions.items()]), "xyz"[k], "m") for k in axes
    ]
    moving = [p for k, p in enumerate(panels) if any(np.ptp(at[:, k]) > 0.0 for at in positions.values())]
    return moving or panels


def _angle(rotation: Array) -> Array:
    return np.unwrap(np.arctan2(rotation[:, 1, 0], rotation[:, 0, 0]))


def _of_part(run: Result, name: str) -> Panel:
    """Panel with a curve for each entry of a part of the states, or of multipliers."""
    values = run[name]
    times = run.times[-len(values) :]  # multipliers belong to steps
    entries = [Curve(times, v, f"[{k}]" if values.shape[1] > 1 else "") for k, v in enumerate(values.T)]
    known = isinstance(run, Solution) and name.partition(".")[0] in run.mechanism.bodies
    return Panel(largest_of(entries), name, UNITS.get(name.rpartition(".")[2], "") if known else "")
