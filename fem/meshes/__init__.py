"""Meshes of solids: boxes, files, regions, checks, and cells on scikit-fem's elements.

Imports: flexph.bodies, flexph.meshes, flexph.meshes.drawings, flexph.meshes.files, flexph.numerics, flexph.units.
"""
