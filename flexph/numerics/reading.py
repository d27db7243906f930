"""Reading of files that others wrote: whatever stops a reader is one kind of error, which names the file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def reading(what: str, path: str | os.PathLike[str]) -> Iterator[None]:
    """ValueError ``WHAT cannot be read from PATH: …`` for whatever the block raises: parsers raise what they meet."""
    try:
        yield
    except Exception as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{what} cannot be read from {os.fspath(path)!r}: {said}") from error
