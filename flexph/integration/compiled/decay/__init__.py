"""The decaying scheme in loops (see kernels.decay, whose formulas these are), by full or banded matrices of bodies.

Imports: integration.compiled.memory, integration.compiled.terms, kernels, numerics, numerics.compiled,
numerics.compiled.algebra.
"""
