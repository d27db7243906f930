"""HTML view of a run or a scene in a notebook."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from html import escape
from typing import Any

import numpy as np

from ..display.tables import number, paragraph, warning
from ..results.solution import Solution
from ..results.validity import warn_of_doubts
from ..scenes.scene import FRAMES
from .html import page_of
from .looks import as_scene

TRIANGLES = 100_000
"""Largest number of triangles of a view in a notebook."""


def live_view(shown: Any, *, field: str | None = None, scale: float = 1.0, forces: bool = False) -> str:
    """HTML view of a run or a scene in a frame, whose styles and scripts do not affect the notebook.

    Summary and warnings of a run are above the view. ``shown`` can also be a pair of a mechanism and a pose or state.
    For scenes with too many triangles, or without shapes, the result has texts only.
    """
    words = "".join(_words(shown)) if not isinstance(shown, tuple) else ""
    mechanism = shown[0] if isinstance(shown, tuple) else getattr(shown, "mechanism", None)
    if mechanism is not None and all(body.view is None for body in mechanism.bodies.values()):
        return f"{words}<p>No body has a view.</p>"
    scene = as_scene(shown, FRAMES, forces=True)
    triangles = sum(len(part.cells) for part in scene.parts)
    if triangles > TRIANGLES:
        return f"{words}<p>The view of {triangles} triangles is left out: write_html(path, …) writes it.</p>"
    page = page_of(scene, title=scene.title or "motion", field=field, scale=scale, forces=forces)
    style = f"width:100%;height:{560 if len(scene.times) > 1 else 420}px;border:0;border-radius:8px"
    return f'{words}<iframe title="moving view" style="{style}" srcdoc="{escape(page)}"></iframe>'


def _words(shown: Any) -> Iterator[str]:
    """Yield a description of the object, and for a run a line of numbers and its warnings, as HTML."""
    yield paragraph(repr(shown)[1:-1])
    if isinstance(shown, Solution) and len(shown.times) > 1:
        yield paragraph(_figures(shown))
        yield from map(warning, _doubts(shown))


def _figures(run: Solution) -> str:
    account = run.ledger
    figures = [
        f"{int(account.steps.sum())} steps" if account.steps.size else f"{len(run.times) - 1} intervals",
        f"largest balance residual {account.largest_residual:.1e} of the energy",
        f"drift {run.energy_drift():.1e}",
        f"work {number(float(account.total_work.sum()), 'J')}",
        f"dissipated {number(float(account.total_dissipation.sum()), 'J')}",
    ]
    if account.position_residual.size and run.mechanism.layout.multipliers:
        figures.append(f"joints open by {account.position_residual.max():.1e} m or rad")
    return ", ".join(figures)


def _doubts(run: Solution) -> list[str]:
    """Warnings about the validity of the run, as they were raised when it was computed."""
    longest = float(np.max(np.diff(run.times) / np.maximum(run.ledger.steps, 1.0))) if run.ledger.steps.size else 0.0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of_doubts(run, longest)
    return [str(one.message) for one in caught]
