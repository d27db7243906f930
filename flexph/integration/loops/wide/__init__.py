"""Linear systems of steps without a narrow band: a sparse border, which SuperLU factors within the loops.

Imports: integration.loops.memory, kernels, mechanisms.model, numerics, numerics.factors, numerics.loops.
"""
