"""Products of parameters of which a covering part is tested always, the whole with the slow tests."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, product

import pytest


def covering_part(choices: Sequence[tuple], strength: int) -> set[tuple]:
    """Some of the choices, in which every `strength` places take each combination of values that they have in any.

    Values that have been taken less often come first, so that all are taken about as often.
    """
    places = list(combinations(range(len(choices[0])), strength))

    def worth(choice):
        return len(covered[choice] & missing), -sum(taken[place] for place in enumerate(choice))

    covered = {choice: {(place, tuple(choice[k] for k in place)) for place in places} for choice in choices}
    missing, part, taken = set().union(*covered.values()), set(), Counter()
    while missing:
        best = max(choices, key=worth)
        part.add(best)
        missing -= covered[best]
        taken.update(enumerate(best))
    return part


def covering(names: str, *values, strength: int | None = None):
    """Mark that parametrises a test by all combinations, slow ones but for some that cover.

    In those every `strength` parameters take each combination of their values: one fewer than there are by default.
    Of stacked `parametrize` marks, `pytest.mark.covering` takes some in which each has all of its values.
    """
    strength = max(1, len(values) - 1) if strength is None else strength
    whole = list(product(*(range(len(v)) for v in values)))
    fast = covering_part(whole, strength)
    rows = [
        pytest.param(
            *(v[k] for v, k in zip(values, choice, strict=True)), marks=() if choice in fast else pytest.mark.slow
        )
        for choice in whole
    ]
    return pytest.mark.parametrize(names, rows)
