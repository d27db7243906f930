"""Large matrices for the loops: sparse borders, which have no narrow band, and bodies whose matrices Python holds.

Imports: integration.loops.flexible, integration.loops.memory, kernels, mechanisms.model, numerics, numerics.factors,
numerics.loops.
"""
