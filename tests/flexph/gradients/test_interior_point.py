"""Interior-point searches: closed forms, agreement with sequential quadratic programming, failed runs, bad input."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge, torque
from flexph.gradients import Duration, InteriorPoint, MultipleShooting, optimal_control
from flexph.sensors import joint_angle, joint_rate
from flexph.studies import optimise

try:
    import ipyopt  # noqa: F401
except ImportError:
    MISSING = True
else:
    MISSING = False
needs_ipopt = pytest.mark.skipif(MISSING, reason="needs ipyopt")


class Rods:
    """Weights Σ cₖ xₖ of rods with the compliance Σ 1/xₖ, and their derivatives."""

    def __init__(self, count, fails_below=0.0):
        self.costs, self.fails_below, self.failed = 1.0 + np.arange(count) % 7, fails_below, 0

    def __call__(self, **parameters):
        return self.derivatives(**parameters)[0]

    def derivatives(self, **parameters):
        x = np.array([*parameters.values()])
        if x.min() < self.fails_below:
            self.failed += 1
            raise ArithmeticError("a rod breaks")
        weight, soft = self.costs @ x, (1.0 / x).sum()
        by = {"weight": dict(zip(parameters, self.costs.tolist(), strict=True))}
        by["soft"] = dict(zip(parameters, (-1.0 / x**2).tolist(), strict=True))
        return {"weight": weight, "soft": soft}, by

    def bounds(self, lower=1.0):
        return {f"x{k}": (lower, 1000.0) for k in range(self.costs.size)}

    def least(self):
        """Σ 1/xₖ = 1 and cₖ = μ/xₖ²: xₖ = Σ √c/√cₖ."""
        return np.sqrt(self.costs).sum() / np.sqrt(self.costs)


@needs_ipopt
def test_many_parameters_take_few_runs():
    """The least weight of 30 rods for a given compliance is that of the closed form."""
    rods = Rods(30)
    best = optimise(
        rods,
        "weight",
        rods.bounds(),
        constraints={"soft": (None, 1.0)},
        start={name: 300.0 for name in rods.bounds()},
        method=InteriorPoint(tolerance=1e-9),
        most=80,
    )
    found = np.array([*best.parameters.values()])
    # the best of the runs whose violation is at most 1e-6, at which the weight is stationary: an error of its root
    np.testing.assert_allclose(found, rods.least(), rtol=1e-3)
    assert best.objective == pytest.approx(np.sqrt(rods.costs).sum() ** 2, rel=1e-6)
    assert best.active["soft"] == "largest" and best.values["soft"] <= 1.0 + 1e-6
    # a unit of compliance costs dΦ/ds = −(Σ √c)²
    assert best.multipliers["soft"] == pytest.approx(-(np.sqrt(rods.costs).sum() ** 2), rel=1e-3)
    assert best.runs.sizes["sample"] < 40


@needs_ipopt
def test_steps_to_failed_runs_are_shortened():
    """The first steps go far below the optimum, where rods break."""
    rods = Rods(3, fails_below=2.3)
    bounds = {name: (0.5, 10.0) for name in rods.bounds()}
    best = optimise(rods, "weight", bounds, constraints={"soft": (None, 1.0)}, method=InteriorPoint(barrier=1e-3))
    np.testing.assert_allclose([*best.parameters.values()], rods.least(), rtol=1e-3)
    assert rods.failed > 0


@needs_ipopt
def test_limits_that_cannot_be_met_and_too_few_runs_are_said():
    rods, method = Rods(3), InteriorPoint()
    with pytest.raises(ArithmeticError, match=r"none of .* runs satisfies the constraints"):
        optimise(rods, "weight", rods.bounds(), constraints={"soft": (None, 1e-4)}, method=method)
    with pytest.raises(ArithmeticError, match="did not converge within 6 runs"):
        optimise(rods, "weight", rods.bounds(), constraints={"soft": (None, 1.0)}, method=method, most=6)
    with pytest.raises(ArithmeticError, match=r"did not converge within 100 runs \(Ipopt: the largest number of iter"):
        optimise(rods, "weight", rods.bounds(), constraints={"soft": (None, 1.0)}, method=InteriorPoint(most=3))


def slew(nodes, method, shooting=None):
    """Fastest turn of a bar by 0.5 rad with a torque of at most 0.3 N m."""
    joints = [hinge("bar.root", GROUND), torque("bar.root", name="motor")]
    mechanism = connect({"bar": rigid.bar(0.6, 1.0)}, joints)
    start = mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))
    table, times = np.linspace(0.0, 1.5, nodes), np.linspace(0.0, 1.5, 2 * nodes - 1)
    return optimal_control(
        lambda: (mechanism, start),
        times,
        {"motor": (table, np.zeros(nodes))},
        ends={"angle": (joint_angle("bar.root"), 0.5), "rate": (joint_rate("bar.root"), 0.0)},
        bounds={"motor": (-0.3, 0.3)},
        duration=Duration(0.1, 5.0),
        method=method,
        shooting=shooting,
    )


@needs_ipopt
def test_optimal_controls_are_those_of_sequential_quadratic_programming():
    other, found = slew(12, None), slew(12, InteriorPoint(tolerance=1e-8))
    # at the tolerance the barrier keeps torques off their bounds by 1e-7 of these
    assert found.duration == pytest.approx(other.duration, rel=1e-6)
    np.testing.assert_allclose(found.inputs["motor"][1], other.inputs["motor"][1], atol=1e-5)
    assert max(abs(error).max() for error in found.end_errors.values()) < 1e-7
    assert slew(101, InteriorPoint()).evaluations < 40  # hardly more for many nodes


@needs_ipopt
def test_multiple_shooting_takes_it_too():
    other, found = slew(6, None, MultipleShooting(2)), slew(6, InteriorPoint(), MultipleShooting(2))
    assert found.duration == pytest.approx(other.duration, rel=1e-5)


def test_options_are_checked_and_a_missing_package_is_named():
    for name, value in (("tolerance", 0.0), ("memory", 0), ("barrier", -1.0), ("most", 0)):
        with pytest.raises(ValueError, match=name):
            InteriorPoint(**{name: value})
    with pytest.raises(ValueError, match=r"method InteriorPoint\(.*\) needs derivatives"):
        optimise(lambda x: {"f": x**2}, "f", {"x": (-1.0, 2.0)}, method=InteriorPoint())
    if MISSING:
        with pytest.raises(ModuleNotFoundError, match=r'InteriorPoint\(\) needs ipyopt: pip install "flexph\[ipopt\]"'):
            slew(6, InteriorPoint())
