"""Viewers that packages register in the entry-point group ``flexph.viewers``; ``solution.show()`` opens them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

from ..numerics import checks as check

GROUP = "flexph.viewers"
WINDOW, HTML = "window", "html"
"""Default viewers outside and within notebooks; the second one returns HTML."""


def open_viewer(shown: Any, viewer: str | None, **options: Any) -> None:
    """Show a run, or a pair of a mechanism and a pose or state, in a named viewer.

    By default the view opens in the page of a Jupyter notebook, otherwise in a window. Raises ValueError with the
    installed names for an unknown viewer, and ModuleNotFoundError with the package to install if one is missing.
    """
    if viewer is None and in_notebook():
        from IPython.display import HTML as as_html
        from IPython.display import display

        display(as_html(html_of(shown, **options)))
    else:
        _viewer(viewer or WINDOW)(shown, **options)


def html_of(shown: Any, **options: Any) -> str:
    """Live view of a run, or of a pair of a mechanism and a pose or state, as HTML for a notebook."""
    return str(_viewer(HTML)(shown, **options))


def in_notebook() -> bool:
    """True if a Jupyter kernel runs this process."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


def _viewer(name: str) -> Callable[..., Any]:
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    viewer: Callable[..., Any] = check.lookup("viewer", name, entries).load()
    return viewer
