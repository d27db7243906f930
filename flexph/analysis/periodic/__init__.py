"""Stability of periodic motions of mechanisms: Floquet multipliers of linearised steps.

Imports: contacts, integration.blocks, integration.loops.memory, integration.methods, integration.schemes, joints.rows,
kernels, linear, mechanisms, mechanisms.model, numerics, results, systems.
"""
