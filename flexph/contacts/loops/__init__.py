"""Compiled solvers for contact impulses, with a dense D or in the velocities of the bodies.

Imports: numerics, numerics.algebra, numerics.loops.
"""
