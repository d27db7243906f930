"""Modes and frequencies of linear systems, with rigid motions first, certified by Sylvester's law of inertia.

Imports: display, linear, numerics, numerics.factors, systems.
"""
