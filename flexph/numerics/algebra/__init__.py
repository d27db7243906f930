"""Factorisations in loops: banded matrices, and full ones.

Imports: numerics, numerics.loops.
"""
