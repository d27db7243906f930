"""A limit to what a call may take, in processor time: others may be at work on the machine."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20
"""Processor time after which a call hangs."""
BY_THE_CLOCK = 600
"""Seconds after which one hangs that computes nothing, but waits."""


class Hanging(BaseException):
    """A call that took longer than it may."""


@contextmanager
def patience() -> Iterator[None]:
    """Raise Hanging in the block when it takes too long."""

    def expire(*_: object) -> None:
        raise Hanging(f"hangs over {SECONDS} s")

    before = {number: signal.signal(number, expire) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    signal.alarm(BY_THE_CLOCK)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        for number, handler in before.items():
            signal.signal(number, handler)
