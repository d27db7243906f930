"""Deferral of signals, and SIGTERM as an exception."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def deferred_signals() -> Iterator[None]:
    """Context that defers signals with Python handlers, such as Ctrl-C, to its end.

    HDF5 crashes if a Python function that it calls raises. Does nothing outside of the main thread, which alone
    receives signals.
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
    """Exception for SIGTERM, the request to terminate the process; handled like Ctrl-C."""


@contextmanager
def termination_interrupts() -> Iterator[None]:
    """Context that raises Terminated on SIGTERM; it does nothing outside of the main thread."""
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
