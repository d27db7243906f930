"""Derivatives of runs by the discrete adjoint of their steps, whose residuals are taken over recorded numbers.

Imports: loops and numerics.
"""
