"""Poses and initial states: assembly, consistent states and multipliers, reactions, description.

Imports: bodies, consistency, contacts, display, joints.rows, kernels, kernels.contacts, kernels.rates, linear,
mechanisms.equations, mechanisms.model, numerics, numerics.factors, systems.
"""
