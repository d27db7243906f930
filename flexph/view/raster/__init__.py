"""Drawing of triangles into pictures by numpy: camera, dots, light, outlines, shadows; without a graphics library.

A dot is a pixel of the finer picture that is averaged to the final one.

Imports: numerics, scenes.
"""
