"""Derivatives of the equations of floating bodies, which are polynomials of degree four along any state."""

from dataclasses import replace

import numpy as np
import pytest
from covering import covering
from polynomial_slopes import assert_slopes

import fem
import rigid
from flexph.bodies import floating_body, relative_axes
from flexph.bodies.floating import floating_blocks
from flexph.numerics.rotations import from_entries

SOFT, SECTION = fem.Material(young=20.0, density=2.5, poisson=0.3), fem.Section(width=0.5, height=0.3)
DAMPING = fem.Damping(mass=0.3, stiffness=0.1)
GRAVITY = {2: (1.0, -9.81), 3: (1.0, -9.81, 2.0)}


def body(dim, kind, momenta):
    if kind == "rigid":
        return (
            rigid.bar(2.0, 3.0)
            if dim == 2
            else rigid.body(2.0, inertia=[0.3, 0.5, 0.6], centre=(0.4, -0.1, 0.2), ports={"a": (1, 2, 3)})
        )
    return fem.beam(0.7, SOFT, SECTION, elements=2, dim=dim, strain=kind, damping=DAMPING, momenta=momenta)


def state(system, rng):
    """Any numbers: the polynomials hold for matrices that are no rotations, too."""
    return rng.uniform(-1.0, 1.0, system.size)


@covering(
    "form, momenta, kind, dim, seed",
    ("paper", "canonical"),
    ("full", "constant"),
    ("linear", "von_karman", "rigid"),
    (2, 3),
    range(2),
    strength=3,
)
def test_derivatives_are_those_of_the_functions(dim, kind, momenta, form, seed):
    system = floating_body(body(dim, kind, momenta), gravity=GRAVITY[dim], form=form)
    rng = np.random.default_rng(seed)
    assert_slopes(system, state(system, rng), rng)
    assert system.exact_derivatives is system.derivatives


@pytest.mark.parametrize("dim", [2, 3])
def test_levers_of_loads_move(dim):
    made = body(dim, "von_karman", "full")
    rng, system = np.random.default_rng(dim), floating_body(made, loads=("load",))
    assert_slopes(system, state(system, rng), rng)


@pytest.mark.parametrize("form", ["paper", "canonical"])
@pytest.mark.parametrize("dim", [2, 3])
def test_large_bodies_contract_sparse_forms(dim, form, monkeypatch):
    """The same sums in another order."""
    made, rng = body(dim, "von_karman", "full"), np.random.default_rng(dim)
    small = floating_body(made, gravity=GRAVITY[dim], form=form)
    x, w, f = state(small, rng), rng.standard_normal(small.size), rng.standard_normal(small.inputs_size)

    def values(system):
        d = system.derivatives
        matrices = [system.E(x), system.J(x), system.B(x), system.z(x), system.R(x), np.array(system.H(x))]
        return [*matrices, d.costate(x), d.descriptor(x, w), d.structure(x, w), d.inputs(x, f), d.outputs(x, w)]

    expected = values(small)
    monkeypatch.setattr(floating_blocks, "DENSE_LIMIT", 0)
    for found, known in zip(values(floating_body(made, gravity=GRAVITY[dim], form=form)), expected, strict=True):
        np.testing.assert_allclose(found, known, rtol=0.0, atol=1e-13 * max(np.abs(known).max(), 1.0))


def test_matrices_are_read_only():
    """States share what was computed: nobody may change it."""
    system = floating_body(body(2, "von_karman", "full"))
    for matrix in (system.E, system.J, system.B, system.z):
        with pytest.raises(ValueError, match="read-only"):
            matrix(system.sample)[0] = 1.0


@pytest.mark.parametrize("torques", [False, True])
@pytest.mark.parametrize("dim", [2, 3])
def test_slopes_of_relative_axes_are_exact(dim, torques):
    """C = R₁ᵀR₂ is bilinear in the kept entries: central differences are exact at any step."""
    rng = np.random.default_rng(dim)
    one, two = (floating_body(body(dim, "linear", "full"), name=name) for name in "ab")
    axes = relative_axes(one, two, torques=torques)
    x, n = rng.standard_normal(one.size + two.size), one.size
    R1, R2 = (
        from_entries(x[own], dim) for own in (one.parts["a.rotation"], slice(n + dim, n + dim + {2: 2, 3: 9}[dim]))
    )
    C, slope = axes(x[:n], x[n:]), axes.slope(x[:n], x[n:])
    np.testing.assert_allclose(C[:dim, :dim], R1.T @ R2, atol=1e-14)
    if torques:
        np.testing.assert_allclose(C[dim:, dim:], np.eye(1) if dim == 2 else R1.T @ R2, atol=1e-14)
    for k, direction in enumerate(np.eye(x.size)):
        ends = [axes((x + s * direction)[:n], (x + s * direction)[n:]) for s in (-1.0, 1.0)]
        np.testing.assert_allclose(slope[..., k], 0.5 * (ends[1] - ends[0]), atol=1e-14)


def test_relative_axes_need_floating_bodies_of_one_kind():
    plane, space = (floating_body(body(dim, "rigid", "full")) for dim in (2, 3))
    with pytest.raises(ValueError, match="both be planar, or both spatial"):
        relative_axes(plane, space)
    other = floating_body(body(2, "rigid", "full"), name="turn.able")
    assert relative_axes(other, plane).dim == 2
    with pytest.raises(ValueError, match="second must have one part 'rotation'"):
        relative_axes(plane, replace(plane, parts={"all": slice(0, plane.size)}))
