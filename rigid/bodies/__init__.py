"""Rigid bodies for mechanisms: from mass and inertia, from a shape, from a mesh.

Imports: flexph.bodies, flexph.drawing, flexph.files, flexph.meshes, flexph.meshes.drawings, flexph.meshes.files,
flexph.numerics, flexph.units.
"""
