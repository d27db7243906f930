"""Geometrically exact rods: sections, elements and bodies.

Imports: fem.materials, flexph.bodies, flexph.numerics.
"""
