"""The equations of a mechanism at the nodes of Gauss collocation.

Imports: kernels, kernels.jacobians, numerics.
"""
