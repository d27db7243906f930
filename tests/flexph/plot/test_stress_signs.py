"""Pictures of extremes of stresses under loads and under their opposites, and of phases beyond half a turn."""

from dataclasses import replace

import numpy as np
import pytest

import fem
from flexph import connect, plot
from flexph.linear import FrequencyResponse
from flexph.plot.responses import bode_panels
from flexph.plot.stress_extremes import stress_extremes
from flexph.results import static_solution

pyplot = pytest.importorskip("matplotlib.pyplot")
STEEL = fem.Material(young=2.1e11, density=7850.0, poisson=0.3)
BEAM = fem.beam(0.3, STEEL, fem.Section(width=0.02, height=0.01), elements=2)
PLATE = fem.plate(fem.box_mesh((0.3, 0.05), (3, 1)), STEEL, ports={"root": "left"}, thickness=0.004, reference="root")


def under(body, *factors):
    """The body at rest with some stresses, times a factor at each instant."""
    mechanism, stresses = connect({"b": body}, []), np.random.default_rng(3).standard_normal(body.stress_size)
    pose = (0.0, 0.0, 0.0) if body.dim == 2 else ((0.0, 0.0, 0.0), np.eye(3))
    state = mechanism.consistent_state(mechanism.assemble({"b": pose}))
    states = np.repeat(state.x[None], len(factors), axis=0)
    states[:, mechanism.layout.parts["b.stress"]] = np.outer(factors, stresses)
    return replace(static_solution(mechanism, state), times=np.arange(float(len(factors))), states=states)


@pytest.mark.parametrize(("body", "quantity"), [(BEAM, "bending_moment"), (PLATE, "moment_xx")])
def test_opposite_loads_have_opposite_extremes_at_the_same_place(body, quantity):
    """A load and twice its opposite; the place is where the larger size of both extremes is."""
    one, other = (stress_extremes(under(body, factor, -2.0 * factor), "b", quantity) for factor in (1e3, -1e3))
    np.testing.assert_array_equal(one.lowest, -other.highest)
    np.testing.assert_array_equal(one.largest, other.largest)
    for extremes in (one, other):
        sizes = np.maximum(np.abs(extremes.lowest), np.abs(extremes.highest))
        assert extremes.worst == sizes.argmax() and extremes.largest.max() == sizes.max() and extremes.time == 1.0


@pytest.mark.parametrize("factor", [1e3, -1e3])
def test_the_mark_is_on_the_band_where_it_is_farthest_from_zero(factor):
    axes = plot.stress_envelope(under(BEAM, factor, -2.0 * factor), "b", "bending_moment")
    high, low, mark = (np.asarray(line.get_ydata()) for line in axes.lines)
    assert np.abs(mark).item() == np.abs([high, low]).max()
    pyplot.close("all")


def test_colours_say_the_size_and_not_the_sign():
    one, other = (
        plot.stress_envelope(under(PLATE, factor, -2.0 * factor), "b", "moment_xx").collections[0]
        for factor in (1e3, -1e3)
    )
    np.testing.assert_array_equal(one.get_array(), other.get_array())
    np.testing.assert_array_equal(one.get_offsets(), other.get_offsets())
    pyplot.close("all")


@pytest.mark.parametrize("lags", [1, 4, 9])
def test_phases_of_lags_in_a_row_add(lags):
    """arg (1 + iω)⁻ⁿ = −n arctan ω, however many turns these are."""
    omega = np.geomspace(1e-2, 1e2, 200)
    response = FrequencyResponse(omega, ((1.0 + 1j * omega) ** -lags)[:, None, None], ("y",), ("u",))
    _, phase = bode_panels(response)
    np.testing.assert_allclose(phase.curves[0].y, -lags * np.degrees(np.arctan(omega)), atol=1e-9)
