"""The Jacobian of a step and solutions with it: its blocks, dense and sparse.

Imports: kernels, kernels.contacts, kernels.loads, kernels.rates, numerics, numerics.factors.
"""
