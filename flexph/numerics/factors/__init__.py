"""Factors of sparse matrices: definite, symmetric, bordered and singular ones.

Signs of pivots, memory that a factor takes, null spaces, orthonormal bases; PARDISO where it is installed.
Imports: numerics.
"""
