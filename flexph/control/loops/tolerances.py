"""Tolerances of the coupling between controllers and mechanism.

A residual Δu of the inputs changes the energy balance of mechanism and controllers by h ȳ·Δu, which the ledger records.
Trials converge superlinearly, in the case robot-arm from a relative error of 2e-6 of the guess to 2e-11 and 3e-15.
"""

CLOSED = 1e-12
"""Residual of the inputs, divided by the largest input in the run, that is accepted as zero: it bounds the error of the
energy balance by 1e-12 of the work of the inputs."""
STAGNATED = 1e-9
"""Accepted residual if it stagnates: outputs of stiff controllers carry the round-off of velocities times their gain.
"""
SINGULAR = 1e-3
"""Least ratio of determinants after and before Broyden's update; below it the update is skipped."""
MOST = 20
"""Largest number of trials per step."""
STEPS, SHORTEST = 200, 1e-3
"""Newton iterations for all laws at once, and the shortest share of a step in their line search."""
MET = 1e-14
"""Distance of rates from their line, divided by the largest of its terms, that counts as solved."""
HOLDS = 1e3
"""Weight, in the residual, of laws that hold a rate: a residual there would push the held part in every step."""
SHIFT = 1e-6
"""Finite-difference step of an input, divided by its size."""
