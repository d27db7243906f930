"""Steady motions with relative motion, such as steady rolling, and small motions about them.

Imports: contacts, joints.rows, kernels, kernels.stiffness, mechanisms.model, mechanisms.statics, numerics, systems.
"""
