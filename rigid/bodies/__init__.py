"""Rigid bodies for mechanisms: by mass and inertia, by shape, by mesh.

Imports: flexph, flexph.meshes, flexph.numerics.
"""
