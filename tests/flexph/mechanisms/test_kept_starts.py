"""What is kept of a start: values of drives are none of it, and laws of rows at once are those one by one."""

import numpy as np
import pytest
from sample_mechanisms import crank_slider, loaded, pendulum

import rigid
from flexph import GROUND, connect, drive, hinge
from flexph.joints.rows.laws import LawRows
from flexph.mechanisms.model.consistency import check_consistent
from flexph.mechanisms.model.time_table import law_products, law_values, laws


def driven(motion):
    rod = {"rod": rigid.bar(1.0, 2.0)}
    return connect(rod, [hinge("rod.root", GROUND), drive("rod.root", angle=motion)])


def test_drives_are_asked_again_of_a_start_that_was_checked():
    given = {"angle": 0.3, "rate": 2.0}
    mechanism = driven(lambda t: given["angle"] + given["rate"] * t)
    start = mechanism.consistent_state(mechanism.assemble({"rod": (0.0, 0.0, 0.3)}))
    checked = check_consistent(mechanism, start)
    assert check_consistent(mechanism, start) is checked
    given["rate"] = 2.5
    with pytest.raises(ValueError, match="inconsistent initial velocity"):
        check_consistent(mechanism, start)
    given["angle"] = 0.4
    with pytest.raises(ValueError, match="inconsistent initial position"):
        check_consistent(mechanism, start)
    given.update(angle=0.3, rate=2.0)
    np.testing.assert_array_equal(check_consistent(mechanism, start).matrix, checked.matrix)


def test_another_state_is_looked_at_by_itself():
    mechanism, start, _ = crank_slider()
    turned = start.x.copy()
    turned[mechanism.layout.parts["crank.centre"]] += 0.01
    check_consistent(mechanism, start)
    with pytest.raises(ValueError, match="inconsistent initial position"):
        check_consistent(mechanism, type(start)(start.time, turned, start.multipliers, start.anchors))


@pytest.mark.parametrize("sample", [crank_slider, loaded, pendulum])
def test_laws_at_once_are_those_one_by_one(sample):
    mechanism, start, _ = sample()
    rows = LawRows(laws(mechanism), law_products(mechanism))
    product = np.random.default_rng(3).uniform(0.1, 1.0, size=mechanism.network.arrays.first.size)
    pairs = zip(laws(mechanism), law_products(mechanism), strict=True)
    measured = np.concatenate([law.measure(product[own]) for law, own in pairs])
    np.testing.assert_array_equal(rows.measured(product), measured)
    coefficient, offset = rows.prescribed(start.anchors.rows)
    for law, value, terms, row in zip(laws(mechanism), law_values(mechanism), rows.terms, offset, strict=True):
        own = start.anchors.rows[value]
        if np.isfinite(own).all():
            np.testing.assert_array_equal(coefficient[terms], law.coefficients(own))
            assert row == law.offset(own)
        else:
            assert not coefficient[terms].any() and row == 0.0
