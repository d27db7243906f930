"""Meshes of solids: boxes, files, regions, soundness, and the cells on scikit-fem's elements.

Imports: flexph.bodies, flexph.meshes, flexph.meshes.files, flexph.numerics, flexph.units.
"""
