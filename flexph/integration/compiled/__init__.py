"""The compiled twin of the kernels (extra ``fast``): loops on flat arrays and a block-arrow solve of linear cost.

Imports: bodies, integration.compiled.loops, integration.compiled.memory, joints.rows, kernels, mechanisms.model,
numerics.
"""
