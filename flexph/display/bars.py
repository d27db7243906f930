"""Progress bars in notebooks and terminals."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from types import TracebackType
from typing import Any, Protocol, Self

from tqdm import tqdm


def in_notebook() -> bool:
    """True if this process is a kernel of Jupyter."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


PATIENCE = 1.0
"""Delay [s] after which a bar appears in a notebook, so that short runs leave no trace on the page."""


def bar(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> tqdm[Any]:
    """Progress bar of tqdm over an iterable, or without one for manual updates, with ``options`` of tqdm.

    It is hidden if not ``shown``, and outside of terminals and notebooks. In notebooks it is a widget if ipywidgets is
    installed. The environment variable ``TQDM_DISABLE`` turns it off.
    """
    if not (shown and in_notebook()):
        return tqdm(over, disable=None if shown else True, **options)
    return _notebook_bar()(over, **{"delay": PATIENCE, "leave": False, **options})


def _notebook_bar() -> type[tqdm[Any]]:
    if find_spec("ipywidgets") is None:
        return tqdm
    from tqdm.notebook import tqdm as widget

    return widget


log = logging.getLogger("flexph")


def progress(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> Any:
    """Progress bar (:func:`flexph.display.bars.bar`), hidden if the logger "flexph" drops warnings (``--quiet``)."""
    return bar(over, shown=shown and log.isEnabledFor(logging.WARNING), **options)


class Bar(Protocol):
    """Protocol of a progress bar used as a context manager."""

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any: ...

    def update(self, n: float | None = 1) -> Any: ...  # noqa: D102


class NoBar:
    """Progress bar that does nothing, because a disabled bar of tqdm takes as long as some short runs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, n: float | None = 1) -> None:
        """Do nothing."""
