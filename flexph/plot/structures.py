"""Pictures of Dirac structures as sparsity patterns with named ports."""

from __future__ import annotations

from typing import Any

from ..analysis.structure import sparsity
from ..dirac.structure import DiracStructure
from ..numerics.arguments import checked
from .axes import axes_of

LABELLED = 40
"""Size up to which each entry has a label; in larger structures the first entry of every port."""


@checked
def structure(structure: DiracStructure, ax: Any = None) -> Any:
    """Draw which outputs w of a Dirac structure ``w = J v`` depend on which inputs v, as a pattern of squares.

    Entries of J are red if positive and blue if negative; rows and columns have the names of the ports.

    Parameters
    ----------
    structure : DiracStructure
        Dirac structure, such as ``flexph.analyze(system).whole``.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes
    """
    pattern, outputs, inputs = sparsity(structure)
    n = structure.size
    side = min(12.0, max(4.5, 0.32 * n + 2.0))
    (axes,) = axes_of(ax, 1, size=(side, side))
    axes.imshow(pattern, cmap="RdBu_r", vmin=-1.6, vmax=1.6, interpolation="nearest")
    small = n <= LABELLED
    where = range(n) if small else [s.start for s in structure.ports.values()]
    label = (lambda name: name) if small else (lambda name: name.removesuffix("[0]"))
    axes.set_xticks(list(where), [label(inputs[i]) for i in where], rotation=90, fontsize="small")
    axes.set_yticks(list(where), [label(outputs[i]) for i in where], fontsize="small")
    axes.xaxis.tick_top()
    for span in structure.ports.values():
        for edge in {span.start, span.stop}:
            axes.axhline(edge - 0.5, color="0.75", linewidth=0.8)
            axes.axvline(edge - 0.5, color="0.75", linewidth=0.8)
    axes.set(xlabel="inputs v (red: +, blue: −)", ylabel="outputs w = J v")
    return axes
