"""What is said while numba compiles: a sentence once a process, and on a console a bar that moves."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Event, Thread
from typing import Any

from numba.core import event

from ...files.progress import progress

DELAY, INTERVAL = 1.0, 0.2
"""Duration of compiling [s] from which on there is a bar, and of what passes between two looks at it."""
log = logging.getLogger("flexph")


@contextmanager
def announced() -> Iterator[None]:
    """Says so when something has to be compiled inside: it takes seconds and is kept on disk."""
    announcer = _Announcer()
    try:
        with event.install_listener("numba:compile", announcer):
            yield
    finally:
        announcer.close()


class _Announcer(event.Listener):
    """Counts the functions that are compiled, and shows that from the first one on."""

    bar: CompilingBar | None = None

    def on_start(self, _: Any) -> None:
        """Another function."""
        if self.bar is None:
            _say_compiling()
            self.bar = CompilingBar()
        self.bar.count += 1

    def on_end(self, _: Any) -> None:
        """Nothing: functions end in one another."""

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.close()


class CompilingBar:
    """A bar without end, as nobody knows how many functions follow; it moves while LLVM works, which says nothing."""

    def __init__(self) -> None:
        self.count, self._done = 0, Event()
        self._bar = progress(
            desc="compiling",
            delay=DELAY,
            miniters=0,
            leave=False,
            bar_format="{desc}: {n_fmt} functions, {elapsed}",
        )
        self._thread = None if self._bar.disable else Thread(target=self._move, daemon=True)
        if self._thread:
            self._thread.start()

    def _move(self) -> None:
        while not self._done.wait(INTERVAL):
            self._bar.update(self.count - self._bar.n)

    def close(self) -> None:
        """Take it away."""
        self._done.set()
        if self._thread:
            self._thread.join()
        self._bar.close()


@cache
def _say_compiling() -> None:
    log.warning("flexph: compiling kernels; this takes up to a minute, once on this machine")
