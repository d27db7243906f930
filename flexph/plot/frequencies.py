"""Campbell diagrams: frequencies against a pose, a speed or a parameter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..linear.responses.sweep import Sweep
from ..numerics.arguments import checked
from .axes import draw
from .panels import Curve, Panel


@checked
def campbell(sweep: Sweep, ax: Any = None, *, orders: Sequence[float] = (), label: str = "") -> Any:
    """Natural frequencies against a parameter, a curve for each mode, with lines ω = nΩ of rotating excitations.

    Parameters
    ----------
    sweep : Sweep
        A sweep from :func:`flexph.linear.sweep` or ``mechanism.sweep``.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.
    orders : sequence of float, optional
        Orders n of the lines, if the parameter is a speed Ω [rad/s].
    label : str, optional
        Label of the parameter with its unit; by default its name.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.campbell(mechanism.sweep(poses, angles, name="angle"))  # doctest: +SKIP
    """
    return draw([campbell_panel(sweep, orders=orders, label=label)], ax, size=(7.0, 4.5))[0]


def campbell_panel(sweep: Sweep, *, orders: Sequence[float] = (), label: str = "") -> Panel:
    """Panel with curves of the modes, and with lines of the orders up to the highest frequency."""
    modes = [Curve(sweep.values, omega, f"mode {k}") for k, omega in enumerate(sweep.frequencies.T, 1)]
    top = float(sweep.frequencies.max())
    lines = []
    for order in orders:
        shown = sweep.values[order * sweep.values <= top]
        lines.append(Curve(shown, order * shown, f"order {order:g}", "dotted", "gray"))
    return Panel((*modes, *lines), "frequency", "rad/s", over=label or sweep.name)
