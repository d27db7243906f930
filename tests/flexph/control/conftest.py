"""Controllers within steps that Python evaluates: those that loops do not know, and in tests all of them."""

from contextlib import contextmanager

import pytest


@pytest.fixture
def by_python(monkeypatch):
    """Context in which Python evaluates all controllers that act within the steps, and solves for their inputs."""

    @contextmanager
    def context():
        with monkeypatch.context() as patch:
            patch.setattr("flexph.control.coupling.is_compiled", lambda coupled: False)
            yield

    return context


@pytest.fixture(params=["loops", pytest.param("Python", marks=pytest.mark.slow)])
def route(request, monkeypatch):
    """Who evaluates controllers within the steps: the loops, or Python."""
    if request.param == "Python":
        monkeypatch.setattr("flexph.control.coupling.is_compiled", lambda coupled: False)
    return request.param
