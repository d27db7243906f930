"""Parts of forces and of the Jacobian in loops: gradients of nodes, angles, curves, ropes, laws, masses, the border.

Imports: integration.loops.memory, kernels, kernels.rates, laws, numerics, numerics.loops.
"""
