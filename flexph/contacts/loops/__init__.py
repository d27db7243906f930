"""Impulses of contacts by a dense D in compiled loops.

Imports: numerics, numerics.algebra, numerics.loops.
"""
