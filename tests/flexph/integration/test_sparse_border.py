"""Steps by a sparse border, which wide mechanisms have, against those by a banded one: of all rows and methods."""

from types import SimpleNamespace

import numpy as np
import pytest
from bit_samples import SAMPLES, bits, run
from uncompiled import uncompiled

import fem
from flexph import GROUND, connect, hinge, integrate, torque
from flexph.integration.loops import build
from flexph.integration.loops.wide import kept_block
from flexph.mechanisms.arrays import network
from flexph.methods import Exact, Exact4

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
BANDED = ("decaying", "exact_gauss")
"""Methods whose loops have banded borders alone."""
STEPS = 6
SOFT = fem.Material(young=2e8, density=1000.0, poisson=0.3)


@pytest.fixture
def sparse(monkeypatch):
    """Sparse borders of all mechanisms that are made."""
    monkeypatch.setattr(build, "WIDE", -1.0)


@pytest.mark.parametrize("name", [n for n, s in SAMPLES.items() if s.method.name not in BANDED])
def test_steps_are_those_by_a_banded_border(monkeypatch, name):
    """In as many iterations; states are apart by round-off of stresses, and of what steps by error make of it."""
    banded = run(name, steps=STEPS)
    monkeypatch.setattr(build, "WIDE", -1.0)
    made = SAMPLES[name].make()
    found = run(name, made=made, steps=STEPS)
    assert made[0].once(build.is_wide)
    np.testing.assert_array_equal(found.ledger.iterations, banded.ledger.iterations)
    np.testing.assert_allclose(found.states, banded.states, rtol=0.0, atol=1e-10 * np.abs(banded.states).max())


def test_a_sparse_border_has_the_same_bits_again(sparse):
    name = "loads in space"
    made = SAMPLES[name].make()
    assert bits(run(name, made=made)) == bits(run(name, made=made)) == bits(run(name))


def plate(cells=3, damping=None):
    """A plate of von Kármán strain that turns on a hinge at one side."""
    options = {"thickness": 5e-3, "strain": "von_karman", "reference": "left", "ports": {"left": "left"}}
    options |= {"damping": damping} if damping else {}
    body = fem.plate(fem.box_mesh((1.0, 0.5), (cells, cells)), SOFT, **options)
    joints = [hinge("plate.left", GROUND, axis=(0.0, 1.0, 0.0)), torque("plate.left", name="twist", axes="section")]
    return connect({"plate": body}, joints, gravity=(0.0, 0.0, -9.81))


def turned(whole, method=None, *, steps=5):
    """Run of a plate from rest under torques at its hinge."""
    start = whole.consistent_state(whole.assemble({"plate": ((0.0, 0.0, 0.0), np.eye(3))}))
    return integrate(whole, start, 1e-3 * np.arange(steps + 1), inputs={"twist": (0.1, 1.0, 0.2)}, method=method)


def test_all_coordinates_of_a_plate_may_be_unknowns_of_a_sparse_border(monkeypatch):
    """Those that no joint holds are eliminated before a banded border."""
    banded = turned(plate())
    monkeypatch.setattr(build, "WIDE", -1.0)
    whole = plate()
    found = turned(whole)
    assert banded.mechanism.once(build.constants).border.size[1] >= 0 > whole.once(build.constants).border.size[1]
    assert found.ledger.largest_residual < 1e-13
    # stresses are known to round-off of strains, 1e-16, times the stiffness, 2e8
    np.testing.assert_allclose(found.states, banded.states, rtol=0.0, atol=1e-9 * np.abs(banded.states).max())


@pytest.mark.covering
@pytest.mark.parametrize("limit", ["folded", "sparse"])
@pytest.mark.parametrize("method", [Exact(), Exact4()], ids=repr)
def test_strains_of_many_products_take_the_steps_of_few(monkeypatch, limit, method):
    """Python keeps all matrices of the coordinates of many, dense ones of small mechanisms, too."""
    damping = fem.Damping(mass=0.1, stiffness=1e-4) if method == Exact() else None
    few = turned(plate(2, damping=damping), method, steps=4)
    monkeypatch.setattr(kept_block, "PRODUCTS_OF_FEW", -1.0)
    monkeypatch.setattr(kept_block, "PRODUCTS_OF_MANY", -1.0)
    monkeypatch.setattr(network, "DENSE_LIMIT", 1000 if limit == "folded" else 0)
    whole = plate(2, damping=damping)
    many = turned(whole, method, steps=4)
    assert whole.once(build.constants).elastic.col.size == 0 < few.mechanism.once(build.constants).elastic.col.size
    assert many.ledger.largest_residual < 1e-13
    for name, own in many.ledger.dissipation.items():
        np.testing.assert_allclose(own, few.ledger.dissipation[name], rtol=1e-6, atol=1e-12)
    # stresses are known to round-off of strains, 1e-16, times the stiffness, 2e8, in four substeps or more
    np.testing.assert_allclose(many.states, few.states, rtol=0.0, atol=1e-8 * np.abs(few.states).max())


def test_an_entry_outside_of_the_pattern_makes_no_matrix():
    """It would be lost else; what is not finite is not factored, and the step fails."""
    terms = uncompiled("flexph.integration.loops.terms.border")
    pattern = {"border_column_ptr": np.array([0, 1, 2]), "border_row": np.array([0, 1])}
    m = SimpleNamespace(border_size=np.array([2, -1]), system_border=np.zeros((1, 2)), **pattern)
    terms.add(m, 1, 1, 2.0)
    terms.add(m, 0, 1, 0.0)
    np.testing.assert_array_equal(m.system_border, [[0.0, 2.0]])
    terms.add(m, 0, 1, 1.0)
    assert np.isnan(m.system_border).any()
