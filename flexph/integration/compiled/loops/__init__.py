"""The formulas of the kernels in loops, one file for each of theirs.

Imports: integration.compiled.memory, joints.rows, kernels, mechanisms.model, numerics, numerics.compiled, systems.
"""
