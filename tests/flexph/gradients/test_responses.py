"""Several functionals of a run, histories with their derivatives, smooth bounds, and searches that use them."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import fem
import rigid
from flexph import GROUND, connect, hinge, integrate, spring_damper, torque, torsion_spring
from flexph.contacts import KelvinVoigt, Plane, Sphere, contact
from flexph.gradients import (
    Increase,
    Integral,
    Last,
    MeanSquare,
    Peak,
    Responses,
    forward_sensitivities,
    gradient,
    gradients,
)
from flexph.gradients.runs.readings import readings_by_state
from flexph.sensors import energy, joint_angle, joint_force, joint_torque, position, stress
from flexph.studies import fit, optimise
from tests.flexph.gradients.test_gradient import crank, differences, pendulum, tumbler

TIMES = np.linspace(0.0, 0.1, 31)


def door(stiffness=2.0, damping=0.05, mass=1.0):
    """A bar on a spring, let go from its side: the closed form of small swings is a damped oscillator."""
    closer = torsion_spring("door.root", GROUND, angle=0.0, stiffness=0.25 * stiffness, damping=0.25 * damping)
    mechanism = connect({"door": rigid.bar(0.5, mass)}, [hinge("door.root", GROUND), closer])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"door": (0.0, 0.0, 0.4)}))


@pytest.mark.parametrize(
    "make, parameters, quantity",
    [
        (pendulum, {"young": 2.1e9, "length": 0.3, "speed": 2.0}, position("b.tip")),
        (crank, {"speed": 20.0, "torque_size": 0.2}, joint_angle("rod.tip", "rocker.root")),
        (tumbler, {"density": 80.0, "free": 0.2}, position("beam.tip")),
    ],
)
def test_forward_and_adjoint_are_one_derivative(make, parameters, quantity):
    component = 0 if quantity.scalar else 1
    run = forward_sensitivities(make, parameters, TIMES, {"s": quantity})
    of = {
        "last": Last(quantity, component),
        "mean": MeanSquare(quantity, component, target=0.1),
        "area": Integral(quantity, component),
        "change": Increase(quantity, component),
        "peak": Peak(quantity, component, margin=0.02, side="size"),
    }
    back = gradients(make, parameters, TIMES, of)
    values = run.values["s"].reshape(len(TIMES), -1)[:, component]
    for name, functional in of.items():
        slopes = functional.slopes(TIMES, values)
        largest = max(abs(parameters[key] * own) for key, own in back[name].by.items())
        assert back[name].value == functional.value(TIMES, values)
        for key, own in back[name].by.items():
            rows = run.by["s"][key].reshape(len(TIMES), -1)[:, component]
            # differences of the mechanism are of sixth order forward, and of second order in small steps back
            assert abs(parameters[key] * (own - slopes @ rows)) < 1e-8 * largest, (name, key)
    assert run.defect < 1e-9


def test_histories_have_the_derivatives_of_differences_of_runs():
    parameters = {"stiffness": 2.0, "damping": 0.05, "mass": 1.0}
    run = forward_sensitivities(door, parameters, TIMES, {"tip": position("door.tip"), "H": energy("total")})
    assert run.values["tip"].shape == (31, 2) and run.values["H"].shape == (31,)
    for k in (7, 30):
        size = 1e-3
        for name, quantity in (("tip", position("door.tip")), ("H", energy("total"))):
            for key, value in parameters.items():
                ends = {
                    by: integrate(*door(**{**parameters, key: value * (1 + by * size)}), TIMES, progress=False)
                    .measured(quantity)
                    .reshape(31, -1)[k]
                    for by in (-2, -1, 1, 2)
                }
                expected = (8.0 * (ends[1] - ends[-1]) - (ends[2] - ends[-2])) / (12.0 * size * value)
                scale = np.abs(parameters["stiffness"] * run.by[name]["stiffness"]).max()
                gap = value * np.abs(np.ravel(run.by[name][key][k]) - expected).max()
                assert gap < 1e-9 * scale  # differences of fourth order of runs at steps of a thousandth


def test_peaks_bound_the_readings_and_tell_by_how_much():
    readings = np.sin(np.linspace(0.0, 7.0, 300)) - 0.3
    for side, largest in (("largest", readings.max()), ("size", np.abs(readings).max()), ("least", readings.min())):
        for margin in (1.0, 0.05, 1e-3):
            peak = Peak(position("a.tip"), margin=margin, side=side)
            value, sign = peak.value(TIMES, readings), -1.0 if side == "least" else 1.0
            assert 0.0 <= sign * (value - largest) <= margin
            assert sign * (value - largest) == pytest.approx(peak.excess(readings), abs=1e-14)
            change = 1e-6 * np.cos(np.arange(300.0))
            ends = [peak.value(TIMES, readings + by * change) for by in (1, -1)]
            # third derivatives of the bound are of the size of ρ²
            assert peak.slopes(TIMES, readings) @ change == pytest.approx(0.5 * (ends[0] - ends[1]), rel=1e-4)
    with pytest.raises(ValueError, match="margin must be positive"):
        Peak(position("a.tip"), margin=0.0)


def test_the_loss_of_a_damper_is_the_change_of_energy():
    run = integrate(*door(), TIMES, progress=False)
    loss = gradient(door, {"damping": 0.05}, TIMES, Increase(energy("total")))
    assert loss.value == pytest.approx(-run.ledger.total_dissipation.sum(), rel=1e-9)
    assert loss.by["damping"] < 0.0


def test_responses_are_values_with_derivatives_whichever_way_they_are_taken():
    of = {"tip": Last(position("door.tip"), 1), "inertia": lambda stiffness, mass, damping, **_: mass * stiffness}
    few = Responses(door, TIMES, of)
    at = {"stiffness": 2.0, "damping": 0.05, "mass": 1.0}
    values, by = few.derivatives(**at)
    assert values == few(**at) and by["inertia"]["mass"] == pytest.approx(2.0)

    def more(stiffness, damping, mass, unused=1.0):
        return door(stiffness, damping, mass)

    many, along = (Responses(more, TIMES, own) for own in (of, {**of, "all": position("door.tip")}))
    for one in (many.derivatives(**at, unused=1.0), along.derivatives(**at, unused=1.0)):
        assert one[0]["tip"] == values["tip"] and abs(one[1]["tip"]["unused"]) < 1e-12
        for key in at:
            assert one[1]["tip"][key] == pytest.approx(by["tip"][key], rel=1e-9)
    assert one[1]["all"]["mass"][-1, 1] == pytest.approx(by["tip"]["mass"], rel=1e-9)


@pytest.mark.parametrize("compared", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_search_with_gradients_meets_a_limit_that_holds_at_all_times(compared):
    """The softest closer of a door that keeps it from swinging too far: against the search without derivatives.

    The stiffness is at its bound, so that the limit alone gives the damping.
    """
    times = np.linspace(0.0, 4.0, 81)
    angle = Peak(joint_angle("door.root"), margin=1e-3, side="least")
    values = {"back": angle, "soft": lambda stiffness, damping: damping + 0.01 * stiffness}
    run = Responses(lambda stiffness, damping: door(stiffness, damping), times, values)
    bounds, limits = {"stiffness": (1.0, 5.0), "damping": (0.1, 3.0)}, {"back": (-0.1, None)}
    exact = optimise(run, "soft", bounds, constraints=limits, tolerance=1e-3)
    assert exact.values["back"] == pytest.approx(-0.1, abs=1e-6)  # active
    assert exact.parameters["stiffness"] == pytest.approx(1.0, rel=1e-9)
    assert "back by damping" in exact.runs
    if compared:
        plain = optimise(run, "soft", bounds, constraints=limits, method="COBYQA", tolerance=2e-4, most=150)
        assert exact.values["soft"] == pytest.approx(plain.values["soft"].item(), rel=2e-3)
        assert exact.runs.sizes["sample"] < plain.runs.sizes["sample"]


def test_fits_take_the_jacobian_of_responses_and_the_cramer_rao_bound():
    times, truth, sigma = np.linspace(0.0, 2.0, 81), {"stiffness": 2.0, "damping": 0.3}, 1e-3
    run = Responses(lambda stiffness, damping: door(stiffness, damping), times, {"angle": joint_angle("door.root")})
    _, by = run.derivatives(**truth)
    jacobian = np.stack([by["angle"][name] for name in truth], axis=1) / sigma
    bound = np.sqrt(np.diag(np.linalg.inv(jacobian.T @ jacobian)))
    series = run(**truth)["angle"] + sigma * np.random.default_rng(4).standard_normal(81)
    found = fit(run, {"angle": series}, {"stiffness": 1.5, "damping": 0.2}, deviations={"angle": sigma})
    for k, name in enumerate(truth):
        assert found.deviations[name] == pytest.approx(bound[k], rel=2e-2)  # the bound is that of the true parameters
        assert abs(found.parameters[name] - truth[name]) < 4.0 * bound[k]
    assert found.runs.sizes["sample"] < 12


def test_what_searches_cannot_do_is_said():
    plain = lambda x: {"f": x**2}  # noqa: E731
    with pytest.raises(ValueError, match="'SLSQP' needs derivatives, which function does not have"):
        optimise(plain, "f", {"x": (-1.0, 2.0)}, method="SLSQP")
    with pytest.raises(ValueError, match="'L-BFGS-B' does not support constraints"):
        optimise(plain, "f", {"x": (-1.0, 2.0)}, method="L-BFGS-B", step=1e-4, constraints={"f": (0.1, None)})
    with pytest.raises(ArithmeticError, match="did not converge within 3 runs"):
        optimise(lambda x: {"f": x**4 + x}, "f", {"x": (-2.0, 20.0)}, method="SLSQP", step=1e-4, most=3)
    for method in ("SLSQP", "trust-constr", "L-BFGS-B"):
        best = optimise(plain, "f", {"x": (-1.0, 2.0)}, method=method, step=1e-4, most=200)
        assert abs(best.parameters["x"]) < 1e-2
    with pytest.raises(ValueError, match="parameters must have at least one"):
        forward_sensitivities(door, {}, TIMES, {"tip": position("door.tip")})
    with pytest.raises(ValueError, match=r"times must have at least one step after the start at 0 s, got \[\]"):
        gradient(door, {"mass": 1.0}, [], Last(joint_angle("door.root")))
    with pytest.raises(ValueError, match=r"bounds of 'x' must be \(lower, upper\) with lower < upper"):
        fit(lambda x: {"f": [x, 2.0 * x]}, {"f": [1.0, 2.0]}, {"x": 0.8}, bounds={"x": (2.0, 0.5)})
    with pytest.raises(ValueError, match="sensor of states, torque of"):
        forward_sensitivities(door, {"mass": 1.0}, TIMES, {"tip": joint_torque("door.root")})
    with pytest.raises(ValueError, match=r"values\['mass'\] must be a smooth function"):
        Responses(door, TIMES, {"mass": lambda mass: abs(mass - 1.0015)}).derivatives(mass=1.0)


def test_kinks_are_refused_whichever_way_derivatives_are_taken():
    """Central differences at a kink are the mean of both sides for steps of any size and order."""
    bent = lambda mass: door(mass=1.0 + max(mass - 1.0, 0.0))  # noqa: E731
    last = {"angle": Last(joint_angle("door.root"))}
    with pytest.raises(ValueError, match=r"'mass' does not change .* smoothly"):
        gradient(bent, {"mass": 1.0}, TIMES, last["angle"])
    with pytest.raises(ValueError, match=r"'mass' does not change .* smoothly"):
        forward_sensitivities(bent, {"mass": 1.0}, TIMES, {"angle": joint_angle("door.root")})
    with pytest.raises(ValueError, match=r"values\['size'\] must be a smooth function"):
        Responses(door, TIMES, {**last, "size": lambda mass: abs(mass - 1.0)}).derivatives(mass=1.0)


def test_searches_do_not_resume_records_of_other_responses(tmp_path):
    """Of other times, other functionals or another fixed argument, at the same parameters."""
    angle, bounds = joint_angle("door.root"), {"damping": (0.1, 3.0)}

    def searched(make=door, times=TIMES, functional=MeanSquare(angle), *, resume=True):  # noqa: B008
        run = Responses(make, times, {"swing": functional})
        return optimise(run, "swing", bounds, out=tmp_path / "runs", resume=resume)

    first = searched(resume=False)
    assert searched().parameters == first.parameters
    for other in (
        {"times": 2.0 * TIMES},
        {"functional": MeanSquare(angle, target=0.1)},
        {"make": partial(door, mass=2.0)},
    ):
        with pytest.raises(ValueError, match="is another study"):
            searched(**other)


def test_responses_of_inputs_that_are_parameters():
    def driven(size):
        mechanism = connect({"bar": rigid.bar(0.5, 1.0)}, [hinge("bar.root", GROUND), torque("bar.root", name="motor")])
        start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
        return mechanism, start, {"motor": size}

    _, by = Responses(driven, TIMES, {"angle": joint_angle("bar.root")}).derivatives(size=0.1)
    inertia = 1.0 * 0.5**2 / 3.0
    np.testing.assert_allclose(by["angle"]["size"], 0.5 * TIMES**2 / inertia, rtol=1e-7, atol=1e-15)
    # a step turns by 2 atan(hω/2), which differs from hω by (hω)²/12 of it
    functional = Last(joint_angle("bar.root"))
    assert differences(driven, {"size": 0.1}, "size", functional, TIMES) == pytest.approx(by["angle"]["size"][-1])


def test_responses_of_joint_forces_are_taken_back():
    """Forces of joints come from multipliers, which are not carried forward: also for few parameters."""
    run = Responses(
        door, TIMES, {"force": MeanSquare(joint_force("hinge door.root–GROUND"), 0), "tip": Last(position("door.tip"))}
    )
    at = {"stiffness": 2.0, "mass": 1.0}
    values, by = run.derivatives(**at)
    assert values["force"] == pytest.approx(run(**at)["force"], rel=1e-12)
    step = 1e-3
    ends = [run(**{**at, "mass": 1.0 + k * step})["force"] for k in (-2, -1, 1, 2)]
    assert by["force"]["mass"] == pytest.approx(
        (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * step), rel=1e-7
    )


def test_compliant_contacts_are_carried_forward():
    """A ball that rolls down into a soft floor: forward and adjoint are one derivative."""

    def ball(stiffness, height):
        floor = contact(
            Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0, 0.0), (0.0, 0.0, 1.0)), KelvinVoigt(stiffness)
        )
        mechanism = connect({"ball": rigid.sphere(0.1, density=1000.0)}, [floor], gravity=(0.0, 0.0, -9.81))
        return mechanism, mechanism.consistent_state(mechanism.assemble({"ball": (0.0, 0.0, height)}))

    at, times = {"stiffness": 2e4, "height": 0.095}, np.linspace(0.0, 0.02, 21)
    run = forward_sensitivities(ball, at, times, {"place": position("ball.centre")})
    back = gradient(ball, at, times, Last(position("ball.centre"), 2))
    for name, value in at.items():
        assert run.by["place"][name][-1, 2] == pytest.approx(back.by[name], rel=1e-9)
        assert abs(value * back.by[name]) > 1e-6


def test_derivatives_that_cancel_are_taken_forward():
    """A beam on a hinge that is shifted moves as before: its derivatives by the shift are round-off, but for one."""

    def shifted(off):
        beam = fem.beam(0.5, fem.Material(young=2e10, density=7850.0), fem.Section(width=0.02, height=0.01), elements=2)
        mechanism = connect({"b": beam}, [hinge("b.root", GROUND.at(off, 0.0))], gravity=(0.0, -9.81))
        return mechanism, mechanism.consistent_state(mechanism.assemble({"b": (off, 0.0, 0.2)}))

    found = forward_sensitivities(shifted, {"off": 0.0}, np.linspace(0.0, 0.1, 21), {"tip": position("b.tip")})
    by = found.by["tip"]["off"]
    assert np.abs(by - [1.0, 0.0]).max() < 1e-9  # differences of places with steps of 1e-3


@pytest.mark.parametrize(
    "quantity", [energy("total"), stress("two", "axial_stress_upper", (0.1, 0.0))], ids=["energy", "stress"]
)
def test_exact_derivatives_of_energies_and_stresses_are_those_of_differences(quantity):
    joints = [
        hinge("bar.root", GROUND),
        hinge("two.root", "bar.tip"),
        spring_damper("two.tip", GROUND.at(1.0, 1.0), stiffness=30.0, length=0.2),
    ]
    material, section = fem.Material(young=1e8, density=2000.0), fem.Section(width=0.02, height=0.01)
    beam = fem.beam(0.3, material, section, elements=2, strain="von_karman")
    mechanism = connect({"bar": rigid.bar(0.6, 1.0), "two": beam}, joints, gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"bar": 0.1}, guess={"two": (0.6, 0.0, 0.3)}))
    states = integrate(mechanism, start, np.linspace(0.0, 0.05, 51), progress=False).states[10:50:9]
    sizes = np.abs(states).max(axis=0)
    exact = readings_by_state(mechanism, quantity, states, sizes)
    plain = readings_by_state(mechanism, replace(quantity, slopes=None), states, sizes)
    assert np.abs(exact - plain).max() < 1e-10 * np.abs(exact).max()  # round-off of differences, 1e-13 over 1e-3
