"""Rest and small motions about it: equilibria, linearisation, steady rotation.

Imports: bodies, interconnection, joints.rows, kernels, kernels.stiffness, linear, linear.modes, mechanisms.model,
numerics, numerics.factors, systems.
"""
