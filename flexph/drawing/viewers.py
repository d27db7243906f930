"""Viewers that packages register under the entry-point group ``flexph.viewers``: what ``solution.show()`` opens."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

from ..numerics import checks as check

GROUP = "flexph.viewers"


def open_viewer(shown: Any, viewer: str, **options: Any) -> None:
    """Show a run, or a pair of a mechanism and a pose or state, in the viewer of a name.

    Raises ValueError, naming those that are installed, for any other, and ModuleNotFoundError, naming what to install,
    where it lacks a package.
    """
    entries = {entry.name: entry for entry in entry_points(group=GROUP)}
    check.lookup("viewer", viewer, entries).load()(shown, **options)
