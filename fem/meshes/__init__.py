"""Meshes of solids: boxes, files, regions, checks, and cells with the shape functions of scikit-fem.

Imports: flexph.bodies, flexph.meshes, flexph.meshes.drawings, flexph.meshes.files, flexph.numerics, flexph.units.
"""
