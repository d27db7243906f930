"""Envelopes of stresses: the first of equal peaks, and the places of cells."""

from dataclasses import replace

import numpy as np
import pytest

import fem
from flexph import connect
from flexph.export import frames, stress_envelope
from flexph.results import static_solution

STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
MESH = fem.box_mesh((0.3, 0.1), (3, 2))


@pytest.fixture(scope="module")
def held():
    """A plane block with the same stresses at three instants."""
    body = fem.solid(MESH, STEEL, ports={"root": "left"}, plane="stress", thickness=0.01, reference="root")
    mechanism = connect({"b": body}, [])
    state = mechanism.consistent_state(mechanism.assemble({"b": (0.0, 0.0, 0.0)}))
    x = state.x.copy()
    x[mechanism.layout.parts["b.stress"]] = 1e3 * np.random.default_rng(3).standard_normal(body.stress_size)
    run = static_solution(mechanism, replace(state, x=x))
    return replace(run, times=np.arange(3.0), states=np.repeat(run.states, 3, axis=0))


@pytest.mark.parametrize("entries", [1, 4_000_000])
def test_of_equal_peaks_the_first_counts_however_the_times_are_read(held, entries, monkeypatch):
    monkeypatch.setattr(frames, "ENTRIES", entries)
    envelope = stress_envelope(held, "b")
    for times in (envelope.peak_time, envelope.largest_time, envelope.smallest_time):
        np.testing.assert_array_equal(times, 0.0)


def test_centres_are_those_of_the_cells(held):
    """Points of the stresses lie evenly in rectangles: their mean is the mean of the corners."""
    centres, cells = stress_envelope(held, "b").centres, MESH.p[:, MESH.t].mean(axis=1).T
    np.testing.assert_allclose(centres - centres.mean(axis=0), cells - cells.mean(axis=0), atol=1e-12)
