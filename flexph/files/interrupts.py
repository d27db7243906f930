"""Signals that wait while what they would break off is under way."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Let signals with handlers in Python, as Ctrl-C, wait for the end of the block; other threads get none anyway.

    HDF5 crashes where a function that it calls in Python raises.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handlers = {number: signal.getsignal(number) for number in signal.valid_signals()}
    handlers = {number: handler for number, handler in handlers.items() if callable(handler)}
    received: list[int] = []
    try:
        for number in handlers:
            signal.signal(number, lambda number, frame: received.append(number))
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for late in dict.fromkeys(received):
            signal.raise_signal(late)


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM); whatever Ctrl-C does, this does, too."""


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Raise Terminated on SIGTERM until the end of the block; in the main thread, which alone may say so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def raise_terminated(number: int, frame: object) -> None:
        raise Terminated

    before = signal.signal(signal.SIGTERM, raise_terminated)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
