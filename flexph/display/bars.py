"""Progress bars: lines in a terminal, widgets in a notebook, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from tqdm import tqdm

from .kernels import in_notebook

PATIENCE = 1.0
"""Seconds after which a bar appears in a notebook, where it would stay on the page."""


def bar(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> tqdm[Any]:
    """A bar of tqdm with its ``options``: none unless it is ``shown``, and where there is no terminal and no notebook.

    In notebooks it is a widget where ipywidgets is installed, and the variable ``TQDM_DISABLE`` of the environment
    leaves it out.
    """
    if not (shown and in_notebook()):
        return tqdm(over, disable=None if shown else True, **options)
    return _notebook_bar()(over, **{"delay": PATIENCE, "leave": False, **options})


def _notebook_bar() -> type[tqdm[Any]]:
    if find_spec("ipywidgets") is None:
        return tqdm
    from tqdm.notebook import tqdm as widget

    return widget
