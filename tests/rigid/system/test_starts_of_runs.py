"""Runs refuse starts that do not satisfy what the equations do not contain, and go on from the ends of others."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, integrate
from flexph.methods import by_name
from flexph.systems import transform


def pendulum():
    return rigid.point_masses({"a": 1.0}, [[1.0, 0.0]], gravity=(0.0, -9.81), rods=[rigid.Rod((0.0, 0.0), "a", 1.0)])


def spinner():
    return rigid.free_body(1.0, inertia=(1.0, 2.0, 2.5), orientation=rigid.quaternion(), ports={"p": (0.5, 0.0, 0.0)})


def run(system, x, **options):
    return integrate(system.phdae(), x, [0.0, 0.01, 0.02], progress=False, **options)


@pytest.mark.parametrize("method", ["pair", "gauss4", "radau"])
@pytest.mark.parametrize("moved", [(0.1, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0)])
def test_a_rod_too_long_or_left_by_its_mass_is_refused(moved, method):
    system = pendulum()
    x = system.state([1.0, 0.0], [0.0, 0.0])
    with pytest.raises(
        ValueError, match=f"inconsistent start: {'positions' if moved[0] else 'velocities'} do not satisfy"
    ):
        run(system, x + np.append(moved, 0.0), method=by_name(method))


@pytest.mark.parametrize("norm", [0.0, 1.05])
def test_a_quaternion_of_another_norm_is_refused(norm):
    system = spinner()
    x = system.state(rigid.quaternion().pose([0.0, 0.0, 0.0], np.eye(3)), np.ones(6))
    x[3:7] *= norm
    with pytest.raises(ValueError, match="inconsistent start: positions do not satisfy 'unit quaternion"):
        run(system, x)


def test_couplings_of_places_are_refused_where_they_are_open():
    held = rigid.interconnect({"b": spinner()}, [("b.p", GROUND.at(0.5, 0.0, 0.0))])
    pose = rigid.quaternion().pose([0.0, 0.0, 0.0], np.eye(3))
    x = held.state(pose, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    run(held, x)
    for entry, kind in ((0, "positions"), (7, "velocities")):
        with pytest.raises(ValueError, match=rf"inconsistent start: {kind} do not satisfy 'b.p = "):
            run(held, x + 0.5 * np.eye(x.size)[entry])


def test_other_coordinates_ask_the_same():
    system = pendulum()
    x = system.state([1.0, 0.0], [0.0, 0.0])
    seen = transform(system.phdae(), lambda y: 2.0 * y, 2.0 * np.eye(5), np.eye(5), sample=0.5 * x)
    with pytest.raises(ValueError, match="inconsistent start: positions do not satisfy"):
        integrate(seen, 0.6 * x, [0.0, 0.01], progress=False)


@pytest.mark.parametrize("method", ["pair", "gauss4", "midpoint", pytest.param("radau", marks=pytest.mark.slow)])
def test_runs_go_on_from_any_end(method):
    """Long steps, so that velocities at their ends miss the constraint; ends at rest among them."""
    system = pendulum()
    made = integrate(
        system.phdae(),
        system.state([1.0, 0.0], [0.0, 0.0]),
        np.linspace(0.0, 2.0, 41),
        method=by_name(method),
        progress=False,
    )
    for x in made.states[1:]:
        system.phdae().check_start(x, 0.05)
