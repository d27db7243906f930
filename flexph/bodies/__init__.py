"""Floating-frame bodies: matrices, ports, elasticity, inertia, and their reduction.

A body is what fem and rigid make and mechanisms join; how it came to its matrices is not known here.
Imports: linear, linear.modes, numerics, numerics.factors, systems.
"""
