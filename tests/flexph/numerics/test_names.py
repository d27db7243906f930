"""Names are checked where they are given, by one rule: those of files are paths."""

import numpy as np
import pytest

import rigid
from flexph import GROUND, LinearPHDAE, connect, force, hinge, integrate
from flexph.numerics import checks as check

WRONG = ["", ".", "..", "a/b", "/", "a\0", "half \ud800", None, 3, float("nan"), b"a"]


@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_name_is_refused_at_the_door(given):
    bar = rigid.bar(1.0, 1.0)
    pendulum = connect({"a": bar}, [hinge("a.root", GROUND)])
    start = pendulum.consistent_state(pendulum.assemble())
    doors = [
        lambda: check.name("a thing", given),
        lambda: rigid.body(1.0, inertia=1.0, ports={given: (0.0, 0.0)}),
        lambda: connect({given: bar}, []),
        lambda: integrate(pendulum, start, [0.0, 0.1], events={given: lambda t, x: t}, progress=False),
        lambda: LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), B=np.eye(1), ports={given: slice(0, 1)}),
    ]
    if given is not None:
        doors.append(lambda: force("a.tip", name=given))
    for door in doors:
        with pytest.raises(ValueError, match="name"):
            door()


@pytest.mark.parametrize("given", ["rod", "rod tip", "force slider.point", "Kurbel–Stange", "...", "a\\b"])
def test_other_texts_are_names(given):
    assert check.name("a thing", given) == given
