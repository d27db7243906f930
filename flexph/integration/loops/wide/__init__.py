"""Large matrices: sparse borders without a narrow band, and bodies whose matrices Python holds for the loops.

Imports: integration.loops.flexible, integration.loops.memory, kernels, mechanisms.model, numerics, numerics.factors,
numerics.loops.
"""
