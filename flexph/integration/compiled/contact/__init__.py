"""Contacts in loops: gaps, laws and friction, forces and their Jacobian, what they take; rigid ones that are open.

Imports: contacts, integration.compiled.memory, integration.compiled.terms, kernels.contacts, numerics,
numerics.compiled.
"""
