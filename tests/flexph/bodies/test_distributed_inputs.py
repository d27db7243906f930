"""Distributed inputs B_d of floating bodies ([flex] eq. (15), (19), (30)): power, gravity, stretched levers."""

import re

import numpy as np
import pytest

import fem
from flexph import integrate
from flexph.bodies import floating_body
from flexph.methods import DiscreteGradient
from flexph.numerics.rotations import cross, entries, from_entries, spins

LENGTH, ELEMENTS = 1.3, 2
MATERIAL = fem.Material(young=20.0, density=2.5, poisson=0.3)
SECTION = fem.Section(width=0.5, height=0.3)
LINE = MATERIAL.density * SECTION.area
both_dimensions = pytest.mark.parametrize("dim", [2, 3])
BOOLE = np.array([7.0, 32.0, 12.0, 32.0, 7.0]) / 90.0  # exact for degree 5


def beam(dim, **options):
    return fem.beam(LENGTH, MATERIAL, SECTION, elements=ELEMENTS, dim=dim, strain="von_karman", **options)


def random_state(system, dim, seed, rotation="rotation"):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(system.size)
    turned = np.linalg.qr(rng.standard_normal((dim, dim)))[0]
    turned[:, 0] *= np.sign(np.linalg.det(turned))
    x[system.parts[rotation]] = entries(turned)
    return x, rng


@both_dimensions
@pytest.mark.parametrize("options", [{}, {"pair": "quadratic", "reference": "simply_supported"}], ids=str)
def test_power_is_the_integral_of_force_times_velocity(dim, options):
    """uᵀy = Σ_e ∫_e β_e·(v_P + ω × (X + φu) + φu̇) dx, eq. (19), by quadrature over the drawn points of each element."""
    body = beam(dim, **options)
    system = floating_body(body, loads=("load",))
    x, rng = random_state(system, dim, 1)
    beta = rng.standard_normal((ELEMENTS, dim))
    y = system.B(x)[:, system.ports["load"]].T @ system.z(x)
    part = lambda name: x[system.parts[name]]  # noqa: E731
    moved, rate = (body.view.shape @ part(name) for name in ("deformation", "deformation_rate"))
    lever = body.view.points + moved.reshape(-1, dim)
    turning = np.einsum("aij,a->ij", cross(dim), part("spin"))
    velocity = part("velocity") + lever @ turning.T + rate.reshape(-1, dim)
    power = 0.0
    for e in range(ELEMENTS):
        power += LENGTH / ELEMENTS * beta[e] @ (BOOLE @ velocity[4 * e : 4 * e + 5])
    assert beta.ravel() @ y == pytest.approx(power, rel=1e-12)


@both_dimensions
@pytest.mark.parametrize("momenta", ["full", "constant"])
def test_a_uniform_load_of_the_weight_is_gravity(dim, momenta):
    """B_d (ρA Rᵀg) is the generalised force of V = −∫ρ g·(r_P + R(X + φu)), remark 1."""
    body, g = beam(dim, momenta=momenta), np.array([1.0, -9.81, 2.0])[:dim]
    light, heavy = floating_body(body, loads=("load",)), floating_body(body, gravity=tuple(g))
    x, _ = random_state(light, dim, 2)
    R = from_entries(x[light.parts["rotation"]], dim)
    force = light.B(x)[:, light.ports["load"]] @ np.tile(LINE * (R.T @ g), ELEMENTS)
    weight = heavy.J(x) @ (heavy.z(x) - light.z(x))
    np.testing.assert_allclose(force, weight, atol=1e-12 * np.abs(weight).max())


@both_dimensions
def test_columns_follow_those_of_the_ports(dim):
    body = beam(dim)
    plain, loaded = floating_body(body, name="rod"), floating_body(body, loads=("load",), name="rod")
    assert list(loaded.ports) == ["rod.root", "rod.tip", "rod.load"]
    columns = loaded.ports["rod.load"]
    assert columns.stop - columns.start == dim * ELEMENTS and columns.start == 2 * (dim + spins(dim))
    x, _ = random_state(plain, dim, 0, "rod.rotation")
    np.testing.assert_array_equal(loaded.B(x)[:, : columns.start], plain.B(x))
    assert (
        not loaded.B(x)[: loaded.parts["rod.velocity"].start].any()
        and not loaded.B(x)[loaded.parts["rod.stress"]].any()
    )


def test_surface_loads_of_a_solid():
    """Of a rigid velocity, areas times the velocities at the mean places of the facets."""
    mesh = fem.box_mesh((0.4, 0.1, 0.1), (2, 1, 1))
    material = fem.Material(young=1e5, density=10.0, poisson=0.3)
    body = fem.solid(mesh, material, ports={"root": "left"}, reference="root", loads={"roof": "top"}, degree=1)
    system = floating_body(body, loads=("roof",))
    x, rng = random_state(system, 3, 1)
    x[system.parts["deformation_rate"]] = 0.0
    load = body.loads["roof"]
    lever = load.positions + (load.shapes @ x[system.parts["deformation"]]).reshape(-1, 3)
    velocity = x[system.parts["velocity"]] + np.cross(x[system.parts["spin"]], lever)
    beta = rng.standard_normal(velocity.shape)
    power = np.sum(load.measures[:, None] * beta * velocity)
    assert beta.ravel() @ (system.B(x)[:, system.ports["roof"]].T @ system.z(x)) == pytest.approx(power, rel=1e-12)


def test_a_push_along_the_beam():
    """p_t = ∫∫β dx dt of a free beam that does not turn, and the energy is the work of the load."""
    body, push = beam(2, momenta="constant"), 0.02
    system = floating_body(body, loads=("load",))
    inputs = {"load": lambda t: np.tile([push, 0.0], ELEMENTS)}
    run = integrate(system, system.sample, np.linspace(0.0, 0.5, 3), inputs=inputs, method=DiscreteGradient("gonzalez"))
    momentum = (system.E(run.states[-1]) @ run.states[-1])[system.parts["velocity"]]
    np.testing.assert_allclose(momentum, [push * LENGTH * 0.5, 0.0], atol=1e-13)
    assert run.ledger.work["load"].sum() == pytest.approx(run.ledger.total_energy[-1], rel=1e-10)
    assert run.ledger.total_energy[-1] >= momentum[0] ** 2 / (2.0 * body.mass) * (1.0 - 1e-12)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"loads": ("weight",)}, "no load port 'weight': there are 'load'"),
        ({"loads": "load"}, "loads must be a list of names, got 'load'"),
        ({"loads": ("load", "load")}, "none named as a port, got 'load'"),
    ],
)
def test_bad_input_is_named(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        floating_body(beam(2), **options)


def test_a_load_may_not_have_the_name_of_a_port():
    with pytest.raises(ValueError, match=r"loads must be different.*port, got 'load'"):
        floating_body(beam(2, stations={"load": 0.5}), loads=("load",))
