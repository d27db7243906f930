"""The tangent stiffness of a mechanism, and the size of the terms that it sums.

Imports: kernels, kernels.loads, kernels.rates, numerics.
"""
