"""Large matrices: sparse borders without a narrow band, and bodies whose matrices Python keeps, asked by the loops.

Imports: integration.loops.flexible, integration.loops.memory, kernels, mechanisms.model, numerics, numerics.factors,
numerics.loops.
"""
