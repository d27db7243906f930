"""Modes and frequencies of linear systems, with rigid motions first, certified by Sylvester's law of inertia.

Imports: linear, numerics, numerics.factors, systems.
"""
