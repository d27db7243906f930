"""What is seen on a console while numba compiles."""

import io
import time

import pytest

from flexph.numerics import compiling

pytestmark = pytest.mark.skipif(not compiling.AVAILABLE, reason="needs numba")


class Console(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("stream", [Console, io.StringIO])
def test_a_bar_moves_on_a_console_only_and_is_taken_away(stream, monkeypatch):
    """Two functions in as many moments, in each of which nothing is heard of the compiler."""
    from flexph.numerics.compiled import announcing

    out = stream()
    monkeypatch.setattr("sys.stderr", out)
    monkeypatch.setattr(announcing, "DELAY", 0.05)
    monkeypatch.setattr(announcing, "INTERVAL", 0.02)
    announcing._say_compiling()  # once a process
    with announcing.announced():
        for _ in range(2):
            announcing.event.start_event("numba:compile")
            time.sleep(0.5)  # the bar is written ten times a second
    said = [line.strip() for line in out.getvalue().replace("\n", "\r").split("\r") if "compiling:" in line]
    if stream is Console:
        assert said[0].startswith("compiling: 1 functions")
        assert said[-1].startswith("compiling: 2 functions")
        assert len(said) > 2
        assert not out.getvalue().split("\r")[-1].strip()
    else:
        assert not said


def test_what_takes_a_moment_is_not_shown(monkeypatch):
    from flexph.numerics.compiled import announcing

    out = Console()
    monkeypatch.setattr("sys.stderr", out)
    with announcing.announced():
        announcing.event.start_event("numba:compile")
    assert "compiling:" not in out.getvalue()
