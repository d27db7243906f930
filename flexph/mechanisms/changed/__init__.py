"""Mechanisms whose joints change at an instant: impulses of joints, and the passage of a state to other joints.

Imports: joints.rows, kernels, mechanisms.model, numerics, numerics.factors.
"""
