"""Logarithmic axes of charts."""

import re

import numpy as np
import pytest

from flexph.plot.panels import Curve, Panel
from flexph.report.page import chart


@pytest.mark.parametrize(("low", "high"), [(3e-7, 2e4), (1.5, 1.7), (0.02, 50.0), (1.0, 10.0)])
def test_a_logarithmic_axis_shows_all_values_within_whole_decades(low, high):
    """The smallest range of whole powers of ten, one at least, that holds every positive value; zero has no place."""
    curve = Curve(np.arange(4.0), np.array([high, low, 0.0, np.sqrt(low * high)]), "a", "line")
    text = chart([Panel((curve,), "H", "", over="w", log="xy")], "a")
    first, last = (float(end) for end in re.search(r'"range":\s*\[([^,\]]+),\s*([^\]]+)\]', text).groups())
    assert first % 1.0 == 0.0 and last % 1.0 == 0.0
    assert 10.0**first <= low < 10.0 ** (first + 1.0)
    assert high <= 10.0**last and (last == first + 1.0 or 10.0 ** (last - 1.0) < high)
