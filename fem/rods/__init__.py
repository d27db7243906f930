"""Geometrically exact rods: sections, elements and bodies.

Imports: fem.beams, fem.materials, flexph.bodies, flexph.discrete_gradients, flexph.laws, flexph.numerics, flexph.units.
"""
