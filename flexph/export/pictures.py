"""Pictures of runs and mechanisms (extra ``plot``)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.durable import staged
from ..linear.responses.plot import bode_figure, nyquist_figure, pole_zero_figure
from ..numerics.arrays import Array
from ..results.ledger import Ledger
from ..results.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bode_figure", "ledger_figure", "nyquist_figure", "pole_zero_figure"]


def ledger_figure(run: Result, path: str | Path) -> Path:
    """Where the energy is, what came in and went out, and the balance residual of every step, as one picture."""
    from matplotlib.figure import Figure

    ledger, times = run.ledger, run.times
    flows = bool(ledger.work or ledger.dissipation)  # without, there is nothing to show but round-off
    figure = Figure(figsize=(8.0, 7.5 if flows else 5.0), layout="constrained")
    stored, *between, audit = figure.subplots(2 + flows, 1, sharex=True, height_ratios=(3, 3, 2) if flows else (3, 2))
    for word in ("kinetic", "elastic", "potential", "stored"):
        if any(name.startswith(word) for name in ledger.energy):
            stored.plot(times, ledger.kind(word), label="springs" if word == "stored" else word, linewidth=1.2)
    stored.plot(times, ledger.total_energy, "k:", label="total", linewidth=1.0)
    stored.set_ylabel("energy [J]")
    for axes in between:
        _flows(axes, times, ledger)
    floor = np.finfo(float).eps / 16.0
    audit.semilogy(times[1:], np.maximum(ledger.relative_residual, floor), ".", markersize=2, label="balance residual")
    audit.axhline(np.finfo(float).eps, color="0.6", linewidth=0.8, label="round-off of one number")
    audit.set_ylabel("per step / energy")
    audit.set_xlabel("t [s]")
    for axes in (stored, *between, audit):  # above the curves, which may fill the whole frame
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", ncols=4, frameon=False)
        axes.grid(alpha=0.3)
    with staged(path) as part:
        figure.savefig(part, dpi=150)
    return Path(path)


def _flows(axes: Axes, times: Array, ledger: Ledger) -> None:
    """Accumulated work of ports and drives, and dissipation."""
    for name, work in ledger.work.items():
        axes.plot(times[1:], np.cumsum(work), label=f"work of {name}", linewidth=1.2)
    for name, loss in ledger.dissipation.items():
        axes.plot(times[1:], np.cumsum(loss), "--", label=f"dissipated in {name}", linewidth=1.2)
    total: Any = ledger.total_energy
    axes.plot(times, total - total[0], "k:", label="change of energy", linewidth=1.0)
    axes.set_ylabel("accumulated [J]")
