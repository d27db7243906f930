"""Element coordinate systems of Ansys archives: LOCAL, of rectangular systems."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import finite_rotation
from .commands import Command

NEW = "R5.0"
RECTANGULAR = 0


class Systems:
    """Collector of local systems: kind and angles [°] by number."""

    def __init__(self) -> None:
        self.kinds: dict[int, int] = {}
        self.angles: dict[int, tuple[float, ...]] = {}

    def add(self, command: Command) -> None:
        """Add a command LOCAL: as CDWRITE writes it in three lines, or in one."""
        if command.field(0).upper() != NEW:
            number = command.whole(0)
            self.kinds[number] = command.whole(1) if command.field(1) else RECTANGULAR
            self.angles[number] = tuple(command.real(k) for k in range(5, 8))
        elif command.field(1).upper() in ("LOC", "ANG"):
            number = command.whole(2)
            self.kinds[number] = command.whole(3)
            if command.field(1).upper() == "ANG":
                self.angles[number] = tuple(command.real(k) for k in range(4, 7))

    def axes(self, number: int) -> Array | str:
        """Axes of the system with a number as columns (3, 3), or the reason why they are not known.

        The system 0 is the global one. The angles of others turn about z, then about the new x, then about the new y.
        """
        if number == 0:
            return np.eye(3)
        if self.kinds.get(number, RECTANGULAR) != RECTANGULAR or number not in self.angles:
            known = f"of kind {self.kinds[number]}, not rectangular" if number in self.kinds else "not in the file"
            return f"elements in system {number}, {known}"
        axes = np.eye(3)
        for about, angle in zip((2, 0, 1), self.angles[number], strict=True):
            axes = axes @ finite_rotation(np.deg2rad(angle) * np.eye(3)[about], 3)
        return axes
