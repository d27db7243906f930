"""Optimisation over several load cases, on several processors, and searches whose limits cannot be met."""

import time

import numpy as np
import pytest

import rigid
from flexph import GROUND, connect, hinge
from flexph.gradients import Last, Responses
from flexph.sensors import position
from flexph.studies import optimise

pytest.importorskip("xarray")


class Pulled:
    """Work and stretch of a spring under a force: f²/2k and f/k, with derivatives."""

    def __init__(self, force):
        self.force = force

    def __call__(self, stiffness):
        return {"work": self.force**2 / (2.0 * stiffness), "stretch": self.force / stiffness, "price": stiffness}

    def derivatives(self, stiffness):
        values = self(stiffness=stiffness)
        slopes = {"work": -values["work"] / stiffness, "stretch": -values["stretch"] / stiffness, "price": 1.0}
        return values, {name: {"stiffness": slope} for name, slope in slopes.items()}


CASES = {"calm": Pulled(1.0), "gust": Pulled(3.0)}


@pytest.mark.parametrize("method", ["SLSQP", "COBYQA"])
def test_the_worst_load_case_decides(method):
    """min k + w Σ f²/2k has k = √(w Σ f²/2); a limit of the stretch in a gust asks for k ≥ 3/0.5."""
    weights = {"calm.price": 1.0, "calm.work": 2.0, "gust.work": 2.0}
    bounds = {"stiffness": (1.0, 20.0)}
    free = optimise(CASES, weights, bounds, method=method, tolerance=1e-5)
    assert free.parameters["stiffness"] == pytest.approx(np.sqrt(10.0), rel=1e-3)
    held = optimise(CASES, weights, bounds, constraints={"gust.stretch": (None, 0.5)}, method=method, tolerance=1e-5)
    assert held.parameters["stiffness"] == pytest.approx(6.0, rel=1e-5)
    assert held.active == {"gust.stretch": "largest"}
    assert set(held.runs["load case"].values.tolist()) == {"calm", "gust"}


def swung(length, mass, pull):
    bar = rigid.bar(length, mass)
    mechanism = connect({"bar": bar}, [hinge("bar.root", GROUND)], gravity=(pull, -9.81))
    return mechanism, mechanism.consistent_state(mechanism.assemble({"bar": (0.0, 0.0, 0.0)}))


def calm(length, mass):
    return swung(length, mass, 0.0)


def windy(length, mass):
    return swung(length, mass, 3.0)


@pytest.mark.slow
def test_gradients_of_load_cases_are_the_same_bits_for_any_number_of_workers():
    place = {"x": Last(position("bar.tip"), 0), "weight": lambda length, mass: length * mass}
    cases = {name: Responses(own, np.linspace(0.0, 0.2, 21), place) for name, own in (("calm", calm), ("windy", windy))}
    found = [
        optimise(
            cases,
            {"calm.x": -1.0, "windy.x": -1.0, "calm.weight": 1.5},
            {"length": (0.2, 0.9), "mass": (0.5, 2.0)},
            jobs=jobs,
            constraints={"windy.x": (0.3, None)},
        )
        for jobs in (1, 2)
    ]
    assert dict(found[0].parameters) == dict(found[1].parameters)
    assert found[0].objective == found[1].objective
    for name, own in found[0].derivatives.items():
        assert {key: value.item() for key, value in own.items()} == {
            key: value.item() for key, value in found[1].derivatives[name].items()
        }


def test_failed_load_cases_and_wrong_names_are_told():
    def broken(stiffness):
        raise ValueError("no such load")

    with pytest.raises(ArithmeticError, match="failed: storm: ValueError: no such load"):
        optimise({"calm": CASES["calm"], "storm": broken}, "calm.work", {"stiffness": (1.0, 2.0)})
    with pytest.raises(ValueError, match=r"no value 'work': a run has 'calm\.work', 'calm\.stretch'"):
        optimise(CASES, "work", {"stiffness": (1.0, 2.0)})
    with pytest.raises(ValueError, match="no parameter 'damping'"):
        optimise(CASES, "calm.work", {"damping": (1.0, 2.0)})
    with pytest.raises(ValueError, match="at least one load case"):
        optimise({}, "calm.work", {"stiffness": (1.0, 2.0)})


def test_limits_that_cannot_be_met_end_a_search_early():
    """The stretch is 0.15 at least: few runs tell it."""
    count = []

    class Counted(Pulled):
        def derivatives(self, stiffness):
            count.append(stiffness)
            return super().derivatives(stiffness=stiffness)

    before = time.process_time()
    with pytest.raises(ArithmeticError, match=r"none of \d runs satisfies the constraints: at stiffness = 20, stretch"):
        optimise(Counted(3.0), "price", {"stiffness": (1.0, 20.0)}, constraints={"stretch": (None, 0.1)}, most=200)
    assert len(count) < 10 and time.process_time() - before < 10.0
