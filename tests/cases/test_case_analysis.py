"""What the analysis says of published circuits and rigid systems: index, conserved quantities, passivity."""

import numpy as np
import pytest

from cases import clamped_capacitor, controlled_lc, differential_drive, lc_circuit, rlc_graph, rolling_coin
from flexph import analyze


@pytest.mark.parametrize(
    ("module", "index", "freedom", "casimirs"),
    [
        (lc_circuit, 2, 2, 0),  # index one of [survey] proposition 4.1, where multipliers do not count
        (rlc_graph, 1, 3, 0),
        (controlled_lc, 0, 3, 1),  # the total flux, [survey] example 4.2
        (clamped_capacitor, 2, 1, 1),  # the flux stays: all current goes around the capacitor
        (rolling_coin, 2, 6, 0),  # rolling is not holonomic: nothing is conserved, [survey] example 4.3
        (differential_drive, 2, 5, 0),
    ],
)
def test_index_and_casimirs(module, index, freedom, casimirs):
    found = analyze(module.case.system())
    assert (found.index.index, found.index.freedom) == (index, freedom)
    assert found.casimirs.linear.shape[1] == casimirs
    assert found.passivity.bounded == "yes"
    assert found.passivity.dissipative == (module is rlc_graph)


def test_the_casimir_of_a_controlled_circuit_is_its_total_flux():
    found = analyze(controlled_lc.case.system()).casimirs
    flux = dict(zip(found.names, found.linear[:, 0] / np.abs(found.linear).max(), strict=True))
    assert abs(flux["C"]) < 1e-12
    assert flux["L1"] == pytest.approx(flux["L2"], abs=1e-12)
