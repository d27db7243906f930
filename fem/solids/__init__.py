"""Planar and spatial solids by the Hellinger-Reissner principle on cells.

Imports: fem.beams, fem.materials, fem.meshes, fem.refinement, flexph.bodies, flexph.meshes, flexph.meshes.drawings,
flexph.meshes.files, flexph.numerics, flexph.numerics.factors, flexph.robots.links, flexph.systems, flexph.units.
"""
