"""Impulses of contacts by a dense D in compiled loops; needs numba (extra ``fast``).

Imports: numerics, numerics.compiled, numerics.compiled.algebra.
"""
