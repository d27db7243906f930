"""Kirchhoff and Reissner-Mindlin plates in space.

Imports: fem.materials, fem.meshes, fem.refinement, fem.solids, flexph.bodies, flexph.meshes, flexph.meshes.drawings,
flexph.meshes.files, flexph.numerics, flexph.numerics.factors, flexph.units.
"""
