"""Products of parameters of which a covering part is tested always, the whole with the slow tests."""

from itertools import combinations, product

import pytest


def covering(names: str, *values, strength: int | None = None):
    """Mark that parametrises a test by all combinations, slow ones but for some that cover.

    In those every `strength` parameters take each combination of their values: one fewer than there are by default.
    """
    strength = max(1, len(values) - 1) if strength is None else strength
    places = list(combinations(range(len(values)), strength))
    whole = list(product(*(range(len(v)) for v in values)))

    def covered(choice):
        return {(place, tuple(choice[k] for k in place)) for place in places}

    missing, fast = set().union(*map(covered, whole)), set()
    while missing:
        best = max(whole, key=lambda choice: len(covered(choice) & missing))
        fast.add(best)
        missing -= covered(best)
    rows = [
        pytest.param(
            *(v[k] for v, k in zip(values, choice, strict=True)), marks=() if choice in fast else pytest.mark.slow
        )
        for choice in whole
    ]
    return pytest.mark.parametrize(names, rows)
