"""Memory of the loops of a mechanism: its fields, the width of its border, and orders that mechanisms share."""

from functools import partial

import numpy as np
import pytest
import skfem
from bit_samples import SAMPLES, run
from sample_mechanisms import chain, crank_slider, pendulum

import fem
from flexph import GROUND, connect, weld
from flexph.integration.loops import border, build, workspace
from flexph.integration.loops.flexible import cached_indices
from flexph.integration.loops.flexible.strain_operator import StrainOperator
from flexph.integration.loops.memory import packing
from flexph.numerics.arrays import dense


def test_fields_of_a_memory_are_views_of_it():
    """Of every kind that there is; a copy has its own."""
    mechanism, _, _ = crank_slider()
    whole = workspace.memory(mechanism)
    m = whole.copy()
    m.at_w[0, 0] = 1.0
    m.x_v[:] = 2.0
    assert m.at_w[0, 0] == 1.0 and (m.x_v == 2.0).all()
    assert not m.x_lam.any() and not m.defect_v.any() and not whole.at_w.any()
    assert m.inertia_mass.dtype == np.float64 and m.nodes_body.dtype == np.int64
    assert m.inertia_mass[0] == 0.1  # kg, of the crank
    with pytest.raises(AttributeError, match="no field 'at_z'"):
        m.at_z  # noqa: B018


def test_the_border_of_a_chain_stays_narrow():
    """The cost of a body does not grow with the number of bodies."""
    widths = [int(chain(bodies)[0].once(build.constants).border.size[1]) for bodies in (3, 6, 12)]
    assert widths[2] <= widths[1] + 3 <= 40


def test_orders_of_unknowns_are_kept_for_mechanisms_that_are_built_the_same_way(monkeypatch):
    """And for no others: the memory of each is that which is made without any other before it."""
    samples = crank_slider, pendulum, partial(crank_slider, elements=2), partial(crank_slider, damping=1e-3)
    made = [sample()[0] for sample in (*samples, crank_slider)]
    memories = [workspace.memory(mechanism) for mechanism in made]
    assert memories[0].table is memories[-1].table
    assert build.constants(made[0]).border is build.constants(made[-1]).border
    for room in (border, cached_indices, packing):
        monkeypatch.setattr(room, "FEW", -1)
    for mechanism, memory in zip(made, memories, strict=True):
        alone = workspace.memory(mechanism.__class__(mechanism.bodies, mechanism.connections, mechanism.gravity))
        for name in ("reals", "wholes", "table"):
            np.testing.assert_array_equal(getattr(memory, name), getattr(alone, name))


@pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
@pytest.mark.parametrize("name", SAMPLES)
def test_runs_share_the_constants_of_a_mechanism_and_leave_them_as_they_are(name, monkeypatch):
    packed, pack = [], packing.pack

    def kept(*given):
        memory = pack(*given)
        packed.append((memory, memory.constants.cells.copy(), memory.copy()))
        return memory

    monkeypatch.setattr(workspace, "pack", kept)
    run(name)
    assert packed
    for memory, before, other in packed:
        assert other.constants is memory.constants and other.space is not memory.space
        np.testing.assert_array_equal(memory.constants.cells, before)
        with pytest.raises(ValueError, match="read-only"):
            memory.constants.cells[:] = 0


def test_strain_rows_with_the_same_columns_share_their_places_in_the_jacobian():
    """DᵀC⁻¹D by the arrays of the loops, beside the matrices: of a von Kármán plate with three rows a point."""
    mesh = skfem.MeshTri.init_tensor(np.linspace(0.0, 1.0, 3), np.linspace(0.0, 0.5, 2))
    material, ports = fem.Material(young=70e9, density=2700.0, poisson=0.3), {"root": lambda x: x[0] == 0.0}
    plate = fem.plate(mesh, material, thickness=0.01, strain="von_karman", ports=ports)
    mechanism = connect({"plate": plate}, [weld("plate.root", GROUND)])
    k, a = build.banded_constants(mechanism), mechanism.network.arrays
    rng = np.random.default_rng(0)
    D = rng.standard_normal(k.elastic.col.size)
    rows = np.zeros((a.stress_damping.size, a.body_u.size))
    rows[k.elastic.row, k.elastic.col] = D
    sums, s = np.zeros(max(int(k.border.place.max()), int(k.stiffness.pair_place.max())) + 1), k.stiffness
    for c, j in enumerate(s.second):
        left = slice(s.left_ptr[c], s.left_ptr[c + 1])
        products = np.outer(s.left_val[left] * D[s.left_mean[left]], D[k.elastic.ptr[j] : k.elastic.ptr[j + 1]]).ravel()
        np.add.at(sums, s.pair_place[s.block[c] : s.block[c] + products.size], products)
    bent = StrainOperator.of(a).curved
    stiffness = np.where(bent[:, None] | bent, dense(a.stiffness), 0.0)
    wanted = rows.T @ stiffness @ rows
    row = np.repeat(np.arange(a.body_u.size), np.diff(k.inertia.ptr))
    blocks = {}  # of products, by the columns of both rows
    for c, j in enumerate(s.second):
        left = k.elastic.col[s.left_mean[s.left_ptr[c] : s.left_ptr[c + 1]]]
        right = k.elastic.col[k.elastic.ptr[j] : k.elastic.ptr[j + 1]]
        blocks[left.tobytes(), right.tobytes()] = left.size * right.size
    assert s.pair_place.size == sum(blocks.values())
    assert 3 * s.pair_place.size < sum(np.diff(s.left_ptr) * np.diff(k.elastic.ptr)[s.second])
    np.testing.assert_allclose(
        sums[k.border.place], wanted[row, k.inertia.col], rtol=0.0, atol=1e-12 * np.abs(wanted).max()
    )
