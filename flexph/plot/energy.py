"""Pictures of the energy ledger."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.ledger import Ledger
from ..results.result import Result
from .axes import draw
from .panels import Curve, Panel, largest_of

KINDS = {"kinetic": "kinetic", "elastic": "elastic", "potential": "potential", "stored": "springs"}


@checked
def ledger(run: Result, ax: Any = None) -> Any:
    """Picture of the energies of a run, the flows in and out, and the balance residual of every step.

    Parameters
    ----------
    run : Result
        A :class:`flexph.Solution`, :class:`flexph.Trajectory` or another result of a run.
    ax : Axes or a sequence of them, optional
        One for the energies alone, or one for each panel: two, or three if ports, drives or dampers have accounts; by
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
    """Panels of the energies; for runs with several times also of accumulated flows, if any, and of step residuals."""
    account, times = run.ledger, run.times
    flows = [Panel(_flows(times, account), "accumulated", "J", height=3.0)] if account.work or _lost(account) else []
    audit = [_audit(times, account)] if len(times) > 1 else []
    return [Panel(_energies(times, account), "energy", "J", height=3.0), *(flows if audit else []), *audit]


def _energies(times: Array, account: Ledger) -> tuple[Curve, ...]:
    own = [word for word in KINDS if any(name.startswith(word) for name in account.energy)]
    kinds = [Curve(times, account.kind(word), KINDS[word]) for word in own]
    return (*kinds, Curve(times, account.total_energy, "total", "dotted", "black"))


def _flows(times: Array, account: Ledger) -> tuple[Curve, ...]:
    """Curves of accumulated work of ports and drives, of accumulated dissipation, and of the change of energy."""
    work = [Curve(times[1:], np.cumsum(values), f"work of {name}") for name, values in account.work.items()]
    lost = [Curve(times[1:], np.cumsum(v), f"dissipated in {k}", "dashed") for k, v in _lost(account).items()]
    change = Curve(times, account.total_energy - account.total_energy[0], "change of energy", "dotted", "black")
    return *largest_of(work, rest="other works"), *largest_of(lost, rest="other losses"), change


def _lost(account: Ledger) -> dict[str, Array]:
    """Dissipation of each account that is not always zero."""
    return {name: values for name, values in account.dissipation.items() if np.any(values)}


def _audit(times: Array, account: Ledger) -> Panel:
    round_off = float(np.finfo(float).eps)
    residual = np.maximum(account.relative_residual, round_off / 16.0)
    level = Curve(times[[0, -1]], np.full(2, round_off), "round-off of one number", color="gray")
    points = Curve(times[1:], residual, "balance residual", "points")
    return Panel((points, level), "per step / energy", log="y", height=2.0)
