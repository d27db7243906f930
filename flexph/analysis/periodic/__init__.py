"""Stability of periodic motions of mechanisms: Floquet multipliers of linearised steps.

Imports: contacts, integration.exact, integration.methods, joints.rows, kernels, linear, mechanisms, mechanisms.model,
numerics, results, systems.
"""
