"""When controllers and a mechanism agree on the inputs of a step.

The work of what is left of the inputs, h ȳ·Δu, is all that opens the balance of mechanism and controllers, and is
counted in it. Tries converge faster than linearly, in robot-arm from 2e-6 of the guess to 2e-11 and 3e-15.
"""

CLOSED = 1e-12
"""Difference of an input from what controllers answer, over the largest in the run: between the last try and the one
before, so that the balance is closed to 1e-12 of the work of the inputs at most,"""
STAGNATED = 1e-9
"""and up to which it is where it does not become less: answers of stiff controllers have the round-off of velocities,
which are sums of many, times their gain."""
SINGULAR = 1e-3
"""Determinant of a renewed matrix over that before, below which the old one is kept."""
MOST = 20
"""Tries of a step."""
STEPS, SHORTEST = 200, 1e-3
"""Newton's steps for all laws at once, and the share of one at which a search along it ends."""
MET = 1e-14
"""Distance of rates from the line, over the largest terms of it, at which all laws are met."""
HOLDS = 1e3
"""How much nearer than others laws that hold a rate are come to: what is left pushes what they hold in every step."""
SHIFT = 1e-6
"""Change of an input over its size by which its effect is measured."""
