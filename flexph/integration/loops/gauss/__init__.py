"""Gauss collocation in loops: a memory for each stage, and factors of the exact scheme at complex step lengths.

Imports: integration.loops.mechanics, integration.loops.memory, integration.loops.steps, integration.loops.terms,
kernels, kernels.convergence, numerics, numerics.algebra, numerics.loops.
"""
