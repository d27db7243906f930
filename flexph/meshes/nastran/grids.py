"""Grid points and coordinate systems of Nastran files, transformed to the basic system."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ..axes import Axes, axes_by_z, cylindrical, spherical_by_pole
from .cards import Card, hold, real

BASIC = 0
Places = dict[int, tuple[int, Array]]
"""For each grid point, by number: its coordinate system and its coordinates (3,) in it."""


class System(NamedTuple):
    """Coordinate system of the kind R (rectangular), C (cylindrical) or S (spherical), given by three points.

    The points are coordinates (3, 3) in the system ``of``, or numbers of grid points if ``of`` is None: the origin, one
    on the z axis, and one in the x-z plane.
    """

    kind: str
    of: int | None
    points: Array
    card: Card


class Grids:
    """Collector of the grid points and coordinate systems of a deck."""

    def __init__(self) -> None:
        self.default = BASIC
        self.cards: dict[int, Card] = {}
        self.systems: dict[int, System] = {}
        self._of_systems: dict[int, Card] = {}

    def add(self, card: Card) -> bool:
        """Add a card of a grid point, a default of grid points or a coordinate system; return False for other cards."""
        if card.name == "GRID":
            hold(self.cards, card.whole(0), card, "grid point", slice(1, 5))
        elif card.name == "GRDSET":
            self.default = card.whole(1, BASIC)
        elif card.name in ("CORD1R", "CORD1C", "CORD1S"):
            for k in (0, 4):
                if card.field(k):
                    hold(self._of_systems, card.whole(k), card, "coordinate system")
                    points = np.array([card.whole(k + 1 + n) for n in range(3)])
                    self.systems[card.whole(k)] = System(card.name[-1], None, points, card)
        elif card.name in ("CORD2R", "CORD2C", "CORD2S"):
            hold(self._of_systems, card.whole(0), card, "coordinate system")
            points = np.array([card.real(k) for k in range(2, 11)]).reshape(3, 3)
            self.systems[card.whole(0)] = System(card.name[-1], card.whole(1, BASIC), points, card)
        else:
            return False
        return True

    def positions(self) -> tuple[Array, Array]:
        """Numbers (n,) of the grid points in ascending order, and their positions (n, 3) in the basic system."""
        numbers = np.array(sorted(self.cards), dtype=int)
        cards = [self.cards[number] for number in numbers.tolist()]
        of = np.array([card.whole(1, self.default) for card in cards], dtype=int)
        local = _coordinates(cards)
        at, placing = np.zeros((len(cards), 3)), _Placing(self, numbers, of, local)
        for system in np.unique(of).tolist():
            mine = of == system
            at[mine] = placing.placed(system, local[mine])
        return numbers, at

    def axes(self, number: int) -> Array | None:
        """Axes of a rectangular system as columns (3, 3); None for another kind. Raises ValueError if it is unknown."""
        if number == BASIC:
            return np.eye(3)
        if number in self.systems and self.systems[number].kind != "R":
            return None
        numbers = np.array(sorted(self.cards), dtype=int)
        cards = [self.cards[number] for number in numbers.tolist()]
        of = np.array([card.whole(1, self.default) for card in cards], dtype=int)
        return _Placing(self, numbers, of, _coordinates(cards)).of_system(number).turn


class _Placing:
    """Transformation of points from any system to the basic one.

    The axes of each system are computed once.
    """

    def __init__(self, grids: Grids, numbers: Array, of: Array, local: Array) -> None:
        self.systems, self.numbers, self.of, self.local = grids.systems, numbers, of, local
        self.axes: dict[int, Axes | None] = {BASIC: Axes()}

    def placed(self, system: int, values: Array) -> Array:
        """Positions (N, 3) in the basic system from coordinates in a given system."""
        axes = self.of_system(system)
        kind = self.systems[system].kind if system != BASIC else "R"
        straight = cylindrical(values) if kind == "C" else spherical_by_pole(values) if kind == "S" else values
        return axes.placed(straight)

    def of_system(self, number: int) -> Axes:
        """Axes of a system in the basic system. Raises ValueError if it is missing, or defined relative to itself."""
        if number not in self.axes:
            if number not in self.systems:
                known = ", ".join(map(str, sorted(self.systems))) or "none"
                raise ValueError(
                    f"coordinate system {number} must be defined by CORD1 or CORD2 cards, there are {known}"
                )
            self.axes[number] = None  # being computed; detects circular definitions
            try:
                self.axes[number] = axes_by_z(*self._points(self.systems[number]))
            except ValueError as error:
                raise ValueError(f"coordinate system {number}, {self.systems[number].card}: {error}") from None
        axes = self.axes[number]
        if axes is None:
            raise ValueError(f"coordinate system {number} must not be defined relative to itself")
        return axes

    def _points(self, system: System) -> Array:
        """Positions (3, 3) in the basic system of the three points that define a system."""
        if system.of is not None:
            return self.placed(system.of, system.points)
        rows = [int(k) for number in system.points for k in np.flatnonzero(self.numbers == number)]
        if len(rows) != len(system.points):
            raise ValueError(f"its grid points {system.points.tolist()} must be in the file")
        return np.vstack([self.placed(int(self.of[k]), self.local[k][None]) for k in rows])


def _coordinates(cards: list[Card]) -> Array:
    """Coordinates (n, 3) as written on the cards."""
    try:
        return np.array([[real(word) for word in card.fields[2:5]] for card in cards]).reshape(-1, 3)
    except ValueError:
        return np.array([[card.real(k) for k in (2, 3, 4)] for card in cards]).reshape(-1, 3)
