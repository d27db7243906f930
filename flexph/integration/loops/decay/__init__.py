"""The decaying scheme in loops (formulas of kernels.decay), by full or banded matrices of bodies.

Imports: integration.loops.memory, integration.loops.terms, kernels.convergence, numerics, numerics.algebra,
numerics.loops.
"""
