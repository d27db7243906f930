"""Refinement of meshes until an estimated error of frequencies or compliances is small enough.

Imports: fem.meshes, flexph.bodies, flexph.meshes, flexph.meshes.drawings, flexph.numerics.
"""
