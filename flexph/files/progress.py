"""Progress bars in terminals, hidden by the option ``--quiet``."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self

from ..display.bars import bar

log = logging.getLogger("flexph")


def progress(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> Any:
    """A progress bar (:func:`flexph.display.bars.bar`), hidden if the logger "flexph" drops warnings (``--quiet``)."""
    return bar(over, shown=shown and log.isEnabledFor(logging.WARNING), **options)


class Bar(Protocol):
    """Protocol of a progress bar used as a context manager."""

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any: ...

    def update(self, n: float | None = 1) -> Any: ...  # noqa: D102


class NoBar:
    """A progress bar that does nothing; a disabled bar of tqdm takes as much time as some short runs."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, n: float | None = 1) -> None:
        """Do nothing."""
