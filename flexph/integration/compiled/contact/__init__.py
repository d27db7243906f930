"""Compliant contacts in loops: gaps, laws and friction, their forces, their Jacobian, and what they take.

Imports: integration.compiled.memory, integration.compiled.terms, kernels.contacts, numerics.
"""
