"""The Jacobian of a step and solutions with it: its blocks, dense, sparse, and with a factor that steps share.

Imports: kernels, kernels.contacts, kernels.loads, kernels.rates, numerics, numerics.factors.
"""
