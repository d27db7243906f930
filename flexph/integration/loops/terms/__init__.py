"""Parts of forces and their Jacobian in loops: gradients of nodes, angles, pieces of curves, the border.

Imports: integration.loops.memory, kernels, kernels.rates, laws, numerics, numerics.loops.
"""
