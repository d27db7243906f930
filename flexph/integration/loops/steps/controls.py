"""Entries of the control of pairs of steps that loops choose (see .controlled)."""

from __future__ import annotations

TRIES, H, LAST, ENERGY, TOLERANCE, SMALLEST = 0, 1, 2, 3, 4, 5
"""Pairs that are tried at most; the next step [s] and the error of the last one; the largest kinetic energy [J]."""
ORDER, SAFETY, LEAST, MOST = 6, 7, 8, 9
"""The fields of a controller."""
REJECTED, LONGEST, ERROR, REACHED, STATUS = 10, 11, 12, 13, 14
"""Steps rejected since the last accepted one, the longest [s], the last error, how many times are reached, and why
the block ends."""
CONTROLS = 15

GOES_ON, UNSOLVED, TOO_SMALL = 0.0, 1.0, 2.0
"""Why a block ends: the pairs that it may try are used up, one is not solved, or control fell below its limit."""
