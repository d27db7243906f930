"""Reading of universal files of I-DEAS, SALOME and others (.unv): nodes, elements, groups, unit of length.

Imports: meshes, numerics.
"""
