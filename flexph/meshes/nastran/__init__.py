"""Reading of Nastran bulk data: cards, grid points in their systems, elements, masses, and unsupported parts.

Imports: meshes, numerics.
"""
