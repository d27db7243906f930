"""Geometrically exact rods: sections, elements and bodies.

Imports: fem.beams, fem.materials, flexph.bodies, flexph.numerics, flexph.units.
"""
