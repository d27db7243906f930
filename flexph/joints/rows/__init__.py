"""Rows of joints: points, directions, products of them, and laws of time.

A joint is a list of rows; this room knows their quadratic form and nothing of bodies. Imports: drawing,
kernels.surfaces, laws, numerics, units.
"""
