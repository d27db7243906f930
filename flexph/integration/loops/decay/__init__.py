"""The decaying scheme in loops (see kernels.decay, whose formulas these are), by full or banded matrices of bodies.

Imports: integration.loops.memory, integration.loops.terms, kernels.convergence, numerics, numerics.algebra,
numerics.loops.
"""
