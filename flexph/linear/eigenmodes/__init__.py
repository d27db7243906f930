"""Modes and frequencies of linear systems, rigid motions first, counted by Sylvester's law of inertia.

Imports: linear, numerics, numerics.factors, systems.
"""
