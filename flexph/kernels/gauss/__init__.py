"""The same equations at the nodes of Gauss collocation.

Imports: kernels, numerics.
"""
