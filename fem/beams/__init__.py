"""Beams of the plane and of space: mixed elements of extension and bending.

Imports: fem.materials, flexph.bodies, flexph.drawing, flexph.linear.eigenmodes, flexph.numerics,
flexph.numerics.factors, flexph.systems, flexph.units.
"""
