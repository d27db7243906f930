"""Factorisations of sparse matrices: definite, symmetric, bordered and singular ones.

Signs of pivots, memory estimates, null spaces, orthonormal bases; PARDISO if it is installed.
Imports: numerics.
"""
