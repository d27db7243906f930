"""Compiled loops over steps of particles: terms, costates, residual, Jacobian and iteration.

Imports: discretisation, laws, numerics, numerics.loops, systems.
"""
