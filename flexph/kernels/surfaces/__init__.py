"""Distances from points to boxes and meshes, in the axes of these, with gradients and curvatures.

Imports: numerics, numerics.loops.
"""
