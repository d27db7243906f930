"""Rigid bodies for mechanisms: by mass and inertia, by shape, by mesh.

Imports: flexph.bodies, flexph.drawing, flexph.meshes, flexph.meshes.files, flexph.numerics, flexph.units.
"""
