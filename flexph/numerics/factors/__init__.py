"""Factorisations of sparse matrices: definite, symmetric, bordered and singular ones.

Signs of pivots, memory estimates, null spaces; PARDISO if it is installed.
Imports: numerics.
"""
