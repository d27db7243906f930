"""Progress bars: lines in a terminal, widgets in a notebook, nothing elsewhere."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from tqdm import tqdm

from .kernels import in_notebook

PATIENCE = 1.0
"""Delay [s] after which a bar appears in a notebook, so that short runs leave no trace on the page."""


def bar(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> tqdm[Any]:
    """Progress bar of tqdm with its ``options``, silent if not ``shown`` and outside of terminals and notebooks.

    In notebooks it is a widget if ipywidgets is installed. The environment variable ``TQDM_DISABLE`` turns it off.
    """
    if not (shown and in_notebook()):
        return tqdm(over, disable=None if shown else True, **options)
    return _notebook_bar()(over, **{"delay": PATIENCE, "leave": False, **options})


def _notebook_bar() -> type[tqdm[Any]]:
    if find_spec("ipywidgets") is None:
        return tqdm
    from tqdm.notebook import tqdm as widget

    return widget
