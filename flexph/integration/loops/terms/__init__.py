"""Terms of forces and of the Jacobian in loops: gradients of nodes and angles, curves, ropes, laws, masses, border.

Imports: integration.loops.memory, kernels, kernels.rates, laws, numerics, numerics.loops.
"""
