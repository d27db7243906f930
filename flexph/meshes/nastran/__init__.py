"""Bulk data of Nastran: cards, grid points in their systems, elements, masses, and what is not taken.

Imports: meshes, numerics.
"""
