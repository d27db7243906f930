"""Multibody systems as port-Hamiltonian systems of a Dirac structure: one convention of signs and of names."""

import numpy as np
import pytest
from multibody_samples import crank, differential_drive, everything, link, rod, rolling_coin

import rigid
from flexph import integrate
from flexph.consistency import consistent
from flexph.dirac import PortHamiltonian, product
from flexph.methods import Gauss

ROUND_OFF = 1e-12  # sums of some tens of terms of size one


def slider_crank():
    return rigid.interconnect({"crank": crank(), "rod": rod()}, [("crank.C", "rod.C")])


SYSTEMS = {
    "slider-crank": slider_crank,
    "everything": lambda: everything(1),
    "singular": lambda: everything(2, singular=True),
    "coin": rolling_coin,
    "drive": differential_drive,
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_equations_of_motion_lie_in_the_structure(name):
    """ẋ by MultibodySystem.accelerations, with inputs and friction: (−ẋ, ∇H, f_R, e_R, F, y) ∈ D(x), and y is Bᵀϖ."""
    system = SYSTEMS[name]()
    rng = np.random.default_rng(3)
    zeta, omega = system.nearest(system.sample, rng.standard_normal(system.velocities))
    forces = {port: rng.standard_normal(span.stop - span.start) for port, span in system.port_slices.items()}
    rates = system.accelerations(zeta, omega, inputs=forces)
    whole = rigid.port_hamiltonian(system, zeta=zeta)
    x = np.concatenate([zeta, system.mass @ omega])
    D = whole.at(x)
    flows = {"positions": -system.Z(zeta) @ omega, "momenta": -system.mass @ rates.velocities, **forces}
    efforts = {"positions": system.V_gradient(zeta), "momenta": omega}
    efforts |= {port: system.B(zeta)[:, span].T @ omega for port, span in system.port_slices.items()}
    if system.dissipation:
        flows["resistive"], efforts["resistive"] = -system.tau_d(zeta, omega), omega
    assert D.defect(flows, efforts) < ROUND_OFF
    assert not D.contains({**flows, "momenta": -flows["momenta"] + 0.01}, efforts)
    xi = np.concatenate([zeta, system.completed_mass @ omega])
    np.testing.assert_allclose(whole.energy.states(xi), x, atol=ROUND_OFF)
    np.testing.assert_allclose(whole.energy.efforts(xi)[system.positions :], omega, atol=1e-9)
    assert whole.energy.H(xi) == pytest.approx(system.energy(zeta, omega), rel=1e-12)


def falling(drag=0.3):
    """Two bars that hang together, with drag, gravity and a port at the far end."""
    far = np.array([0.8 * np.cos(0.5), -0.8 * np.sin(0.5)])
    bars = {
        "a": link(1.0, 0.8, gravity=9.81, drag=drag, sample=(0.0, 0.0, -0.5)),
        "b": link(0.7, 0.6, gravity=9.81, sample=(*far, -1.0)),
    }
    return rigid.interconnect(bars, [("a.left", None), ("a.right", "b.left")])


@pytest.mark.parametrize("name", [pytest.param("bars", marks=pytest.mark.slow), "drive"])
def test_both_routes_move_alike(name):
    """Two routes to one motion: system.phdae() and port_hamiltonian(system).phdae(), with friction and an input."""
    system = {"bars": falling, "drive": differential_drive}[name]()
    port, width = {"bars": ("b.right", 2), "drive": ("left", 1)}[name]
    force = {port: lambda t: np.array([np.sin(3.0 * t), 1.0])[:width]}
    zeta, omega = system.nearest(system.sample, 0.5 * np.ones(system.velocities))
    times = np.linspace(0.0, 0.16, 5)
    one = integrate(system.phdae(), system.state(zeta, omega, inputs=force), times, inputs=force, method=Gauss(4))
    other = rigid.port_hamiltonian(system, zeta=zeta).phdae()
    start = np.zeros(other.size)
    start[: system.positions + system.velocities] = np.concatenate([zeta, system.mass @ omega])
    start = consistent(other, start, inputs=force, keep=["positions", "momenta"])
    second = integrate(other, start, times, inputs=force, method=Gauss(4))
    first = system.split(one.states)
    np.testing.assert_allclose(second["positions"], first.positions, rtol=0, atol=1e-13)  # the same steps
    np.testing.assert_allclose(second["momenta"], first.velocities @ system.mass, rtol=0, atol=1e-13)
    assert np.ptp(first.positions[:, 2]) > 0.1


def test_no_resistance_leaves_free():
    """Zero resistance is no force: f_R = −0 e_R. With the signs of [rigid] it held every velocity at zero."""
    system = link(1.0, 0.8, gravity=9.81)
    whole = rigid.port_hamiltonian(system)
    D = rigid.dirac_structure(system, system.sample, np.zeros(3))
    free = PortHamiltonian(
        structure=lambda x: rigid.dirac_structure(system, x[:3], x[3:]),
        H=whole.H, gradient=whole.gradient, sample=whole.sample, resistive={"resistive": 0.0},
    )  # fmt: skip
    assert "resistive" in D.ports and "resistive" not in whole.external
    one, other = (s.phdae() for s in (free, whole))
    assert one.size == other.size == 6
    omega = np.array([0.4, -0.7, 1.1])
    x = np.concatenate([system.sample, system.mass @ omega])
    wanted = system.mass @ system.accelerations(system.sample, omega).velocities
    for s in (one, other):
        rate = (s.J(x) - s.R(x)) @ s.z(x)
        np.testing.assert_allclose(rate, np.append(system.Z(system.sample) @ omega, wanted), atol=ROUND_OFF)


def test_composes_with_other_structures():
    """Columns of ports bear the names of the system, so that a product with another structure keeps them."""
    system = differential_drive()
    D = rigid.dirac_structure(system, system.sample, np.zeros(3))
    other = rigid.dirac_structure(system, system.sample, np.zeros(3)).renamed({n: f"second {n}" for n in D.ports})
    assert set(product(D, other).ports) == {*D.ports, *other.ports}
    assert rigid.port_hamiltonian(system).external == tuple(system.ports)
    assert rigid.port_hamiltonian(system).phdae().ports == system.port_slices


def test_a_port_may_be_split_in_two():
    """Force and torque of a port apart: the same columns of B, also of its position, and the same motion."""
    system = falling()
    parts = {"push": 1, "lift": 1}
    apart, port = system.split_port("b.right", parts), system.ports["b.right"]
    assert list(apart.port_slices) == ["push", "lift"]
    zeta = system.sample + 0.1
    np.testing.assert_array_equal(apart.B(zeta), system.B(zeta))
    for name, row in (("push", slice(0, 1)), ("lift", slice(1, 2))):
        place = apart.ports[name].position
        np.testing.assert_array_equal(place.value(zeta), port.position.value(zeta)[row])
        over = place.discrete(zeta, zeta + 0.2), port.position.discrete(zeta, zeta + 0.2)[row]
        np.testing.assert_allclose(over[0] @ np.full(6, 0.2), over[1] @ np.full(6, 0.2), atol=1e-13)
    assert rigid.port_hamiltonian(system).split_port("b.right", parts).external == ("push", "lift")
    assert list(system.phdae().split_port("b.right", parts).ports) == ["push", "lift"]


def test_wrong_splits_are_refused():
    system = falling()
    whole = rigid.port_hamiltonian(system)
    for parts, message in (
        ({"push": 1}, r"add up to the 2 entries of 'b.right', got \{'push': 1\}"),
        ({"push": 2, "lift": 0}, "size of 'lift' must be at least 1, got 0"),
        ({"positions": 1, "lift": 1}, r"there are ports \['positions'\] already"),
    ):
        with pytest.raises(ValueError, match=message):
            whole.split_port("b.right", parts)
    with pytest.raises(ValueError, match=r"'resistive' is resistive, .* cannot be split"):
        whole.split_port("resistive", {"a": 3, "b": 3})
    with pytest.raises(ValueError, match=r"no port 'b\.rigth'"):
        system.split_port("b.rigth", {"push": 2})
    stored = whole.split_port("momenta", {"first": 3, "second": 3})
    assert stored.storage == ("positions", "first", "second")
