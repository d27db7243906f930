"""The tangent stiffness of a mechanism, and the magnitude of the terms in its sum.

Imports: kernels, kernels.contacts, kernels.rates, numerics.
"""
