"""Progress bars, which stand in terminals, and which quiet commands leave out."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from tqdm import tqdm

log = logging.getLogger("flexph")


def progress(over: Iterable[Any] | None = None, *, shown: bool = True, **options: Any) -> tqdm[Any]:
    """A bar of tqdm; none where there is no terminal, or the log "flexph" takes no warnings (``--quiet``)."""
    return tqdm(over, disable=None if shown and log.isEnabledFor(logging.WARNING) else True, **options)
