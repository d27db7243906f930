"""Contacts in loops: gaps, laws and friction, forces and their Jacobian, what they take; rigid ones that are open.

Imports: contacts, integration.loops.memory, integration.loops.terms, kernels.contacts, numerics, numerics.loops.
"""
