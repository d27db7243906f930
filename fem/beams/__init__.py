"""Beams of the plane and of space: mixed elements of extension and bending.

Imports: fem.materials, fem.meshes, flexph, flexph.bodies, flexph.numerics, flexph.numerics.factors.
"""
