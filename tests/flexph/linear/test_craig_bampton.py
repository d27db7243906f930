"""Craig-Bampton blocks: exact statics and rigid motions, frequencies that converge, structure and names kept."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

import fem
from flexph import LinearPHDAE, connect, eigenfrequencies, eliminate, force, modes, torque
from flexph.interconnection import clamp, substructure, tie
from flexph.linear.reduction.component_modes import craig_bampton
from flexph.linear.shifted import split

ENDS = ("root", "root turn", "tip", "tip turn")
UNIT = {"material": fem.Material(young=1.0, density=1.0), "section": fem.Section(area=1.0, second_moment=1.0)}


def full(matrix):
    return matrix.toarray() if sparse.issparse(matrix) else matrix


def floating(elements=12, **options):
    """A floating beam of the plane as a block: axial and bending, three rigid motions."""
    steel, strip = fem.Material(young=2.1e11, density=7800.0), fem.Section(width=0.02, height=0.01)
    body = fem.beam(1.0, steel, strip, elements=elements, stations={"middle": 0.5}, **options)
    loads = [force(f"beam.{end}", name=end) for end in ("root", "tip", "middle")]
    loads += [torque(f"beam.{end}", name=f"{end} turn") for end in ("root", "tip")]
    mechanism = connect({"beam": body}, loads)
    return mechanism.linearize(mechanism.assemble({"beam": (0.0, 0.0, 0.4)}))


def bending(**options):
    return fem.bending(1.0, **UNIT, **{"elements": 20, **options})


def chain(block):
    """Three blocks, clamped, welded, hinged."""
    return substructure(
        dict.fromkeys("abc", block),
        [
            clamp("a.root"),
            clamp("a.root turn"),
            tie("a.tip", "b.root"),
            tie("a.tip turn", "b.root turn"),
            tie("b.tip", "c.root"),
        ],
    )


def receptance(system, port_in, port_out, clamped):
    """Displacement of a port under unit forces on another, with clamped ports held: Bᵀ K⁻¹ B, dense."""
    held = eliminate(substructure({"x": system}, [clamp(f"x.{p}") for p in clamped]))
    parts = split(held)
    force_in, seen = (full(held.inputs(f"x.{p}"))[parts.velocities] for p in (port_in, port_out))
    return seen.T @ np.linalg.solve(full(parts.stiffness()), force_in)


def test_coupled_frequencies_converge_with_the_number_of_modes():
    """The fixed-interface truncation error falls like k⁻³ and faster: from above, by Rayleigh."""
    expected = eigenfrequencies(chain(floating()), 6)
    errors = []
    for count in (0, 2, 4, 8, 16):
        found = eigenfrequencies(chain(craig_bampton(floating(), ENDS, modes=count)), 6)
        errors.append(np.abs(found / expected - 1.0).max())
        assert np.all(found > expected * (1.0 - 1e-9))
    assert errors[0] > 0.1
    assert all(fine < 0.35 * coarse for coarse, fine in pairwise(errors))
    assert errors[-1] < 1e-4


def test_all_modes_make_the_block_itself():
    """12 elements: 39 velocities, 6 of them at the interface."""
    whole = floating()
    made = craig_bampton(whole, ENDS, modes=33)
    assert made.size == whole.size
    np.testing.assert_allclose(eigenfrequencies(made), eigenfrequencies(whole), rtol=1e-8)


@pytest.mark.parametrize("count", [0, 3])
def test_static_stiffness_between_the_ports_is_exact(count):
    whole = floating()
    made = craig_bampton(whole, ENDS, modes=count)
    for seen in ENDS[2:]:
        expected = receptance(whole, "tip", seen, ENDS[:2])
        np.testing.assert_allclose(receptance(made, "tip", seen, ENDS[:2]), expected, rtol=1e-8)  # cond(K) = 1e7


@pytest.mark.parametrize("count", [0, 4])
def test_rigid_motions_stay(count):
    found = modes(craig_bampton(floating(), ENDS, modes=count))
    assert (found.rigid, found.self_stress) == (3, 0)
    assert modes(craig_bampton(bending(), ["root", "tip"], modes=count)).rigid == 2


@pytest.mark.parametrize("make", [floating, lambda: bending(damping=fem.Damping(mass=0.1, stiffness=1e-3))])
def test_the_structure_stays(make):
    """The same matrices seen through the lift; velocities and stresses apart; ΣᵀCΣ = 1, φᵀMφ = 1, B_iᵀΨ = 1."""
    whole = make()
    ports = [p for p in whole.ports if p != "middle"]
    made = craig_bampton(whole, ports, modes=5)
    interface = sum(whole.inputs(p).shape[1] for p in ports)
    parts = split(made)
    assert parts is not None
    assert len(parts.velocities) == interface + 5
    lift = full(made.lift)
    for key in "EJR":
        expected = lift.T @ full(getattr(whole, key)) @ lift
        np.testing.assert_allclose(getattr(made, key), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(parts.C, np.eye(len(parts.stresses)), atol=1e-12)
    np.testing.assert_allclose(parts.M[interface:, interface:], np.eye(5), atol=1e-9)
    columns = np.concatenate([np.arange(whole.B.shape[1])[whole.ports[p]] for p in ports])
    np.testing.assert_allclose(parts.B[:interface, columns], np.eye(interface), atol=1e-9)
    np.testing.assert_allclose(parts.B[interface:, columns], 0.0, atol=1e-7)
    assert dict(made.ports) == dict(whole.ports)
    assert dict(made.parts) == dict(whole.parts)


def test_modes_are_those_of_the_held_block():
    """Fixed-interface frequencies by a second route: clamp the ports of the block and solve."""
    made = split(craig_bampton(bending(), ["root", "tip"], modes=4))
    stiffness = made.stiffness()[4:, 4:]
    held = bending(clamped=("root", "tip"))
    np.testing.assert_allclose(np.sqrt(np.diag(stiffness)), eigenfrequencies(held, 4), rtol=1e-9)
    np.testing.assert_allclose(stiffness - np.diag(np.diag(stiffness)), 0.0, atol=1e-6 * stiffness[3, 3])


def test_one_port_holds_a_block():
    """Its constraint modes are the rigid motions, without stress: noise must not become a stress."""
    made = craig_bampton(bending(), ["root"], modes=3)
    parts = split(made)
    assert (len(parts.velocities), len(parts.stresses)) == (5, 3)
    held = bending(clamped=("root",))
    found = eigenfrequencies(craig_bampton(held, ["tip"], modes=12), 3)
    np.testing.assert_allclose(found, eigenfrequencies(held, 3), rtol=1e-4)  # 12 modes leave 1e-5


def test_ports_that_hold_the_same_point():
    """Two ports at one section: their columns depend on each other, the interface has the rank of both."""
    whole = bending()
    twice = replace(
        whole,
        B=sparse.csr_array(sparse.hstack([whole.B, whole.inputs("tip")])),
        ports={**whole.ports, "again": slice(4, 6)},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = craig_bampton(twice, ["root", "tip", "again"], modes=2)
    assert made.kinetic.sum() == 6
    np.testing.assert_allclose(made.inputs("again"), made.inputs("tip"), atol=1e-9)


def test_constraints_are_eliminated_first():
    pair = substructure({"a": bending(), "b": bending()}, [tie("a.tip", "b.root")])
    made = craig_bampton(pair, ["a.root", "b.tip"], modes=6)
    assert made.G.shape[0] == 0
    x = np.random.default_rng(0).standard_normal(made.size)
    np.testing.assert_allclose(pair.G @ made.expand(x), 0.0, atol=1e-10 * np.abs(made.expand(x)).max())
    np.testing.assert_allclose(eigenfrequencies(made, 3), eigenfrequencies(pair, 3), rtol=1e-2)  # 6 modes leave 1e-3


def test_a_sparse_interface_of_a_large_block():
    """800 velocities: shift-invert for the modes, sparse solves for the statics."""
    whole = bending(elements=400)
    made = craig_bampton(whole, ["root", "tip"], modes=8)
    assert made.size == 4 + 8 + 10
    held = substructure({"x": made}, [clamp("x.root")])
    exact = 1.8751040687119611**2  # clamped-free
    assert eigenfrequencies(held, 1)[0] == pytest.approx(exact, rel=1e-6)


def test_bad_input_is_refused():
    whole = bending()
    with pytest.raises(ValueError, match=r"no port 'top': there are 'root', 'tip'"):
        craig_bampton(whole, ["top"], modes=1)
    with pytest.raises(ValueError, match=r"ports must be names of at least one port"):
        craig_bampton(whole, [], modes=1)
    with pytest.raises(ValueError, match=r"ports must be a list of names, got 'root'"):
        craig_bampton(whole, "root", modes=1)
    with pytest.raises(ValueError, match=r"modes must be at least 0, got -1"):
        craig_bampton(whole, ["root"], modes=-1)
    with pytest.raises(ValueError, match=r"modes must be at most 40 with the interface held, got 41"):
        craig_bampton(whole, ["root"], modes=41)
    with pytest.raises(ValueError, match=r"craig_bampton needs a system of velocities and stresses"):
        craig_bampton(bending(causality="velocity"), ["root"], modes=1)
    with pytest.raises(ValueError, match=r"craig_bampton needs a system of velocities and stresses"):
        craig_bampton(LinearPHDAE(np.eye(2), np.zeros((2, 2)), B=np.eye(2)), ["u"], modes=1)


@pytest.mark.parametrize("count", [0, 2])
def test_an_interface_that_leaves_the_block_loose(count):
    """Held at one point without its rotation, a beam swings about it."""
    with pytest.raises(ValueError, match=r"the interface 'root' leaves .*rigid motion.*add ports"):
        craig_bampton(floating(), ["root"], modes=count)
