"""Warnings point to the line of the user, through whatever calls the function that warns."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import fem
import flexph
import rigid
from flexph import GROUND, LinearPHDAE, connect, eliminate, hinge, integrate
from flexph.numerics.arguments import warn

bar = rigid.body(1.0, inertia=0.01, ports={"pin": (0.0, 0.5)})
pendulum = connect({"bar": bar}, [hinge("bar.pin", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
pose = pendulum.assemble({"bar": (0.0, -0.5, 0.0)})
fast = pendulum.consistent_state(pose, velocities={"bar": (15.0, 0.0, 30.0)})
twice = LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)), G=np.array([[1.0, -1.0], [2.0, -2.0]]))


@pytest.mark.parametrize(
    "call",
    [
        lambda: integrate(pendulum, fast, [0.0, 0.1]),
        lambda: pendulum.consistent_state(pose, velocities={"bar": (0.0, 1.0, 0.0)}),
        lambda: eliminate(twice),
        lambda: passed["own"](),
    ],
)
def test_warnings_point_to_the_call_of_the_user(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {(w.filename, w.lineno) for w in caught} == {(__file__, call.__code__.co_firstlineno)}


passed = {"__name__": "fem.x", "warn": warn, "brentq": brentq}
exec("def own():\n    return brentq(lambda x: warn('through scipy') or x, -1.0, 1.0)", passed)


def test_no_module_warns_in_another_way():
    for package in (flexph, fem, rigid):
        for path in Path(str(package.__file__)).parent.rglob("*.py"):
            assert b"warnings.warn(" not in path.read_bytes(), path
