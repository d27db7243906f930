"""Factorisations in compiled loops, of banded and full matrices.

Imports: numerics, numerics.loops.
"""
