"""Rows of joints: points, directions, products of them, and laws of time.

A joint is a list of constraint rows. This package defines rows by products of vectors, and does not import bodies.
Imports: drawing, kernels.surfaces, laws, numerics, units.
"""
