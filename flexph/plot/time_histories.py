"""Pictures against time: motions of ports, bodies and parts of states, and the energy ledger."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..bodies.nodal_body import FramedBody
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.ledger import Ledger
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
    """Draw positions of ports and centres of mass, or parts of the states, against time.

    Parameters
    ----------
    run : Result
        A :class:`flexph.Solution`, :class:`flexph.Trajectory` or another result of a run.
    names : sequence of str, optional
        Ports (``"rod.tip"`` for its position), bodies (for their centre of mass), and parts of the states
        (``"rod.spin"``, for a system ``"q"``); by default all bodies and, in the plane, their angles; for a system its
        first eight parts.
    ax : Axes or a sequence of them, optional
        Axes for each panel, which is a coordinate of all positions or a part of the states; by default those of a new
        figure.

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
    """Panels of position coordinates of the ports and bodies ``names``, and of the parts of states ``names``.

    By default: the positions of all bodies and, in the plane, their angles; for a system its first MOST parts. Raises
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
    """Panels of positions against time, one for each coordinate in which a position changes.

    If none changes, there is one for all coordinates. ``positions`` (k, d) [m] by name.
    """
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
    """Panel with a curve for each entry of the part ``name`` of the states, or of multipliers."""
    values = run[name]
    times = run.times[-len(values) :]  # multipliers belong to steps
    entries = [Curve(times, v, f"[{k}]" if values.shape[1] > 1 else "") for k, v in enumerate(values.T)]
    known = isinstance(run, Solution) and name.partition(".")[0] in run.mechanism.bodies
    return Panel(largest_of(entries), name, UNITS.get(name.rpartition(".")[2], "") if known else "")


KINDS = {"kinetic": "kinetic", "elastic": "elastic", "potential": "potential", "stored": "springs"}


@checked
def ledger(run: Result, ax: Any = None) -> Any:
    """Draw the energies of a run, accumulated work and dissipation, and the balance residual of every step.

    Parameters
    ----------
    run : Result
        A :class:`flexph.Solution`, :class:`flexph.Trajectory` or another result of a run.
    ax : Axes or a sequence of them, optional
        Axes for the energies only, or axes for each panel: two, or three if ports, drives or dampers have accounts; by
        default those of a new figure.

    Returns
    -------
    list of Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.ledger(solution)  # doctest: +SKIP
    >>> plot.save(axes, "ledger.png")  # doctest: +SKIP
    """
    from matplotlib.axes import Axes

    panels = ledger_panels(run)
    return draw(panels[:1] if isinstance(ax, Axes) else panels, ax, size=(8.0, 2.5 * len(panels)))


def ledger_panels(run: Result) -> list[Panel]:
    """Panels of energies and, for runs with several times, of accumulated flows (if any) and step residuals."""
    account, times = run.ledger, run.times
    flows = (
        [Panel(_flows(times, account), "accumulated", "J", height=3.0)] if account.work or _dissipated(account) else []
    )
    audit = [_audit(times, account)] if len(times) > 1 else []
    return [Panel(_energies(times, account), "energy", "J", height=3.0), *(flows if audit else []), *audit]


def _energies(times: Array, account: Ledger) -> tuple[Curve, ...]:
    words = [word for word in KINDS if any(name.startswith(word) for name in account.energy)]
    kinds = [Curve(times, account.kind(word), KINDS[word]) for word in words]
    return (*kinds, Curve(times, account.total_energy, "total", "dotted", "black"))


def _flows(times: Array, account: Ledger) -> tuple[Curve, ...]:
    """Curves of accumulated work of ports and drives, of accumulated dissipation, and of the change of energy.

    Small works and losses are summed.
    """
    work = [Curve(times[1:], np.cumsum(values), f"work of {name}") for name, values in account.work.items()]
    lost = [Curve(times[1:], np.cumsum(v), f"dissipated in {k}", "dashed") for k, v in _dissipated(account).items()]
    change = Curve(times, account.total_energy - account.total_energy[0], "change of energy", "dotted", "black")
    return *largest_of(work, rest="other works"), *largest_of(lost, rest="other losses"), change


def _dissipated(account: Ledger) -> dict[str, Array]:
    """Energies dissipated in each step [J], by account, without accounts that are always zero."""
    return {name: values for name, values in account.dissipation.items() if np.any(values)}


def _audit(times: Array, account: Ledger) -> Panel:
    round_off = float(np.finfo(float).eps)
    residual = np.maximum(account.relative_residual, round_off / 16.0)
    level = Curve(times[[0, -1]], np.full(2, round_off), "round-off of one number", color="gray")
    points = Curve(times[1:], residual, "balance residual", "points")
    return Panel((points, level), "per step / energy", log="y", height=2.0)
