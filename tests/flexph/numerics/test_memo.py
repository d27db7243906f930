"""What is computed of an immutable value once: kept, neither compared nor copied, and absent from values made of it."""

import pickle
from copy import copy, deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pytest

from flexph.numerics.memo import Memo, Named, NamedFields, once, read_only


@dataclass(frozen=True)
class Square(Memo):
    side: float

    @once
    def corners(self) -> list[tuple[float, float]]:
        """Corners of the square."""
        return [(0.0, 0.0), (self.side, 0.0), (self.side, self.side), (0.0, self.side)]


def area(square: Square) -> list[float]:
    return [square.side**2]


def test_once_is_computed_once():
    square = Square(2.0)
    assert square.corners is square.corners and square.once(area) is square.once(area)
    assert square.once(area) == [4.0] and square.corners[2] == (2.0, 2.0)
    assert Square.corners.__doc__ == "Corners of the square."


def test_the_memo_is_no_part_of_the_value():
    square = Square(2.0)
    first = square.corners
    assert square == Square(2.0) and hash(square) == hash(Square(2.0))
    for other in (copy(square), pickle.loads(pickle.dumps(square)), replace(square, side=2.0)):
        assert other == square and set(vars(other)) == {"side"} and other.corners is not first


@pytest.mark.parametrize("travel", [lambda value: value, copy, deepcopy, lambda v: pickle.loads(pickle.dumps(v))])
def test_a_name_that_is_not_in_a_mapping_is_told_with_those_that_are(travel):
    values = travel(Named({"push": 1.0, "pull": 2.0}, "controls"))
    with pytest.raises(KeyError, match=r"^no 'psh' in controls: there are 'push', 'pull'$"):
        values["psh"]
    with pytest.raises(KeyError, match=r"^no 3: there are none$"):
        travel(read_only({}))[3]
    assert values.get("psh") is None
    assert "psh" not in values
    assert values == {"push": 1.0, "pull": 2.0}


def test_fields_of_results_are_values_by_name():
    @dataclass(frozen=True)
    class Accounts(NamedFields):
        energy: Any

    with pytest.raises(KeyError, match="no 'work' in energy: there are 'stored'"):
        Accounts({"stored": 1.0}).energy["work"]
