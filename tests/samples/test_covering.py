"""The covering part of a product."""

from itertools import combinations, product

import pytest
from covering import covering

LISTS = ("ab", (1, 2, 3), (None, True), "wxyz")


@pytest.mark.parametrize("strength", [1, 2, 3])
def test_every_combination_of_as_many_is_tested_always(strength):
    _, rows = covering("a, b, c, d", *LISTS, strength=strength).args
    assert [row.values for row in rows] == list(product(*LISTS))
    fast = [row.values for row in rows if not row.marks]
    for some in combinations(range(4), strength):
        assert {tuple(v[k] for k in some) for v in fast} == set(product(*(LISTS[k] for k in some)))
    assert len(fast) < len(rows)
