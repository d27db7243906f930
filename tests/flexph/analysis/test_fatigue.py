"""Rainflow cycles against the example of the standard, and damages against sums by hand."""

import sys

import numpy as np
import pytest

from flexph.analysis import load_cycles

pytest.importorskip("rainflow")
STANDARD = [-2.0, 1.0, -3.0, 5.0, -1.0, 3.0, -4.0, 4.0, -2.0]


def test_counts_are_those_of_the_standard():
    """ASTM E1049-85, fig. 6: half cycles of ranges 3, 4, 6, 9, two of 8, and a full one of 4."""
    cycles = load_cycles(STANDARD, unit="MPa")
    counted = {size: cycles.counts[cycles.ranges == size].sum() for size in np.unique(cycles.ranges)}
    assert counted == {3.0: 0.5, 4.0: 1.5, 6.0: 0.5, 8.0: 1.0, 9.0: 0.5}
    assert "9 MPa" in repr(cycles)


def test_each_cycle_spans_its_range_and_mean():
    rng = np.random.default_rng(5)
    times = np.cumsum(rng.uniform(0.1, 1.0, 400))
    values = rng.normal(size=400).cumsum()
    cycles = load_cycles(values, times)
    first, last = (np.searchsorted(times, own) for own in (cycles.begins, cycles.ends))
    assert np.array_equal(np.abs(values[last] - values[first]), cycles.ranges)
    assert np.allclose(0.5 * (values[last] + values[first]), cycles.means, rtol=0.0, atol=1e-12)
    assert cycles.ranges.max() == np.ptp(values)
    # every reversal is half a cycle
    turns = np.flatnonzero(np.diff(np.sign(np.diff(values)))).size + 1
    assert cycles.counts.sum() == 0.5 * turns


def test_damage_is_the_sum_of_miner_and_does_not_depend_on_the_unit():
    cycles, scaled = load_cycles(STANDARD), load_cycles(1e6 * np.array(STANDARD))
    by_hand = sum(0.5 * n * 0.5 * (r / 2.0 / 3.0) ** 4 for r, n in ((3, 1), (4, 3), (6, 1), (8, 2), (9, 1))) * 2.0
    assert cycles.damage(3.0, 1e3, 4.0) == pytest.approx(by_hand / 1e3, rel=1e-14)
    assert scaled.damage(3e6, 1e3, 4.0) == pytest.approx(by_hand / 1e3, rel=1e-13)
    equivalent = cycles.equivalent_range(1e3, 4.0)
    assert (equivalent / 2.0 / 3.0) ** 4 == pytest.approx(by_hand / 1e3, rel=1e-13)


def test_goodman_counts_tension_only():
    pulled, pushed = load_cycles([1.0, 3.0, 1.0]), load_cycles([-1.0, -3.0, -1.0])
    free = pulled.damage(1.0, 1.0, 3.0)
    assert pulled.damage(1.0, 1.0, 3.0, ultimate=4.0) == pytest.approx(8.0 * free, rel=1e-14)
    assert pushed.damage(1.0, 1.0, 3.0, ultimate=4.0) == pytest.approx(free, rel=1e-14)
    with pytest.raises(ValueError, match="ultimate must be larger than the largest mean"):
        pulled.damage(1.0, 1.0, 3.0, ultimate=2.0)


@pytest.mark.parametrize("values", [[1.0, 4.0], [1.0, 2.0, 4.0]])
def test_a_rise_is_half_a_cycle(values):
    """The residue of ASTM E1049-85, sec. 5.4.4, step 6: each range that is left counts as half a cycle."""
    rise = load_cycles(values, np.linspace(2.0, 5.0, len(values)))
    assert [own.tolist() for own in (rise.ranges, rise.counts, rise.begins, rise.ends)] == [[3.0], [0.5], [2.0], [5.0]]


def test_rest_has_no_cycle_and_bad_input_is_refused(monkeypatch):
    rest = load_cycles(np.ones(5))
    assert not rest.ranges.size and rest.damage(1.0, 1.0, 3.0) == 0.0 == rest.equivalent_range(1.0, 3.0)
    with pytest.raises(ValueError, match="values"):
        load_cycles([0.0, np.nan])
    with pytest.raises(ValueError, match="times must not decrease"):
        load_cycles([0.0, 1.0, 0.0], [0.0, 2.0, 1.0])
    with pytest.raises(ValueError, match=r"times must have shape \(3,\), got \(2,\)"):
        load_cycles([0.0, 1.0, 0.0], [0.0, 1.0])
    monkeypatch.setitem(sys.modules, "rainflow", None)
    with pytest.raises(ModuleNotFoundError, match=r'pip install "flexph\[fatigue\]"'):
        load_cycles([0.0, 1.0, 0.0])
