"""Entries of ``Pair.control``, the step size control of the loops (see .controlled)."""

from __future__ import annotations

TRIES, H, LAST, ENERGY, TOLERANCE, SMALLEST = 0, 1, 2, 3, 4, 5
"""Limit of tried pairs, next step size [s], last accepted error, largest kinetic energy [J], tolerance, and smallest
step size [s]."""
ORDER, SAFETY, LEAST, MOST = 6, 7, 8, 9
"""Fields of the controller: order, safety factor, and the smallest and the largest ratio of step sizes."""
REJECTED, LONGEST, ERROR, REACHED, STATUS = 10, 11, 12, 13, 14
"""Steps rejected since the last accepted one, longest step [s], last error, number of times reached, and the reason
for the end of the block."""
CONTROLS = 15

GOES_ON, UNSOLVED, TOO_SMALL = 0.0, 1.0, 2.0
"""Reason for the end of a block: its last time is reached or its tries are used up; a pair is not solved; the step
size fell below its limit."""
