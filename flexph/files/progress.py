"""Progress bars, which stand in terminals, and which quiet commands leave out."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self

from ..display.bars import bar

log = logging.getLogger("flexph")


def progress(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> Any:
    """A bar of tqdm (:func:`flexph.display.bars.bar`); none where the log "flexph" takes no warnings (``--quiet``)."""
    return bar(over, shown=shown and log.isEnabledFor(logging.WARNING), **options)


class Bar(Protocol):
    """A bar of a block of work, which counts what is done."""

    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> Any: ...

    def update(self, n: float | None = 1) -> Any: ...  # noqa: D102


class NoBar:
    """What counts and shows nothing: a bar of tqdm that is disabled still costs as much as many a short run."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def update(self, n: float | None = 1) -> None:
        """Nothing."""
