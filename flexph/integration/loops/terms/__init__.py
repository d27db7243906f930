"""Parts of forces and of the Jacobian in loops: gradients of nodes, angles, curves, ropes, laws of springs, the border.

Imports: integration.loops.memory, kernels, kernels.rates, laws, numerics, numerics.loops.
"""
