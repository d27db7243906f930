"""Viewers of the entry-point group ``flexph.viewers``, for ``solution.show()`` and ``solution.animate()``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ..display.bars import in_notebook
from ..numerics import checks as check

GROUP = "flexph.viewers"
WINDOW, HTML, FILM = "window", "html", "film"
"""Names of the viewers: in a window, in a notebook (returns HTML), and to write films."""


def open_viewer(shown: Any, viewer: str | None, **options: Any) -> None:
    """Show a run, or a pair of a mechanism and a pose or state, in a named viewer.

    By default the view opens in a Jupyter notebook if there is one, otherwise in a window. Raises ValueError with the
    installed names for an unknown viewer, and ModuleNotFoundError, which names the extra to install.
    """
    if viewer is None and in_notebook():
        from IPython.display import HTML as as_html
        from IPython.display import display

        display(as_html(html_of(shown, **options)))
    else:
        _viewer(viewer or WINDOW)(shown, **options)


def html_of(shown: Any, **options: Any) -> str:
    """Interactive view of a run, or of a pair of a mechanism and a pose or state, as HTML for a notebook."""
    return str(_viewer(HTML)(shown, **options))


def film_of(path: str | Path, shown: Any, **options: Any) -> Path:
    """Write a film of a run; return its path."""
    written: Path = _viewer(FILM)(path, shown, **options)
    return written


def _viewer(name: str) -> Callable[..., Any]:
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    viewer: Callable[..., Any] = check.lookup("viewer", name, entries).load()
    return viewer
