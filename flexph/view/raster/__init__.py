"""Triangles as pictures, by numpy: camera, dots, light, outlines and shadows; no graphics library is needed.

Imports: numerics, scenes.
"""
