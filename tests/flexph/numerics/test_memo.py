"""What is computed of an immutable value once: kept, neither compared nor copied, and absent from values made of it."""

import pickle
from copy import copy
from dataclasses import dataclass, replace

from flexph.numerics.memo import Memo, once


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
